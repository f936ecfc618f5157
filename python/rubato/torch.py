"""Learners for PyTorch: any torch.nn.Module, as one flat vector.

    learner = rubato.torch.Learner(module, torch.nn.functional.cross_entropy, rubato.data(experiment))
    rubato.run(experiment, learner=learner)

The parameters of the module are views of the vector, and so are their gradients: nothing is copied between them. Running statistics,
the floating buffers of batch normalisation, are further numbers of the vector, whose "gradient" is their distance to the batch's: a
step of size eta moves them there by that share, as PyTorch's momentum does.

PyTorch computes on one thread here: clients are what runs side by side, with ``run(..., workers="processes")``.
"""

import numpy
import torch

from . import _learner
from ._core import Score
from ._data import Data


def _tensors(data, shape):
    def rows_of(x):
        x = torch.as_tensor(numpy.ascontiguousarray(x) if isinstance(x, numpy.ndarray) else x)
        return x if shape is None else x.reshape(-1, *shape)

    return rows_of(data.x), torch.as_tensor(data.y), rows_of(data.test_x), torch.as_tensor(data.test_y)


def _tensor(numbers):
    return torch.as_tensor(numbers.to_numpy() if hasattr(numbers, "to_numpy") else numbers)


def data_of(train, test=None, rows=None, classes=None) -> Data:
    """Data of (x, y) pairs of arrays, tensors or frames of pandas, or of torch data sets, which are read once. `rows` are those of each client, as
    rubato.deal() makes them; without it every client has all."""

    def pair(part):
        if isinstance(part, (tuple, list)) and len(part) == 2 and len(part[0]) == len(part[1]):
            return part
        rows = [part[i] for i in range(len(part))]
        return torch.stack([torch.as_tensor(x) for x, _ in rows]), torch.as_tensor([y for _, y in rows])

    x, y = map(_tensor, pair(train))
    test_x, test_y = map(_tensor, pair(test)) if test is not None else (x, y)
    if classes is None:
        classes = int(y.max()) + 1 if not y.is_floating_point() else 0
    return Data(x, y, test_x, test_y, (), classes, rows or [], [])


