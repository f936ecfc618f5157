"""Experiments, runs and results from Python are those of the command."""

import json
import os
import tempfile
import threading
import unittest

import numpy
import rubato
from support import Centre, command, main, own, quadratic, root, run_command


class AnExperiment(unittest.TestCase):
    def test_says_all_that_is_wrong_at_once_in_the_sentences_of_a_file(self):
        experiment = quadratic()
        experiment.clients.count = 0
        experiment.algorithm.eta = -1
        experiment["topology.kind"] = "rign"
        with self.assertRaises(rubato.InvalidExperiment) as raised:
            experiment.check()
        text = str(raised.exception)
        for sentence in ("experiment: clients.count = 0: must be at least 1", "experiment: algorithm.eta = -1: must be greater than 0",
                         'did you mean ring?'):
            self.assertIn(sentence, text)
        self.assertEqual({fault.key for fault in raised.exception.faults}, {"clients.count", "algorithm.eta", "topology.kind"})

    def test_names_line_and_file_of_what_is_wrong_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "bad.toml")
            with open(file, "w", encoding="utf-8") as out:
                out.write("until = 10\n[clients]\ncount = -3\n")
            with self.assertRaises(rubato.InvalidExperiment) as raised:
                rubato.run(file)
            told = run_command("run", file).stderr.strip()
            self.assertEqual(str(raised.exception), told)
            self.assertIn("bad.toml:3: clients.count = -3", told)

    def test_refuses_a_key_that_there_is_not_when_it_is_set(self):
        experiment = quadratic()
        with self.assertRaisesRegex(AttributeError, "clients has no key cuont; did you mean count?"):
            experiment.clients.cuont = 3
        with self.assertRaisesRegex(AttributeError, "an experiment has no key sed; did you mean seed?"):
            experiment.sed = 3
        with self.assertRaises(TypeError):
            experiment.until = object()

    def test_reads_defaults_and_what_was_set(self):
        experiment = rubato.Experiment()
        self.assertEqual(experiment.seed, 1)
        experiment.clients.compute.law = "fixed"
        experiment.channel.delay = {"law": "exponential", "mean": 0.5}
        self.assertEqual(experiment.clients.compute.law, "fixed")
        self.assertEqual(experiment["channel.delay"]["mean"], 0.5)
        self.assertIn("count", dir(experiment.clients))
        self.assertIn("step size", type(quadratic().algorithm).eta.__doc__)

    def test_drops_what_another_choice_does_not_know(self):
        experiment = quadratic(topology={"kind": "erdos_renyi", "p": 0.9})
        experiment.topology.kind = "complete"
        self.assertNotIn("\np =", experiment.to_toml())

    def test_is_the_same_from_a_file_a_dict_and_attributes(self):
        given = quadratic()
        by_attributes = rubato.Experiment(until=20.0, precision="float64")
        by_attributes.clients.count = 4
        by_attributes.topology.kind = "ring"
        by_attributes.algorithm.name = "dpsgd"
        by_attributes.algorithm.eta = 0.1
        by_attributes.data = {"name": "quadratic", "dimension": 5}
        by_attributes.model.name = "quadratic"
        by_attributes.metrics.every_seconds = 2.0
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "file.toml")
            given.save(file)
            digests = [rubato.run(each).model_digest for each in (given, by_attributes, file, given.to_dict())]
        self.assertEqual(len(set(digests)), 1)


