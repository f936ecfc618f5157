"""node(): one host of a run over several."""

import os
import signal
import subprocess
import sys
import tempfile

from ._errors import InvalidExperiment, RunFailed
from ._experiment import experiment_of
from ._learner import own_tables, place_of
from ._result import Result, load


def _ended(command, environment, errors):
    """The exit code. Ctrl-C is handed on: the host ends with its results so far."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment, process_group=0) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)


def node(experiment, *, host=None, key=None, keys=None, port=None, threads=None, out=None, data_dir=None,
         learner=None) -> "Result | None":
    """One host of a run over several, in virtual or in real time, as ``rubato node``. It is a process of its own, because a host that
    fails ends it; algorithms of Python's are known there if they come from modules that $RUBATO_PYTHON_MODULES names, separated by
    colons. Returns the result where there is a folder `out`. Raises RunFailed if the host fails; Ctrl-C ends it with its results so far.

    host     this host's name in the roster; default: what Slurm, Open MPI or Kubernetes say
    key      file with its secret key
    keys     folder with the keys; default: that of the experiment's file
    port     where the hosts of a launcher's roster listen
    learner  instead of [data] and [model]: a class of Learner or a function from a client's number to its Learner, of a module that the
             host's process runs; or FILE:NAME. All hosts must have the same one
    """
    with tempfile.TemporaryDirectory(prefix="rubato-") as folder, tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        file = os.path.join(folder, "experiment.toml")
        if isinstance(experiment, (str, os.PathLike)):
            file = os.fspath(experiment)
        else:
            experiment = experiment_of(experiment)
            experiment.save(file, own_tables if learner is not None else ())
            if key is None and keys is None:
                keys = experiment._folder()
        command = [sys.executable, "-m", "rubato", "node", file, "--quiet"]
        for module in filter(None, os.environ.get("RUBATO_PYTHON_MODULES", "").split(":")):
            command += ["--python", module]
        if learner is not None:
            command += ["--learner", place_of(learner)]
        for name, value in (("host", host), ("key", key), ("keys", keys), ("port", port), ("threads", threads), ("out", out),
                            ("data", data_dir)):
            if value is not None:
                command += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
        path = os.pathsep.join(part for part in (os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH")) if part)
        code = _ended(command, {**os.environ, "PYTHONPATH": path}, errors)
        errors.seek(0)
        told = errors.read().strip()
        if code == 2:
            raise InvalidExperiment(told)
        if code not in (0, 130):
            raise RunFailed(told or f"the host ended with {code}")
    return load(out) if out is not None else None
