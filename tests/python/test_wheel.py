"""The package as pip installs it, without network, used from another folder: python3 test_wheel.py BUILD_TREE"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

root = os.environ["RUBATO_SOURCE_DIR"]
command = os.environ["RUBATO_COMMAND"]
build_tree = os.path.abspath(sys.argv.pop(1))

typed_script = """import rubato

experiment = rubato.Experiment("quickstart.toml")
experiment.algorithm.eta = 0.1
reveal_type(experiment.until)
reveal_type(rubato.run(experiment).model_digest)
experiment.clients.count = "many"
"""


def done(*arguments, **how):
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=False, **how)


class TheWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = temporary.name
        prefix, cls.elsewhere = os.path.join(cls.folder, "prefix"), os.path.join(cls.folder, "elsewhere")
        os.mkdir(cls.elsewhere)
        cls.environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
        cls.environment |= {"CMAKE_ARGS": f"-DCMAKE_PREFIX_PATH={prefix}", "RUBATO_BUILD_DIR": os.path.join(cls.folder, "build")}
        cls.must(done("cmake", "--install", build_tree, "--prefix", prefix))
        cls.must(done(sys.executable, "-m", "venv", "--system-site-packages", os.path.join(cls.folder, "venv")))
        cls.python = os.path.join(cls.folder, "venv", "bin", "python3")
        pip = [cls.python, "-m", "pip", "--disable-pip-version-check"]
        offline = ["--no-index", "--no-build-isolation", "--no-deps"]
        cls.must(done(*pip, "wheel", *offline, "--wheel-dir", cls.folder, os.path.join(root, "python"), env=cls.environment))
        cls.wheel = next(os.path.join(cls.folder, name) for name in os.listdir(cls.folder) if name.endswith(".whl"))
        cls.must(done(*pip, "install", *offline, cls.wheel, env=cls.environment))

    @staticmethod
    def must(ended):
        if ended.returncode:
            raise AssertionError(ended.stdout + ended.stderr)

    def here(self, script):
        ended = done(self.python, "-c", script, cwd=self.elsewhere, env=self.environment)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def test_holds_the_module_its_stubs_and_what_is_written_in_python(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = {name.partition("/")[2] for name in wheel.namelist() if name.startswith("rubato/")}
        written = {name for name in os.listdir(os.path.join(root, "python", "rubato")) if name.endswith((".py", ".pyi", ".typed"))}
        module = {name for name in names if name.startswith("_core.") and name.endswith(".so")}
        self.assertEqual(len(module), 1)
        self.assertEqual(names, written | module | {"_experiment.pyi"})

    def test_has_the_digests_of_the_command_in_another_folder(self):
        quickstart = os.path.join(root, "examples", "quickstart.toml")
        told = json.loads(self.here(f"""
import json, os, rubato
result = rubato.run({quickstart!r}, on_note=None, progress=False, out="run")
print(json.dumps([os.path.dirname(rubato.__file__), result.model_digest, result.timeline_digest, len(result.to_pandas()),
                  "</html>" in result.report() and result.model_digest in result.report(), rubato.replay("run").agrees]))"""))
        self.assertTrue(told[0].startswith(os.path.join(self.folder, "venv")), told[0])
        there = json.loads(done(command, "run", quickstart, "--json", "--quiet").stdout)
        self.assertEqual(told[1:3], [there["model_digest"], there["timeline_digest"]])
        self.assertGreater(told[3], 1)
        self.assertEqual(told[4:], [True, True])

    def test_types_scripts_of_its_user(self):
        script = os.path.join(self.elsewhere, "script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(typed_script)
        ended = done("mypy", "--no-incremental", "--cache-dir=/dev/null", "--python-executable", self.python, "--follow-imports=silent",
                     "--ignore-missing-imports", script, cwd=self.elsewhere, env=self.environment)
        lines = ended.stdout.splitlines()
        self.assertIn('script.py:5: note: Revealed type is "builtins.float"', lines[0], ended.stdout + ended.stderr)
        self.assertIn('script.py:6: note: Revealed type is "builtins.str"', lines[1])
        self.assertIn("script.py:7: error: Incompatible types in assignment", lines[2])
        self.assertEqual(len([line for line in lines if ": error:" in line]), 1, ended.stdout)

    def test_brings_the_command(self):
        ended = done(os.path.join(self.folder, "venv", "bin", "rubato-python"), "--version", cwd=self.elsewhere, env=self.environment)
        self.assertEqual(ended.stdout, done(command, "--version").stdout)


if __name__ == "__main__":
    unittest.main()
