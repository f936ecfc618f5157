"""DEPOSITUM."""

import dataclasses

from measures import alike, area, at, average, end, falls, less, more, near, part, power
from plan import Claim, Measure, Outcome, Panel, Setting, Study
from tuned import chosen, reached

paper = "DEPOSITUM"

of_mean = end("accuracy_mean_model", "accuracy of the mean model", 4)


def pair(alpha, beta, only=""):
    return Setting(f"alpha {alpha}, beta {beta}", "depositum/depositum_fig3.toml", (f"algorithm.alpha={alpha}", f"algorithm.beta={beta}"), only=only)


combined = (pair(0.05, 0.5), pair(0.1, 0.5), pair(0.1, 0.25), pair(0.05, 1.0), pair(0.2, 0.5, "full"), pair(0.1, 1.0, "full"))
loss = end("objective", "objective", 4)
gradient = Measure("prox", "squared proximal gradient", lambda run: run.column("stationarity_prox_gradient")[-1], -3)
tracking = Measure("tracking", "squared tracking error", lambda run: run.column("stationarity_tracking")[-1], -3)
agreement = Measure("consensus", "consensus of x", lambda run: run.column("consensus")[-1], -3)


def ratio_is_near(one, other, measure, within):
    def judge(results):
        found = results.mean(one, measure) / results.mean(other, measure) - 1
        return Outcome(f"{one} / {other}: {found:+.2%}, asked for: within {within:.0%}", abs(found) <= within)
    return judge


figure_3 = Study(
    "depositum-fig3", paper, "figure 3: a9a on a ring of ten, l1",
    "The paper finds that loss, proximal gradient and consensus go down, and that loss depends on the product alpha beta alone.",
    combined, (loss, gradient, tracking, agreement),
    (Claim("alpha beta = 0.025 in two ways: the objectives are within 1 %", ratio_is_near("alpha 0.05, beta 0.5", "alpha 0.1, beta 0.25", "objective", 0.01)),
     Claim("alpha beta = 0.05 in two ways: the objectives are within 1 %", ratio_is_near("alpha 0.1, beta 0.5", "alpha 0.05, beta 1.0", "objective", 0.01)),
     Claim("a larger product is further down", less("alpha 0.1, beta 0.5", "alpha 0.05, beta 0.5", "objective", 4))),
    (Panel("objective", "seconds", "iterations", "objective at the mean model"),
     Panel("stationarity_prox_gradient", "seconds", "iterations", "squared proximal gradients, summed", y_log=True),
     Panel("stationarity_tracking", "seconds", "iterations", "squared tracking error", y_log=True),
     Panel("consensus", "seconds", "iterations", "consensus of x", y_log=True)), 1, 1, ("until=200.5", "metrics.every_seconds=20.0"), ("metrics.every_seconds=50.0",),
    choices="alpha and beta are not in the text; l1 with 1e-4, gamma 0.5, T0 5, all rows at every gradient, float64: nothing is drawn but the deal of rows. "
            "The tracking error compares nu / beta with the gradient: nu itself tends to beta times it.",
    ceiling="direction reproduced", guess=(10, 60))

splits = (("IID", "data.partition={kind=\"iid\"}"), ("Dir(1)", "data.partition={kind=\"dirichlet_by_class\",alpha=1.0}"),
          ("Dir(0.1)", "data.partition={kind=\"dirichlet_by_class\",alpha=0.1}"))
