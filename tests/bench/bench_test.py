"""What bench/run makes of programs that do not say what it measures.

  bench_test.py SOURCE_TREE
"""

import argparse
import contextlib
import importlib.util
import io
import pathlib
import sys
import unittest
from importlib.machinery import SourceFileLoader

root = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
loader = SourceFileLoader("bench_run", str(root / "bench" / "run"))
bench_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
loader.exec_module(bench_run)


class Parts(unittest.TestCase):
    def measured(self, *parts):
        bench = bench_run.Bench(argparse.Namespace(quick=True, data=None))
        with contextlib.redirect_stdout(io.StringIO()):
            for part in parts:
                bench_run.measure(bench, part)
        return bench.rows

    def test_that_fail_are_told_and_the_others_are_measured(self):
        def silent(bench):
            bench.call("silent", ["true"])

        def stands_still(bench):
            bench.row("rate", 1 / bench.call("none", ["echo", '{"seconds": 0}'])["seconds"])

        def says(bench):
            bench.row("seconds", bench.call("says", ["sh", "-c", "echo words; echo '{\"seconds\": 2}'"])["seconds"])

        first, second, last = self.measured(silent, stands_still, says)
        self.assertRegex(first["outcome"], "^FAILED: JSONDecodeError")
        self.assertRegex(second["outcome"], "^FAILED: ZeroDivisionError")
        self.assertEqual(last["value"], 2)

    def test_whose_data_are_missing_are_skipped_with_what_is_missing(self):
        def needs_data(bench):
            bench.data = None
            bench.mnist()

        self.assertRegex(self.measured(needs_data)[0]["outcome"], "^skipped: MNIST is missing: --data DIR")


if __name__ == "__main__":
    unittest.main()
