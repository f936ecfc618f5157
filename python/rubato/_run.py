"""run(), replay() and resume()."""

import os
import platform
import shlex
import signal
import sys
import time

from . import _core, _progress
from ._experiment import experiment_of
from ._learner import factory_of, own_tables
from ._result import Result, result_of


def threads_of(given):
    """How many are asked for; by default all that this process may use."""
    if given is None:
        return len(os.sched_getaffinity(0))
    if not hasattr(given, "__index__"):
        raise TypeError(f"threads = {given!r}: must be a whole number")
    if not 1 <= given <= 1024:
        raise ValueError(f"threads = {given}: must be at least 1 and at most 1024")
    return int(given)


def _asked(threads, **given):
    asked = {"threads": threads_of(threads), "data_dir": "", "dry_run": False, "checks": False, "links": False, "models": False, "shared_test": False,
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
    judged, notes = experiment_of(experiment)._judged(own=own_tables if learner is not None else ())
    for note in notes.splitlines():
        says(note)
    return judged


def print_note(text):
    """A sentence about what looks unwise, on standard error."""
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
        try:
            for worker in range(self._count):
                process = os.fork()
                if process == 0:
                    self._serve(worker)
                processes.append(process)
        finally:
            self._pool.started(processes)
        return self._pool

    def _serve(self, worker):
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began the run ends this one
            self._pool.serve(worker)
            code = 0
        finally:
            os._exit(code)

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
        on_note=print_note, progress=None, data_dir=None, dry_run=False, checks=False, models=True, links=False, clock=None,
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
    return _perform(judged, asked, progress, learner, asked["threads"] if workers == "processes" else 0)


def resume(folder, *, threads=None, learner=None, on_sample=None, stop_when=None, on_progress=None, on_note=print_note, progress=None,
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
