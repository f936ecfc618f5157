"""Algorithms that are written in Python lead to the models of the engine's, replay, resume, and are known to the command."""

import json
import os
import runpy
import subprocess
import sys
import tempfile
import unittest

import numpy
import rubato
from support import command, main, quadratic, root

example = os.path.join(root, "python", "examples", "own_algorithm.py")
runpy.run_path(example)


def draco(**keys):
    values = {"until": 60.0, "precision": "float64", "clients": {"count": 8}, "topology": {"kind": "ring"},
              "channel": {"kind": "random", "delay": {"law": "exponential", "mean": 0.05}, "loss": 0.02},
              "unification": {"period": 10.0}, "algorithm": {"name": "draco", "self_apply": True}, "data": {"name": "digits"},
              "model": {"name": "softmax", "batch": 16}, "metrics": {"every_seconds": 3.0}}
    values.update(keys)
    return rubato.Experiment(values)


class DracoInPython(unittest.TestCase):
    def test_has_forty_lines_at_most(self):
        with open(example, encoding="utf-8") as file:
            text = file.read()
        lines = text[text.index("@rubato.register"):text.index('if __name__')].strip().splitlines()
        self.assertLessEqual(len(lines), 40)

    def test_has_the_digests_of_the_engine_s_on_one_and_on_two_threads(self):
        engine = rubato.run(draco(), threads=1, on_note=None)
        for threads in (1, 2):
            here = rubato.run(draco().copy({"algorithm.name": "my_draco"}), threads=threads, on_note=None)
            self.assertEqual(here.model_digest, engine.model_digest)
            self.assertEqual(here.timeline_digest, engine.timeline_digest)

    def test_has_them_in_float32_too(self):
        engine = rubato.run(draco(precision="float32"), on_note=None)
        here = rubato.run(draco(precision="float32").copy({"algorithm.name": "my_draco"}), on_note=None)
        self.assertEqual(here.model_digest, engine.model_digest)

    def test_replays_and_resumes(self):
        experiment = draco(checkpoint_every=10.0).copy({"algorithm.name": "my_draco"})
        whole = rubato.run(experiment, on_note=None)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            stopped = rubato.run(experiment, out=place, stop_when=lambda sample: sample.seconds >= 33, on_note=None)
            self.assertTrue(rubato.replay(place).agrees)
            self.assertLess(stopped.samples["seconds"][-1], 40)
            resumed = rubato.resume(place, on_note=None)
            self.assertEqual(resumed.model_digest, whole.model_digest)
            self.assertEqual(resumed.timeline_digest, whole.timeline_digest)
            self.assertTrue(rubato.replay(place).agrees)

    def test_is_compared_with_others(self):
        comparison = rubato.compare([draco(until=20.0), draco(until=20.0).copy({"algorithm.name": "my_draco"}, name="mine")], seeds=2,
                                    on_note=None)
        self.assertEqual(comparison.failures, [])
        rows = comparison.table["settings"]
        self.assertEqual(len(rows), 2)

    def test_is_known_to_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "file.toml")
            draco(until=20.0).save(file)
            environment = {**os.environ, "RUBATO_PYTHON": sys.executable}
            done = subprocess.run([command, "run", file, "--python", example, "--set", "algorithm.name=my_draco", "--json", "--quiet"],
                                  capture_output=True, text=True, env=environment, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            plain = subprocess.run([command, "run", file, "--json", "--quiet"], capture_output=True, text=True, check=False)
            self.assertEqual(json.loads(done.stdout)["model_digest"], json.loads(plain.stdout)["model_digest"])


class AnAlgorithm(unittest.TestCase):
    def registered(self, **members):
        def compute(self, work, step):
            if step.with_gradient:
                work.descend(self.model, step.index, self.given["eta"])

        def publish(self, work, step):
            return self.model.copy()

        def merge(self, work, step, messages):
            x = self.model.copy()
            for message in messages:
                self.model += message.weight * (message.model - x)

        parts = {"name": "of_a_test", "options": {"eta": 0.1}, "needs": rubato.Needs(keep="newest"), "weights_of_merge": "doubly",
                 "compute": compute, "publish": publish, "merge": merge}
        parts.update(members)
        return rubato.register(type("OfATest", (rubato.Algorithm,), parts))

    def run_it(self, **keys):
        return rubato.run(quadratic(algorithm={"name": "of_a_test"}, **keys), on_note=None)

    def test_has_options_that_are_checked_like_those_of_others(self):
        self.registered(options={"eta": rubato.Option(0.1, "step size", above=0, high=1), "mode": rubato.Option("a", words=("a", "b"))})
        self.run_it()
        bad = quadratic(algorithm={"name": "of_a_test", "eta": 2.0, "mode": "c", "beta": 1})
        with self.assertRaises(rubato.InvalidExperiment) as raised:
            bad.check()
        self.assertEqual({fault.key for fault in raised.exception.faults}, {"algorithm.eta", "algorithm.mode", "algorithm.beta"})

    def test_may_be_defined_again(self):
        self.registered()
        first = self.run_it().model_digest

        def compute(self, work, step):
            self.model[:] = 3.0

        self.registered(compute=compute, options={"other": 2})
        result = self.run_it()
        self.assertNotEqual(result.model_digest, first)
        numpy.testing.assert_allclose(result.models, 3.0)
        with self.assertRaises(rubato.InvalidExperiment):
            quadratic(algorithm={"name": "of_a_test", "eta": 0.1}).check()

    def test_cannot_take_the_name_of_the_engine_s(self):
        with self.assertRaisesRegex(ValueError, 'algorithm.name = "draco" is in the catalogue already'):
            self.registered(name="draco")
        for name in ("", "a b", 3):
            with self.assertRaises(ValueError):
                self.registered(name=name)
        with self.assertRaises(TypeError):
            rubato.register(type("Nothing", (rubato.Algorithm,), {"name": "nothing"}))
        with self.assertRaisesRegex(ValueError, "keep"):
            self.registered(needs=rubato.Needs(keep="all of them"))

    def refuses(self, expected, **members):
        self.registered(**members)
        with self.assertRaises(rubato.RunFailed) as raised:
            self.run_it()
        self.assertIn(expected, str(raised.exception))
        return str(raised.exception)

    def test_that_returns_something_else_is_told_what_it_should_return(self):
        self.refuses("publish() must return an array, a tuple of arrays or a rubato.Payload, not NoneType",
                     publish=lambda self, work, step: None)
        self.refuses("what publish() returns must be a float64 array", publish=lambda self, work, step: self.model.astype("int32"))
        self.refuses("must be contiguous", publish=lambda self, work, step: numpy.zeros(10)[::2])
        text = self.refuses("x of gradient() must be a float64 array of 5 numbers",
                            compute=lambda self, work, step: work.gradient(numpy.zeros(4), step.index))
        self.assertRegex(text, r"client \d+ failed in compute \d+ at ")
        self.refuses("x of descend() must be writable", merge=lambda self, work, step, messages: work.descend(messages[0].model, 0, 0.1))

    def test_may_not_use_its_work_after_the_call(self):
        kept = []

        def compute(self, work, step):
            kept.append(work)
            kept[0].gradient(self.model, step.index)

        self.refuses("work is of use while the call lasts that it was handed to", compute=compute)

    def test_may_keep_what_it_has_received(self):
        kept = []

        def merge(self, work, step, messages):
            kept.extend(message.model for message in messages)

        self.registered(merge=merge)
        self.run_it()
        self.assertTrue(kept)
        self.assertTrue(all(numpy.isfinite(each).all() for each in kept))
        with self.assertRaises(ValueError):
            kept[0][0] = 1.0

    def test_sends_to_each_receiver_what_is_its_own(self):
        heard = []

        def publish(self, work, step):
            return rubato.Payload(common=(self.model.copy(),), own=[(numpy.full(2, float(entry.peer)),) for entry in step.entries])

        def merge(self, work, step, messages):
            heard.extend((self.client.number, float(message.own()[0])) for message in messages)

        self.registered(publish=publish, merge=merge, fits=lambda self, common, own: len(common) == 1 and len(own) == 1)
        self.run_it()
        self.assertTrue(heard)
        self.assertTrue(all(number == own for number, own in heard))

    def test_keeps_state_of_any_plain_kind(self):
        def __init__(self):
            self.state = {"list": [1, 2.5, None, True, "word"], "array": numpy.arange(6).reshape(2, 3), "pair": (1, 2)}
            self.count = numpy.int64(0)

        def compute(self, work, step):
            self.count += 1
            assert self.state["pair"] == (1, 2) and self.state["array"].shape == (2, 3)
            self.model += self.count

        self.registered(__init__=__init__, compute=compute)
        experiment = quadratic(algorithm={"name": "of_a_test"}, checkpoint_every=5.0)
        whole = rubato.run(experiment, on_note=None)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "run")
            rubato.run(experiment, out=place, stop_when=lambda sample: sample.seconds >= 8, on_note=None)
            self.assertEqual(rubato.resume(place, on_note=None).model_digest, whole.model_digest)

    def test_whose_state_cannot_be_kept_is_told_what_can(self):
        def __init__(self):
            self.state = {1, 2}

        self.registered(__init__=__init__)
        with self.assertRaisesRegex(rubato.RunFailed, r"set cannot be archived: archive\(\) of an algorithm returns None, numbers"):
            with tempfile.TemporaryDirectory() as folder:
                rubato.run(quadratic(algorithm={"name": "of_a_test"}, checkpoint_every=5.0), out=os.path.join(folder, "run"), on_note=None)

    def test_may_make_sense_under_every_protocol(self):
        every = ("push", "rounds", "server", "token", "pull", "tree", "pair")
        self.registered(runs=every)
        for kind in every:
            try:
                quadratic(algorithm={"name": "of_a_test"}, protocol={"kind": kind}).check()
            except rubato.InvalidExperiment as bad:
                self.assertNotIn("does not run under", str(bad))
        with self.assertRaisesRegex(ValueError, "runs: a protocol is named twice"):
            self.registered(runs=every + ("push",))

    def test_runs_in_rounds_and_in_real_time(self):
        self.registered()
        self.assertTrue(self.run_it(protocol={"kind": "rounds"}).model_digest)
        result = rubato.run(quadratic(algorithm={"name": "of_a_test"}, until=1.0), clock="wall", on_note=None)
        self.assertGreater(result.summary["messages"]["delivered"], 0)


if __name__ == "__main__":
    main()
