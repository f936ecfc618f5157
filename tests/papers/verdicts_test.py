"""The rule by which docs/reproduction.md calls a claim reproduced or not, and the arithmetic under it.

  verdicts_test.py SOURCE_TREE
"""

import builtins
import dis
import json
import pathlib
import statistics
import sys
import tempfile
import types
import unittest
import xml.dom.minidom

root = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(root / "tools" / "reproduction"))
sys.dont_write_bytecode = True

import drawing  # noqa: E402
import measures  # noqa: E402
import page  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402
import tuned  # noqa: E402
from plan import Claim, Measure, Panel, Setting, Study, nan  # noqa: E402
from studies import after, all_studies  # noqa: E402


def results(**values):
    """One measure "m" of settings, by seed."""
    return measures.Results({name: {"m": dict(enumerate(of, 1))} for name, of in values.items()})


def study(*claims, ceiling="direction reproduced"):
    return Study("s", "paper", "item", "says", (Setting("a", "f"), Setting("b", "f")), (Measure("m", "m", None),), claims, (), 3, 3, ceiling=ceiling)


def note(a, b):
    def of(values):
        return {"measures": {"m": {str(seed): value for seed, value in enumerate(values, 1)}}, "digests": {}}
    return {"settings": {"a": of(a), "b": of(b)}, "cpu_seconds": 1, "runs": 6}


