"""Steps a second of a PyTorch module as a learner, against a plain loop over batches of the same size in the same process.

    PYTHONPATH=build/python/package python3 bench/python_loop.py [--seconds S] [--processes]

25 clients, MLP 784-128-64-10, batch 64, rows like MNIST's. CPU seconds of the process, on one thread; with --processes real seconds of
one and of two processes.
"""

import argparse
import statistics
import time

import numpy
import rubato
import rubato.torch
import torch


def module():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40, help="of the experiment: so many computations of each client, about")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    chance = numpy.random.default_rng(1)
    x, y = chance.random((6000, 784), dtype="float32"), chance.integers(0, 10, 6000)
    experiment = rubato.Experiment({
        "until": asked.seconds, "clients": {"count": 25}, "topology": {"kind": "ring"},
        "algorithm": {"name": "draco", "eta": 0.05, "self_apply": True}, "data": {"partition": {"kind": "iid"}},
        "model": {"batch": 64}, "metrics": {"every_seconds": asked.seconds, "test_samples": 1}})
    data = rubato.torch.data_of((x, y), ((x[:64], y[:64])), rows=rubato.deal(experiment, y))

    def plain(steps):
        net, inputs, labels = module(), torch.as_tensor(x), torch.as_tensor(y)
        optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
        rows = torch.as_tensor(chance.integers(0, len(x), size=(steps, 64)))
        start = time.process_time()
        for i in range(steps):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(net(inputs[rows[i]]), labels[rows[i]]).backward()
            optimiser.step()
        return steps / (time.process_time() - start)

    def ours(clock, **how):
        learner = rubato.torch.Learner(module(), torch.nn.functional.cross_entropy, data)
        start = clock()
        result = rubato.run(experiment, learner=learner, on_note=None, models=False, progress=False, **how)
        return int(result.clients["computations"].sum()) / (clock() - start)

    if asked.processes:
        pairs = [(ours(time.perf_counter, threads=1, workers="processes"), ours(time.perf_counter, threads=2, workers="processes"))
                 for _ in range(asked.repeat)]
        print(f"steps a second in one process, in two: {pairs}; ratio {statistics.median(two / one for one, two in pairs):.2f}")
        return
    plain(100)
    pairs = [(ours(time.process_time, threads=1), plain(1000)) for _ in range(asked.repeat)]
    print(f"steps a second as a learner, in a plain loop: {pairs}; ratio {statistics.median(ours / loop for ours, loop in pairs):.2f}")


if __name__ == "__main__":
    main()
