"""The numbers of finished runs as files below docs/reproduction, and the pages that show them."""

import csv
import io
import json
import math

import drawing
import tables
from measures import Results, Run, shown, spread, value_at
from plan import nan
from runs import Unit

points_of_curve = 60


def units_of(study, column, places, seeds=0):
    """Seed after seed: what is finished of a study that was stopped can be paired."""
    return [Unit(study, column, setting, seed, places) for seed in study.seeds(column, seeds)
            for setting in study.of_column(column)]


def _finished(study, column, places, seeds):
    """setting -> seed -> Run."""
    found = {}
    for unit in units_of(study, column, places, seeds):
        if unit.is_done():
            found.setdefault(unit.setting.name, {})[unit.seed] = Run(unit.folder)
    return found


def _number(value):
    return None if value is None or math.isnan(value) or math.isinf(value) else value


def _measured(measure, run):
    try:
        return _number(measure.of(run))
    except KeyError:  # a column or table that this setting's runs do not have
        return None


def collect(study, column, places, seeds=0):
    """What stands in docs/reproduction/STUDY.json for this column; None without any run."""
    runs = _finished(study, column, places, seeds)
    if not runs:
        return None, runs
    first = next(iter(next(iter(runs.values())).values()))
    settings = {}
    for setting in study.of_column(column):
        of = runs.get(setting.name)
        if not of:
            continue
        settings[setting.name] = {
            "command": "build/rubato " + " ".join(next(iter(of.values())).unit["words"]).rsplit(" --seed", 1)[0],
            "cpu_seconds": round(sum(run.unit["cpu_seconds"] for run in of.values()) / len(of), 2),
            "digests": {str(seed): run.summary.get("model_digest", "")[:16] for seed, run in of.items()},
            "measures": {one.name: {str(seed): _measured(one, run) for seed, run in of.items()} for one in study.measures}}
    note = {"cpu_seconds": round(sum(run.unit["cpu_seconds"] for of in runs.values() for run in of.values()), 1),
            "runs": sum(len(of) for of in runs.values()), "wanted": len(units_of(study, column, places, seeds)),
            "commit": first.summary.get("commit", ""), "arithmetic": first.summary.get("arithmetic", ""),
            "seeds": seeds or len(study.seeds(column)), "settings": settings}
    return note, runs


def _band(of, panel):
    """Mean and deviation over seeds at places that all runs have; on a logarithmic axis the geometric mean, and the factor that is one
    deviation of the logarithm."""
    low = max(run.column(panel.x)[0] for run in of)
    high = min([run.column(panel.x)[-1] for run in of] + [panel.x_to])
    if high <= low:
        return [], [], []
    if panel.x_log:
        low = max(low, next((x for x in of[0].column(panel.x) if x > 0), 1))
        places = [low * (high / low) ** (i / (points_of_curve - 1)) for i in range(points_of_curve)]
    else:
        places = [low + (high - low) * i / (points_of_curve - 1) for i in range(points_of_curve)]
    means, deviations = [], []
    for place in places:
        values = [value_at(run, panel.x, place, panel.y) for run in of]
        if panel.y_log:
            mean, deviation, _ = spread([math.log(one) if one > 0 else nan for one in values])
            means.append(math.exp(mean) if mean < 700 else math.inf if mean >= 700 else nan)
            deviations.append(math.exp(deviation) if deviation < 700 else nan)
        else:
            mean, deviation, _ = spread(values)
            means.append(mean)
            deviations.append(deviation)
    return places, means, deviations


def _panel_data(study, panel, runs, note):
    names = panel.settings or tuple(runs)
    data = {}
    for name in names:
        if name not in runs:
            continue
        if panel.x:
            try:
                data[name] = _band(list(runs[name].values()), panel)
            except KeyError:
                continue
        else:
            mean, deviation, _ = spread([nan if one is None else one for one in
                                         note["settings"][name]["measures"][panel.y].values()])
            paper = next(one.paper.get(panel.y, nan) for one in study.settings if one.name == name)
            data[name] = (mean, deviation, paper if isinstance(paper, (int, float)) else nan)
    return data


def draw(study, column, runs, note, places):
    if not study.panels:
        return
    panels = [(panel, _panel_data(study, panel, runs, note)) for panel in study.panels]
    panels = [(panel, data) for panel, data in panels if data]  # a column may lack all settings of a panel
    if not panels:
        return
    order = [one.name for one in study.settings]
    seeds = max(len(of) for of in runs.values())
    text = (f"{column} column, {seeds} seed{'s' if seeds > 1 else ''}; lines and dots: means; bands and bars: "
            "one standard deviation to both sides.")
    if any(panel.y_log for panel, _ in panels):
        text = text[:-1] + " (of the logarithms where the vertical axis is logarithmic)."
    if seeds == 1:
        text = f"{column} column, one run of each setting."
    (places.docs / f"{study.name}.svg").write_text(drawing.figure(panels, order, text))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["panel", "setting", "x", "mean", "deviation"])
    for panel, data in panels:
        for name, of in data.items():
            if panel.x:
                for x, mean, deviation in zip(*of):
                    writer.writerow([f"{panel.y} by {panel.x}", name] + [f"{one:.6g}" for one in (x, mean, deviation)])
            else:
                writer.writerow([panel.y, name, ""] + [f"{one:.6g}" for one in of[:2]])
    (places.docs / f"{study.name}.csv").write_text(out.getvalue())


