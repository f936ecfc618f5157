"""DRACO: chapter 3 of the thesis and its appendix B."""

import dataclasses

from measures import alike, at, at_most, delivered, end, falls, less, more, square, tail, wiggle
from plan import Claim, Measure, Panel, Setting, Study, with_name

paper = "DRACO (thesis, chapter 3)"

small = ("model={name=\"mlp\",hidden=[64],batch=15}",)
network = ("model={name=\"cnn_draco\",batch=15}",)
by_time = Panel("accuracy_mean", "seconds", "seconds", "mean accuracy of clients")
last = tail("accuracy_mean", "accuracy, last fifth", 0.2)


def twice(settings, **changes):
    """To the letter, where a client never applies its own updates, and with them."""
    return tuple(one for setting in settings for one in (
        with_name(setting, setting.name + ", letter", "algorithm.self_apply=false", **changes),
        with_name(setting, setting.name + ", own", "algorithm.self_apply=true", **changes)))


def half(panel, settings, which, title):
    return dataclasses.replace(panel, settings=tuple(one.name for one in settings if one.name.endswith(which)), title=title)


def halves(settings, panel=by_time):
    return (half(panel, settings, ", letter", "to the letter"), half(panel, settings, ", own", "own updates applied"))


def main(name, file, *sets, **changes):
    return Setting(name, f"draco/{file}.toml", ("algorithm.local_batches=16",) + sets, **changes)


rivals = (
    main("DRACO, letter", "draco_main", "algorithm.self_apply=false"),
    main("DRACO, own", "draco_main", "algorithm.self_apply=true"),
    main("async push-sum", "draco_main_async_push"),
    main("async DSGD", "draco_main_async_dsgd"),
    main("DIGEST", "draco_main_async_dsgd", "algorithm.name=digest"),
    main("CHOCO, rounds", "draco_main_choco", "algorithm.compressor=identity", "algorithm.gamma=1.0"),
    main("push-sum, rounds", "draco_main_sgp"),
)
f1 = tail("f1_macro", "macro F1, last fifth", 0.2)
done = ("metrics.every_seconds=25.0", "metrics.test_samples=500")
letter_claims = (
    Claim("to the letter DRACO is ahead of asynchronous DSGD", more("DRACO, letter", "async DSGD", "tail_accuracy_mean")),
    Claim("with own updates DRACO is ahead of asynchronous DSGD", more("DRACO, own", "async DSGD", "tail_accuracy_mean")),
    Claim("with own updates DRACO is ahead of asynchronous push-sum", more("DRACO, own", "async push-sum", "tail_accuracy_mean")),
    Claim("with own updates DRACO is ahead of DIGEST", more("DRACO, own", "DIGEST", "tail_accuracy_mean")),
    Claim("with own updates DRACO is ahead of CHOCO in rounds", more("DRACO, own", "CHOCO, rounds", "tail_accuracy_mean")),
    Claim("with own updates DRACO is ahead of push-sum in rounds", more("DRACO, own", "push-sum, rounds", "tail_accuracy_mean")),
    Claim("the synchronous methods are comparable: within 0.03", alike("CHOCO, rounds", "push-sum, rounds", "tail_accuracy_mean", 0.03)),
)
all_settings = ("eta 0.05, P 50, Psi 50, window 0, W/N of 10 MHz, 16 local batches for all methods; none of the first four is in the thesis. "
                "Sent are messages of the thesis' length, whatever the model. CHOCO compresses nothing. The quick column has a perceptron of 64. ")

emnist = Study(
    "draco-main", paper, "figure 3.4 (a): EMNIST, a ring of 25",
    "The thesis finds DRACO best, the synchronous methods comparable, and asynchronous DSGD below asynchronous push.",
    rivals, (last, delivered()),
    letter_claims + (Claim("asynchronous DSGD is below asynchronous push-sum", less("async DSGD", "async push-sum", "tail_accuracy_mean")),),
    (by_time,), 5, 3, done + ("until=600.5", "model={name=\"mlp\",hidden=[64],batch=64}"), done + ("until=600.5",),
    ceiling="direction on substitute data", choices=all_settings + "EMNIST is a subset of 47 classes.", guess=(6, 85))


