"""Result: what a run has led to."""

import html
import json
import os

import numpy

from . import _core
from ._experiment import Experiment
from ._table import Columns, Named

_head = _core.metrics_csv_head().strip().split(",")


def _number(text):
    try:
        return int(text)
    except ValueError:
        return float(text) if text else float("nan")


class Sample(Named):
    """What was measured at one instant; its names are the columns of metrics.csv."""

    __slots__ = ()
    _missing = "a sample has no {}; it has {}"

    def __repr__(self):
        return f"Sample({', '.join(f'{name}={value:g}' for name, value in self._values.items())})"


def sample_of(row):
    return Sample(zip(_head, map(_number, row.strip().split(","))))


class Result:
    """What a run has led to: digests, samples, counts of clients and links, models."""

    def __init__(self, experiment, texts, models, folder=None, core=None, has_learner=False):
        self._experiment = experiment
        self._texts = texts
        self._core = core
        self._has_learner = has_learner
        self.summary: dict = json.loads(texts["summary"])
        """summary.json of the run, as docs/run-folder.md explains it."""
        self.models = models
        """The final models, a row for each client; None where they were not asked for or are too large to keep."""
        self.folder = folder
        """The folder of the run; None where there is none."""

    @property
    def experiment(self):
        """The experiment as it was run, complete."""
        if self._experiment is None:
            return Experiment(os.path.join(self.folder, "experiment.toml"))
        return Experiment.from_toml(self._experiment.text)

    @property
    def model_digest(self) -> str:
        """SHA-256 of all final models: equal for the same seed, build and arithmetic, on any number of threads."""
        return self.summary["model_digest"]

    @property
    def timeline_digest(self) -> str:
        """SHA-256 of all steps: equal on any machine."""
        return self.summary["timeline_digest"]

    @property
    def was_stopped(self) -> bool:
        """It ended before experiment.until."""
        return self.summary.get("stopped_early", False)

    @property
    def stopped_by(self) -> str:
        """"stop" (Ctrl-C), "stop_when", "metrics.stop" or "metrics.stop_on_nan"; empty: the run came to its end, or it is not known."""
        return self.summary.get("stopped_by") or ""

    @property
    def notes(self) -> "list[str]":
        """Sentences about what looks unwise or went wrong."""
        return list(self.summary.get("notes", []))

    @property
    def wall_seconds(self) -> float:
        """How long the run took, without reading data."""
        return self.summary["wall_seconds"]

    @property
    def samples(self) -> Columns:
        """What was measured: the columns of metrics.csv."""
        return self._table("samples")

    @property
    def clients(self) -> Columns:
        """Counts and scores of each client: the columns of clients.csv."""
        return self._table("clients")

    @property
    def links(self) -> Columns:
        """Counts of each link: the columns of links.csv. Empty unless run() was asked for them, or had a folder."""
        return self._table("links")

    def to_pandas(self):
        """The samples as a pandas.DataFrame."""
        return self.samples.to_pandas()

    def report(self) -> str:
        """The page report.html."""
        if self.folder:
            with open(os.path.join(self.folder, "report.html"), encoding="utf-8") as file:
                return file.read()
        return _core.report_page(self._experiment, self._core, self._has_learner)

    def _repr_html_(self):
        page = html.escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0"></iframe>'

    def __repr__(self):
        samples = self.samples
        name = self._experiment.name if self._experiment else self.experiment.name
        parts = [f"{name}: {self.summary['clients']} clients"]
        if len(samples.get("seconds", ())):
            parts.append(f"{samples['seconds'][-1]:g} s")
        if "accuracy_mean" in samples and len(samples["accuracy_mean"]) and samples["accuracy_mean"].dtype != object:
            if not numpy.isnan(samples["accuracy_mean"][-1]):
                parts.append(f"accuracy {samples['accuracy_mean'][-1]:.4f}")
            parts.append(f"loss {samples['loss_mean'][-1]:.4g}")
        if self.was_stopped:
            parts.append(f"stopped by {self.stopped_by}" if self.stopped_by else "stopped early")
        return f"<Result {', '.join(parts)}; model_digest {self.model_digest[:12]}...>"

    def _table(self, name):
        text = self._texts[name]
        if not isinstance(text, Columns):
            text = self._texts[name] = Columns.from_csv(text() if callable(text) else text)
        return text


def result_of(experiment, core, models, folder, has_learner):
    """Of a run that has just ended."""
    texts = {"summary": core.summary_json(experiment), "samples": core.metrics_csv, "clients": core.clients_csv,
             "links": core.links_csv}
    return Result(experiment, texts, models, folder, core, has_learner)


def load(folder) -> Result:
    """The result in the folder of a run that has ended. Models are read from the disk where they are looked at."""
    folder = os.fspath(folder)

    def text_of(name):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    summary = text_of("summary.json")
    if not summary:
        raise FileNotFoundError(f"{folder} has no summary.json: it is not the folder of a run, or the run has not ended")
    place = os.path.join(folder, "models", "models.npy")
    models = numpy.load(place, mmap_mode="r") if os.path.exists(place) else None
    texts = {"summary": summary, "samples": lambda: text_of("metrics.csv"), "clients": lambda: text_of("clients.csv"),
             "links": lambda: text_of("links.csv")}
    return Result(None, texts, models, folder)
