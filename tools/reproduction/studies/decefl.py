"""DeceFL."""

import dataclasses
import math

from measures import alike, at, at_most, best, end, falls, least_squares, less, more, tail
from plan import Claim, Measure, Panel, Setting, Study

paper = "DeceFL"

last = tail("accuracy_mean", "accuracy, last fifth", 0.2, 4)
early = at(30, "accuracy_mean", "after 30 rounds", digits=4)
best_round = best("accuracy_mean", "best round", 4)
agreement = end("consensus", "consensus", -3)
by_round = Panel("accuracy_mean", "seconds", "rounds", "mean accuracy of clients")
chances = (0.9, 0.7, 0.5, 0.3)
near = dataclasses.replace(by_round, y_from=0.9)  # all curves but their first rounds


def of_count(count):
    names = (f"FedAvg, K {count}", *(["swarm, K 8"] if count == 8 else []), *(f"DeceFL, K {count}, p {one}" for one in chances), *(["alone, K 8"] if count == 8 else []))
    return dataclasses.replace(by_round, settings=names, title=f"K = {count}")


table_2 = {4: (.9874, (.9879, .9879, .9879, .9882)), 8: (.9874, (.9884, .9884, .9884, .9884)), 16: (.9884, (.9884, .9883, .9884, .9884))}
table_4 = {4: (.9874, (.9884, .9884, .9884, .9887)), 8: (.9874, (.9884, .9882, .9882, .9879)), 16: (.9874, (.9877, .9877, .9877, .9876))}


network_2 = {4: (.9865, (.9845, .9845, .9848, .9833)), 8: (.9845, (.9826, .9836, .9826, .9832)), 16: (.9845, (.9839, .9847, .9837, .9839))}
network_4 = {4: (.9836, (.9845, .9845, .9845, .9841)), 8: (.9865, (.9836, .9837, .9840, .9844)), 16: (.9855, (.9864, .9865, .9861, .9865))}


def settings_of(numbers, *sets, swarm=.9874, always=""):
    found = []
    for count, (server, ours) in numbers.items():
        only = always if count == 8 else "full"
        own = sets + (f"clients.count={count}",)
        found.append(Setting(f"FedAvg, K {count}", "decefl/decefl_a2_fedavg.toml", own + ("algorithm.eta=0.1",), paper={"tail_accuracy_mean": server}, only=only))
        if count == 8:
            found.append(Setting("swarm, K 8", "decefl/decefl_a2_swarm.toml", own + ("algorithm.eta=0.1",), paper={"tail_accuracy_mean": swarm}, only=only))
        for chance, value in zip(chances, ours):
            found.append(Setting(f"DeceFL, K {count}, p {chance}", "decefl/decefl_a2.toml", own + (f"topology.probability={chance}", "algorithm.local_lr=0.1"),
                                 paper={"tail_accuracy_mean": value}, only=only if chance in (0.9, 0.3) else "full"))
    return tuple(found)


def claims_of(counts=(4, 8, 16), within=0.0032):
    """At the best round and at the end: with mu = 0.1 FedAvg goes ten times as far in as many rounds."""
    return tuple(Claim(f"K {count}: DeceFL with p {chance} is within {within} of FedAvg, {place}",
                       alike(f"DeceFL, K {count}, p {chance}", f"FedAvg, K {count}", measure, within, 4))
                 for count in counts for chance in (0.9, 0.3) for measure, place in (("best_accuracy_mean", "best round"), ("tail_accuracy_mean", "last fifth"))) + tuple(
        Claim(f"K {count}: DeceFL with p {chance} is behind FedAvg by at most {within}, last fifth",
              more(f"DeceFL, K {count}, p {chance}", f"FedAvg, K {count}", "tail_accuracy_mean", 4, by=-within)) for count in counts for chance in (0.9, 0.3)) + (
        Claim(f"swarm learning is within {within} of FedAvg, best round", alike("swarm, K 8", "FedAvg, K 8", "best_accuracy_mean", within, 4)),)


