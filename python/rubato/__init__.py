"""Rubato: decentralised learning in free time, with every client an actor that has timers of its own.

    import rubato
    result = rubato.run("experiment.toml")
    print(result, result.to_pandas())

The engine is that of the command: the same digests and the same speed. Experiment is what is to be run; run(), compare(), replay(),
resume() and load() lead to results; Learner and Algorithm are what researchers write themselves. rubato.torch has learners for
PyTorch.
"""

from . import _core
from ._algorithm import Algorithm, Client, Needs, Option, Payload, load_plugin, register
from ._core import Score
from ._compare import Comparison, compare
from ._data import Data, data, deal
from ._errors import Fault, InvalidExperiment, RunFailed
from ._experiment import Experiment
from ._learner import Learner
from ._lists import Topology, algorithms, datasets, models, topology
from ._node import node
from ._result import Result, Sample, load
from ._run import Replayed, replay, resume, run

__version__ = _core.version()

__all__ = ["Algorithm", "Client", "Comparison", "Data", "Experiment", "Fault", "InvalidExperiment", "Learner", "Needs", "Option",
           "Payload", "Replayed", "Result", "RunFailed", "Sample", "Score", "Topology", "algorithms", "compare", "data", "datasets",
           "deal", "load", "load_plugin", "models", "node", "register", "replay", "resume", "run", "topology"]