class Learner(_learner.Learner):
    """A module and its loss, as what clients learn.

    module   gives predictions of a batch of rows; it is used by all clients in turn
    loss     of (predictions, y), a mean over the batch
    data     a rubato.Data: of rubato.data(experiment), or of data_of()
    shape    of a row as the module takes it, such as data.shape of images; default: as the data have it
    train    whether the module is in training mode while gradients are computed
    """

    shared_test = True

    def __init__(self, module: torch.nn.Module, loss, data: Data, *, shape=None, train: bool = True):
        torch.set_num_threads(1)
        self.module = module
        self.loss = loss
        self._train = train
        self._x, self._y, self._test_x, self._test_y = _tensors(data, shape)
        self._rows = [torch.as_tensor(rows) for rows in data.rows]
        self._test_rows = [torch.as_tensor(rows) for rows in data.test_rows]
        self.shared_test = not self._test_rows
        self._classes = data.classes
        self._parameters = [each for each in module.parameters() if each.requires_grad]
        self._buffers = [each for each in module.buffers() if each.is_floating_point()]
        for part in module.modules():
            if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.momentum is not None:
                part.momentum = 1.0  # a forward pass leaves the batch's statistics
        self.numbers = sum(each.numel() for each in self._parameters)
        self.dimension = self.numbers + sum(each.numel() for each in self._buffers)
        self._start = self.vector()
        self._flat = self._gradient = None

    def for_client(self, client: int) -> "_OfClient":
        """The learner of one client."""
        if self._rows and client >= len(self._rows):
            raise ValueError(f"the data are dealt to {len(self._rows)} clients; there is no client {client}")
        rows = self._rows[client] if self._rows else None
        test = self._test_rows[client] if self._test_rows else None
        return _OfClient(self, rows, test)

    def vector(self) -> numpy.ndarray:
        """Parameters and statistics of the module as it is now, as one vector of its own."""
        return torch.cat([each.detach().reshape(-1) for each in self._parameters + self._buffers]).cpu().numpy().copy()

    def load(self, vector) -> torch.nn.Module:
        """The module with these numbers, such as a row of Result.models."""
        x = torch.from_numpy(numpy.array(vector))
        self._bind(x, torch.zeros_like(x))
        self._flat = None
        return self.module

    def attach(self, x, g):
        """The arrays whose views parameters and gradients are from now on."""
        self._flat, self._gradient = torch.from_numpy(x), torch.from_numpy(g)
        self._bind(self._flat, self._gradient)
        if self._x.is_floating_point() and self._x.dtype != self._flat.dtype:
            self._x, self._test_x = self._x.to(self._flat.dtype), self._test_x.to(self._flat.dtype)
        if self._y.is_floating_point() and self._y.dtype != self._flat.dtype:
            self._y, self._test_y = self._y.to(self._flat.dtype), self._test_y.to(self._flat.dtype)

    def _bind(self, flat, gradient):
        self.module.to(flat.dtype)
        first = 0
        self._parameters = [each for each in self.module.parameters() if each.requires_grad]
        for each in self._parameters:
            each.data = flat[first:first + each.numel()].view(each.shape)
            each.grad = gradient[first:first + each.numel()].view(each.shape)
            first += each.numel()
        self._buffers = []
        for part in self.module.modules():
            for name, buffer in part.named_buffers(recurse=False):
                if buffer.is_floating_point():
                    view = flat[first:first + buffer.numel()].view(buffer.shape)
                    part._buffers[name] = view
                    self._buffers.append(view)
                    first += buffer.numel()

    def _mean_loss(self, outputs, y):
        loss = self.loss(outputs, y)
        if loss.dim() != 0:
            raise ValueError(f"the loss must be a mean over the batch: one number, not a tensor of shape {tuple(loss.shape)}")
        return loss

    def _loss_at(self, rows):
        self.module.train(self._train)
        self._gradient.zero_()
        before = self._flat[self.numbers:].clone() if self._buffers else None
        loss = self._mean_loss(self.module(self._x[rows]), self._y[rows])
        loss.backward()
        if before is not None:
            statistics = self._flat[self.numbers:]
            torch.sub(before, statistics, out=self._gradient[self.numbers:])
            statistics.copy_(before)
        return loss.item()

    def _score_on(self, x, y):
        self.module.eval()
        loss, predictions = 0.0, []
        with torch.no_grad():
            for first in range(0, len(x), 1024):
                outputs = self.module(x[first:first + 1024])
                labels = y[first:first + 1024]
                loss += self._mean_loss(outputs, labels).item() * len(labels)
                if self._classes:
                    predictions.append(outputs.argmax(dim=1))
        if not self._classes:
            return Score(loss, len(x))
        return Score(loss, truth=y.numpy(), predictions=torch.cat(predictions).numpy(), classes=self._classes)


class _OfClient(_learner.Learner):
    """The learner of one client: a module that clients share, and its own rows."""

    def __init__(self, shared, rows, test_rows):
        self.shared = shared
        self._rows, self._test_rows = rows, test_rows
        self.dimension = shared.dimension
        self.samples = len(shared._x) if rows is None else len(rows)
        self.classes = shared._classes

    def loss_at(self, rows):
        rows = torch.from_numpy(rows)
        return self.shared._loss_at(rows if self._rows is None else self._rows[rows])

    def score(self, x, rows):
        shared = self.shared
        if rows is not None:
            rows = torch.tensor(rows)
            rows = rows if self._rows is None else self._rows[rows]
            return shared._score_on(shared._x[rows], shared._y[rows])
        if self._test_rows is None:
            return shared._score_on(shared._test_x, shared._test_y)
        return shared._score_on(shared._test_x[self._test_rows], shared._test_y[self._test_rows])

    def start(self, seed):
        return self.shared._start

    def predict(self, x, rows):
        shared = self.shared
        rows = torch.from_numpy(rows)
        rows = rows if self._rows is None else self._rows[rows]
        shared.module.eval()
        with torch.no_grad():
            return torch.softmax(shared.module(shared._x[rows]), dim=1).numpy()
