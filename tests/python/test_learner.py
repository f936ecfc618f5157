"""Learners and callbacks that are written in Python: what they may do, and what is said when they do something else."""

import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy
import rubato
from support import Centre, main, own, quadratic


class ALearner(unittest.TestCase):
    def test_is_learned_on_any_number_of_threads_to_the_same_digest(self):
        results = [rubato.run(own(), learner=lambda client: Centre(client), threads=threads, on_note=None) for threads in (1, 2, 3)]
        self.assertEqual(len({result.model_digest for result in results}), 1)
        losses = results[0].samples["loss_mean"]
        self.assertLess(losses[-1], losses[0])

    def test_is_called_one_call_at_a_time(self):
        class Watched(Centre):
            inside = 0
            most = 0

            def gradient(self, x, rows):
                Watched.inside += 1
                Watched.most = max(Watched.most, Watched.inside)
                threading.Event().wait(0.0005)
                answer = super().gradient(x, rows)
                Watched.inside -= 1
                return answer

        rubato.run(own(until=5.0), learner=Watched(), threads=3, on_note=None)
        self.assertEqual(Watched.most, 1)

    def test_in_processes_leads_to_the_digest_of_threads(self):
        def learner(client):
            return Centre(client)

        here = rubato.run(own(), learner=learner, threads=2, on_note=None)
        there = rubato.run(own(), learner=learner, threads=2, workers="processes", on_note=None)
        self.assertEqual(here.model_digest, there.model_digest)
        self.assertEqual(here.timeline_digest, there.timeline_digest)
        numpy.testing.assert_array_equal(here.samples["loss_mean"], there.samples["loss_mean"])

    def test_replays_resumes_and_is_loaded_with_the_batches_of_its_run(self):
        experiment = own(checkpoint_every=4.0)
        whole = rubato.run(experiment, learner=Centre(), on_note=None)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            rubato.run(experiment, learner=Centre(), out=place, stop_when=lambda sample: sample.seconds >= 10, on_note=None)
            self.assertTrue(rubato.replay(place, learner=Centre()).agrees)
            self.assertEqual(rubato.load(place).experiment.model.batch, 2)
            resumed = rubato.resume(place, learner=Centre(), on_note=None)
            self.assertEqual(resumed.model_digest, whole.model_digest)

    def test_that_raises_in_a_process_ends_the_run_with_its_sentence(self):
        class Failing(Centre):
            def gradient(self, x, rows):
                raise KeyError("in a process")

        with self.assertRaisesRegex(rubato.RunFailed, r"client \d+ failed in \w+ \d+ at .*KeyError: 'in a process'"):
            rubato.run(own(), learner=Failing(), threads=2, workers="processes", on_note=None)

    def test_whose_process_ends_ends_the_run(self):
        class Ending(Centre):
            def gradient(self, x, rows):
                os._exit(3)

        with self.assertRaisesRegex(rubato.RunFailed, "the process that computes for this client has ended"):
            rubato.run(own(), learner=Ending(), threads=1, workers="processes", on_note=None)

    def test_whose_run_is_killed_leaves_no_process_behind(self):
        script = """
import os, signal, rubato
from support import Centre, own
started_by = os.getpid()
class Killing(Centre):
    def gradient(self, x, rows):
        if os.getppid() == started_by:
            print(os.getpid(), flush=True)
            os.kill(started_by, signal.SIGKILL)
        return super().gradient(x, rows)
rubato.run(own(), learner=Killing(), threads=2, workers="processes", on_note=None)
"""
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(ended.returncode, -signal.SIGKILL, ended.stderr)
        self.assertTrue(ended.stdout)  # and the pipe has ended: no process holds it any more

    def test_starts_where_it_says(self):
        class Started(Centre):
            def start(self, seed):
                return numpy.full(5, 7.0)

        experiment = own(until=0.001, clients={"count": 4, "compute": {"law": "fixed", "period": 1.0, "phase": 1.0}})
        result = rubato.run(experiment, learner=Started(), on_note=None)
        numpy.testing.assert_array_equal(result.models, numpy.full((4, 5), 7.0))

    def test_computes_what_the_engine_s_own_would(self):
        class Quadratic(rubato.Learner):
            dimension, samples = 5, 1

            def __init__(self, centre):
                self.centre = centre

            def gradient(self, x, rows):
                return 0.5 * float(((x - self.centre) ** 2).sum()), x - self.centre

        there = rubato.run(quadratic())
        still = quadratic(model={"name": "quadratic", "starts": "centre"}, until=1e-6)
        centres = rubato.run(still, on_note=None).models  # models begin at the centres of their losses
        here = rubato.run(own(model={"batch": 0}), learner=lambda client: Quadratic(centres[client]), on_note=None)
        self.assertEqual(here.timeline_digest, there.timeline_digest)
        numpy.testing.assert_allclose(here.models, there.models, rtol=1e-12)

    def refuses(self, gradient, expected, **keys):
        class Faulty(Centre):
            pass

        Faulty.gradient = gradient
        with self.assertRaises(rubato.RunFailed) as raised:
            rubato.run(own(**keys), learner=Faulty(), on_note=None)
        text = str(raised.exception)
        self.assertRegex(text, r"client \d+ failed in (compute|measure) \d+ at \d+\.\d+ s: ")
        self.assertIn(expected, text)
        return raised.exception

    def test_that_returns_something_else_is_told_what_it_should_return(self):
        self.refuses(lambda self, x, rows: x, "gradient() must return (loss, g), not float64 array of shape (5,)")
        self.refuses(lambda self, x, rows: (0.0, x[:3].copy()), "must be a float64 array of 5 numbers, not a float64 array of shape (3,)")
        self.refuses(lambda self, x, rows: (0.0, x.astype("float32")), "not a float32 array of shape (5,)")
        self.refuses(lambda self, x, rows: (0.0, numpy.zeros(10)[::2]), "must be contiguous")
        self.refuses(lambda self, x, rows: (0.0, x.reshape(5, 1) * 1), "not a float64 array of shape (5, 1)")
        self.refuses(lambda self, x, rows: (0.0, [0.0] * 5), "not a list")
        self.refuses(lambda self, x, rows: ("much", x * 1), "the loss that gradient() returns must be a number, not str")
        self.refuses(lambda self, x, rows: (float("nan"), x * 1), "is not a number")
        self.refuses(lambda self, x, rows: (0.0, numpy.array([0, 1, numpy.nan, numpy.inf, 0])),
                     "has 2 numbers that are not finite, the first at place 2")
        self.refuses(lambda self, x, rows: None, "not NoneType")

    def test_that_keeps_its_views_is_told_to_copy_them(self):
        kept = []

        def keeps_x(self, x, rows):
            kept.append(x)
            return 0.0, x * 0.5

        def keeps_part(self, x, rows):
            kept.append(x[2:])
            return 0.0, x * 0.5

        for gradient in (keeps_x, keeps_part):
            self.refuses(gradient, "keeps x, or a view of it, beyond the call: keep x.copy()")
        for each in kept:
            self.assertTrue(numpy.isfinite(each).all())  # memory that is still there

    def test_that_raises_ends_the_run_with_its_exception_as_cause(self):
        def fails(self, x, rows):
            raise KeyError("such a thing")

        error = self.refuses(fails, "KeyError: 'such a thing' (test_learner.py, line ")
        self.assertIsInstance(error.__cause__, KeyError)
        self.assertIn("fails", [frame.name for frame in __import__("traceback").extract_tb(error.__cause__.__traceback__)])

    def test_needs_what_it_is_asked_for(self):
        class Nothing(rubato.Learner):
            pass

        class NoDimension(Centre):
            dimension = 0

        with self.assertRaisesRegex(rubato.RunFailed, "has no attribute 'dimension'"):
            rubato.run(own(), learner=Nothing(), on_note=None)
        with self.assertRaisesRegex((rubato.RunFailed, RuntimeError), "dimension of a learner is 0: must be at least 1"):
            rubato.run(own(), learner=NoDimension(), on_note=None)
        with self.assertRaises(TypeError):
            rubato.run(own(), learner=3)

    def test_scores_classes(self):
        class Scored(Centre):
            classes = 2

            def score(self, x, rows):
                return rubato.Score(1.5, truth=[0, 1, 1], predictions=[0, 1, 0], classes=2)

        result = rubato.run(own(), learner=Scored(), on_note=None)
        self.assertAlmostEqual(result.samples["accuracy_mean"][-1], 2 / 3)
        self.assertAlmostEqual(result.samples["loss_mean"][-1], 0.5)
        with self.assertRaises(ValueError):
            rubato.Score(1.0, truth=[0], predictions=[5], classes=2)