substitute = ("A2 is not public here: a9a, 4,140 rows, stands in, so that the paper's accuracies are of other data and the *difference* to FedAvg is what can be claimed. "
              "Ten epochs a round, lr 0.1 x 0.2 every five (the paper: 0.01, with which neither method is flat after 300 rounds of these data), weight decay 1e-4, mu 0.1, the Laplacian's weights on Erdos-Renyi graphs, 300 rounds.")
table = Study("decefl-iid", paper, "table 2: logistic regression, IID", "The paper: no gap to FedAvg, on any connected graph (at most 0.0032).",
              settings_of(table_2), (early, best_round, last, agreement), claims_of() + (
                  Claim("DeceFL is behind FedAvg at first: the transient is longer", less("DeceFL, K 8, p 0.3", "FedAvg, K 8", "accuracy_mean_at_30", 4)),),
              tuple(map(of_count, (4, 8, 16))), 3, 5, ("until=300.5", "metrics.every_seconds=10.0", "metrics.test_samples=4000"), ("until=300.5", "metrics.every_seconds=10.0"), ceiling="direction on substitute data", choices=substitute, guess=(2, 3),
              note="With mu = 0.1 a round of DeceFL goes a tenth of the way of one of FedAvg: after 300 rounds it is where FedAvg is after 30, and FedAvg has begun to learn its training rows by heart by then.")
alone = Setting("alone, K 8", "decefl/decefl_a2.toml", ("data.partition.kind=decefl_table3", "clients.count=8", "algorithm.local_lr=0.1", "protocol.exchange_every=100000"))
uneven = Study("decefl-noniid", paper, "table 4: logistic regression, shares of table 3", "The paper: no gap to FedAvg with uneven shares either.",
               settings_of(table_4, "data.partition.kind=decefl_table3") + (alone,), (early, best_round, last, agreement), claims_of() + (
                   Claim("DeceFL is ahead of clients that train alone (the box plots of figure 4)", more("DeceFL, K 8, p 0.3", "alone, K 8", "tail_accuracy_mean", 4)),), tuple(map(of_count, (4, 8, 16))), 3, 10, ("until=300.5", "metrics.every_seconds=10.0", "metrics.test_samples=4000"), ("until=300.5", "metrics.every_seconds=10.0"),
               ceiling="direction on substitute data", choices=substitute + " The classes of a9a cannot give table 3's counts: all are scaled down together, to 2,008 rows.", guess=(2, 3))
dnn = "model={name=\"decefl_dnn\",dropout=0.3,batch=64,weight_decay=1e-4,clip=10.0}"
network = (dnn, "algorithm.local_epochs=2", "algorithm.lr_every=0")


def of_network(name, item, says, numbers, swarm, *sets):
    settings = tuple(one for one in settings_of(numbers, *network, *sets, swarm=swarm, always="full") if "p 0.7" not in one.name and "p 0.5" not in one.name)
    return Study(name, paper, item, says, settings, (best_round, last, agreement), claims_of(),
                 tuple(dataclasses.replace(of_count(count), settings=tuple(one.name for one in settings if f"K {count}" in one.name)) for count in (4, 8, 16)),
                 0, 3, (), ("until=100.5", "metrics.every_seconds=10.0", "metrics.test_samples=2000"), ceiling="direction on substitute data", guess=(25, 25),
                 note="A round of DeceFL goes a tenth of the way of one of FedAvg: with sixteen clients its network answers with the larger class alone, 0.76, for 70 rounds. What it lacks after 100 rounds is that beginning; runs of the paper's length would tell more.",
                 choices="A2 is not public here: a9a, 4,140 rows, stands in. The paper's network of seven layers with dropout 0.3. Shortened: two epochs a round at lr 0.1 (the paper: thirty, lr 0.1 x 0.2 after twenty), 100 rounds, two of four graphs, three seeds, 2,000 test rows. mu 0.1, the Laplacian's weights.")


