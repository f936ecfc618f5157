"""Two honest hosts and an attacker: three processes over tcp with CURVE.

  honest_hosts.py RUBATO [--seconds N] [MODE...]

The attacker has a key of the roster and does what its MODE says (attacker.py; without any: each of them) for N real seconds.
For each MODE the honest hosts must come to their end with exit code 0, with an accuracy of their clients within 0.02 of that of a
run without the attacker, with a peak of resident memory (VmHWM) below 2 x receive_bytes, and with a log that names the attacker and says what it did.
"""

import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

RECEIVE_BYTES = 512 << 20  # of `rubato node`: twice the default of hosts.largest_bytes
CLIENTS, SCALE = 6, 60.0
PATIENCE = 300  # seconds: only a failing test waits so long

EXPERIMENT = """
name = "attacked"
seed = 3
clock = "wall"
time_scale = {scale}
until = {until}
[hosts]
wait = {wait}
lost_after = 2.0
drain = 1.0
[clients]
count = {clients}
compute = {{ law = "poisson", rate = 1.0 }}
[topology]
kind = "complete"
[mailbox]
window = 0.6
deadline = 60.0
norm_limit = 20.0
{algorithm}
[data]
name = "digits"
[model]
name = "softmax"
batch = 16
[metrics]
every_events = 0
every_seconds = 30.0
"""

DRACO = """
[algorithm]
name = "draco"
eta = 0.1
self_apply = true
[unification]
period = 10.0
hub = "fixed"
client = 0
via = "transport"
"""
SGP = """
[algorithm]
name = "sgp"
eta = 0.1
"""
ALGORITHMS = {"sink": SGP}  # of modes that are about one; else DRACO

# What the logs of both honest hosts say of the attacker, in each mode.
SAYS = {
    "mute": "met c|came_late c",
    "sink": "mute c silent_seconds=",
    "nan": r"ignored c count=\d+: messages with numbers that are not finite",
    "infinite": r"ignored c count=\d+: messages with numbers that are not finite",
    "huge": r"ignored c count=\d+: messages longer than mailbox.norm_limit allows",
    "overwrite": r"ignored c count=\d+: models or acknowledgements that were not its to send",
    "control": r"ignored c count=\d+: requests that the protocol has no need of, or too soon after another",
    "impersonate": r"ignored c count=\d+: messages that it cannot send in this run",
    "heads": r"ignored c count=\d+: parcels that cannot be read, or say what cannot be",
    "blocks": r"ignored c count=\d+: messages that",
    "begin": r"ignored c count=\d+: its word that the run began at an instant that cannot be",
    "live": r"ignored c count=\d+: greetings, questions for the time, or lives faster than they are taken",
    "time": r"ignored c count=\d+: answers to questions for the time that were not asked",
    "place": r"ignored c count=\d+: messages that it cannot send in this run",
    "text": r'refused c: host "c" has another version of rubato \(\\x1b\[2J',
    "falsify": r'trouble: host "c" sent what is no frame, or a damaged one',
    "hurry": r"ignored c count=\d+: greetings, questions for the time, or lives faster than they are taken",
    "end": r"met c|came_late c",  # and where the results are gathered, as below
}
# Of the host that gathers.
GATHERER_SAYS = {"end": r"(?s)ignored c count=\d+: items that are not what was asked for.*models of client 4.* not finite"}


