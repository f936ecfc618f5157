"""All algorithms in one world: the same asynchronous clocks, radio links and stragglers (examples/compare/wireless/wireless.toml).

The rule of the steps, the same for every method: each is run for 120 seconds with 0.02, 0.1 and 0.5, two seeds that are not reported (101, 102);
the step with the highest accuracy of clients, mean over time and seeds, is kept in docs/reproduction/tuned.json. What a method
calls its step is in `methods`; nothing else of it is tuned. All take five batches a computation: equal work. The command: tools/reproduce comparison-tuning-fashion --full, and
the same for -mnist and -a9a.
"""

from measures import area, end, more, reach
from plan import Claim, Measure, Panel, Setting, Study
from tuned import chosen, reached

paper = "Across papers"
file = "examples/compare/wireless/wireless.toml"
steps = (0.02, 0.1, 0.5)
star = "topology={kind=\"star\"}"
rounds = "protocol.kind=rounds"

# name: algorithm, its step, how the grid's value is written there, what else is set.
methods = {
    "async DSGD": ("async_dsgd", "eta", 1, ()),
    "DRACO, letter": ("draco", "eta", 1, ("algorithm.self_apply=false", "unification.period=20")),
    "DRACO, own": ("draco", "eta", 1, ("algorithm.self_apply=true", "unification.period=20")),
    "push-sum": ("sgp", "eta", 1, ()),
    "Spod-GT": ("spodgt", "eta", 1, ()),
    "DSGT": ("dsgt", "alpha", 1, ()),
    "DEPOSITUM": ("depositum", "alpha", 1, ("algorithm.beta=0.5", "algorithm.gamma=0.5")),
    "K-GT": ("kgt", "eta_c", 1, ("algorithm.local_steps=2",)),
    "DeceFL": ("decefl", "local_lr", 1, ("algorithm.form=pseudo", "algorithm.mu=1")),
    "DFedSAM": ("dfedsam", "eta", 1, ()),
    "PaME": ("pame", "sigma0", -1, ("algorithm.gamma=1", "algorithm.share=0.2", "algorithm.nu=0.5")),
    "CHOCO": ("choco", "eta", 1, ("K",)),
    "event-triggered": ("event_triggered", "eta", 1, ()),
    "DIGEST": ("digest", "eta", 1, ("algorithm.streams=4",)),
    "KD-PDFL": ("kdpdfl", "eta", 1, ("algorithm.T_ex=5",)),
    "D-PSGD, rounds": ("dpsgd", "eta", 1, (rounds,)),
    "DSGT, rounds": ("dsgt", "alpha", 1, (rounds,)),
    "push-sum, rounds": ("sgp", "eta", 1, (rounds,)),
    "Spod-GT, rounds": ("spodgt", "eta", 1, (rounds,)),
    "NIDS, rounds": ("nids", "eta", 1, ()),
    "ANQ-NIDS, rounds": ("anq_nids", "eta", 1, ()),
    "BEER, rounds": ("beer", "eta", 1, ("K",)),
    "CHOCO, rounds": ("choco", "eta", 1, (rounds, "K")),
    "FedAvg, server": ("fedavg", "eta", 1, (star,)),
    "FedDR, server": ("feddr", "local_lr", 1, (star, "algorithm.local_steps=5", "algorithm.local_batches=1")),
    "FedADMM, server": ("fedadmm", "local_lr", 1, (star, "algorithm.local_steps=5", "algorithm.local_batches=1")),
    "local only": ("local_only", "eta", 1, ()),
}

# data: what is set, numbers of a model, accuracy that counts as reached.
worlds = {
    "fashion": ("Fashion-MNIST, softmax regression (7,850 numbers)", (), 7850, 0.72),
    "mnist": ("MNIST, a perceptron of 32 (25,450 numbers)", ("data.name=mnist", "model={name=\"mlp\",hidden=[32],batch=32}"), 25450, 0.85),
    "a9a": ("a9a, logistic regression (248 numbers)", ("data.name=a9a",), 248, 0.82),
}


