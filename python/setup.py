"""``pip install ./python``: calls CMake, which finds the installed library or takes the tree around this folder. Nothing is fetched."""

import os
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = os.path.dirname(os.path.abspath(__file__))


class CMakeBuild(build_ext):
    """Builds rubato._core; $CMAKE_ARGS goes to CMake, such as -DCMAKE_PREFIX_PATH=... of the installed library."""

    def build_extension(self, extension):
        target = os.path.dirname(os.path.abspath(self.get_ext_fullpath(extension.name)))
        build = os.path.abspath(self.build_temp)
        os.makedirs(build, exist_ok=True)
        subprocess.run(["cmake", "-S", here, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}",
                        f"-DRUBATO_PYTHON_PLACE={target}", *os.environ.get("CMAKE_ARGS", "").split()], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "rubato_core"], check=True)


with open(os.path.join(here, "..", "CMakeLists.txt"), encoding="utf-8") as file:
    version = file.read().split("project(rubato VERSION ")[1].split()[0]

setup(name="rubato", version=version, description="Decentralised learning in free time", packages=["rubato"],
      package_data={"rubato": ["py.typed", "*.pyi"]}, ext_modules=[Extension("rubato._core", [])], cmdclass={"build_ext": CMakeBuild},
      python_requires=">=3.11", install_requires=["numpy"], zip_safe=False,
      entry_points={"console_scripts": ["rubato-python = rubato.__main__:main"]})