class ACallback(unittest.TestCase):
    def test_sees_samples_in_their_order_and_ends_a_run_at_one(self):
        ends = set()
        for threads in (1, 2, 3):
            seen = []
            result = rubato.run(quadratic(), threads=threads, on_sample=lambda sample: seen.append(sample.seconds),
                                stop_when=lambda sample: sample["seconds"] >= 6)
            self.assertEqual(seen, [0.0, 2.0, 4.0, 6.0])
            self.assertEqual(result.stopped_by, "stop_when")
            ends.add(result.model_digest)
        self.assertEqual(len(ends), 1)

    def test_that_raises_ends_the_run_with_sample_and_time(self):
        def fails(sample):
            if sample.seconds >= 4:
                raise ZeroDivisionError("of a callback")

        for name in ("on_sample", "stop_when"):
            with self.assertRaises(rubato.RunFailed) as raised:
                rubato.run(quadratic(), **{name: fails})
            self.assertRegex(str(raised.exception), name + r" failed at sample 2, 4.0 s: ZeroDivisionError: of a callback")
            self.assertIsInstance(raised.exception.__cause__, ZeroDivisionError)

    def test_cannot_run_again(self):
        with self.assertRaises(rubato.RunFailed) as raised:
            rubato.run(quadratic(), on_sample=lambda sample: rubato.run(quadratic()))
        self.assertIn("cannot be called for from a callback of another run", str(raised.exception))

    def test_ctrl_c_ends_a_run_with_its_results_so_far(self):
        timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        result = rubato.run(quadratic(until=1e7, metrics={"every_seconds": 1000.0}))
        timer.join()
        self.assertEqual(result.stopped_by, "stop")
        self.assertLess(result.samples["seconds"][-1], 1e7)

    def test_of_progress_hears_how_far_it_is(self):
        heard = []
        rubato.run(quadratic(until=3000.0), on_progress=lambda *told: heard.append(told))
        self.assertTrue(heard)
        self.assertEqual(len(heard[-1]), 4)


class ManyRuns(unittest.TestCase):
    def test_leave_no_memory_behind_also_when_they_fail(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * resource.getpagesize()

        def fails(self, x, rows):
            raise ValueError("every time")

        class Failing(Centre):
            gradient = fails

        experiment = own(until=1.0, metrics={"every_seconds": 1.0})

        def one(i):
            if i % 2:
                return rubato.run(experiment, learner=Centre(), on_note=None, threads=1)
            with self.assertRaises(rubato.RunFailed):
                rubato.run(experiment, learner=Failing(), on_note=None, threads=1)

        count = int(os.environ.get("RUBATO_RUNS", "200"))
        for i in range(count // 2):
            one(i)
        gc.collect()
        before = resident()
        for i in range(count):
            one(i)
        gc.collect()
        self.assertLess(resident() - before, 8 << 20)


if __name__ == "__main__":
    main()
