"""The engine. What is documented is the package around it."""

from typing import Any, Sequence

class Score:
    """What a model did on some samples: what score() of a learner returns."""

    def __init__(self, loss_sum: float, samples: int = 0, *, truth: Any = None, predictions: Any = None, classes: int = 0) -> None: ...
    @property
    def samples(self) -> int: ...
    @property
    def correct(self) -> int: ...
    @property
    def loss_sum(self) -> float: ...
    @property
    def classes(self) -> int: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def mean_loss(self) -> float: ...

class Work:
    """What a call of an algorithm may use while it lasts."""

    samples: int
    local_batches: int
    def gradient(self, x: Any, k: int) -> Any: ...
    def descend(self, x: Any, k: int, eta: float) -> None: ...
    def batch(self, number: int) -> Any: ...
    def uniforms(self, number: int, count: int) -> Any: ...
    def noise(self, number: int, count: int, deviation: float) -> Any: ...
    def coordinates(self, number: int, peer: int, dimension: int, count: int) -> Any: ...

class Entry:
    """One message of a step."""

    peer: int
    sequence: int
    weight: float
    place: int

class Step:
    """One thing that a client does."""

    kind: str
    with_gradient: bool
    phase: int
    index: int
    entries: Sequence[Entry]

class Message:
    """One message of a window."""

    sender: int
    sequence: int
    weight: float
    age: float
    model: Any
    def common(self, i: int = 0) -> Any: ...
    def own(self, i: int = 0) -> Any: ...

def __getattr__(name: str) -> Any: ...