def names_in(code):
    """The global names that a module's code or anything defined in it uses."""
    yield from (one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_NAME", "LOAD_GLOBAL"))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from names_in(inner)


class Sources(unittest.TestCase):
    def test_no_module_uses_a_name_that_nothing_defines(self):
        for name, module in sorted(sys.modules.items()):
            file = pathlib.Path(getattr(module, "__file__", None) or "/")
            if root / "tools" / "reproduction" not in file.parents:
                continue
            used = names_in(compile(file.read_text(), str(file), "exec"))
            with self.subTest(module=name):
                self.assertEqual({one for one in used if not one.startswith("__")} - {*vars(module), *dir(builtins)}, set())


class Verdicts(unittest.TestCase):
    def word(self, claim, a, b, column="full", ceiling="direction reproduced"):
        return page.verdict(study(claim, ceiling=ceiling), claim, note(a, b), column)[1]

    def test_a_difference_whose_interval_is_on_the_claimed_side_holds(self):
        claim = Claim("a is ahead", measures.more("a", "b", "m"))
        self.assertEqual(self.word(claim, [.8, .82, .81], [.7, .71, .72]), "direction reproduced")
        self.assertEqual(self.word(claim, [.7, .71, .72], [.8, .82, .81]), "not reproduced")

    def test_an_interval_with_both_signs_decides_nothing(self):
        claim = Claim("a is ahead", measures.more("a", "b", "m"))
        self.assertEqual(self.word(claim, [.8, .6, .81], [.7, .71, .72]), "not reproduced (undecided)")

    def test_who_never_arrives_is_later_than_who_always_does(self):
        claim = Claim("a is earlier", measures.earlier("a", "b", "m"))
        self.assertEqual(self.word(claim, [30, 31, 29], [None, None, None]), "direction reproduced")
        self.assertEqual(self.word(claim, [None, None, None], [30, 31, 29]), "not reproduced")
        self.assertEqual(self.word(claim, [30, 31, 29], [40, 41, None]), "direction reproduced")
        self.assertEqual(self.word(claim, [None, None, None], [None, None, None]), "")

    def test_differences_are_paired_by_seed(self):
        claim = Claim("a is ahead", measures.more("a", "b", "m"))  # by 0.01 with every seed, while seeds differ by 0.2
        self.assertEqual(self.word(claim, [.51, .711, .912], [.5, .7, .9]), "direction reproduced")

    def test_quick_runs_reproduce_a_direction_at_most(self):
        claim = Claim("a is ahead", measures.more("a", "b", "m"), ceiling="reproduced")
        self.assertEqual(self.word(claim, [.8, .82, .81], [.7, .71, .72], "full"), "reproduced")
        self.assertEqual(self.word(claim, [.8, .82, .81], [.7, .71, .72], "quick"), "direction reproduced")

    def test_substitute_data_reproduce_no_more_than_a_direction_on_substitute_data(self):
        claim = Claim("a is ahead", measures.more("a", "b", "m"))
        for column in ("full", "quick"):
            self.assertEqual(self.word(claim, [.8, .82, .81], [.7, .71, .72], column, "direction on substitute data"), "direction on substitute data")

    def test_one_pair_decides_nothing_where_something_is_drawn(self):
        claim = Claim("a is ahead", measures.more("a", "b", "m"))
        self.assertEqual(self.word(claim, [.8], [.7]), "not reproduced (undecided)")

    def test_settings_that_were_not_run_have_no_verdict(self):
        claim = Claim("c is ahead", measures.more("c", "b", "m"))
        self.assertEqual(self.word(claim, [.8], [.7]), "")

    def test_alike_wants_the_whole_interval_within_the_bound(self):
        holds = measures.alike("a", "b", "m", 0.02)
        self.assertTrue(holds(results(a=[.80, .81, .82], b=[.80, .812, .819])).holds)
        self.assertIsNone(holds(results(a=[.80, .81, .90], b=[.80, .812, .819])).holds)
        self.assertFalse(holds(results(a=[.90, .91, .92], b=[.80, .812, .819])).holds)

    def test_an_order_holds_if_each_step_of_it_does(self):
        order = measures.falls(["x", "y", "z"], "m")
        self.assertTrue(order(results(x=[.9, .91, .92], y=[.8, .81, .82], z=[.7, .71, .72])).holds)
        self.assertFalse(order(results(x=[.9, .91, .92], y=[.7, .71, .72], z=[.8, .81, .82])).holds)

    def test_what_is_not_reached_or_diverged_counts_in_no_pair(self):
        self.assertEqual(results(a=[.5, nan, .7], b=[.4, .5, .6]).differences("a", "b", "m").__len__(), 2)


class Arithmetic(unittest.TestCase):
    def test_spread_is_that_of_a_sample(self):
        values = [1.0, 2.0, 4.0, 8.0]
        mean, deviation, count = measures.spread(values + [nan])
        self.assertAlmostEqual(mean, statistics.mean(values))
        self.assertAlmostEqual(deviation, statistics.stdev(values))
        self.assertEqual(count, 4)

    def test_an_interval_of_five_is_2_776_standard_errors(self):
        values = [1.0, 2.0, 3.0, 4.0, 5.0]
        mean, low, high = measures.interval(values)
        self.assertAlmostEqual(mean, 3.0)
        self.assertAlmostEqual(high - mean, 2.776 * statistics.stdev(values) / 5 ** 0.5)
        self.assertAlmostEqual(mean - low, high - mean)


class Figures(unittest.TestCase):
    def test_curves_differ_in_dashes_and_marks_and_not_in_colour_alone(self):
        names = [f"setting {i}" for i in range(len(drawing.colours))]
        self.assertEqual(len({drawing.style(i) for i in range(30)}), 30)
        self.assertEqual(len({drawing.style(i)[1:] for i in range(20)}), 20)  # without their colours
        self.assertEqual(len(set(drawing.dashes)), len(drawing.dashes))
        self.assertEqual(len(set(drawing.marks)), len(drawing.marks))
        curves = {name: ([0.0, 1.0, 2.0], [float(i), i + 1.0, i + 1.5], [0.1, 0.1, 0.1]) for i, name in enumerate(names)}
        panel = Panel("y", "x", "time, s", "accuracy & <loss>")
        text = drawing.figure([(panel, curves)], names, "a note")
        parsed = xml.dom.minidom.parseString(text)
        self.assertEqual(len(parsed.getElementsByTagName("polygon")), len(names))  # bands
        words = [one.firstChild.data for one in parsed.getElementsByTagName("text")]
        for word in ("time, s", "accuracy & <loss>", "a note", *names):
            self.assertIn(word, words)

    def test_numbers_that_are_missing_or_infinite_leave_a_gap(self):
        curves = {"a": ([1.0, 10.0, 100.0], [1e-3, nan, float("inf")], [nan, nan, nan])}
        drawing.figure([(Panel("y", "x", x_log=True, y_log=True), curves)], ["a"], "")
        drawing.figure([(Panel("y"), {"a": (nan, nan, nan)})], ["a"], "")


    def test_on_a_logarithmic_axis_the_band_is_of_the_logarithms(self):
        class Curve:
            def __init__(self, value):
                self.columns = {"x": [0.0, 1.0], "y": [value, value]}

            def column(self, name):
                return self.columns[name]

        of = [Curve(1.0), Curve(100.0)]
        _, means, factors = page._band(of, Panel("y", "x", y_log=True))
        self.assertAlmostEqual(means[0], 10.0)
        self.assertAlmostEqual(factors[0], 10.0 ** 2 ** 0.5)
        _, means, deviations = page._band(of, Panel("y", "x"))
        self.assertAlmostEqual(means[0], 50.5)
        self.assertAlmostEqual(deviations[0], 99.0 / 2 ** 0.5)

    def test_what_lies_outside_of_a_panel_is_cut_off(self):
        text = drawing.figure([(Panel("y", "x", "x", "y", y_to=1.0), {"a": ([0.0, 1.0], [0.5, 1e6], [nan, nan])})], ["a"], "")
        parsed = xml.dom.minidom.parseString(text)
        self.assertEqual(len(parsed.getElementsByTagName("clipPath")), 1)
        words = [one.firstChild.data for one in parsed.getElementsByTagName("text")]
        self.assertNotIn("1e6", words)

    def test_a_logarithmic_axis_has_two_to_seven_words(self):
        for low in (0.0011, 0.002, 0.0043, 0.9):
            for factor in (10, 30, 90, 250, 500, 1e4, 1e9):
                self.assertIn(len(drawing._powers(low, low * factor)), range(2, 8))

    def test_a_setting_that_never_arrives_says_so(self):
        self.assertIn("not reached", drawing.figure([(Panel("y"), {"a": (1.0, nan, nan), "b": (nan, nan, nan)})], ["a", "b"], ""))


class PrintedTables(unittest.TestCase):
    def test_all_printed_numbers_are_shown_where_nothing_was_run(self):
        table_3 = tables.table_3(all_studies(), lambda study: {})
        self.assertEqual(table_3.count("/ not run"), 110)  # seven rows of three splits and ResNet-18 with equal shares, five methods each
        for number in ("0.9411", "0.9829", "0.9283", "0.7902"):
            self.assertIn(number + " / not run", table_3)
        table_4_1 = tables.table_4_1(all_studies(), lambda study: {})
        self.assertEqual(table_4_1.count("/ not run"), 24)
        for number in ("0.2100", "0.8160", "0.6100", "0.8700"):
            self.assertIn(number + " / not run", table_4_1)
        self.assertIn("| table 2 | DeceFL, K 8, p 0.9 | +0.0010 | not run | not run |", tables.differences(all_studies(), lambda study: {}))

    def test_ours_stands_beside_with_its_difference(self):
        own = Study("s", "paper", "item", "says", (Setting("a", "f", paper={"m": .8}),), (Measure("m", "m", None),), (), (), 3, 3)
        stored = {"full": {"settings": {"a": {"measures": {"m": {"1": .7, "2": .72}}}}}}
        self.assertEqual(tables.beside(own, "a", "m", stored), "0.8000 / 0.7100 ± 0.0141 / -0.0900")
        self.assertEqual(tables.beside(own, "a", "m", {"quick": stored["full"]}), "0.8000 / 0.7100 ± 0.0141 (quick) / -0.0900")


class Studies(unittest.TestCase):
    def test_every_study_has_files_that_are_there_and_names_of_its_own(self):
        names = [one.name for one in all_studies()]
        self.assertEqual(len(set(names)), len(names))
        for one in all_studies():
            settings = [setting.name for setting in one.settings]
            self.assertEqual(len(set(settings)), len(settings), one.name)
            self.assertEqual(len({runs.slug(name) for name in settings}), len(settings), f"{one.name}: two settings share a folder")
            for setting in one.settings:
                file = setting.file if setting.file.startswith("examples/") else f"examples/papers/{setting.file}"
                self.assertTrue((root / file).exists(), file)

    def test_every_claim_speaks_of_settings_and_measures_of_its_study(self):
        for one in all_studies():
            values = {setting.name: {measure.name: {1: 0.5, 2: 0.6} for measure in one.measures} for setting in one.settings}
            for claim in one.claims:
                with self.subTest(f"{one.name}: {claim.text}"):
                    claim.judge(measures.Results(values))

    def test_a_page_is_made_of_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            class Places:
                docs = pathlib.Path(folder) / "docs" / "reproduction"
            Places.docs.mkdir(parents=True)
            Places.root = root
            page.write_pages(all_studies(), Places)
            text = (Places.docs.parent / "reproduction.md").read_text()
            self.assertNotIn("{{", text)
            self.assertIn("not run", text)


class Tuned(unittest.TestCase):
    labels = {0.1: "a", 0.5: "b", 2: "not run"}

    def test_what_a_step_came_to_is_the_mean_over_seeds_and_a_run_without_a_number_counts_as_it_is_said(self):
        of = note([.8, None, .6], [None, None, None])
        self.assertEqual(tuned.reached(of, self.labels, "m"), {0.1: (.8 + .6) / 2})
        self.assertEqual(tuned.reached(of, self.labels, "m", diverged=-1.0), {0.1: (.8 - 1 + .6) / 3, 0.5: -1})
        self.assertEqual(tuned.reached(of, self.labels, "other"), {})

    def test_what_the_files_hold_is_what_the_stored_numbers_of_the_tuning_studies_choose(self):
        files = ("tuned.json", "referee.json")
        before = {file: (tuned.folder / file).read_text() for file in files}
        places = runs.Places(root, "", "", "", tuned.folder)
        known = {one.name: one for one in all_studies()}
        usual = tuned.folder
        with tempfile.TemporaryDirectory() as folder:
            tuned.folder = pathlib.Path(folder)
            try:
                self.assertEqual(tuned.chosen("pame", "BEER", "nothing"), "nothing")
                (tuned.folder / "tuned.json").write_text('{"of others": {"a": 1}}')
                after(lambda name: page.stored(known[name], places).get("full"))
                made = {file: json.loads((tuned.folder / file).read_text()) for file in files}
                self.assertEqual(tuned.chosen("pame", "BEER", "nothing"), json.loads(before["tuned.json"])["pame"]["BEER"])
            finally:
                tuned.folder = usual
        self.assertEqual(made["tuned.json"].pop("of others"), {"a": 1})
        self.assertEqual(made, {file: json.loads(text) for file, text in before.items()})


if __name__ == "__main__":
    unittest.main()
