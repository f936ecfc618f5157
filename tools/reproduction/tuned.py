"""What tuning studies have chosen for other studies, kept in docs/reproduction: group -> name -> choice."""

import json
import pathlib

folder = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reproduction"


def _groups(file):
    try:
        return json.loads((folder / file).read_text())
    except (OSError, ValueError):
        return {}


def chosen(group, name, otherwise, file="tuned.json"):
    """`otherwise` where nothing was tuned yet."""
    return _groups(file).get(group, {}).get(name, otherwise)


def reached(note, labels, measure, diverged=None):
    """choice -> mean over the seeds of what its setting came to. labels: choice -> name of the setting; settings without a number
    are left out. diverged: what a run counts as that has none; None: it is left out."""
    means = {}
    for choice, label in labels.items():
        values = note["settings"].get(label, {}).get("measures", {}).get(measure, {}).values()
        known = [diverged if one is None else one for one in values if one is not None or diverged is not None]
        if known:
            means[choice] = sum(known) / len(known)
    return means


def keep(groups, file="tuned.json"):
    """Groups that are not given stay as they are in the file."""
    if groups:
        (folder / file).write_text(json.dumps({**_groups(file), **groups}, indent=1) + "\n")
