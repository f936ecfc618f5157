"""Seconds of a run from Python against those of the command: the same experiment in pairs, which take turns at going first.

    PYTHONPATH=build/python/package python3 bench/python_command.py build/rubato [FILE] [--until S] [--threads N] [--pairs N]

Both say how long the run took, without reading data or starting an interpreter; digests must be equal.
"""

import argparse
import json
import statistics
import subprocess

import rubato


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("file", nargs="?", default="examples/quickstart.toml")
    parser.add_argument("--until", type=float, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    experiment = rubato.Experiment(asked.file).copy({"until": asked.until})

    def from_python():
        result = rubato.run(experiment, threads=asked.threads, on_note=None, progress=False)
        return result.wall_seconds, result.model_digest

    def from_command():
        told = json.loads(subprocess.run([asked.command, "run", asked.file, "--set", f"until={asked.until}", "--threads", str(asked.threads),
                                          "--json", "--quiet"], capture_output=True, text=True, check=True).stdout)
        return told["wall_seconds"], told["model_digest"]

    ratios = []
    for i in range(asked.pairs):
        first, second = (from_python, from_command) if i % 2 else (from_command, from_python)
        told = {run: run() for run in (first, second)}
        (mine, digest), (other, other_digest) = told[from_python], told[from_command]
        if digest != other_digest:
            raise SystemExit(f"the digests differ: {digest} from Python, {other_digest} of the command")
        ratios.append(mine / other)
        print(f"{mine:.3f} s from Python, {other:.3f} s of the command: {ratios[-1]:.3f}", flush=True)
    print(f"median of {asked.pairs} pairs: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
