"""Two questions of the field, answered with exact clocks: docs/referee.md.

The rule of the steps, the same for every method: all of `steps` with one seed that is not reported (101); the one that reaches the
goal first is kept in docs/reproduction/referee.json, where none does the one whose run came closest. Nothing else is tuned.
"""

import json

from measures import earlier, interval, reach, shown_interval, spread
from plan import Claim, Measure, Panel, Setting, Study, is_known
from tuned import chosen, reached

paper = "The referee"
tuned_file = "referee.json"


def tuned(study, name, steps):
    return chosen(study, name, steps[len(steps) // 2], tuned_file)


# 1: seconds to a gradient norm, 100 clients, links of 1 s, computations of 1/ratio seconds.

ratios = (0.1, 1, 10)
torus, star = "examples/referee/torus.toml", "examples/referee/star.toml"
torus_steps = (0.0156, 0.0625, 0.25, 1.0)
# name: file, algorithm, the key of its step, what else is set.
torus_methods = {
    "minibatch, tree": (torus, "minibatch_tree", "gamma", ()),
    "Fragile": (torus, "fragile", "gamma", ("algorithm.S=112",)),
    "Amelie": (torus, "amelie", "gamma", ("algorithm.S=112",)),
    "m-sync, 50 of 99": (star, "m_sync", "gamma", ("algorithm.M=50",)),
    "Rennala": (star, "rennala", "gamma", ("algorithm.B=112",)),
    "Ringmaster": (star, "ringmaster", "gamma", ("algorithm.R=112",)),
    "asynchronous SGD": (star, "asgd", "gamma", ()),
    "D-PSGD, rounds": (torus, "dpsgd", "eta", ("protocol.kind=rounds",)),
    "AD-PSGD": (torus, "adpsgd", "eta", ()),
    "SwarmSGD": (torus, "swarm_sgd", "eta", ()),
    "OSGP": (torus, "osgp", "eta", ()),
    "async DSGD": (torus, "async_dsgd", "eta", ()),
    "DRACO": (torus, "draco", "eta", ("algorithm.self_apply=true",)),
}


def at_ratio(ratio):
    period = 1 / ratio
    return (f"clients.compute.period={period:g}", f"until={300 * (20 + period) + 0.5:g}", f"metrics.every_seconds={1 + period:g}")


def torus_setting(name, step, ratio, label=""):
    file, algorithm, key, others = torus_methods[name]
    return Setting(name + label, file, at_ratio(ratio) + (f"algorithm.name={algorithm}", f"algorithm.{key}={step:g}") + others)


def _bound(name):
    return lambda run: json.loads((run.folder / "output.txt").read_text())["seconds"][name]


def bound_setting(ratio):
    goal = ("--eps", "9e-4", "--variance", "0.1", "--gap", "258", "--json")
    return Setting(f"{ratio:g}", torus, at_ratio(ratio)[:1], asks=("bound", *goal))


bounds = Study(
    "referee-bounds", paper, "the theory's seconds",
    "`rubato bound` for a link of 1 s and the ratios of links to computations that head the lines, with L = 1 and Delta = 258.",
    tuple(bound_setting(ratio) for ratio in ratios),
    tuple(Measure(name, heading, _bound(name), -3) for name, heading in
          (("lower_homogeneous", "lower bound, equal losses, these links"), ("fragile", "Fragile"), ("minibatch_links", "minibatch over the graph"),
           ("rennala", "Rennala, Ringmaster (no links)"))), (), (), 1, 1, guess=(0.1, 0.1))


to_goal = reach(0.03, "s to the goal", column="gradient_norm", below=True, digits=0)
came_to = Measure("least", "least norm", lambda run: min(run.column("gradient_norm")), 3)


# Nothing is asked of a run that has reached it.
stop_at_goal = "metrics.stop={metric=\"gradient_norm\",window=1,by=\"mean\",below=0.03}"


def torus_study(ratio):
    name = f"referee-torus-{ratio:g}"
    return Study(
        name, paper, f"links of 1 s, computations of {1 / ratio:g} s", "A hundred clients on a torus; the goal is a gradient of the mean loss, at the mean model, shorter than 0.03.",
        tuple(torus_setting(one, tuned(name, one, torus_steps), ratio) for one in torus_methods), (to_goal, came_to), (),
        (Panel("gradient_norm", "seconds", "seconds", "norm of the gradient", y_log=True, x_log=True),), 1, 5, full=(stop_at_goal,), guess=(4, 1), ceiling="holds")


def torus_tuning(ratio):
    return Study(f"referee-tuning-torus-{ratio:g}", paper, f"steps at ratio {ratio:g}", "By the rule of the page.",
                 tuple(torus_setting(name, step, ratio, f", step {step:g}") for name in torus_methods for step in torus_steps), (to_goal, came_to), (), (), 0, 1, first_seed=101, guess=(4, 4))


# 2: do we need asynchronous SGD? Sixteen clients, digits, softmax regression.

map_file = "examples/referee/map.toml"
map_steps = (0.05, 0.2, 0.8)
map_methods = {
    "synchronous": ("m_sync", "gamma", ("topology.kind=star", "algorithm.M=15")),
    "m-synchronous": ("m_sync", "gamma", ("topology.kind=star", "algorithm.M=8")),
    "Ringmaster": ("ringmaster", "gamma", ("topology.kind=star", "algorithm.R=15")),
    "gossip": ("adpsgd", "eta", ()),
    "DRACO": ("draco", "eta", ("algorithm.self_apply=true",)),
}
tails, alphas, delays = (0.1, 1.0, 2.0), (0.1, 1, 100), (0.1, 1, 10)
corners = [(tail, alpha, delay) for tail in (tails[0], tails[2]) for alpha in (alphas[0], alphas[2]) for delay in (delays[0], delays[2])]
cells = [(tail, alpha, delay) for tail in tails for alpha in alphas for delay in delays]


def cell_name(cell):
    return f"tail {cell[0]:g}, alpha {cell[1]:g}, delay {cell[2]:g}"


def map_setting(method, step, cell, label=""):
    tail, alpha, delay = cell
    algorithm, key, others = map_methods[method]
    # The mean of a computation is 1 s whatever the tail: `mean` is that of the law.
    sets = (f"clients.compute.sigma={tail:g}", f"data.partition.alpha={alpha:g}", f"channel.delay={{law=\"exponential\",mean={delay:g}}}",
            f"until={200 * (1 + delay) + 0.5:g}", f"metrics.every_seconds={(1 + delay):g}", f"algorithm.name={algorithm}", f"algorithm.{key}={step:g}")
    return Setting(f"{method}; {cell_name(cell)}{label}", map_file, sets + others, only="" if cell in corners else "full")


to_accuracy = reach(0.85, "s to 0.85", digits=0)
map_study = Study(
    "referee-map", paper, "who is first, and by how much", "Seconds until the mean accuracy of the clients is 0.85.",
    tuple(map_setting(method, tuned("referee-map", f"{method}; {cell_name(cell)}", map_steps), cell) for cell in cells for method in map_methods),
    (to_accuracy,), (), (), 3, 6, guess=(0.5, 0.5), ceiling="holds")
map_tuning = Study(
    "referee-tuning-map", paper, "steps of every cell", "By the rule of the page.",
    tuple(map_setting(method, step, cell, f", step {step:g}") for cell in cells for method in map_methods for step in map_steps),
    (to_accuracy, Measure("best", "best accuracy", lambda run: max(run.column("accuracy_mean")), 3)), (), (), 1, 1, first_seed=101, guess=(0.3, 0.3))


# 3: AD-PSGD's claim: one worker 2, 10 and 100 times slower.

def slow_setting(name, algorithm, factor, others=()):
    rates = ",".join([f"{1 / factor:g}"] + ["1.0"] * 15)
    return Setting(f"{name}, {factor} x", map_file, ("clients.compute={law=\"poisson\",rate=[" + rates + "]}", "data.partition={kind=\"iid\"}", "until=400.5", "channel.delay=0.01",
                   "metrics.every_seconds=1.0", f"algorithm.name={algorithm}", "algorithm.eta=0.2") + others)


factors = (1, 2, 10, 100)
slow = Study(
    "referee-slow", paper, "one worker of sixteen is slower", "AD-PSGD's paper: its wall time hardly changes when one worker is 10 or 100 times slower; that of synchronous methods grows in proportion.",
    tuple(slow_setting(name, algorithm, factor, others) for name, algorithm, others in
          (("AD-PSGD", "adpsgd", ()), ("D-PSGD, rounds", "dpsgd", ("protocol.kind=rounds",)), ("DRACO", "draco", ("algorithm.self_apply=true",))) for factor in factors),
    (to_accuracy,),
    tuple(Claim(f"{factor} x: AD-PSGD is earlier than D-PSGD in rounds", earlier(f"AD-PSGD, {factor} x", f"D-PSGD, rounds, {factor} x", "seconds_to_0.85", 1), ceiling="holds") for factor in factors[1:]),
    (Panel("seconds_to_0.85", x_label="seconds to 0.85", x_log=True),), 3, 10, guess=(0.3, 0.3), ceiling="holds")


def best_steps(note, names, steps, measure, other):
    """name -> step: reached first, or else came closest. `other`: (measure, sign) of how close."""
    best = {}
    for name in names:
        labels = {step: f"{name}, step {step:g}" for step in steps}
        first, close = reached(note, labels, measure), reached(note, labels, other[0])
        found = [(0, first[step], step) if step in first else (1, other[1] * close[step], step) for step in steps if step in first or step in close]
        if found:
            best[name] = min(found)[2]
    return best


def choices(stored):
    """Of the tuning studies' full columns."""
    groups = {}
    for ratio in ratios:
        note = stored(f"referee-tuning-torus-{ratio:g}")
        if note:
            groups[f"referee-torus-{ratio:g}"] = best_steps(note, torus_methods, torus_steps, "seconds_to_0.03", ("least", 1))
    note = stored("referee-tuning-map")
    if note:
        names = [f"{method}; {cell_name(cell)}" for cell in cells for method in map_methods]
        groups["referee-map"] = best_steps(note, names, map_steps, "seconds_to_0.85", ("best", -1))
    return groups


def map_table(results):
    """For each cell who is first on average, the time, and by how much the next one is later on the same seeds."""
    lines = ["| tail | alpha | delay | first | s to 0.85 | next | later by, paired [95 %] | did not arrive |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for cell in cells:
        times, absent = {}, []
        for method in map_methods:
            of = results.values.get(f"{method}; {cell_name(cell)}", {}).get("seconds_to_0.85")
            if of is None:
                continue
            if all(is_known(one) for one in of.values()):
                times[method] = spread(of.values())[0]
            else:
                absent.append(f"{method} ({sum(map(is_known, of.values()))} of {len(of)})")
        row = [f"{cell[0]:g}", f"{cell[1]:g}", f"{cell[2]:g} s"]
        if not times:
            lines.append("| " + " | ".join(row + (["-", "-", "-", "-", ", ".join(absent)] if absent else ["not run", "", "", "", ""])) + " |")
            continue
        order = sorted(times, key=times.get)
        row += [f"**{order[0]}**", f"{times[order[0]]:.1f}"]
        if len(order) > 1:
            differences = results.differences(f"{order[1]}; {cell_name(cell)}", f"{order[0]}; {cell_name(cell)}", "seconds_to_0.85")
            _, low, high = interval(differences)
            sure = "" if not is_known(low) else "" if low > 0 else ": undecided"
            row += [order[1], shown_interval(differences, 1) + sure]
        else:
            row += ["-", "-"]
        lines.append("| " + " | ".join(row + [", ".join(absent)]) + " |")
    return "\n".join(lines)


studies = (bounds, *(torus_study(ratio) for ratio in ratios), map_study, slow, *(torus_tuning(ratio) for ratio in ratios), map_tuning)