def hands(setting):
    return with_name(setting, setting.name, "topology={kind=\"complete\"}", "channel.message_bytes=51640", "data.name=poker-hand",
                     "model={name=\"mlp_draco\",batch=64}")


poker = Study(
    "draco-poker", paper, "figure 3.4 (b): poker hands, 25 clients, each with all others",
    "The thesis finds DRACO best in accuracy and in F1, and all near each other in the end.",
    tuple(hands(one) for one in rivals), (last, f1, delivered()), letter_claims, (by_time, Panel("f1_macro", "seconds", "seconds", "macro F1, mean of clients")),
    8, 5, done + ("until=600.5",), done + ("until=3000.5", "metrics.every_seconds=100.0"),
    ceiling="direction on substitute data", choices=all_settings + "18,488 of 10^6 test rows.", guess=(4, 15))


def psi(cap):
    return main(f"Psi {cap}", "draco_main", f"mailbox.cap={cap}", "algorithm.self_apply=true", only="full" if cap in (10, 100) else "")


caps = (2, 5, 10, 20, 50, 100, "none")
oscillation = Study(
    "draco-psi", paper, "figure 3.5 (a): the reception cap on EMNIST",
    "The thesis finds that a large Psi oscillates and a small one is slow.",
    tuple(psi(one) for one in caps), (at(300, "accuracy_mean", "after 300 s"), last, wiggle("accuracy_mean", "up and down")),
    (Claim("a small cap is slower", less("Psi 2", "Psi none", "accuracy_mean_at_300")),
     Claim("a large cap goes up and down more", more("Psi none", "Psi 2", "wiggle_accuracy_mean", 4))),
    (by_time,), 6, 3, done + ("until=600.5", "model={name=\"mlp\",hidden=[64],batch=64}"), done + ("until=600.5",),
    ceiling="direction on substitute data", choices=all_settings + "Own updates are applied: to the letter a ring learns nothing.", guess=(6, 85))


graphs = twice([Setting(name, "draco/fixed.toml", (f"topology={{kind=\"{kind}\"}}", "mailbox.cap=none")) for name, kind in (
    ("complete", "complete"), ("3 nearest", "knn"), ("bipartite", "bipartite"), ("ring", "ring"), ("star", "star"))])
topology = Study(
    "draco-topology", paper, "figure B.3: graphs",
    "The thesis finds the complete graph fastest and best.",
    graphs, (at(200, "accuracy_mean", "after 200 s"), last),
    tuple(Claim(f"{which}: the complete graph is faster than the {other}", more(f"complete, {which}", f"{other}, {which}", "accuracy_mean_at_200"))
          for which in ("letter", "own") for other in ("3 nearest", "bipartite", "ring", "star")),
    halves(graphs), 8, 3, small, network + ("metrics.test_samples=500",), choices="MNIST, 25 clients with 50 images, B = 4, P = 50, no reception cap, eta 0.05. The quick column has a "
    "perceptron of 64, the full one the thesis' network.", guess=(1.5, 15))


def pairs(key, values, names, file="wireless", *sets):
    return twice([Setting(name, f"draco/{file}.toml", sets + (f"{key}={value}",)) for name, value in zip(names, values)])


cap_settings = pairs("mailbox.cap", (5, 20, 100, 400), ("5", "20", "100", "400"), "fixed", "unification.period=500", "mailbox.cap_period=500",
                     "mailbox.cap_rule=random")
