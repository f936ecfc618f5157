"""Algorithm: what a client does with models, written in Python."""

import math
import os
from typing import Any, NamedTuple

import numpy

from . import _core, _keys


class Client(NamedTuple):
    """Where a client stands among the others."""

    number: int
    """Which client it is."""
    senders: "tuple[int, ...]"
    """Clients that can send to it, ascending."""
    receivers: "tuple[int, ...]"
    """Clients that it can send to, ascending."""
    samples: "tuple[int, ...]"
    """Samples of every client."""
    compute_chance: float
    """Of a gradient in a computation."""
    centre: int
    """The client that gathers and scatters, where the protocol has one."""
    in_rounds: bool
    """Barriers hold all clients together."""
    loses_nothing: bool
    """Every message is merged by its receiver, once."""
    sends_per_link: bool
    """Each link has a transmit timer."""
    dtype: Any
    """Of models: float32 or float64."""


class Needs:
    """What an algorithm asks of its protocol; the defaults are those of gossip."""

    def __init__(self, *, sends=True, opens_with_compute=False, send_only_if_computed=False, send_every=1, send_times=1,
                 asks_before_sending=False, keep="all", absorb="window", may_pause=False, partial="none", in_order=False,
                 fixes_model_at_start=False, acknowledgements=False):
        """
        sends                  False: it publishes nothing
        opens_with_compute     a first computation at the very start
        send_only_if_computed  a transmit tick without a computation since the last one sends nothing
        send_every, send_times coupled transmissions: after every so many computations, so many times
        asks_before_sending    decide() is asked at every transmit tick
        keep                   which messages of a window are merged: "all", the "newest" of each sender, "newest_ever"
        absorb                 when: at the close of the "window", or right before a "compute"
        may_pause              rounds without exchanges make sense
        partial                what may be left out of an exchange in rounds: "none", "receivers", "senders", "pairs", "clients"
        in_order               messages of a link only in their order
        fixes_model_at_start   begin() is called before each computation
        acknowledgements       what no receiver has acknowledged comes back to reclaim()
        """
        given = dict(locals())
        self._values = {name: given[name] for name in self._defaults}

    _defaults = __init__.__kwdefaults__

    def __repr__(self):
        changed = {name: value for name, value in self._values.items() if value != self._defaults[name]}
        return f"Needs({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


class Option(NamedTuple):
    """An option of an algorithm: a key of [algorithm]."""

    default: Any
    """Its type is the option's: a number, a whole number, True or False, a word."""
    meaning: str = ""
    """For lists of keys."""
    low: float = -math.inf
    """Less is refused."""
    high: float = math.inf
    """More is refused."""
    above: "float | None" = None
    """Instead of `low`: this and less is refused."""
    words: "tuple[str, ...]" = ()
    """Of a word: which there are."""


class Payload:
    """What publish() may return instead of one array."""

    def __init__(self, common=(), own=None, paper_bits=0.0):
        self.common = tuple(common)
        """At most three arrays that all receivers share."""
        self.own = own
        """A tuple of arrays for each receiver, in the order of step.entries; None: there are none."""
        self.paper_bits = float(paper_bits)
        """What a paper would count for one message; 0: 64 a number."""