def setting(world, name, step, label=""):
    algorithm, key, power, others = methods[name]
    _, sets, numbers, _ = worlds[world]
    own = tuple(f"algorithm.k={max(1, numbers // 10)}" if one == "K" else one for one in others)
    value = step if power > 0 else 1 / step
    return Setting(name + label, file, sets + (f"algorithm.name={algorithm}", "algorithm.local_batches=5") + own + (f"algorithm.{key}={value:g}",))


over_time = area("accuracy_mean", "accuracy, mean over time")
shown_in_figures = ("async DSGD", "DRACO, own", "push-sum", "Spod-GT", "DeceFL", "PaME", "CHOCO", "D-PSGD, rounds", "FedAvg, server", "local only")


def to_target(level, axis, heading, scale, digits):
    inner = reach(level, heading, axis=axis)
    return Measure(f"{axis}_to_target", heading, lambda run: inner.of(run) / scale, digits)


def ahead(one, other):
    return Claim(f"{one} is ahead of {other}", more(one, other, "area_accuracy_mean"), ceiling="holds")


def world_study(world):
    title, _, _, level = worlds[world]
    return Study(
        f"comparison-{world}", paper, title, f"Fifteen clients, 240 seconds; the target is an accuracy of {level}, the mean of clients.",
        tuple(setting(world, name, chosen(world, name, 0.1)) for name in methods),
        (over_time, end("accuracy_mean", "at the end"), end("accuracy_min", "worst client"), to_target(level, "seconds", "s to target", 1, 0),
         to_target(level, "paper_bits", "Mbit to target", 1e6, 0), to_target(level, "gradients", "computations to target", 1, 0), to_target(level, "joules", "J to target", 1, 0)),
        (ahead("async DSGD", "D-PSGD, rounds"), ahead("push-sum", "push-sum, rounds"), ahead("DSGT", "DSGT, rounds"), ahead("Spod-GT", "Spod-GT, rounds"), ahead("CHOCO", "CHOCO, rounds"),
         ahead("async DSGD", "FedAvg, server"), ahead("DRACO, own", "async DSGD"), ahead("DRACO, letter", "async DSGD"), ahead("push-sum", "async DSGD"), ahead("Spod-GT", "async DSGD"), ahead("DSGT", "async DSGD"),
         ahead("DEPOSITUM", "async DSGD"), ahead("DeceFL", "async DSGD"), ahead("DFedSAM", "async DSGD"), ahead("PaME", "async DSGD"), ahead("CHOCO", "async DSGD"), ahead("async DSGD", "local only")),
        (Panel("accuracy_mean", "seconds", "seconds", "mean accuracy of clients", settings=shown_in_figures),
         Panel("accuracy_mean", "paper_bits", "bits, as the papers count", "mean accuracy of clients", x_log=True, settings=shown_in_figures),
         Panel("accuracy_mean", "gradients", "computations, five batches each", "mean accuracy of clients", settings=shown_in_figures),
         Panel("accuracy_mean", "joules", "joules of all clients", "mean accuracy of clients", x_log=True, settings=shown_in_figures)),
        3, 5, guess=(0.6, 0.6), ceiling="holds")


def tuning_study(world):
    return Study(f"comparison-tuning-{world}", paper, f"steps, {worlds[world][0]}", "By the rule of the page.",
                 tuple(setting(world, name, step, f", step {step}") for name in methods for step in steps), (over_time,), (), (), 0, 2, (), ("until=120.5", "metrics.test_samples=500"), first_seed=101, guess=(0.6, 0.3))


def choices(stored):
    """Of the tuning studies' full columns: of every method the step with the best mean over seeds; a run that diverged is last of all."""
    groups = {}
    for world in worlds:
        note = stored(f"comparison-tuning-{world}")
        if not note:
            continue
        found = {name: reached(note, {step: f"{name}, step {step}" for step in steps}, "area_accuracy_mean", diverged=-1.0) for name in methods}
        groups[world] = {name: max(known, key=known.get) for name, known in found.items() if known}
    return groups


studies = tuple(world_study(one) for one in worlds) + tuple(tuning_study(one) for one in worlds)