cap = Study(
    "draco-cap", paper, "figure B.4: the reception cap",
    "The thesis finds a smaller training loss and a higher accuracy with a larger cap.",
    cap_settings, (last, tail("train_loss_mean", "training loss, last fifth", 0.2)),
    tuple(Claim(f"{which}: the larger the cap, the higher the accuracy", falls([f"{one}, {which}" for one in (5, 20, 100, 400)], "tail_accuracy_mean", rises=True))
          for which in ("letter", "own"))
    + tuple(Claim(f"{which}: the larger the cap, the smaller the training loss", falls([f"{one}, {which}" for one in (5, 20, 100, 400)], "tail_train_loss_mean"))
            for which in ("letter", "own")),
    halves(cap_settings), 8, 3, small + ("metrics.training=true",), network + ("metrics.training=true", "metrics.test_samples=500"),
    choices="As B.3, complete graph, P = 500 and the cap for as long; messages beyond the cap are removed by chance.", guess=(1.5, 15))

radio = ("channel.bandwidth_use=shared",)
deadline_settings = pairs("mailbox.deadline", (0.1, 0.3, 1, 3, 10, 30), ("0.1 s", "0.3 s", "1 s", "3 s", "10 s", "30 s"), "wireless", *radio)
deadline = Study(
    "draco-deadline", paper, "figure B.5: the deadline",
    "The thesis finds that a longer deadline helps up to about 10 s and then no more.",
    deadline_settings, (at(60, "accuracy_mean", "after 60 s"), last, delivered()),
    (Claim("letter: 0.3 s is worse than 1 s", less("0.3 s, letter", "1 s, letter", "accuracy_mean_at_60")),
     Claim("letter: 1 s is worse than 10 s", less("1 s, letter", "10 s, letter", "accuracy_mean_at_60")),
     Claim("letter: beyond 10 s nothing more is won", alike("30 s, letter", "10 s, letter", "accuracy_mean_at_60", 0.02)),
     Claim("own: 0.3 s is worse than 1 s", less("0.3 s, own", "1 s, own", "accuracy_mean_at_60"))),
    halves(deadline_settings), 10, 5, small + ("until=120.5",), network + ("until=120.5",),
    choices="MNIST, 15 clients in a disk of 500 m, each an equal part of 10 MHz, P = 50, window 0.",
    note="The deadline works through what arrives: nothing within 0.1 s, 1.5 % of all messages within 0.3 s, 89 % within 1 s, 92 % within 3 s and no more with any longer one; what is missing then was sent over links that "
         "are too poor for 30 s as well. So accuracy saturates near 1 s here and not near 10 s; where in the thesis it does hangs on the length of a message against the rate of a link, of which it names the parts and not the seconds.", guess=(1.5, 7))

window_settings = pairs("mailbox.window", (0, 0.1, 1, 5, 20), ("0 s", "0.1 s", "1 s", "5 s", "20 s"), "wireless", *radio, "mailbox.deadline=1")
window = Study(
    "draco-window", paper, "figure B.6: the superposition window",
    "The thesis finds that wide windows renew models seldom and take stale updates.",
    window_settings, (at(60, "accuracy_mean", "after 60 s"), last),
    tuple(Claim(f"{which}: 5 s is worse than 0 s at first", less(f"5 s, {which}", f"0 s, {which}", "accuracy_mean_at_60")) for which in ("letter", "own"))
    + tuple(Claim(f"{which}: 20 s is worse than 5 s at first", less(f"20 s, {which}", f"5 s, {which}", "accuracy_mean_at_60")) for which in ("letter", "own")),
    halves(window_settings), 10, 3, small + ("until=120.5",), network + ("until=120.5",), choices="As B.5, deadline 1 s.", guess=(1.5, 7))

