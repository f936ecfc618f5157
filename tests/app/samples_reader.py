"""Reads the samples.npz of runs with NumPy and compares it with their metrics.csv and clients.csv.

    samples_reader.py RUBATO EXAMPLES

Exit code 77 without NumPy.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("there is no NumPy here")
    sys.exit(77)


def table(file):
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


def column(rows, name):
    return numpy.array([float(row[name]) for row in rows])


def same(one, other, what):
    assert numpy.allclose(one, other, rtol=1e-12, atol=1e-12, equal_nan=True), (what, one, other)


def read(rubato, folder, file, *settings):
    """The samples of a run, which agree with its tables."""
    words = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([rubato, "run", str(file), "--out", str(folder), "--quiet", *words], check=True, capture_output=True)
    with numpy.load(folder / "samples.npz") as arrays:
        found = {name: arrays[name] for name in arrays}
    metrics, clients = table(folder / "metrics.csv"), table(folder / "clients.csv")
    assert sorted(found) == ["accuracy", "client", "loss", "sample", "seconds"], sorted(found)
    shape = (len(metrics), len(found["client"]))
    assert found["accuracy"].shape == found["loss"].shape == shape and len(metrics) > 2, shape
    assert list(found["client"]) == sorted(set(found["client"])) and found["client"].dtype == found["sample"].dtype == numpy.int64
    same(found["sample"], column(metrics, "sample"), "sample")
    same(found["seconds"], column(metrics, "seconds"), "seconds")
    same((~numpy.isnan(found["loss"])).sum(axis=1), column(metrics, "clients_measured"), "clients_measured")
    same(numpy.nanmean(found["loss"], axis=1), column(metrics, "loss_mean"), "loss_mean")
    if not numpy.isnan(found["accuracy"]).all():
        same(numpy.nanmean(found["accuracy"], axis=1), column(metrics, "accuracy_mean"), "accuracy_mean")
        same(numpy.nanstd(found["accuracy"], axis=1), column(metrics, "accuracy_std"), "accuracy_std")
        same(numpy.nanmin(found["accuracy"], axis=1), column(metrics, "accuracy_min"), "accuracy_min")
        worst = found["client"][numpy.nanargmin(found["accuracy"], axis=1)]
        same(worst, column(metrics, "accuracy_min_client"), "accuracy_min_client")
    for name in ("accuracy", "loss"):
        at_end = dict(zip(found["client"], found[name][-1]))
        for row in clients:
            same(at_end.get(int(row["client"]), numpy.nan), float(row[name]), (name, row["client"]))
    assert not (folder / "samples.part").exists()
    return found


def main():
    rubato, examples = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        quick = read(rubato, home / "quick", examples / "quickstart.toml", "until=30.5")
        assert not numpy.isnan(quick["accuracy"]).any()
        churn = read(rubato, home / "churn", examples / "churn/flaky.toml")
        gone = numpy.isnan(churn["loss"])
        assert gone.any() and not gone.all(axis=0).any(), "a client comes or goes"
        few = read(rubato, home / "few", examples / "quickstart.toml", "until=30.5", "metrics.clients=4")
        assert len(few["client"]) == 4
        wall = read(rubato, home / "wall", examples / "quickstart.toml", "until=10", "clock=wall", "time_scale=20")
        assert not numpy.isnan(wall["accuracy"]).any()
    print("samples.npz says what the tables say")


main()
