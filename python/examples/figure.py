"""Three algorithms on data of one's own, a pandas frame, as a figure: python3 figure.py [FILE.png]"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy
import pandas
import torch

import rubato
import rubato.torch

# Data of one's own: two measurements, and whether their product is positive.
chance = numpy.random.default_rng(1)
frame = pandas.DataFrame(chance.normal(size=(1000, 2)), columns=["left", "right"])
frame["label"] = (frame.left * frame.right > 0).astype(int)
train, test = frame[:800], frame[800:]

common = {"until": 60.0, "clients": {"count": 8}, "topology": {"kind": "ring"}, "model": {"batch": 16},
          "data": {"partition": {"kind": "dirichlet_by_class", "alpha": 1.0}}, "metrics": {"every_seconds": 6.0}}
algorithms = {"draco": {"name": "draco", "eta": 0.2, "self_apply": True}, "dpsgd": {"name": "dpsgd", "eta": 0.2},
              "local_only": {"name": "local_only", "eta": 0.2}}


def arrays(part: pandas.DataFrame):
    return part[["left", "right"]].to_numpy("float32"), part["label"].to_numpy()


for label, algorithm in algorithms.items():
    experiment = rubato.Experiment({**common, "algorithm": algorithm})
    data = rubato.torch.data_of(arrays(train), arrays(test), rows=rubato.deal(experiment, train["label"]))
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    learner = rubato.torch.Learner(module, torch.nn.functional.cross_entropy, data)
    curve = rubato.run(experiment, learner=learner, threads=1).to_pandas()
    plt.plot(curve["seconds"], curve["accuracy_mean"], label=label)
    print(f"{label:<10}  accuracy {curve['accuracy_mean'].iloc[-1]:.3f}")
plt.xlabel("seconds of the experiment")
plt.ylabel("accuracy, mean of clients")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "figure.png")
