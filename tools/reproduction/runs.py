"""Units: one run each of one setting with one seed. A unit that is done is never run again."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

kept_files = {"metrics.csv", "summary.json", "clients.csv", "links.csv", "collaboration.csv", "experiment.toml", "output.txt"}
kept_links = 2_000_000  # bytes; longer tables of links are not kept


def slug(text):
    """The part of a folder's name that a setting gives it."""
    text = text.replace("+", " plus")
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-").lower()


class Unit:
    def __init__(self, study, column, setting, seed, places):
        self.study, self.column, self.setting, self.seed = study, column, setting, seed
        self.folder = places.runs / column / study.name / f"{slug(setting.name)}-seed-{seed}"
        file = setting.file if "/" in setting.file and setting.file.startswith("examples/") else f"examples/papers/{setting.file}"
        self.words = [setting.asks[0] if setting.asks else "run", file]
        for one in study.sets(column, setting):
            self.words += ["--set", one]
        if setting.asks:
            self.words += ["--set", f"seed={seed}", *setting.asks[1:]]
        else:
            self.words += ["--seed", str(seed)]

    def is_done(self):
        try:
            return json.loads((self.folder / "unit.json").read_text())["words"] == self.words
        except (OSError, ValueError, KeyError):
            return False

    def perform(self, places):
        """None, or why not."""
        partial = self.folder.with_name(self.folder.name + ".at-work")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        command = [str(places.rubato)] + self.words
        if self.words[0] == "run":
            command += ["--set", "record=off", "--threads", "1", "--quiet", "--out", str(partial / "run")]
            if places.data:
                command += ["--data", str(places.data)]
        started = time.monotonic()
        with open(partial / "output.txt", "wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=places.root)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # 1: no model is finite any more; the curve up to there counts
            last = (partial / "output.txt").read_text(errors="replace").strip().splitlines()[-1:]
            return f"{' '.join(command)}: {' '.join(last) or process.returncode}"
        run = partial / "run"
        if run.is_dir():
            for file in run.iterdir():
                if file.name in kept_files and not (file.name == "links.csv" and file.stat().st_size > kept_links):
                    shutil.move(file, partial / file.name)
            shutil.rmtree(run)
        if self.words[0] == "run" and not (partial / "summary.json").exists():
            last = (partial / "output.txt").read_text(errors="replace").strip().splitlines()[-1:]
            return f"{' '.join(command)}: {' '.join(last)}"
        note = {"words": self.words, "cpu_seconds": round(used.ru_utime + used.ru_stime, 3),
                "wall_seconds": round(time.monotonic() - started, 3)}
        (partial / "unit.json").write_text(json.dumps(note))
        shutil.rmtree(self.folder, ignore_errors=True)
        partial.rename(self.folder)
        return None


def perform_all(units, places, jobs, say):
    """The failures. Ends at Ctrl-C after the units at work; what is done stays done."""
    waiting, failures, lock = list(units), [], threading.Lock()
    total, started = len(waiting), time.monotonic()
    done = 0

    def work():
        nonlocal done
        while True:
            with lock:
                if not waiting:
                    return
                unit = waiting.pop(0)
            failure = unit.perform(places)
            with lock:
                done += 1
                if failure:
                    failures.append(failure)
                left = (time.monotonic() - started) / done * (total - done)
                say(f"{done} of {total} runs, {unit.study.name}: {unit.setting.name}, seed {unit.seed}"
                    f"{' FAILED' if failure else ''}; about {left / 60:.1f} min left")

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for one in threads:
        one.start()
    try:
        for one in threads:
            one.join()
    except KeyboardInterrupt:
        with lock:
            waiting.clear()
        say("stopping; started again, the same command goes on from here")
        for one in threads:
            one.join()
        failures.append("stopped")
    return failures


def refusals(units, places):
    """Sentences about units that cannot be run: their timing is walked for two seconds, without models."""
    found, seen = [], set()
    for unit in units:
        if tuple(unit.words) in seen or unit.words[0] != "run":
            continue
        seen.add(tuple(unit.words))
        command = [str(places.rubato)] + unit.words + ["--set", "until=2.5", "--set", "record=off", "--dry-run", "--quiet", "--threads", "1"]
        if places.data:
            command += ["--data", str(places.data)]
        answer = subprocess.run(command, cwd=places.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if answer.returncode != 0:
            found.append(f"{unit.study.name}, {unit.column}, {unit.setting.name}: {answer.stderr.strip()}")
    return found


def probe(places):
    """CPU seconds of a small run that every machine can do: how fast this one is."""
    command = [str(places.rubato), "run", "examples/synthetic/pame_regression.toml", "--threads", "1", "--quiet",
               "--set", "record=off", "--set", "until=4000.5"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=places.root)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"reproduce: {' '.join(command)} failed")
    return used.ru_utime + used.ru_stime


class Places:
    """Where things are."""

    def __init__(self, root, rubato, data, runs, docs):
        self.root, self.rubato, self.data = pathlib.Path(root), pathlib.Path(rubato), data
        self.runs, self.docs = pathlib.Path(runs), pathlib.Path(docs)
