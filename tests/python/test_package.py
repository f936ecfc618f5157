"""The package as a user finds it: stubs, help texts, examples that type."""

import inspect
import os
import subprocess
import sys
import unittest

import rubato
import rubato._stubs
from support import main, root

package = os.path.dirname(rubato.__file__)


class ThePackage(unittest.TestCase):
    def test_has_a_stub_with_every_key(self):
        with open(os.path.join(package, "_experiment.pyi"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text, rubato._stubs.stub())
        self.assertIn("class ClientsCompute(Table):", text)
        self.assertIn("    count: int\n", text)

    def test_documents_every_public_name(self):
        missing = []
        for name in rubato.__all__:
            value = getattr(rubato, name)
            if not inspect.getdoc(value):
                missing.append(name)
            if inspect.isclass(value):
                for member, part in vars(value).items():
                    if not member.startswith("_") and callable(part) and not inspect.getdoc(part):
                        missing.append(f"{name}.{member}")
        self.assertEqual(missing, [])

    def test_has_help_that_is_worth_reading(self):
        text = subprocess.run([sys.executable, "-c", "import rubato; help(rubato.Experiment)"], capture_output=True, text=True,
                              check=True).stdout
        for part in ("clients: How many clients there are", "experiment.clients.count = 25", "check(", "seconds"):
            self.assertIn(part, text)
        self.assertIn("topology.kind", rubato.Experiment.__doc__)

    def test_types(self):
        try:
            import mypy.api
        except ImportError:
            self.skipTest("mypy is not there")
        examples = [os.path.join(root, "python", "examples", name) for name in sorted(os.listdir(os.path.join(root, "python", "examples")))
                    if name.endswith(".py")]
        environment = {**os.environ, "MYPYPATH": os.path.dirname(package)}
        settings = os.path.join(root, "tests", "python", "mypy.ini")
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", settings, *examples], capture_output=True, text=True,
                              env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