network_table = of_network("decefl-iid-dnn", "table 2: network, IID", "The paper: at most 0.0032 behind FedAvg on any connected graph, also with a network.", network_2, .9855)
network_uneven = of_network("decefl-noniid-dnn", "table 4: network, shares of table 3", "The paper: no gap to FedAvg with uneven shares and a network either.", network_4, .9865, "data.partition.kind=decefl_table3")
cancer = Study("decefl-cancer", paper, "table 2 on a second substitute", "The same on breast-cancer, 569 rows.",
               tuple(one for one in settings_of(table_2, "data.name=breast-cancer", "data.train_rows=0") if "K 8" in one.name), (early, best_round, last, agreement), claims_of((8,), 0.0089),
               (near,), 3, 30, ("until=300.5", "metrics.every_seconds=10.0", "metrics.test_samples=4000"), ("until=300.5", "metrics.every_seconds=10.0"), ceiling="direction on substitute data", choices="One test row of 114 is 0.0088, so that no smaller bound can be asked for.", guess=(1, 1.5))

bearing_words = {"FedAvg": ("decefl_a2_fedavg", ("algorithm.eta=0.1",)), "DeceFL, p 0.9": ("decefl_a2", ("topology.probability=0.9", "algorithm.local_lr=0.1")),
                 "DeceFL, p 0.3": ("decefl_a2", ("topology.probability=0.3", "algorithm.local_lr=0.1")),
                 "alone": ("decefl_a2", ("protocol.exchange_every=100000", "algorithm.local_lr=0.1"))}


def of_bearings(name, classes, label, split):
    file, own = bearing_words[name]
    return Setting(f"{name}, {classes}-way, {label}", f"decefl/{file}.toml",
                   ("data={name=\"cwru\",classes=%d,partition=%s}" % (classes, split), "model={name=\"softmax\",batch=64}", "clients.count=8") + own, only="full")


bearing_kinds = tuple((classes, label, split) for classes in (4, 10)
                      for label, split in (("IID", "{kind=\"iid\"}"), ("Dir(0.3)", "{kind=\"dirichlet_by_class\",alpha=0.3}")))
bearings = Study(
    "decefl-bearings", paper, "figures 4 and 15 to 18: bearings", "The paper: no gap to FedAvg, and clients that train alone are far behind with uneven shares.",
    tuple(of_bearings(name, *kind) for kind in bearing_kinds for name in bearing_words), (early, best_round, last, agreement),
    tuple(Claim(f"{classes}-way, {label}: DeceFL with p {chance} is within 0.01 of FedAvg, last fifth",
                alike(f"DeceFL, p {chance}, {classes}-way, {label}", f"FedAvg, {classes}-way, {label}", "tail_accuracy_mean", 0.01, 4))
          for classes, label, _ in bearing_kinds for chance in (0.9, 0.3))
    + tuple(Claim(f"{classes}-way, {label}: DeceFL is ahead of clients that train alone",
                  more(f"DeceFL, p 0.3, {classes}-way, {label}", f"alone, {classes}-way, {label}", "tail_accuracy_mean", 4)) for classes, label, _ in bearing_kinds),
    tuple(dataclasses.replace(by_round, settings=tuple(f"{name}, {classes}-way, {label}" for name in bearing_words), title=f"{classes}-way, {label}")
          for classes, label, _ in bearing_kinds), 0, 5, (), ("until=200.5", "metrics.every_seconds=10.0", "metrics.test_samples=0"), ceiling="direction on substitute data",
    choices="CWRU at load 0 alone, a fifth of its segments for the test in place of the recordings at 1,730 rpm; softmax regression on 300 features of the spectrum; eight clients; Dir(0.3) for the shares, which the paper "
            "has in a figure only; ten epochs a round, lr 0.1 x 0.2 every five, mu 0.1, 200 rounds. Networks, which the paper has too, take hours.",
    note="All that meet are at 1.0000 in the last fifth, so that the gap that is not there says little; what clients alone lack with uneven shares, 0.12 and 0.23, says more.", guess=(6, 6))