period_base = ("channel.bandwidth_use=shared", "mailbox.deadline=1")
period_settings = pairs("unification.period", (5, 20, 50, 200, 1000), ("5 s", "20 s", "50 s", "200 s", "never"), "wireless", *period_base) + tuple(
    with_name(Setting("", "draco/wireless.toml", period_base), f"200 s, {name}, letter", "algorithm.self_apply=false", "unification.period=200", *sets)
    for name, sets in (("best channel", ("unification.hub=best_channel",)), ("most edges", ("unification.hub=max_degree",)),
                       ("sent over links", ("unification.via=transport",)), ("eta 0.005", ("algorithm.eta=0.005",)),
                       ("half-life 0.5 s", ("algorithm.age_half_life=0.5",)), ("latest update", ("algorithm.outbox=latest",))))
period = Study(
    "draco-period", paper, "figure B.7: the unification period",
    "The thesis finds that a larger P learns faster and ends higher.",
    period_settings, (last,),
    tuple(Claim(f"{which}: 200 s is better than 20 s", more(f"200 s, {which}", f"20 s, {which}", "tail_accuracy_mean")) for which in ("letter", "own"))
    + tuple(Claim(f"200 s with {name} is better than 20 s", more(f"200 s, {name}, letter", "20 s, letter", "tail_accuracy_mean"))
            for name in ("best channel", "most edges", "sent over links", "eta 0.005", "half-life 0.5 s", "latest update")),
    halves(period_settings), 5, 3, small + ("until=300.5",), network + ("until=300.5",),
    choices="As B.5, deadline 1 s, no cap. The last six settings are reasons that were tried for the reversal.",
    note="Unification is what keeps clients together here: to the letter a client's own update reaches its model through others alone, so that "
         "disagreement grows from one unification to the next.", guess=(2, 15))

horizons = (1000, 4000, 16000, 64000)
step, accepted = 1 / 600, 3  # eta and Psi of the file


def _start(run):
    return square(run.column("gradient_norm")[0])


def _first_term(run):
    """F / (B eta Psi); F, the height of the start above the minimum, is half of the squared gradient there for these losses."""
    return _start(run) / 2 / (step * accepted)


rate = Study(
    "draco-rate", paper, "theorem 3.1: the bound", "The least squared gradient is at most of the order of F / (B eta Psi) + zeta^2 / (N - 4) + sigma^2 + N zeta^2 + two terms with eta, for eta of at most 1 / (8 B L N Psi).",
    tuple(Setting(f"{which}, T = {one}", "draco/draco_rate.toml", (f"algorithm.self_apply={own}", f"until={one + 0.5}", f"metrics.every_seconds={one // 100}"))
          for which, own in (("letter", "false"), ("own", "true")) for one in horizons),
    (Measure("start", "squared gradient at the start", _start, -3), Measure("bound", "first term of the bound", _first_term, -3),
     Measure("least", "least squared gradient", lambda run: min(map(square, run.column("gradient_norm"))), -3),
     Measure("of_start", "first term of the bound over the start", lambda run: _first_term(run) / _start(run), -3)),
    (Claim("the bound says more than the start: its first term is below the squared gradient there", at_most(f"letter, T = {horizons[-1]}", "of_start", 1.0, -3)),)
    + tuple(Claim(f"{which}: the least squared gradient falls with the length of the run", falls([f"{which}, T = {one}" for one in horizons], "least", -3)) for which in ("letter", "own")),
    (Panel("least", x_label="least squared gradient", x_log=True),), 2, 20,
    choices="Losses 1/2 (x - c_i)^2 of 20 numbers, 25 clients, complete graph, B = 1, three messages a period of unification (Psi), the largest step that the theorem allows, 1/600. T is in seconds of which a client computes in every tenth.",
    note="The bound says nothing: with the steps that it allows its first term alone, F / (B eta Psi), is at least 8 L N F, and a smooth loss has a squared gradient of at most 2 L F at the start, so that it holds, 4 N times over, for a method that never takes a step. "
         "It has no number of steps in it, either: what falls with the length of the run is not in it.", guess=(0.5, 0.5))

studies = (emnist, poker, oscillation, topology, cap, deadline, window, period, rate)