class ARun(unittest.TestCase):
    def test_has_the_digests_of_the_command(self):
        files = ["examples/quickstart.toml", "examples/algorithms/sgp.toml", "examples/algorithms/choco.toml",
                 "examples/algorithms/fedavg.toml", "examples/algorithms/digest.toml"]
        for name in files:
            with self.subTest(name):
                experiment = rubato.Experiment(os.path.join(root, name))
                experiment.until = 40.0
                here = rubato.run(experiment, threads=2, progress=False, on_note=None)
                there = json.loads(run_command("run", os.path.join(root, name), "--set", "until=40.0", "--json", "--quiet").stdout)
                self.assertEqual(here.model_digest, there["model_digest"])
                self.assertEqual(here.timeline_digest, there["timeline_digest"])

    def test_has_samples_clients_and_models_as_numbers(self):
        result = rubato.run(quadratic(), links=True)
        self.assertEqual(result.models.shape, (4, 5))
        self.assertEqual(result.models.dtype, numpy.float64)
        self.assertEqual(list(result.samples["seconds"]), [2.0 * i for i in range(11)])
        self.assertEqual(len(result.clients["client"]), 4)
        self.assertEqual(len(result.links["sender"]), 8)
        self.assertLess(result.samples["consensus"][-1], 10)
        self.assertEqual(result.summary["clients"], 4)
        self.assertFalse(result.was_stopped)
        self.assertIn("model_digest", repr(result))
        self.assertIn("<iframe", result._repr_html_())
        frame = result.to_pandas()
        self.assertEqual(len(frame), 11)
        self.assertEqual(frame["seconds"].iloc[-1], 20.0)

    def test_that_was_stopped_says_so_also_where_it_is_not_known_by_what(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            rubato.run(quadratic(), out=place, on_note=None, stop_when=lambda sample: sample.seconds >= 4)
            self.assertEqual((rubato.load(place).was_stopped, rubato.load(place).stopped_by), (True, "stop_when"))
            file = os.path.join(place, "summary.json")
            with open(file, encoding="utf-8") as text:
                summary = json.load(text)
            with open(file, "w", encoding="utf-8") as text:
                json.dump({**summary, "stopped_by": None}, text)
            self.assertEqual((rubato.load(place).was_stopped, rubato.load(place).stopped_by), (True, ""))
            self.assertIn("stopped early", repr(rubato.load(place)))

    def test_leaves_the_folder_of_the_command_which_loads_and_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            result = rubato.run(quadratic(), out=place)
            self.assertTrue(os.path.exists(os.path.join(place, "report.html")))
            loaded = rubato.load(place)
            self.assertEqual(loaded.model_digest, result.model_digest)
            numpy.testing.assert_array_equal(loaded.models, result.models)
            numpy.testing.assert_array_equal(loaded.samples["loss_mean"], result.samples["loss_mean"])
            self.assertEqual(repr(loaded), repr(result))
            self.assertEqual(loaded.experiment.to_toml(), result.experiment.to_toml())
            self.assertTrue(rubato.replay(place).agrees)
            self.assertEqual(run_command("replay", place).returncode, 0)
            self.assertEqual(run_command("check", place).returncode, 0)

    def test_goes_on_from_a_checkpoint_with_the_digests_of_a_whole_run(self):
        experiment = quadratic(checkpoint_every=4.0)
        whole = rubato.run(experiment)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            stopped = rubato.run(experiment, out=place, stop_when=lambda sample: sample.seconds >= 10)
            self.assertEqual(stopped.stopped_by, "stop_when")
            resumed = rubato.resume(place, on_note=None)
            self.assertEqual(resumed.model_digest, whole.model_digest)
            self.assertEqual(resumed.timeline_digest, whole.timeline_digest)

    def test_lets_other_threads_of_python_go_on(self):
        counted = []
        ends = threading.Event()

        def count():
            while not ends.is_set():
                counted.append(1)
                ends.wait(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        rubato.run(quadratic(until=3000.0), threads=1)
        ends.set()
        thread.join()
        self.assertGreater(len(counted), 5)

    def test_in_real_time_has_a_pace(self):
        result = rubato.run(quadratic(until=1.0, metrics={"every_seconds": 0.5}), clock="wall", on_note=None)
        self.assertGreaterEqual(result.wall_seconds, 0.9)

    def test_refuses_what_it_does_not_know(self):
        with self.assertRaises(TypeError):
            rubato.run(3)
        for threads in (-1, 0, 2000):
            for act in (rubato.run, rubato.compare):
                with self.assertRaisesRegex(ValueError, f"threads = {threads}: must be at least 1 and at most 1024"):
                    act(quadratic(), threads=threads)
        with self.assertRaisesRegex(TypeError, "threads = 1.5: must be a whole number"):
            rubato.run(quadratic(), threads=1.5)
        for values in (0.1, "ring"):
            with self.assertRaisesRegex(TypeError, "grid: algorithm.eta = .*: must be a list of values"):
                rubato.compare(quadratic(), grid={"algorithm.eta": values})
        with self.assertRaisesRegex(AttributeError, "there is no column accuracy; there are: sample, seconds, events"):
            rubato.run(quadratic(), on_note=None).samples.accuracy
        with self.assertRaises(FileNotFoundError):
            rubato.run("/there/is/no/such.toml")
        with tempfile.NamedTemporaryFile(suffix=".toml") as file:
            file.write(b"name = 'caf\xe9'\n")
            file.flush()
            with self.assertRaisesRegex(rubato.InvalidExperiment, "is not TOML: its text is not UTF-8"):
                rubato.run(file.name)


class TheLists(unittest.TestCase):
    def test_are_those_of_the_command(self):
        self.assertIn("draco", rubato.algorithms())
        self.assertIn("softmax", rubato.models())
        self.assertIn("digits", rubato.datasets())
        graph = rubato.topology(quadratic())
        self.assertEqual(graph.clients, 4)
        self.assertEqual(len(graph.links), 8)
        self.assertIn("strongly connected", graph.text)


class AComparison(unittest.TestCase):
    def test_is_that_of_the_command(self):
        comparison = rubato.compare({"plain": quadratic(), "sgp": quadratic(algorithm={"name": "sgp", "eta": 0.1})}, seeds=2,
                                    grid={"algorithm.eta": [0.05, 0.1]}, on_note=None)
        self.assertEqual(len(comparison.rows["setting"]), 4)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "plain.toml")
            quadratic().save(file)
            told = json.loads(run_command("compare", file, "--seeds", "2", "--grid", "algorithm.eta=0.05,0.1", "--json").stdout)
        mine = [row for row in comparison.table["settings"] if row["setting"].startswith("plain")]
        self.assertEqual([row["setting"] for row in mine], [row["setting"] for row in told["settings"]])
        self.assertEqual([row["loss"] for row in mine], [row["loss"] for row in told["settings"]])
        self.assertGreater(len(comparison.to_pandas()), 8)

    def test_takes_learners_of_python_s_one_for_each_run(self):
        made = []

        def learners(experiment):
            made.append((experiment.name, experiment.seed))
            return Centre()

        asked = {name: own(algorithm={"name": name, "eta": 0.1}) for name in ("dpsgd", "sgp")}
        comparison = rubato.compare(asked, seeds=2, threads=2, learners=learners, on_note=None)
        self.assertEqual(comparison.failures, [])
        self.assertEqual(len(made), 4)
        self.assertEqual({seed for _, seed in made}, {1, 2})
        for name, experiment in asked.items():
            alone = rubato.run(experiment, learner=Centre(), on_note=None)
            curves = comparison.curves
            mine = (curves["setting"] == name) & (curves["seed"] == 1)
            numpy.testing.assert_allclose(curves["loss"][mine], alone.samples["loss_mean"], rtol=1e-5)

    def test_tells_which_runs_learners_failed_in_and_goes_on(self):
        class Failing(Centre):
            def gradient(self, x, rows):
                raise KeyError("at once")

        def learners(experiment):
            if experiment.seed == 2:
                raise ValueError("not for this seed")
            return Failing() if experiment.seed == 3 else Centre()

        comparison = rubato.compare(own(), seeds=3, learners=learners, on_note=None)
        self.assertEqual(len(comparison.failures), 2)
        self.assertIn("ValueError: not for this seed", comparison.failures[0])
        self.assertRegex(comparison.failures[1], r"client \d+ failed in .*KeyError: 'at once'")

    def test_refuses_one_learner_for_runs_beside_each_other(self):
        refused = threading.Event()

        class Waiting(Centre):
            def gradient(self, x, rows):
                refused.wait(60)
                return super().gradient(x, rows)

        one = Waiting()
        comparison = rubato.compare(own(), seeds=2, threads=2, learners=lambda experiment: one, on_note=None,
                                    on_progress=lambda share, seconds: refused.set() if share >= 0.5 else None)
        self.assertEqual(len(comparison.failures), 1)
        self.assertIn("this learner is at work in another run: each needs one of its own", comparison.failures[0])


if __name__ == "__main__":
    main()
