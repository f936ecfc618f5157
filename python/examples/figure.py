"""Three algorithms on data of one's own, a pandas frame, as a figure: python3 figure.py [FILE.png]"""

import sys

import matplotlib.pyplot as plt
import numpy
import pandas
import torch

import rubato
import rubato.torch

# Two measurements, and whether their product is positive.
frame = pandas.DataFrame(numpy.random.default_rng(1).normal(size=(1000, 2)), columns=["left", "right"])
frame["label"] = (frame.left * frame.right > 0).astype(int)
train, test = frame[:800], frame[800:]

common = {"until": 60.0, "clients": {"count": 8}, "topology": {"kind": "ring"}, "model": {"batch": 16},
          "data": {"partition": {"kind": "dirichlet_by_class", "alpha": 1.0}}, "metrics": {"every_seconds": 6.0}}
algorithms: "dict[str, dict[str, bool]]" = {"draco": {"self_apply": True}, "dpsgd": {}, "local_only": {}}


def learner(experiment: rubato.Experiment) -> rubato.Learner:
    torch.manual_seed(experiment.seed)
    module = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    x, y = ["left", "right"], "label"
    data = rubato.torch.data_of((train[x], train[y]), (test[x], test[y]), rows=rubato.deal(experiment, train[y]))
    return rubato.torch.Learner(module, torch.nn.functional.cross_entropy, data)


comparison = rubato.compare({name: {**common, "algorithm": {"name": name, "eta": 0.2, **options}} for name, options in algorithms.items()},
                            learners=learner, seeds=3)
print(comparison)
for name, curves in comparison.to_pandas().groupby("setting"):
    mean = curves.groupby("seconds")["accuracy"].mean()
    plt.plot(mean.index, mean, label=name)
plt.xlabel("seconds of the experiment")
plt.ylabel("accuracy, mean of clients and seeds")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "figure.png")