def of_bearing_network(name, classes, label, split):
    one = of_bearings(name, classes, label, split)
    return dataclasses.replace(one, sets=one.sets + network)


bearings_network = dataclasses.replace(
    bearings, name="decefl-bearings-dnn", item="figures 4 and 15 to 18: bearings, network",
    settings=tuple(of_bearing_network(name, *kind) for kind in bearing_kinds for name in bearing_words if name != "DeceFL, p 0.9"),
    claims=tuple(one for one in bearings.claims if "p 0.9" not in one.text),
    panels=tuple(dataclasses.replace(one, settings=tuple(name for name in one.settings if "p 0.9" not in name)) for one in bearings.panels),
    full_seeds=3, full=("until=60.5", "metrics.every_seconds=5.0", "metrics.test_samples=0"), guess=(12, 12),
    note="FedAvg is at 1.0000 after 30 rounds, DeceFL, of which a round goes a tenth of the way, is still on its way after 60: the gap is that of its beginning. It is ahead of clients that train alone where shares are uneven.",
    choices="CWRU at load 0 alone, a fifth of its segments for the test in place of the recordings at 1,730 rpm; the paper's network on 300 features of the spectrum; eight clients; Dir(0.3) for the shares, which the paper has in a figure "
            "only. Shortened: two epochs a round at lr 0.1 (the paper: thirty), 60 rounds, one graph, three seeds. Figure 19's ResNet is not run.")

changing = ("algorithm.mu=0.1", "algorithm.local_steps=1", "algorithm.local_epochs=30", "topology.mixing=laplacian")
varying = Study(
    "decefl-varying", paper, "figures 9 and 11 of the supplement: graphs that change", "The paper: edges or nodes that come and go cost no accuracy.",
    (Setting("stays", "decefl/static.toml", changing), Setting("edges vary", "decefl/edge_varying.toml", changing[:3]), Setting("nodes vary", "decefl/node_varying.toml", changing),
     Setting("FedAvg", "decefl/decefl_a2_fedavg.toml", ("algorithm.local_epochs=30", "algorithm.eta=0.1", "algorithm.lr_every=0", "data.name=breast-cancer", "data.train_rows=0"))),
    (last, agreement), (Claim("edges that vary are within 0.01 of the graph that stays", alike("edges vary", "stays", "tail_accuracy_mean", 0.01, 4)),
                        Claim("nodes that vary are within 0.01 of the graph that stays", alike("nodes vary", "stays", "tail_accuracy_mean", 0.01, 4)),
                        Claim("edges that vary are within 0.01 of FedAvg", alike("edges vary", "FedAvg", "tail_accuracy_mean", 0.01, 4))),
    (near,), 3, 20, ("until=900.5", "metrics.every_seconds=25.0"), ("until=900.5", "metrics.every_seconds=25.0"), ceiling="direction on substitute data",
    choices="breast-cancer in place of A2, logistic regression, mu 0.1, thirty epochs a round, learning rate 0.1, 900 rounds.", guess=(4, 4))


shorter = ("algorithm.local_epochs=1", "algorithm.lr_every=0", dnn)
varying_network = dataclasses.replace(
    varying, name="decefl-varying-dnn", item="figures 9 and 11 of the supplement: graphs that change, network",
    settings=tuple(dataclasses.replace(one, sets=one.sets + shorter, only="full") for one in varying.settings), quick_seeds=0, full_seeds=3, quick=(), guess=(20, 20),
    choices="breast-cancer in place of A2, the paper's network with dropout 0.3, mu 0.1, one epoch a round (the paper: thirty), learning rate 0.1, 900 rounds, three seeds.")


def slope(run):
    """Of the squared distances of clients to their mean, which is the minimiser, against rounds, both as logarithms, over the last nine tenths of the decades."""
    xs, ys = run.column("seconds"), run.column("consensus")
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys) if x >= xs[-1] / 30 and y > 0]
    return least_squares([one for one, _ in points], [one for _, one in points])