def stored(study, places):
    file = places.docs / f"{study.name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def store(study, column, places, seeds=0):
    """Writes what the runs say; False without any run."""
    note, runs = collect(study, column, places, seeds)
    if note is None:
        return False
    places.docs.mkdir(parents=True, exist_ok=True)
    all_columns = stored(study, places)
    all_columns[column] = note
    if column == "full" or "full" not in all_columns:
        draw(study, column, runs, note, places)
        all_columns["figure"] = column
    (places.docs / f"{study.name}.json").write_text(json.dumps(all_columns, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return True


def changes(study, column, places, seeds=0):
    """Sentences about numbers and digests that differ from what is stored."""
    if not units_of(study, column, places, seeds):
        return []  # such a study has no such column
    note, _ = collect(study, column, places, seeds)
    was = stored(study, places).get(column)
    if note is None or was is None:
        return [f"{study.name}: no {column} column to hold it against"]
    found = []
    if note["arithmetic"] != was["arithmetic"]:
        found.append(f"{study.name}: another build: digests promise nothing ({note['arithmetic']}, was {was['arithmetic']})")
    for name, now in note["settings"].items():
        before = was["settings"].get(name)
        if before is None:
            found.append(f"{study.name}: {name} was not there")
            continue
        for seed, digest in now["digests"].items():
            if before["digests"].get(seed, digest) != digest:
                found.append(f"{study.name}: {name}, seed {seed}: other models")
        for measure, values in now["measures"].items():
            for seed, value in values.items():
                if before["measures"].get(measure, {}).get(seed, value) != value:
                    found.append(f"{study.name}: {name}, seed {seed}: {measure} is {value}, "
                                 f"was {before['measures'][measure][seed]}")
    return found


def results_of(note):
    return Results({name: {measure: {int(seed): nan if value is None else value for seed, value in values.items()}
                           for measure, values in one["measures"].items()} for name, one in note["settings"].items()})


def _cell(note, setting, measure):
    of = note["settings"].get(setting.name, {}).get("measures", {}).get(measure.name) if note else None
    if of is None:
        return "not run" if note is None or setting.name not in note["settings"] else "-"
    mean, deviation, count = spread([nan if one is None else one for one in of.values()])
    if count == 0:
        return "-" if len(of) == 0 else f"- (0 of {len(of)})"
    text = shown(mean, measure.digits)
    if count > 1:
        text += f" ± {deviation:.{measure.digits}f}" if measure.digits >= 0 and abs(mean) < 1e5 else f" ± {shown(deviation, -2)}"
    return text + (f" ({count} of {len(of)})" if count < len(of) else "")


def _paper(setting, measure):
    value = setting.paper.get(measure.name)
    return "" if value is None else value if isinstance(value, str) else shown(value, measure.digits)


def verdict(study, claim, note, column):
    """(numbers, word); the word is empty where nothing was run."""
    if note is None:
        return "not run", ""
    try:
        outcome = claim.judge(results_of(note))
    except (KeyError, IndexError, ZeroDivisionError):
        return "not run", ""
    has_too_few = "(one pair)" in outcome.text and len(study.seeds(column)) > 1  # where something is drawn one pair decides nothing
    no = "does not hold" if study.ceiling == "holds" else "not reproduced"  # what no paper claims cannot be reproduced
    if outcome.holds is None or has_too_few:
        return outcome.text, "undecided" if study.ceiling == "holds" else f"{no} (undecided)"
    if not outcome.holds:
        return outcome.text, no
    ceiling = claim.ceiling or study.ceiling
    if ceiling == "reproduced" and column == "quick":
        ceiling = "direction reproduced"
    return outcome.text, ceiling


def final_verdict(study, claim, notes):
    for column in ("full", "quick"):
        _, word = verdict(study, claim, notes.get(column), column)
        if word:
            return word + (" (quick column)" if column == "quick" else "")
    return "not run"


def _minutes(note):
    if not note:
        return "not run"
    part = f"{note['runs']} of {note['wanted']}" if note["runs"] < note["wanted"] else f"{note['runs']}"
    return f"{note['cpu_seconds'] / 60:.1f} CPU min, {part} runs" + (f", commit {note['commit'][:7]}" if note["commit"] else "")


def section(study, places):
    notes = stored(study, places)
    lines = [f"### {study.name}: {study.item}", "", study.says, ""]
    if study.choices:
        lines += [study.choices, ""]
    full, quick = (notes.get(column, {}).get("seeds", planned) for column, planned in (("full", study.full_seeds), ("quick", study.quick_seeds)))
    lines += [f"`tools/reproduce {study.name} --full`: {full} seed{'s' if full > 1 else ''}, {_minutes(notes.get('full'))}; "
              f"`tools/reproduce {study.name} --quick`: {quick}, {_minutes(notes.get('quick'))}. "
              f"Single runs and all values: [{study.name}.json](reproduction/{study.name}.json)." if notes else
              f"`tools/reproduce {study.name} --full` or `--quick`: **not run yet**.", ""]
    if not notes:
        for claim in study.claims:
            lines.append(f"* {claim.text}: not run")
        return "\n".join(lines + [""])
    with_paper = [one for one in study.measures if any(_paper(setting, one) for setting in study.settings)]
    heads = ["setting"]
    for one in study.measures:
        heads += ([f"{one.heading}, paper"] if one in with_paper else []) + [f"{one.heading}, full", "quick"]
    lines += ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for setting in study.settings:
        cells = [setting.name]
        for one in study.measures:
            if one in with_paper:
                cells.append(_paper(setting, one))
            cells += [_cell(notes.get("full"), setting, one), _cell(notes.get("quick"), setting, one)]
        lines.append("| " + " | ".join(cells) + " |")
    if study.claims:
        lines += ["", "| claim | full | quick | verdict |", "| --- | --- | --- | --- |"]
        for claim in study.claims:
            lines.append(f"| {claim.text} | {verdict(study, claim, notes.get('full'), 'full')[0]} | "
                         f"{verdict(study, claim, notes.get('quick'), 'quick')[0]} | **{final_verdict(study, claim, notes)}** |")
    if study.panels and (places.docs / f"{study.name}.svg").exists():
        lines += ["", f"![{study.item}](reproduction/{study.name}.svg)"]
    if study.note:
        lines += ["", study.note]
    return "\n".join(lines + [""])


def index(studies, places):
    lines = ["| paper | study | claim | verdict |", "| --- | --- | --- | --- |"]
    for study in studies:
        notes = stored(study, places)
        anchor = "".join(one for one in f"{study.name}: {study.item}".lower().replace(" ", "-") if one.isalnum() or one in "-_")
        for claim in study.claims:
            paper = study.paper.split(" (")[0]
            lines.append(f"| {paper} | [{study.name}](#{anchor}) | {claim.text} | {final_verdict(study, claim, notes)} |")
    return "\n".join(lines)


def counts(studies, places):
    """A line for each paper, a column for each verdict."""
    found, words = {}, ["reproduced", "direction reproduced", "direction on substitute data", "not reproduced", "not reproduced (undecided)", "not run"]
    for study in studies:
        notes = stored(study, places)
        of = found.setdefault(study.paper.split(" (")[0], {})
        for claim in study.claims:
            word = final_verdict(study, claim, notes).replace(" (quick column)", "")
            if word not in words:
                words.append(word)
            of[word] = of.get(word, 0) + 1
    lines = ["| paper | " + " | ".join(words) + " |", "| --- |" + " --- |" * len(words)]
    for name, of in [*found.items(), ("all", {word: sum(of.get(word, 0) for of in found.values()) for word in words})]:
        lines.append(f"| {name} | " + " | ".join(str(of.get(word, 0)) for word in words) + " |")
    return "\n".join(lines)


def columns_line(studies, places):
    parts = []
    for column in ("quick", "full"):
        notes = [one for one in (stored(study, places).get(column) for study in studies) if one]
        if notes:
            parts.append(f"{column}: {sum(one['runs'] for one in notes)} runs of {len(notes)} studies, "
                         f"{sum(one['cpu_seconds'] for one in notes) / 60:.0f} CPU minutes")
    return "; ".join(parts)


def sections(studies, places):
    lines, paper = [], ""
    for study in studies:
        if study.paper != paper:
            paper = study.paper
            lines.append(f"## {paper}\n")
        lines.append(section(study, places))
    return "\n".join(lines)


def _map(studies, column, places):
    from studies import referee
    note = stored(next(one for one in studies if one.name == "referee-map"), places).get(column)
    return referee.map_table(results_of(note)) if note else "not run yet"


def write_pages(studies, places):
    """From the templates beside this file: {{index}}, {{counts}}, {{columns}}, {{sections}}, {{section STUDY}}, {{map COLUMN}}, {{table 3}}, {{table 4.1}}, {{differences}}."""
    here = places.root / "tools" / "reproduction"
    for page in ("reproduction.md", "comparison.md", "referee.md"):
        text = (here / page).read_text()
        own = [one for one in studies if f"{{{{section {one.name}}}}}" in text] or [
            one for one in studies if one.paper not in ("Across papers", "The referee")]
        for one in own:
            text = text.replace(f"{{{{section {one.name}}}}}", section(one, places))
        for column in ("quick", "full"):
            text = text.replace(f"{{{{map {column}}}}}", _map(studies, column, places))
        for name, table in (("table 3", tables.table_3), ("table 4.1", tables.table_4_1), ("differences", tables.differences)):
            text = text.replace(f"{{{{{name}}}}}", table(studies, lambda study: stored(study, places)))
        text = text.replace("{{index}}", index(own, places)).replace("{{counts}}", counts(own, places))
        text = text.replace("{{columns}}", columns_line(own, places)).replace("{{sections}}", sections(own, places))
        (places.docs.parent / page).write_text(text.rstrip() + "\n")
