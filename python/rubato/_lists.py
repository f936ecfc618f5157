"""What there is: graphs, algorithms, models, data sets."""

from . import _core
from ._experiment import experiment_of


class Topology:
    """The graph of an experiment."""

    def __init__(self, clients, is_directed, links, text):
        self.clients: int = clients
        """How many nodes it has."""
        self.is_directed: bool = is_directed
        """Else every link has its reverse."""
        self.links: "list[tuple[int, int]]" = links
        """(source, target) of each link."""
        self.text: str = text
        """Degrees, connection and matrices, as ``rubato topology`` prints them."""

    def __repr__(self):
        return self.text


def topology(experiment) -> Topology:
    """The graph of an experiment: which clients can send to which."""
    return Topology(*_core.topology(experiment_of(experiment)._judged()[0]))


def _list(what):
    names, last = {}, None
    for name, meaning in _core.list_of(what):
        if name:
            last = name
            names[name] = meaning
        elif last:
            names[last] += "\n" + meaning
    return names


def algorithms() -> "dict[str, str]":
    """The algorithms that an experiment can name, with what each does; those that Python has registered among them."""
    return _list("algorithms")


def models() -> "dict[str, str]":
    """The models that an experiment can name."""
    return _list("models")


def datasets() -> "dict[str, str]":
    """The data sets that an experiment can name, and where they were found."""
    return _list("datasets")
