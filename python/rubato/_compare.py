"""compare(): several experiments side by side."""

import json
import os
import tempfile
import threading

from . import _core
from ._experiment import Experiment, experiment_of
from ._learner import factory_of, own_tables
from ._run import print_note, threads_of
from ._table import Columns
from ._toml import to_toml


class Comparison:
    """Several experiments under the same clocks, links, data and start."""

    def __init__(self, texts):
        self.table: dict = json.loads(texts["table_json"])
        """table.json: what each setting came to, over its seeds."""
        self.curves = Columns.from_csv(texts["curves_csv"])
        """curves.csv: a row for every sample of every run."""
        self.rows = Columns.from_csv(texts["table_csv"])
        """table.csv: a row for each setting."""
        self.failures: "list[str]" = texts["failures"]
        """A sentence for each run that failed and each setting that was refused."""
        self.was_stopped: bool = texts["was_stopped"]
        """Runs are missing."""
        self._text = texts["table"]

    def to_pandas(self):
        """The curves as a pandas.DataFrame."""
        return self.curves.to_pandas()

    def __repr__(self):
        return self._text


def _named(experiments):
    if isinstance(experiments, dict) and all(isinstance(each, (str, os.PathLike, Experiment, dict)) for each in experiments.values()):
        return list(experiments.items())
    one = isinstance(experiments, (str, os.PathLike, Experiment, dict))
    return [(None, each) for each in ([experiments] if one else experiments)]


def _listed(key, values):
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise TypeError(f"grid: {key} = {values!r}: must be a list of values")
    return values


def _learners_by_text(learners):
    one_at_a_time = threading.Lock()  # torch.manual_seed() is for all threads

    def of_run(text):
        with one_at_a_time:
            learner = learners(Experiment.from_toml(text))
        return factory_of(learner), bool(getattr(learner, "shared_test", False))

    return of_run


def compare(experiments, *, seeds=5, grid=None, set=None, learners=None, threads=None, out=None, targets=(), axis="seconds",
            data_dir=None, on_note=print_note, on_progress=None) -> Comparison:
    """Runs several experiments, settings and seeds side by side, as ``rubato compare`` does. Each run takes one thread.

    experiments  Experiments, dicts or files; a dict of them names each
    seeds        runs of each setting: with the first experiment's seed, the next one, ...
    grid         {"algorithm.eta": [0.01, 0.1], ...}: all with all
    set          {"until": 100, ...}: laid over every experiment
    learners     a function from the Experiment of one run to what run() takes as `learner`, called once for each run, one call at a time; then
                 [data] and [model] are not looked at, but for model.batch. Runs go on side by side: each needs a learner of its own
    threads      runs at a time; default: all of the machine
    out          folder for the files of the comparison, as ``rubato compare --out`` leaves it
    targets      accuracies; what it took to reach them
    axis         what leads: "seconds", "bits", "gradients", "delay" or "joules"
    on_note      called with sentences about what looks unwise; default: printed on standard error
    on_progress  called with (share of all runs together, wall seconds)

    Ctrl-C ends it with the runs that have come to their end.
    """
    if learners is not None and not callable(learners):
        raise TypeError("learners must be a function from an Experiment to a learner")
    own = own_tables if learners is not None else ()
    with tempfile.TemporaryDirectory(prefix="rubato-") as folder:
        files = []
        for i, (name, each) in enumerate(_named(experiments)):
            if name is None and isinstance(each, (str, os.PathLike)):
                files.append(os.fspath(each))
                continue
            each = experiment_of(each)
            place = os.path.join(folder, str(i), f"{name or each.name}.toml")
            os.makedirs(os.path.dirname(place))
            each.save(place, own)
            files.append(place)
        grids = [f"{key}={','.join(map(to_toml, _listed(key, values)))}" for key, values in (grid or {}).items()]
        asked = {"files": files, "grid": grids, "set": [f"{key}={to_toml(value)}" for key, value in (set or {}).items()],
                 "seeds": seeds, "threads": threads_of(threads), "data_dir": os.fspath(data_dir or ""), "out": os.fspath(out or ""),
                 "targets": ",".join(map(str, targets)), "axis": axis, "on_note": on_note, "on_progress": on_progress,
                 "learners": None if learners is None else _learners_by_text(learners)}
        return Comparison(_core.compare(asked))
