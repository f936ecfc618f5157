"""run(), replay(), resume(), node() and compare()."""

import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from . import _core, _progress
from ._experiment import Experiment, experiment_of
from ._learner import factory_of
from ._result import Result, result_of
from ._table import Columns
from ._toml import to_toml

_own = ("data", "model")


def _asked(**given):
    asked = {"threads": 0, "data_dir": "", "dry_run": False, "checks": False, "links": False, "models": False, "shared_test": False,
             "out": "", "resumes": False, "learner": None, "pool": None, "on_sample": None, "stop_when": None, "on_progress": None, "on_note": None,
             "command": shlex.join(sys.argv) if sys.argv and sys.argv[0] else "python", "machine": platform.node(),
             "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    for name, value in given.items():
        if name not in asked:
            raise TypeError(name)
        asked[name] = asked[name] if value is None and asked[name] is not None else value
    for name in ("data_dir", "out"):
        asked[name] = os.fspath(asked[name])
    for name in ("on_sample", "stop_when", "on_progress", "on_note"):
        if asked[name] is not None and not callable(asked[name]):
            raise TypeError(f"{name} must be a function")
    return asked


def _judged(experiment, learner, says):
    judged, notes = experiment_of(experiment)._judged(own=_own if learner is not None else ())
    for note in notes.splitlines():
        says(note)
    return judged


def _note(text):
    print(f"note: {text}", file=sys.stderr)


class _Workers:
    """Processes that compute for the clients of a run, forked from this one while it has no other threads of ours."""

    def __init__(self, judged, factory, count):
        self._pool = _core.WorkerPool(factory, count, judged.is_double, int(factory(0).dimension))
        self._count = count

    def __enter__(self):
        sys.stdout.flush()
        sys.stderr.flush()
        processes = []
        for worker in range(self._count):
            process = os.fork()
            if process == 0:
                code = 1
                try:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began the run ends this one
                    self._pool.serve(worker)
                    code = 0
                finally:
                    os._exit(code)
            processes.append(process)
        self._pool.started(processes)
        return self._pool

    def __exit__(self, *raised):
        self._pool.end()


def _perform(judged, asked, progress, learner, processes=0):
    if processes:
        with _Workers(judged, asked["learner"], processes) as pool:
            asked["pool"] = pool
            return _perform(judged, asked, progress, learner)
    line = _progress.line_for(progress, judged.until)
    told = asked["on_progress"]

    def show(seconds, wall_seconds, events, accuracy):
        if line:
            line(seconds, wall_seconds, events, accuracy)
        if told:
            told(seconds, wall_seconds, events, accuracy)

    asked["on_progress"] = show if line or told else None
    try:
        core, models = _core.run(judged, asked)
    finally:
        if line:
            line.finish()
    return result_of(judged, core, models, asked["out"] or None, learner is not None)


def run(experiment, *, threads=None, out=None, learner=None, shared_test=None, on_sample=None, stop_when=None, on_progress=None,
        on_note=_note, progress=None, data_dir=None, dry_run=False, checks=False, models=True, links=False, clock=None,
        workers="threads") -> Result:
    """Runs an experiment: an Experiment, a dict or a file's name.

    threads      that compute; default: all of the machine. Digests are the same on any number
    out          folder for results, record and report, as ``rubato run --out`` leaves it
    learner      a Learner for all clients, or a function from a client's number to its Learner; then [data] and [model] are not
                 looked at, but for model.batch
    shared_test  all learners test on the same samples; default: what the learner says
    on_sample    called with each Sample, in their order, on this thread
    stop_when    the same; what it returns decides whether the run ends at this sample
    on_progress  called some times a second with (seconds, wall seconds, events, accuracy or None)
    on_note      called with sentences about what looks unwise; default: printed on standard error
    progress     True, False, or None: a bar in a terminal and in a notebook
    dry_run      walks the timing alone
    checks       watches the invariants; a broken one ends the run
    models       keep the final models
    links        count messages by link
    clock        "wall" runs in real time whatever the experiment says, "virtual" in simulated time
    workers      "threads", or "processes": learners of Python's compute in `threads` processes

    Ctrl-C ends the run with its results so far. An exception in a callback ends it as RunFailed, whose text says where, and whose
    cause is the exception.
    """
    if clock is not None:
        experiment = experiment_of(experiment).copy({"clock": clock})
    judged = _judged(experiment, learner, on_note or (lambda note: None))
    if workers not in ("threads", "processes"):
        raise ValueError(f'workers = {workers!r}: must be "threads" or "processes"')
    if workers == "processes" and learner is None:
        raise ValueError('workers = "processes" is for learners that are written in Python: the others compute on threads')
    if shared_test is None:
        shared_test = bool(getattr(learner, "shared_test", False))
    asked = _asked(threads=threads, out=out, shared_test=shared_test, on_sample=on_sample, stop_when=stop_when,
                   on_progress=on_progress, on_note=on_note, data_dir=data_dir, dry_run=dry_run, checks=checks, models=models,
                   links=links, learner=None if learner is None else factory_of(learner))
    return _perform(judged, asked, progress, learner, (threads or os.cpu_count() or 1) if workers == "processes" else 0)


def resume(folder, *, threads=None, learner=None, on_sample=None, stop_when=None, on_progress=None, on_note=_note, progress=None,
           data_dir=None, checks=False, models=True) -> Result:
    """Goes on with a run in virtual time that was killed or stopped, from its newest checkpoint (experiment.checkpoint_every). It ends
    with the digests of a run that nothing interrupted. Learners of Python's own are to be given again."""
    judged = _judged(os.fspath(_core.experiment_in(os.fspath(folder))), learner, lambda note: None)
    asked = _asked(threads=threads, out=folder, resumes=True, on_sample=on_sample, stop_when=stop_when, on_progress=on_progress,
                   on_note=on_note, data_dir=data_dir, checks=checks, models=models,
                   shared_test=bool(getattr(learner, "shared_test", False)), learner=None if learner is None else factory_of(learner))
    return _perform(judged, asked, progress, learner)


class Replayed:
    """What the record of a run led to when it was made, and what it leads to now."""

    def __init__(self, recorded, again):
        self.recorded = recorded
        """(model_digest, timeline_digest) as summary.json has them."""
        self.again = again
        """The same of the replay."""

    @property
    def agrees(self) -> bool:
        """Both digests are equal."""
        return self.recorded == self.again

    def __bool__(self):
        return self.agrees

    def __repr__(self):
        return f"<Replayed: the digests {'agree' if self.agrees else 'differ'}>"


def replay(folder, *, threads=None, learner=None, data_dir=None) -> Replayed:
    """Performs the record in the folder of a run again. Replay only folders that you would execute: they name the data that are read."""
    folder = os.fspath(folder)
    judged = _judged(os.path.join(folder, "experiment.toml"), learner, lambda note: None)
    asked = _asked(threads=threads, data_dir=data_dir, learner=None if learner is None else factory_of(learner))
    model, timeline, model_again, timeline_again = _core.replay(judged, folder, asked)
    return Replayed((model, timeline), (model_again, timeline_again))


class Comparison:
    """Several experiments under the same clocks, links, data and start."""

    def __init__(self, texts):
        import json

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


def compare(experiments, *, seeds=5, grid=None, set=None, threads=None, out=None, targets=(), axis="seconds", data_dir=None,
            on_note=_note, on_progress=None) -> Comparison:
    """Runs several experiments, settings and seeds side by side, as ``rubato compare`` does.

    experiments  Experiments, dicts or files; a dict of them names each
    grid         {"algorithm.eta": [0.01, 0.1], ...}: all with all
    set          {"until": 100, ...}: laid over every experiment
    targets      accuracies; what it took to reach them
    axis         what leads: "seconds", "bits", "gradients", "delay" or "joules"
    """
    if isinstance(experiments, (str, os.PathLike, Experiment)):
        experiments = [experiments]
    if isinstance(experiments, dict) and not all(isinstance(each, (str, os.PathLike, Experiment, dict)) for each in experiments.values()):
        experiments = [experiments]
    named = list(experiments.items()) if isinstance(experiments, dict) else [(None, each) for each in experiments]
    with tempfile.TemporaryDirectory(prefix="rubato-") as folder:
        files = []
        for i, (name, each) in enumerate(named):
            if name is None and isinstance(each, (str, os.PathLike)):
                files.append(os.fspath(each))
                continue
            each = experiment_of(each)
            place = os.path.join(folder, str(i), f"{name or each.name}.toml")
            os.makedirs(os.path.dirname(place))
            each.save(place)
            files.append(place)
        grids = [f"{key}={','.join(_bare(value) for value in values)}" for key, values in (grid or {}).items()]
        asked = {"files": files, "grid": grids, "set": [f"{key}={to_toml(value)}" for key, value in (set or {}).items()],
                 "seeds": seeds, "threads": threads or 0, "data_dir": os.fspath(data_dir or ""), "out": os.fspath(out or ""),
                 "targets": ",".join(map(str, targets)), "axis": axis, "on_note": on_note, "on_progress": on_progress}
        return Comparison(_core.compare(asked))


def _bare(value):
    text = to_toml(value)
    return text


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


def node(experiment, *, host=None, key=None, keys=None, port=None, threads=None, out=None, data_dir=None) -> "Result | None":
    """One host of a run over several, in virtual or in real time, as ``rubato node``. It is a process of its own, because a host that
    fails ends it; algorithms of Python's are known there if they come from modules that $RUBATO_PYTHON_MODULES names, separated by
    colons. Returns the result where there is a folder `out`. Raises RunFailed if the host fails.

    host   this host's name in the roster; default: what Slurm, Open MPI or Kubernetes say
    key    file with its secret key
    keys   folder with the public keys of all hosts
    port   where the hosts of a launcher's roster listen
    """
    from ._errors import InvalidExperiment, RunFailed
    from ._result import load

    with tempfile.TemporaryDirectory(prefix="rubato-") as folder:
        if isinstance(experiment, (str, os.PathLike)):
            file = os.fspath(experiment)
        else:
            file = os.path.join(folder, "experiment.toml")
            experiment_of(experiment).save(file)
        command = [sys.executable, "-m", "rubato", "node", file, "--quiet"]
        for module in filter(None, os.environ.get("RUBATO_PYTHON_MODULES", "").split(":")):
            command += ["--python", module]
        for name, value in (("host", host), ("key", key), ("keys", keys), ("port", port), ("threads", threads), ("out", out),
                            ("data", data_dir)):
            if value is not None:
                command += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
        path = os.pathsep.join(part for part in (os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH")) if part)
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": path})
        if done.returncode == 2:
            raise InvalidExperiment(done.stderr.strip())
        if done.returncode not in (0, 130):
            raise RunFailed(done.stderr.strip() or f"the host ended with {done.returncode}")
    return load(out) if out is not None else None