rows = {
    "MNIST MLP": ((.9411, .9414, .9118, .9147, .9209), (.9365, .9367, .9103, .9139, .9195), (.9195, .9191, .8744, .9132, .8870)),
    "MNIST CNN": ((.9828, .9829, .9656, .9697, .9743), (.9814, .9814, .9631, .9684, .9692), (.9627, .9618, .9382, .9321, .9283)),
    "FMNIST CNN": ((.8753, .8779, .8297, .8568, .8677), (.8678, .8697, .8173, .8484, .8613), (.8531, .8523, .7896, .8001, .8231)),
    "CIFAR CNN": ((.5572, .5613, .4476, .5116, .5151), (.5388, .5355, .4383, .4471, .4702), (.4581, .4687, .3866, .1908, .3562)),
    "EMNIST MLP": ((.7896, .7930, .7483, .6778, .7809), (.7674, .7679, .7306, .6769, .7478), (.6658, .6625, .6587, .6438, .6083)),
    "EMNIST CNN": ((.9062, .9057, .8915, .8715, .9031), (.9002, .8993, .8851, .8600, .8920), (.8467, .8505, .8454, .7776, .8081)),
    "FMNIST ResNet-18": ((.9079, .9064, .8954, .8891, .8882), (.8946, .8951, .8742, .8867, .8792), (.8811, .8819, .8417, .8371, .8284)),
    "FMNIST MLP": ((.8648, .8647, .8175, .8193, .8268), (.8612, .8614, .8113, .8186, .8225), (.8456, .8452, .7793, .7988, .7902)),
}
rounds = 500
steps = (0.025, 0.05, 0.1, 0.2, 0.25)  # of alpha beta, and of the others' local steps; at 0.27 SCAD has no proximal operator
methods = ("DEPOSITUM I", "DEPOSITUM II", "FedMiD", "FedDR", "FedADMM")


def words_of(method, step, rounds=rounds):
    """The file and what is set. FedDR and FedADMM: as far as ten local steps go, so far reaches the proximal term."""
    if method.startswith("DEPOSITUM"):
        return "depositum_t3", (f"algorithm.alpha={2 * step:g}", f"until={rounds + 0.5}", f"algorithm.option={method.split()[1]}")
    length = f"until={rounds / 10 + 0.5}"
    if method == "FedMiD":
        return "depositum_t3_fedmid", (f"algorithm.eta_c={step:g}", length)
    return f"depositum_t3_{method.lower()}", (f"algorithm.local_lr={step:g}", f"algorithm.eta={10 * step:g}", length)


