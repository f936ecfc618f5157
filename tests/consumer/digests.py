"""The digests of runs of experiment files, from Python or, with a command, by it: digests.py [--command RUBATO] SECONDS FILE..."""

import json
import subprocess
import sys

arguments = sys.argv[1:]
command = None
if arguments[0] == "--command":
    command, arguments = arguments[1], arguments[2:]
seconds, *files = arguments
for file in files:
    if command:
        run = [command, "run", file, "--set", f"until={seconds}", "--json", "--quiet"]
        summary = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
        print(summary["model_digest"], summary["timeline_digest"])
    else:
        import rubato
        experiment = rubato.Experiment(file)
        experiment.until = float(seconds)
        result = rubato.run(experiment, progress=False, on_note=None)
        print(result.model_digest, result.timeline_digest)
