"""Data sets as the engine reads and deals them, for learners that are written in Python."""

import numpy

from . import _core
from ._experiment import experiment_of
from ._learner import own_tables


class Data:
    """A data set, and which client has which rows."""

    def __init__(self, x, y, test_x, test_y, shape, classes, rows, test_rows, notes=()):
        self.x: numpy.ndarray = x
        """Training rows, a sample each."""
        self.y: numpy.ndarray = y
        """Their classes, or the numbers to be learned."""
        self.test_x: numpy.ndarray = test_x
        """Test rows."""
        self.test_y: numpy.ndarray = test_y
        """Likewise."""
        self.shape: "tuple[int, ...]" = tuple(shape)
        """Channels, height and width of one row."""
        self.classes: int = classes
        """0: numbers are learned."""
        self.rows: "list[numpy.ndarray]" = rows
        """Training rows of each client."""
        self.test_rows: "list[numpy.ndarray]" = test_rows
        """Test rows of each client; empty: all have all."""
        self.notes: "list[str]" = list(notes)
        """Sentences about the data."""

    def __repr__(self):
        return f"<Data: {len(self.x)} + {len(self.test_x)} rows of {self.x.shape[1:]}, {self.classes} classes, {len(self.rows)} clients>"


def _own_data(experiment):
    return experiment_of(experiment)._judged(own=own_tables)[0]


def data(experiment, data_dir=None) -> Data:
    """The data set that an experiment names, read and dealt to its clients as [data.partition] says."""
    (x, y), (test_x, test_y), shape, classes, rows, test_rows, notes = _core.data(_own_data(experiment), str(data_dir or ""))
    return Data(x, y, test_x, test_y, shape, classes, rows, test_rows, notes)


def deal(experiment, labels) -> "list[numpy.ndarray]":
    """Deals rows of your own to the clients of an experiment as its [data.partition] says: the rows of each client. Labels are classes
    from 0; where numbers are learned give zeros."""
    labels = numpy.asarray(labels)
    if labels.ndim != 1 or not numpy.issubdtype(labels.dtype, numpy.integer) or (len(labels) and labels.min() < 0):
        raise ValueError("labels must be whole numbers from 0, one for each row")
    return _core.deal(_own_data(experiment), labels.astype(numpy.uint32), int(labels.max()) + 1 if len(labels) else 1)
