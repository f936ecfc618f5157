"""What Rubato raises, and how a Python exception is told in one sentence."""

import os
import traceback
from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong with an experiment."""

    sentence: str
    """The whole of it: ``experiment.toml:12: clients.compute.rate = -1: must be greater than 0``."""
    key: str
    """Dotted name of the key; empty where the fault is not about one."""
    value: str
    """The value as TOML; empty where there is none."""
    allowed: str
    """What is wrong, or what is allowed."""
    suggestion: str
    """What may have been meant; may be empty."""
    file: str
    """The file that has it, or ``experiment``."""
    line: int
    """From 1; 0 where there is none."""


class InvalidExperiment(ValueError):
    """An experiment that cannot be run as it is written. The text has a line for each fault, all of them at once."""

    def __init__(self, text: str, faults: "list[Fault] | None" = None):
        super().__init__(text)
        self.faults = list(faults or [])
        """Each fault by itself."""


class RunFailed(RuntimeError):
    """A client, a callback or the disk failed in the middle of a run. The text says which client, in which step and when; what
    Python raised there is the ``__cause__``."""


def invalid(text, faults):
    return InvalidExperiment(text, [Fault(*fault) for fault in faults])


def failed(text, cause):
    error = RunFailed(text)
    error.__cause__ = cause
    return error


def sentence_of(error):
    """``ValueError: no such row (learner.py, line 12, in gradient)``"""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return text
    last = frames[-1]
    return f"{text} ({os.path.basename(last.filename)}, line {last.lineno}, in {last.name})"