class Party:
    """Its folder, keys and file; `there` are the hosts that are not the attacker."""

    def __init__(self, rubato, seconds, wait, algorithm):
        self.rubato = rubato
        self.home = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.home.name)
        self.roster = []
        text = EXPERIMENT.format(scale=SCALE, until=SCALE * seconds + 0.5, wait=wait, clients=CLIENTS, algorithm=algorithm)
        for name, port in zip("abc", free_ports(3)):
            subprocess.run([rubato, "keygen", name, "--out", self.folder], check=True, capture_output=True)
            key = (self.folder / f"{name}.public").read_text()[:40]
            self.roster.append((f"tcp://127.0.0.1:{port}", key))
            text += f'[[roster]]\nname = "{name}"\naddress = "{self.roster[-1][0]}"\npublic_key = "{key}"\n'
        (self.folder / "run.toml").write_text(text)
        self.hosts, self.seconds = {}, {}

    def start(self, name):
        command = [self.rubato, "node", self.folder / "run.toml", "--host", name, "--out", self.folder / name, "--threads", "1"]
        log = open(self.folder / f"{name}.log", "w")
        self.hosts[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def attack(self, mode):
        hosts = [",".join(each) for each in self.roster]
        command = [sys.executable, pathlib.Path(__file__).parent / "attacker.py", mode, "--self", "2", "--key", self.folder / "c.secret"]
        command += ["--clients", str(CLIENTS), "--scale", str(SCALE), *hosts]
        log = open(self.folder / "c.log", "w")
        self.attacker = subprocess.Popen(command, stdout=log, stderr=log)

    def finish(self):
        """Of each honest host its peak of resident memory; they end as they like."""
        peaks = {}
        until = time.monotonic() + PATIENCE
        while any(host.poll() is None for host in self.hosts.values()) and time.monotonic() < until:
            for name, host in self.hosts.items():
                peaks[name] = max(peak_of(host.pid), peaks.get(name, 0))
                self.seconds[name] = max(cpu_of(host.pid), self.seconds.get(name, 0))
            time.sleep(0.02)
        return peaks

    def end(self):
        for process in (*self.hosts.values(), *([self.attacker] if hasattr(self, "attacker") else [])):
            if process.poll() is None:
                process.kill()
            process.wait()

    def log_of(self, name):
        return (self.folder / f"{name}.log").read_text(errors="backslashreplace")

    def accuracy(self):
        """Mean over the clients of the honest hosts, each by the word of its own host."""
        own = {"a": (0, 1), "b": (2, 3)}
        values = []
        for name, clients in own.items():
            with open(self.folder / name / "clients.csv", newline="") as file:
                rows = {int(row["client"]): row for row in csv.DictReader(file)}
            values += [float(rows[client]["accuracy"]) for client in clients]
        return sum(values) / len(values)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def peak_of(process):
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


def cpu_of(process):
    """Seconds that it has had of a processor."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Outcome:
    def __init__(self, party, peaks):
        self.codes = {name: host.poll() for name, host in party.hosts.items()}
        self.peaks = peaks
        self.seconds = party.seconds
        self.logs = {name: party.log_of(name) for name in party.hosts}
        self.attacker_said = party.log_of("c") if hasattr(party, "attacker") else ""
        self.accuracy = party.accuracy() if all(code == 0 for code in self.codes.values()) else 0.0


def perform(rubato, seconds, mode, algorithm):
    """Without a mode there is no attacker."""
    party = Party(rubato, seconds, 20 if mode else 0.3, algorithm)
    try:
        for name in "ab":
            party.start(name)
        if mode:
            party.attack(mode)
        peaks = party.finish()
        return Outcome(party, peaks)
    finally:
        party.end()


def faults_of(mode, outcome, calm):
    faults = []
    for name, code in outcome.codes.items():
        if code != 0:
            faults.append(f"host {name} has ended with {code}")
        if any(mode in says and not re.search(says[mode], outcome.logs[name]) for says in ([SAYS, GATHERER_SAYS] if name == "a" else [SAYS])):
            faults.append(f"the log of host {name} does not say that c did this")
        if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", outcome.logs[name].replace("\r", "")):
            faults.append(f"the log of host {name} has control characters")
        if outcome.peaks[name] > 2 * RECEIVE_BYTES:
            faults.append(f"host {name} has had {outcome.peaks[name] >> 20} MB")
    if abs(outcome.accuracy - calm.accuracy) > 0.02:
        faults.append(f"the accuracy is {outcome.accuracy:.3f}, without an attacker {calm.accuracy:.3f}")
    return faults


def figures(outcome):
    peaks = "/".join(str(peak >> 20) for peak in outcome.peaks.values())
    return f"accuracy {outcome.accuracy:.3f}, peaks {peaks} MB, processor {'/'.join(f'{each:.1f}' for each in outcome.seconds.values())} s"


def attempt(rubato, modes, seconds, jobs):
    """The modes that failed. All runs at once as far as there are jobs: mostly they wait."""
    algorithms = [ALGORITHMS.get(mode, DRACO) for mode in modes]
    runs = [(None, algorithm) for algorithm in sorted(set(algorithms))] + list(zip(modes, algorithms))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda run: perform(rubato, seconds, *run), runs))
    calm = {}
    failed = []
    for (mode, algorithm), outcome in zip(runs, outcomes):
        if mode is None:
            calm[algorithm] = outcome
            print(f"without an attacker, {seconds:g} s: {figures(outcome)}", flush=True)
            continue
        faults = faults_of(mode, outcome, calm[algorithm])
        print(f"{mode}: {figures(outcome)}", *faults, sep="\n  ", flush=True)
        if faults:
            failed.append(mode)
            for name, log in outcome.logs.items():
                print(f"--- {name}\n{log}")
            print(f"--- attacker\n{outcome.attacker_said[-600:]}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rubato")
    parser.add_argument("modes", nargs="*")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--jobs", type=int, default=4)
    options = parser.parse_intermixed_args()
    try:
        from attacker import ATTACKS
    except ModuleNotFoundError as missing:
        print(f"not tried: {missing}")
        return 77  # for ctest: does not apply here
    failed, seconds = options.modes or list(ATTACKS), options.seconds
    for _ in range(3):  # how much is learnt in some time depends on what else the machine has to do
        if failed:
            failed = attempt(options.rubato, failed, seconds, options.jobs)
            seconds *= 4
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
