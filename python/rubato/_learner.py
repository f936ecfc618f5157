"""Learner: what clients learn, written in Python."""

import inspect
import os
import runpy

own_tables = ("data", "model")
"""Tables of an experiment that are not looked at where there are learners."""


class Learner:
    """The task of a client, or of all of them: a loss over a flat vector x, and the samples that it is made of.

    A class of your own has

    * ``dimension``: numbers of the model, and ``samples``: how many samples the client has; both are attributes;
    * ``gradient(x, rows) -> (loss, g)``: the mean loss over these samples at x, and its gradient, an array like x;
    * ``score(x, rows)``: a rubato.Score, or the mean loss, over these samples, or over those kept apart for tests where rows is None.
      Without it models are scored by gradient() over all samples;
    * ``start(seed)``: the first model of all clients; without it they start at 0;
    * ``classes`` and ``predict(x, rows)``: class probabilities, for algorithms that compare them.

    ``x`` is a float32 or float64 array, as experiment.precision says, that belongs to Rubato: it shows other numbers in the next call,
    so keep x.copy() if you must. ``rows`` is an int64 array of sample numbers, 0 .. samples - 1, repetitions allowed. What is returned
    is copied. Calls of one object come one at a time, on several threads.

    Instead of gradient() a learner may have ``attach(x, g)``, called once with arrays that it keeps, and ``loss_at(rows) -> loss``,
    which leaves the gradient at x in g. Learners of several clients that share an object, such as a module, name it ``shared``:
    then attach() is called on that object, once, and none of them is called while another is.
    """

    dimension: int
    samples: int
    classes: int = 0

    def gradient(self, x, rows):
        """(loss, g): the mean loss over these samples at x, and its gradient."""
        raise NotImplementedError("a learner needs gradient(x, rows)")

    def score(self, x, rows):
        """A Score of x on these samples, or on those kept apart for tests where rows is None."""
        raise NotImplementedError

    def start(self, seed):
        """The first model of all clients."""
        raise NotImplementedError

    def predict(self, x, rows):
        """Class probabilities, a row for each sample."""
        raise NotImplementedError

    def attach(self, x, g):
        """Instead of gradient(), with loss_at(): arrays to keep."""
        raise NotImplementedError

    def loss_at(self, rows):
        """Instead of gradient(), with attach(): the loss; the gradient goes to g."""
        raise NotImplementedError


def place_of(learner):
    """FILE:NAME of a learner, or of a function that makes one, for another process; such a text is left as it is."""
    if isinstance(learner, str):
        if not all(learner.rpartition(":")[::2]):
            raise ValueError(f"learner = {learner!r}: must be FILE:NAME")
        return learner
    name = getattr(learner, "__qualname__", "")
    try:
        file = inspect.getsourcefile(learner)
    except TypeError:
        file = None
    if not file or not name.isidentifier():
        raise TypeError("another process finds a learner by its file and name: give a class or a function of a module, or FILE:NAME")
    return f"{os.path.abspath(file)}:{name}"


def at_place(place):
    """What place_of() has named: the file is run."""
    file, _, name = place.rpartition(":")
    names = runpy.run_path(file, run_name=os.path.splitext(os.path.basename(file))[0]) if os.path.exists(file) else {}
    if name not in names:
        raise ValueError(f"--learner {place}: there is no such file or name")
    return names[name]


def factory_of(learner):
    """A function from a client's number to its learner, of one learner for all or such a function."""
    if isinstance(learner, type):
        return learner
    if hasattr(learner, "for_client"):
        return learner.for_client
    if isinstance(learner, Learner) or hasattr(learner, "gradient") or hasattr(learner, "loss_at"):
        return lambda client: learner
    if callable(learner):
        return learner
    raise TypeError("a learner is a rubato.Learner, or a function that makes one for a client's number")
