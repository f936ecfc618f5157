"""A module of PyTorch that clients train together: ten of them, each with digits of few classes."""

import torch

import rubato
import rubato.torch

experiment = rubato.Experiment({
    "until": 60.0, "clients": {"count": 10}, "topology": {"kind": "ring"},
    "algorithm": {"name": "draco", "eta": 0.1, "self_apply": True}, "unification": {"period": 10.0},
    "data": {"name": "digits", "partition": {"kind": "by_class", "classes": 3}}, "model": {"batch": 16},
    "metrics": {"every_seconds": 20.0}})

torch.manual_seed(1)
module = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))
learner = rubato.torch.Learner(module, torch.nn.functional.cross_entropy, rubato.data(experiment))

result = rubato.run(experiment, learner=learner, threads=1)
for seconds, accuracy in zip(result.samples["seconds"], result.samples["accuracy_mean"]):
    print(f"{seconds:5.0f} s  accuracy {accuracy:.3f}")
net = learner.load(result.models[0])  # the module with the model of client 0
print("parameters of the module:", sum(each.numel() for each in net.parameters()))
