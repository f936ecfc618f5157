"""What the tests of the Python package share."""

import os
import subprocess
import unittest

import numpy
import rubato

root = os.environ["RUBATO_SOURCE_DIR"]
command = os.environ["RUBATO_COMMAND"]


def quadratic(**keys):
    """A small experiment that needs no data."""
    values = {"until": 20.0, "precision": "float64", "clients": {"count": 4}, "topology": {"kind": "ring"},
              "algorithm": {"name": "dpsgd", "eta": 0.1}, "data": {"name": "quadratic", "dimension": 5}, "model": {"name": "quadratic"},
              "metrics": {"every_seconds": 2.0}}
    values.update(keys)
    return rubato.Experiment(values)


class Centre(rubato.Learner):
    """f(x) = 1/2 |x - c|^2 with a sample for each c."""

    dimension = 5
    samples = 6

    def __init__(self, client=0):
        self.centres = numpy.random.default_rng(client).normal(size=(self.samples, self.dimension))

    def gradient(self, x, rows):
        apart = x - self.centres[rows]
        return 0.5 * float((apart * apart).sum()) / len(rows), apart.mean(axis=0)


def own(**keys):
    """A small experiment for learners that are written in Python."""
    values = {"until": 20.0, "precision": "float64", "clients": {"count": 4}, "topology": {"kind": "ring"},
              "algorithm": {"name": "dpsgd", "eta": 0.1}, "model": {"batch": 2}, "metrics": {"every_seconds": 2.0}}
    values.update(keys)
    return rubato.Experiment(values)


def run_command(*arguments):
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False)


def main():
    unittest.main(verbosity=1)