class Algorithm:
    """What a client does with its model and its messages. It sees no clock. A class of your own has compute, publish and merge, and
    is made known with ``rubato.register``, which may stand above it as a decorator. One object is made for each client.

    Its ``name`` is what experiments say as algorithm.name. ``options`` names its keys of [algorithm]: ``{"eta": Option(0.05, above=0)}``,
    or plain defaults. ``needs`` is what it asks of its protocol. ``weights_of_merge`` and ``weights_of_share`` are those of messages in merge and publish
    steps: "none", "neighbours", "row", "column", "doubly" or "averaging". ``runs`` are protocols under which it makes sense, ``graphs``
    is "connected", "undirected", "complete" or "centred".
    """

    name: str = ""
    summary: str = ""
    options: "dict[str, Any]" = {}
    needs: Needs = Needs()
    weights_of_merge: str = "neighbours"
    weights_of_share: str = "none"
    runs: "tuple[str, ...]" = ("push", "rounds")
    graphs: str = "connected"
    may_be_unified: bool = False
    may_begin: bool = False

    _model: numpy.ndarray
    client: Client
    """Where it stands among the others."""
    given: "dict[str, Any]"
    """Its options: what the experiment says, or the default."""

    def __init__(self):
        """Prepares the client's state; self.model, self.client and self.given are there."""

    @property
    def model(self) -> numpy.ndarray:
        """The model, a flat array to be changed in place; setting it copies the numbers into it."""
        return self._model

    @model.setter
    def model(self, numbers):
        if numbers is not self._model:
            numbers = numpy.asarray(numbers)
            if numbers.shape != self._model.shape or numbers.dtype != self._model.dtype:
                raise ValueError(f"model must be a {self._model.dtype} array of shape {self._model.shape}, not {numbers.dtype} of "
                                 f"shape {numbers.shape}")
            self._model[:] = numbers

    def begin(self, work):
        """Fixes the model that the next compute starts from, where needs.fixes_model_at_start or algorithm.snapshot ask for it."""
        raise NotImplementedError

    def compute(self, work, step):
        """The local update. Without step.with_gradient it is a tick without a gradient."""
        raise NotImplementedError("an algorithm needs compute(work, step)")

    def publish(self, work, step):
        """What is sent: an array, a tuple of at most three, or a Payload. It is copied."""
        raise NotImplementedError("an algorithm needs publish(work, step)")

    def merge(self, work, step, messages):
        """Absorbs the messages of a window, in their order."""
        raise NotImplementedError("an algorithm needs merge(work, step, messages)")

    def fits(self, common, own):
        """Whether merge can take a message of these arrays. Without it one array as large as the model is what fits."""
        raise NotImplementedError

    def reclaim(self, work, step, message):
        """A message of this client's that did not arrive comes back."""
        raise NotImplementedError

    def adopt(self, model):
        """Overwrites the model: unification, joining. Without it the numbers are copied."""
        self.model = model

    def decide(self, work, step):
        """Whether to send now, where needs.asks_before_sending."""
        raise NotImplementedError

    def reset(self, work):
        """A new epoch, for algorithms that pass mass on."""

    def archive(self) -> "dict[str, Any]":
        """The state beside the model, for checkpoints: None, numbers, texts, arrays, and lists, tuples and dicts of them. By default
        all attributes of the object."""
        return {name: value for name, value in vars(self).items() if name not in ("_model", "client", "given")}

    def restore(self, state):
        """Takes back what archive() returned."""
        vars(self).update(state)

    def _set(self, model, client, given):
        self._model, self.client, self.given = model, client, given

    def _state(self):
        return self.archive()

    def _restore(self, state):
        self.restore(state)


def _option(name, given):
    option = given if isinstance(given, Option) else Option(given)
    default = option.default
    if isinstance(default, bool):
        kind, text = "flag", "true" if default else "false"
    elif isinstance(default, int):
        kind, text = "whole", str(default)
    elif isinstance(default, float):
        kind, text = "number", repr(default)
    elif isinstance(default, str):
        kind, text = ("word" if option.words else "text"), default
    else:
        raise TypeError(f"option {name}: its default must be a number, True, False or a text, not {default!r}")
    low = option.low if option.above is None else option.above
    return {"name": name, "type": kind, "fallback": text, "meaning": option.meaning or name, "low": low, "high": option.high,
            "low_is_out": option.above is not None, "choices": "|".join(option.words)}


def register(algorithm):
    """Makes an Algorithm class known by its name, to experiments, compare() and the command. A class of the same name takes the place of
    the one before. Returns the class: it may be used as a decorator."""
    if not (isinstance(algorithm, type) and issubclass(algorithm, Algorithm)):
        raise TypeError("register() takes a class that is derived from rubato.Algorithm")
    name = algorithm.name
    if not isinstance(name, str) or not name or not all(letter.isalnum() or letter == "_" for letter in name) or not name.isascii():
        raise ValueError(f"{algorithm.__name__}.name is {name!r}: must be letters, digits and _")
    for method in ("compute", "publish", "merge"):
        if getattr(algorithm, method) is getattr(Algorithm, method):
            raise TypeError(f"{algorithm.__name__} needs {method}()")
    overrides = {method for method in ("begin", "adopt", "reclaim", "decide", "reset", "fits", "archive")
                 if getattr(algorithm, method) is not getattr(Algorithm, method)}
    what = {"name": name, "summary": algorithm.summary or (algorithm.__doc__ or "").strip().split("\n")[0] or "written in Python",
            "options": [_option(key, value) for key, value in algorithm.options.items()], "needs": dict(algorithm.needs._values),
            "merge": algorithm.weights_of_merge, "share": algorithm.weights_of_share, "runs": list(algorithm.runs),
            "graphs": algorithm.graphs, "may_be_unified": bool(algorithm.may_be_unified), "may_begin": bool(algorithm.may_begin),
            "overrides": overrides}
    _core.register_algorithm(algorithm, what)
    _keys.forget()
    return algorithm


def load_plugin(library) -> None:
    """Makes known what a plug-in brings: a shared library with algorithms, learners, laws of timers or transports that was built with
    this package."""
    _core.load_plugin(os.fspath(library))
    _keys.forget()
