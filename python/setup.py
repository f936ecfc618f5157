"""``pip install ./python``: CMake builds the module against an installed library, or that of a build tree, or the tree around this folder.
Nothing is fetched."""

import os
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
build_tree = os.environ.get("RUBATO_BUILD_DIR", os.path.join(root, "build"))
work = os.path.join(build_tree, "wheel")

with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
    version = file.read().split("project(rubato VERSION ")[1].split()[0]


class CMakeBuild(build_ext):
    """Builds rubato._core and writes the stub of its keys. $CMAKE_ARGS goes to CMake: -DCMAKE_PREFIX_PATH=DIR of an installed library."""

    def build_extension(self, extension):
        package = os.path.dirname(os.path.abspath(self.get_ext_fullpath(extension.name)))
        build = os.path.abspath(self.build_temp)
        os.makedirs(build, exist_ok=True)
        given = os.environ.get("CMAKE_ARGS", "").split()
        if not any(argument.startswith(("-DCMAKE_PREFIX_PATH", "-Drubato_DIR")) for argument in given):
            given += self.built_library(os.path.join(build, "library"))
        subprocess.run(["cmake", "-S", here, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}",
                        f"-DRUBATO_PYTHON_VERSION={version}", f"-DRUBATO_PYTHON_PLACE={package}", *given], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "rubato_core"], check=True)
        subprocess.run([sys.executable, "-B", "-m", "rubato._stubs", os.path.join(package, "_experiment.pyi")], check=True,
                       cwd=os.path.dirname(package))

    @staticmethod
    def built_library(place):
        """Arguments for CMake that lead to the library of a build tree, where there is a complete one."""
        if not os.path.exists(os.path.join(build_tree, "cmake_install.cmake")):
            return []
        done = subprocess.run(["cmake", "--install", build_tree, "--prefix", place], stdout=subprocess.DEVNULL, check=False)
        return [f"-DCMAKE_PREFIX_PATH={place}"] if done.returncode == 0 else []


os.makedirs(work, exist_ok=True)
shutil.rmtree(os.path.join(work, "package"), ignore_errors=True)  # of an earlier build, whose files may be gone
setup(name="rubato", version=version, description="Decentralised learning in free time", packages=["rubato"],
      package_data={"rubato": ["py.typed", "*.pyi"]}, ext_modules=[Extension("rubato._core", [])], cmdclass={"build_ext": CMakeBuild},
      python_requires=">=3.11", install_requires=["numpy"], zip_safe=False,
      options={"build": {"build_base": work, "build_lib": os.path.join(work, "package")}, "egg_info": {"egg_base": work}},
      entry_points={"console_scripts": ["rubato-python = rubato.__main__:main"]})