consensus_runs = tuple(Setting(f"ER {chance}", "examples/synthetic/decefl_consensus.toml",
                               ("clients.count=8", f"topology={{kind=\"erdos_renyi\",probability={chance},mixing=\"laplacian\"}}", "data.dimension=1",
                                "algorithm.eta=1.0", "algorithm.step=diminishing", "algorithm.step_offset=2", "metrics.gradient_norm=true", "metrics.every_seconds=10.0"))
                       for chance in (0.5, 0.3))
consensus = Study(
    "decefl-consensus", paper, "figure 1 of the supplement: the consensus example", "With steps 1 / (t + 2) clients come to the mean as 1 / t.",
    consensus_runs, (Measure("slope", "slope of log consensus by log rounds", slope, 2), end("consensus", "consensus", -3)),
    tuple(Claim(f"{one.name}: distances to the mean of all centres fall at least as 1 / t, squared ones as t^-2", at_most(one.name, "slope", -1.8), ceiling="reproduced") for one in consensus_runs),
    (Panel("consensus", "seconds", "rounds", "squared distances to the mean", True, True),), 3, 5,
    ("until=1000.5",), ("until=10000.5", "metrics.every_seconds=50.0"), choices="Losses 1/2 (x - c_i)^2 with drawn c_i, dimension 1, eight clients. No data: an example of the paper.", guess=(0.3, 1))

jointly = Study(
    "decefl-jointly", paper, "theorem 3: graphs that are connected only several in a row", "The distances to the minimiser fall as 1 / t also where no graph by itself connects all clients.",
    (Setting("cycle of five", "examples/synthetic/decefl_consensus.toml",
             ("clients.count=8", "topology={kind=\"edges\",edges=[[2,3],[3,5],[5,6],[0,7],[5,7],[4,7],[1,4]],"
              "cycle=[[[2,3],[3,5],[5,6]],[[0,7],[5,7],[5,6]],[[0,7],[4,7],[1,4]],[[0,7],[5,7],[5,6]],[[2,3],[3,5],[5,6]]],mixing=\"laplacian\"}",
              "data.dimension=1", "algorithm.eta=1.0", "algorithm.step=diminishing", "algorithm.step_offset=2", "metrics.every_seconds=10.0")),),
    consensus.measures, (Claim("distances to the mean of all centres fall at least as 1 / t, squared ones as t^-2", at_most("cycle of five", "slope", -1.8), ceiling="reproduced"),),
    consensus.panels, 3, 5, ("until=1000.5",), ("until=10000.5", "metrics.every_seconds=50.0"),
    choices="The consensus example over the graphs of figure 3 (c) of the paper, one a round: any five in a row connect the eight clients, none does alone.", guess=(0.3, 1))

floors = (0.4, 0.2, 0.1)
floor = Study(
    "decefl-floor", paper, "proposition 1: a constant step", "With a constant step the distances to the minimiser fall to a floor, which is the lower the smaller the step is.",
    tuple(Setting(f"ER 0.3, step {one}", consensus_runs[1].file,
                  tuple(word for word in consensus_runs[1].sets if not word.startswith("algorithm.")) + (f"algorithm.eta={one}", "algorithm.step=constant")) for one in floors),
    (Measure("half", "squared distances at half of the run", lambda run: run.column("consensus")[len(run.column("consensus")) // 2], -3), end("consensus", "at the end", -3)),
    (Claim("the floor is lower with a smaller step", falls([f"ER 0.3, step {one}" for one in floors], "consensus", -3), ceiling="reproduced"),),
    (Panel("consensus", "seconds", "rounds", "squared distances to the mean", True, True),), 5, 20, ("until=400.5",), ("until=400.5",),
    choices="The consensus example, dimension 1, eight clients. No data.", guess=(0.3, 0.3))

studies = (consensus, jointly, floor, table, uneven, network_table, network_uneven, cancer, bearings, bearings_network, varying, varying_network)
