#!/usr/bin/env python3
"""ResNet-20 on CIFAR-10 in PyTorch: the half of a comparison whose other half is train_cifar.cpp.

The network is resnet20() of rivals/torch_steps.py, with batch normalisation. It begins where the other half began and
takes the same batches in the same order with the same steps, which `train_cifar --plan DIR` has written. Data are read
and normalised here a second time: mean 0 and deviation 1 for each channel of the training images.

    python3 train_cifar.py --plan DIR --data DIR [--batch 64] [--test-rows N]

One thread. Last line: {"parameters", "batches", "images_per_second", "train_seconds", "train_loss", "test_loss",
"accuracy"}; reading data and evaluating are not timed.
"""

import argparse
import gzip
import json
import lzma
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))

import torch_steps  # noqa: E402  sets the number of threads, so it comes before torch

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

RECORD = 1 + 3 * 32 * 32


def read_records(folder, name):
    """Labels and images of one file of the binary version, which may be packed; None if it is not there."""
    for ending, opener in (("", open), (".gz", gzip.open), (".xz", lzma.open)):
        path = folder / (name + ending)
        if path.exists():
            with opener(path, "rb") as stream:
                records = np.frombuffer(stream.read(), np.uint8).reshape(-1, RECORD)
            return records[:, 0].astype(np.int64), records[:, 1:].reshape(-1, 3, 32, 32)
    return None


def read_data(folder):
    parts = [part for part in (read_records(folder, f"data_batch_{i}.bin") for i in range(1, 6)) if part]
    labels, images = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    test_labels, test_images = read_records(folder, "test_batch.bin")
    mean = images.mean((0, 2, 3), dtype=np.float64).reshape(1, 3, 1, 1)
    deviation = images.std((0, 2, 3), dtype=np.float64).reshape(1, 3, 1, 1)

    def normalised(bytes_):
        return torch.from_numpy(((bytes_ - mean.astype(np.float32)) / deviation.astype(np.float32)).astype(np.float32))

    return (normalised(images), torch.from_numpy(labels)), (normalised(test_images), torch.from_numpy(test_labels))


def parts_of(module):
    """The tensors of a network in the order of Rubato's parameter vector: where they are used, statistics last."""
    for layer in module.children():
        if isinstance(layer, torch_steps.BasicBlock):
            for inner in (layer.conv1, layer.norm1, layer.conv2, layer.norm2):
                yield from tensors_of(inner)
        else:
            yield from tensors_of(layer)


def tensors_of(layer):
    if isinstance(layer, nn.BatchNorm2d):
        return [layer.weight, layer.bias, layer.running_mean, layer.running_var]
    return list(layer.parameters())


def load_start(model, numbers):
    parts = list(parts_of(model))
    if sum(part.numel() for part in parts) != len(numbers):
        sys.exit(f"train_cifar.py: start.f32 has {len(numbers)} numbers, the network {sum(p.numel() for p in parts)}")
    with torch.no_grad():
        for part, values in zip(parts, torch.from_numpy(numbers).split([part.numel() for part in parts])):
            part.copy_(values.view_as(part))


def train(model, images, labels, batches, steps):
    """Returns seconds and the loss of every batch."""
    model.train()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    start = time.perf_counter()
    for rows, step in zip(batches, steps):
        optimiser.param_groups[0]["lr"] = float(step)
        optimiser.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(images[rows]), labels[rows])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return time.perf_counter() - start, losses


def evaluate(model, images, labels):
    model.eval()
    with torch.no_grad():
        scores = torch.cat([model(images[first:first + 500]) for first in range(0, len(images), 500)])
    return F.cross_entropy(scores, labels).item(), (scores.argmax(1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan", required=True, type=pathlib.Path, help="folder that train_cifar has written")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder that holds cifar10/")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--test-rows", type=int, default=0, help="rows that score the result; 0: all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    (images, labels), (test_images, test_labels) = read_data(options.data / "cifar10")
    batches = np.fromfile(options.plan / "batches.u32", "<u4").astype(np.int64).reshape(-1, options.batch)
    steps = np.fromfile(options.plan / "steps.f32", "<f4")
    model = torch_steps.resnet20()
    load_start(model, np.fromfile(options.plan / "start.f32", "<f4"))
    model = model.to(memory_format=torch.channels_last)
    images = images.contiguous(memory_format=torch.channels_last)
    seconds, losses = train(model, images, labels, torch.from_numpy(batches), steps)
    rows = options.test_rows or len(test_labels)
    test_loss, accuracy = evaluate(model, test_images[:rows], test_labels[:rows])
    last = steps == steps[-1]
    print(json.dumps({"parameters": sum(part.numel() for part in parts_of(model)), "batches": len(batches),
                      "images_per_second": batches.size / seconds, "train_seconds": seconds,
                      "train_loss": float(np.mean(np.array(losses)[last])), "first_losses": losses[:3],
                      "test_loss": test_loss, "accuracy": accuracy}))


if __name__ == "__main__":
    main()