def tuned(name):
    """By depositum-tuning; where nothing was tuned yet, the middle of the list."""
    return chosen("depositum", name, steps[len(steps) // 2])


def of_method(label, method, step, *sets, length=rounds, **changes):
    file, own = words_of(method, step, length)
    return Setting(label, f"depositum/{file}.toml", own + sets, **changes)


def table(name, row, sets, full_seeds, quick_seeds, quick, guess, ceiling="direction reproduced", item="", step_of=lambda method: tuned("first row"),
          choices="steps (one for all methods and rows, alpha beta of DEPOSITUM: depositum-tuning has the one that comes nearest to the printed accuracy of the first row)",
          quick_splits=("IID", "Dir(0.1)"), batch="64", note="", length=rounds, kept=splits):
    settings = tuple(
        of_method(f"{method}, {split}", method, step_of(method), *sets, deal, length=length, paper={"accuracy_mean_model": rows[row][i][j]},
                  only="" if split in quick_splits else "full")
        for i, (split, deal) in enumerate(kept) for j, method in enumerate(methods))
    claims = tuple(
        Claim(f"{split}: DEPOSITUM I is ahead of {rival}", more(f"DEPOSITUM I, {split}", f"{rival}, {split}", "accuracy_mean_model", 4))
        for split, _ in kept for rival in ("FedMiD", "FedDR", "FedADMM"))
    claims += tuple(Claim(f"{split}: options I and II are alike", alike(f"DEPOSITUM I, {split}", f"DEPOSITUM II, {split}", "accuracy_mean_model", 0.01, 4)) for split, _ in kept)
    claims += tuple(Claim(f"{split}: the accuracy of DEPOSITUM I is the printed one within 0.0134, the largest deviation of the table",
                          near(f"DEPOSITUM I, {split}", "accuracy_mean_model", rows[row][i][0], 0.0134, 4))
                    for i, (split, _) in enumerate(kept) if not item and length == rounds and (row, i) != ("MNIST MLP", 0))  # the step was chosen by that one
    return Study(
        name, paper, f"table III: {row}{item}", "The paper finds DEPOSITUM ahead in every row.", settings, (of_mean,), claims,
        (Panel("accuracy_mean_model", x_label="accuracy of the mean model", y_from=0.75),), quick_seeds, full_seeds, quick, ("metrics.every_seconds=500.0", "metrics.test_samples=0", "metrics.clients=1"), ceiling=ceiling,
        choices=f"Ten clients, complete graph (the others: a server), SCAD. Left open by the paper: iterations (here {length}; of the others {length // 10} rounds of T0 = 10 local steps), {choices}, "
                f"batches ({batch}), constants of SCAD (1e-4, 3.7). After an exchange all clients have one model: the full column scores that of one of them on all 10,000 test rows, the quick one the mean on the first 2,000, which are harder: 0.920 in place of 0.940 with the first setting.", guess=guess, note=note)


mnist_mlp = table("depositum-mnist-mlp", "MNIST MLP", (), 5, 3, (), (3, 6), note=
                  "What was tried for the lead over FedMiD that is missing with equal shares: at equal steps and equal work ten clients of one distribution drift apart by nothing that a tracker could mend, and the two are "
                  "level with every step of depositum-tuning, the best one too (0.9584 and 0.9587 with 0.25). FedMiD's printed 0.9118 is what it has here with a third of the step (0.9020 with 0.025, 0.9228 with 0.05, 0.9379 "
                  "with 0.1), so that a smaller step or fewer local steps of the others would make the printed gap; the paper names neither. The more the shares differ, the larger the lead: 0.004, then 0.024.")
mnist_mlp_tuned = table("depositum-mnist-mlp-tuned", "MNIST MLP", (), 5, 1, (), (3, 3), item=", every method tuned", step_of=tuned,
                        choices="steps (of every method the best one of depositum-tuning, for all splits)", quick_splits=("IID",))
fmnist_mlp = table("depositum-fmnist-mlp", "FMNIST MLP", ("data.name=fashion-mnist",), 5, 1, (), (3, 6), quick_splits=("IID",), note=
                   "The paper does not print T0 of the table. With ten iterations from one exchange to the next clients of unlike shares follow their own gradients for too long; with two of them the accuracies are 0.015 to 0.029 below the printed ones and hardly depend on the shares, as printed.")
mnist_cnn = table("depositum-mnist-cnn", "MNIST CNN", ("model={name=\"cnn_depositum\",batch=16}",), 5, 0, (), (8, 8), quick_splits=(), batch="16; the perceptrons have 64, which the time did not allow here", note=
                  "FedDR and FedADMM end at a tenth, what chance gives, with two of five seeds each of Dir(0.1), and between 0.85 and 0.96 with the others.")

fmnist_cnn = table("depositum-fmnist-cnn", "FMNIST CNN", ("data.name=fashion-mnist", "model={name=\"cnn_depositum\",batch=16}"), 3, 0, (), (8, 9), quick_splits=(), batch="16")
cifar_cnn = table("depositum-cifar-cnn", "CIFAR CNN", ("data.name=cifar10", "model={name=\"cnn_depositum\",batch=16}"), 3, 0, (), (12, 12), quick_splits=(),
                  batch="16; 20,000 of the 50,000 training images are here", ceiling="direction on substitute data", note=
                  "With Dir(0.1) DEPOSITUM stays near what chance gives, with a quarter of the step, too. The reason is the time from one exchange to the next: between exchanges a client's tracker follows its own gradients, here of one or two "
                  "classes. With a quarter of the step and an exchange in every iteration or in every second one it comes to the printed accuracy or above it; with every fifth and every tenth the less the rarer they are. The paper does not print T0 of the table.")


def exchanging(study, split, every, step):
    """A setting of the row with another T0."""
    like = next(one for one in study.settings if one.name == f"DEPOSITUM I, {splits[split][0]}")
    return dataclasses.replace(like, name=f"{like.name}, T0 {every}, step {step:g}", only="full", sets=like.sets + (f"algorithm.alpha={2 * step:g}", f"algorithm.T0={every}"))


def with_exchanges(study, settings, *claims):
    return dataclasses.replace(study, settings=study.settings + tuple(settings), claims=study.claims + claims)


cifar_cnn = with_exchanges(
    cifar_cnn, (exchanging(cifar_cnn, 2, one, 0.05) for one in (1, 2, 5, 10)),
    Claim("Dir(0.1): the rarer exchanges are, the lower the accuracy", falls([f"DEPOSITUM I, Dir(0.1), T0 {one}, step 0.05" for one in (2, 5, 10)], "accuracy_mean_model", 4)),
    Claim("Dir(0.1): with an exchange in every iteration DEPOSITUM I is ahead of FedMiD", more("DEPOSITUM I, Dir(0.1), T0 1, step 0.05", "FedMiD, Dir(0.1)", "accuracy_mean_model", 4)))
often = f"T0 2, step {tuned('first row'):g}"
fmnist_mlp = with_exchanges(
    fmnist_mlp, (exchanging(fmnist_mlp, one, 2, tuned("first row")) for one in range(3)),
    Claim("Dir(0.1): with an exchange in every second iteration DEPOSITUM I is ahead of FedMiD", more(f"DEPOSITUM I, Dir(0.1), {often}", "FedMiD, Dir(0.1)", "accuracy_mean_model", 4)),
    *(Claim(f"{split}: with an exchange in every second iteration its accuracy is the printed one within 0.0134",
            near(f"DEPOSITUM I, {split}, {often}", "accuracy_mean_model", rows["FMNIST MLP"][i][0], 0.0134, 4)) for i, (split, _) in enumerate(splits)))
letters = "a quarter of the letters of EMNIST is here, from other splits, with 26 classes where the paper has an unused one more"
emnist_mlp = table("depositum-emnist-mlp", "EMNIST MLP", ("data.name=emnist-letters",), 3, 0, (), (4, 4), quick_splits=(), batch=f"64; {letters}", ceiling="direction on substitute data")
emnist_cnn = table("depositum-emnist-cnn", "EMNIST CNN", ("data.name=emnist-letters", "model={name=\"cnn_depositum\",batch=16}"), 3, 0, (), (9, 9), quick_splits=(), batch=f"16; {letters}",
                   ceiling="direction on substitute data")
shortened = 50
fmnist_residual = table("depositum-fmnist-resnet", "FMNIST ResNet-18", ("data.name=fashion-mnist", "model={name=\"resnet18_7x7\",batch=16}"), 3, 0, (), (55, 55), quick_splits=(), length=shortened,
                        kept=splits[:1], batch=f"16; shortened: {shortened} iterations, equal shares alone: a run of ten clients takes six gigabytes")

tuning = Study(
    "depositum-tuning", paper, "steps of table III, on a seed that is not reported",
    "The first row (MNIST, MLP, IID), seed 101. Kept are the step with which DEPOSITUM I comes nearest to the printed 0.9411, for all methods of table III, and of every method the one with the "
    "best accuracy, for depositum-mnist-mlp-tuned.",
    tuple(of_method(f"{method}, step {step:g}", method, step, only="" if method == "DEPOSITUM I" else "full") for method in methods for step in steps),
    (of_mean,), (), (), 1, 1, (), ("metrics.every_seconds=500.0", "metrics.test_samples=0"), first_seed=101, guess=(4, 3),
    choices="The step is alpha beta of DEPOSITUM (beta 0.5), eta_c of FedMiD, the local step of FedDR and FedADMM, whose eta is ten times that.")


def choices(stored):
    """Of the tuning's full column."""
    note = stored(tuning.name)
    if not note:
        return {}
    best = {}
    for method in methods:
        known = reached(note, {step: f"{method}, step {step:g}" for step in steps}, "accuracy_mean_model")
        if known:
            best[method] = max(known, key=known.get)
        if known and method == "DEPOSITUM I":
            best["first row"] = min(known, key=lambda step: abs(known[step] - rows["MNIST MLP"][0][0]))
    return {"depositum": best}


def perceptron(name, *sets, **changes):
    return Setting(name, "depositum/depositum_t3.toml", ("algorithm.h=mcp",) + sets, **changes)


fast = ("model={name=\"mlp\",hidden=[128,64],batch=64}", "clients.count=10", "until=300.5", "metrics.every_seconds=25.0")
slow = ("model={name=\"cnn_depositum\",batch=64}", "until=300.5", "metrics.every_seconds=25.0", "metrics.test_samples=1000")
by_round = Panel("accuracy_mean_model", "seconds", "iterations", "accuracy of the mean model")
open_points = "MCP with 1e-4 and 5, batches of 64, full column: `cnn_depositum`, 300 iterations; quick column: the perceptron, ten clients. "
middle = at(100, "accuracy_mean_model", "after 100 iterations", digits=4)
over_time = area("accuracy_mean_model", "mean over time", 4)

gammas = tuple(perceptron(f"gamma {one}, {option}", f"algorithm.gamma={one}", f"algorithm.option={option}", "topology.kind=ring", "clients.count=20",
                          only="" if option == "I" and one in (0.0, 0.5, 0.8) else "full") for option in ("I", "II") for one in (0.0, 0.2, 0.5, 0.8))
momentum = Study(
    "depositum-gamma", paper, "figure 4: momentum", "The paper finds that momentum improves results to some extent.",
    gammas, (middle, over_time, of_mean),
    (Claim("gamma 0.8 is ahead of 0 over time", more("gamma 0.8, I", "gamma 0.0, I", "area_accuracy_mean_model", 4)),
     Claim("gamma 0.5 is ahead of 0 at the end", more("gamma 0.5, I", "gamma 0.0, I", "accuracy_mean_model", 4))),
    (by_round,), 8, 3, fast, slow, choices=open_points + "MNIST, IID, a ring of 20 (quick: 10), alpha 0.05, beta 0.5, T0 10.", guess=(3, 45))

periods = Study(
    "depositum-t0", paper, "figure 5: iterations from one exchange to the next", "The paper finds that T0 hardly matters at equal iterations, and that consensus is looser with a larger T0.",
    tuple(perceptron(f"T0 {one}", f"algorithm.T0={one}", "algorithm.gamma=0.5", "topology.kind=ring", "clients.count=20", splits[1][1]) for one in (1, 5, 10, 20)),
    (of_mean, Measure("consensus", "consensus of x", lambda run: run.column("consensus")[-1], -3)),
    (Claim("T0 1 and 20 end within 0.01", alike("T0 1", "T0 20", "accuracy_mean_model", 0.01, 4)),
     Claim("consensus is looser with a larger T0", falls(["T0 1", "T0 5", "T0 10", "T0 20"], "consensus", -3, rises=True))),
    (by_round, Panel("consensus", "seconds", "iterations", "consensus of x", y_log=True)), 3, 3, fast, slow, choices=open_points + "MNIST, Dir(1), a ring.", guess=(3, 45))

graphs = Study(
    "depositum-graphs", paper, "figure 6: graphs", "The paper finds the complete graph ahead of the ring, and that ahead of the star.",
    tuple(perceptron(f"{kind}, {option}", f"topology.kind={kind}", f"algorithm.option={option}", "algorithm.gamma=0.5", "algorithm.T0=20", splits[1][1],
                     only="" if option == "I" else "full") for option in ("I", "II") for kind in ("complete", "ring", "star")),
    (over_time, of_mean),
    (Claim("the complete graph is ahead of the ring", more("complete, I", "ring, I", "accuracy_mean_model", 4)),
     Claim("the ring is ahead of the star", more("ring, I", "star, I", "accuracy_mean_model", 4))), (by_round,), 8, 3, fast, slow,
    choices=open_points + "MNIST, Dir(1), ten clients, T0 20.", guess=(3, 25))


def grown(count):
    root = int(count ** 0.5)
    return perceptron(f"{count} clients", f"clients.count={count}", f"algorithm.alpha={0.02 * root}",
                      f"algorithm.gamma={max(0.0, 1 - root / 20.02):.4f}", "topology.kind=ring", splits[1][1], full=("until=400.5", f"model.batch={root}"), quick=("until=200.5", f"model.batch={root}"))


speedup = Study(
    "depositum-speedup", paper, "figure 7: linear speedup", "The paper finds that more clients, with steps and batches that grow with the root of their number, are faster.",
    tuple(grown(one) for one in (4, 9, 16, 25)), (middle, of_mean),
    (Claim("more clients are ahead after 100 iterations", falls([f"{one} clients" for one in (4, 9, 16, 25)], "accuracy_mean_model_at_100", 4, rises=True)),), (by_round,), 8, 3,
    ("model={name=\"mlp\",hidden=[128,64],batch=3}", "metrics.every_seconds=20.0"), ("model={name=\"cnn_depositum\",batch=3}", "metrics.every_seconds=50.0", "metrics.test_samples=1000"),
    choices="alpha = 0.02 sqrt(n), beta 0.5, batches of sqrt(n), 1 - gamma = sqrt(n) / sqrt(401): the constants of corollary 1 taken to the letter move nothing in 400 iterations.", guess=(2, 20))


def horizon(count, steps, label=""):
    """Steps, momentum and batches as corollary 1 has them, with 2 in place of 1 / (24 L)."""
    root = (count / (steps + 1)) ** 0.5
    momentum = label != ", gamma 0"
    return Setting(f"{count} clients{label}, T = {steps}", "depositum/depositum_rate.toml",
                   (f"topology.kind={'ring' if label == ', ring' else 'complete'}", f"clients.count={count}", f"until={steps + 0.5}", f"metrics.every_seconds={steps / 100:g}", f"algorithm.alpha={2 * root:.6f}",
                    f"algorithm.gamma={1 - root if momentum else 0.0:.6f}", f"model.batch={round(count ** 0.5)}"))


def whole(steps):
    """All rows, and constants that do not know the length of the run."""
    return Setting(f"all rows, T = {steps}", "depositum/depositum_rate.toml",
                   ("topology.kind=complete", f"until={steps + 0.5}", "metrics.every_seconds=1.0", "algorithm.alpha=0.5", "algorithm.gamma=0.5", "model.batch=0"))


lengths = (100, 400, 1600, 6400)
stationary = average("stationarity", "stationarity", "stationarity, mean over the run", -3)
proximal = average("prox", "stationarity_prox_gradient", "squared proximal gradient, a client", -3, each_client=True)
error = average("tracking", "stationarity_tracking", "squared tracking error, a client", -3, each_client=True)


def at_lengths(label):
    return [f"{label}, T = {one}" for one in lengths]


rate = Study(
    "depositum-rate", paper, "theorem 1, corollary 1 and remark 4: the rates",
    "Stationarity falls as 1 / T to what batches leave; with steps, momentum and batches of corollary 1 stationarity falls as 1 / sqrt(n T), with batches of sqrt(n) however long the run is; without momentum it does not fall further unless batches grow with the run.",
    tuple(horizon(count, steps, label) for count, label in ((4, ""), (16, ""), (16, ", ring"), (4, ", gamma 0")) for steps in lengths) + tuple(map(whole, lengths[:3])), (stationary, proximal, error),
    tuple(Claim(f"{label}: stationarity falls at least as T^(-1/2)", power(at_lengths(label), "stationarity", -0.5)) for label in ("4 clients", "16 clients", "16 clients, ring"))
    + (Claim("linear speedup: 16 clients have at most 0.6 of the stationarity of 4 (the root of 4 / 16 is 0.5)", part("16 clients, T = 6400", "4 clients, T = 6400", "stationarity", at_most=0.6)),
       Claim("theorem 1: with all rows stationarity falls at least as 1 / T, within a tenth", power([f"all rows, T = {one}" for one in lengths[:3]], "stationarity", -0.9)),
       Claim("linear speedup on a ring, without the smaller beta of the corollary", part("16 clients, ring, T = 6400", "4 clients, T = 6400", "stationarity", at_most=0.6)),
       Claim("without momentum a run of 6,400 iterations is no nearer than half of one of 400", part("4 clients, gamma 0, T = 6400", "4 clients, gamma 0, T = 400", "stationarity", at_least=0.5)),
       Claim("with momentum it is nearer than without", less("4 clients, T = 6400", "4 clients, gamma 0, T = 6400", "stationarity", -3))),
    (Panel("stationarity", x_label="stationarity, mean over the run", x_log=True), Panel("tracking", x_label="squared tracking error, a client", x_log=True)), 2, 20,
    choices="Logistic regression on 200 drawn rows a client of 20 numbers, l1 with 0.001, complete graphs and a ring, T0 5, beta 0.5. alpha = 2 sqrt(n / (T + 1)) in place of sqrt(n / (T + 1)) / (24 L), and beta as it is, not as 1 / T^(1/4): with the constants of the proof nothing "
            "moves. Both terms have the penalty h (prox_mode consistent; as printed the algorithm has h / beta). With all rows alpha is 0.5 and gamma 0.5. The tracker is compared over beta, without which its part cannot vanish. A bound cannot be reproduced, only not be broken.", guess=(0.5, 0.5),
    note="The corollary makes the speedup independent of the graph by a beta that is the smaller the worse the graph is; with one beta 16 clients on a ring are behind 4 by their distances to their mean, while their proximal gradients are 0.6 of those of 4.")

studies = (figure_3, mnist_mlp, mnist_mlp_tuned, fmnist_mlp, mnist_cnn, fmnist_cnn, emnist_mlp, emnist_cnn, cifar_cnn, fmnist_residual, tuning, momentum, periods, graphs, speedup, rate)
