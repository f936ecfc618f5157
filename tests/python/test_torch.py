"""Learners for PyTorch compute what the engine's models do."""

import sys
import unittest

import numpy
import pandas
import rubato
from support import main

try:
    import torch
except ImportError:
    sys.exit(77)

import rubato.torch

cross_entropy = torch.nn.functional.cross_entropy


def mlp(inputs=64, hidden=64, classes=10):
    return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, classes))


def experiment(**keys):
    values = {"until": 20.0, "clients": {"count": 6}, "topology": {"kind": "ring"}, "algorithm": {"name": "dpsgd", "eta": 0.1},
              "data": {"name": "digits"}, "model": {"name": "mlp", "hidden": [64], "batch": 16}, "metrics": {"every_seconds": 5.0}}
    values.update(keys)
    return rubato.Experiment(values)


seen = []


@rubato.register
class Watching(rubato.Algorithm):
    """Keeps models, rows and gradients of client 0."""

    name = "watching"
    options = {"eta": 0.1}

    def compute(self, work, step):
        if not step.with_gradient:
            return
        g = work.gradient(self.model, step.index)
        if self.client.number == 0:
            seen.append((self.model.copy(), work.batch(step.index), g))
        self.model -= self.given["eta"] * g

    def publish(self, work, step):
        return self.model.copy()

    def merge(self, work, step, messages):
        pass


class AModule(unittest.TestCase):
    def gradients_agree(self, module, shape, converted, **model):
        """Both have their parameters in the same order, what PyTorch calls weight, then bias, layer by layer; but what comes out of a
        convolution is ordered by place, then channel, here and the other way round there."""
        seen.clear()
        asked = experiment(until=6.0, algorithm={"name": "watching"}, model={"batch": 16, **model})
        rubato.run(asked, on_note=None)
        learner = rubato.torch.Learner(module, cross_entropy, rubato.data(asked), shape=shape)
        client = learner.for_client(0)
        x, g = numpy.zeros(learner.dimension, "float32"), numpy.zeros(learner.dimension, "float32")
        learner.attach(x, g)
        self.assertTrue(seen)
        for model, rows, gradient in seen:
            x[:] = converted(model)
            client.loss_at(rows)
            numpy.testing.assert_allclose(g, converted(gradient), atol=1e-5)

    def test_has_the_gradients_of_the_engine_s_mlp(self):
        self.gradients_agree(mlp(), None, lambda vector: vector, name="mlp", hidden=[64])

    def test_has_the_gradients_of_the_engine_s_cnn(self):
        module = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                                     torch.nn.Linear(8 * 3 * 3, 10))

        def converted(vector):
            dense = vector[80:800].reshape(10, 3, 3, 8).transpose(0, 3, 1, 2).reshape(-1)
            return numpy.concatenate([vector[:80], dense, vector[800:]])

        self.gradients_agree(module, (1, 8, 8), converted, name="cnn", layers=["conv 8 3", "relu", "maxpool 2", "flatten"])

    def test_learns_to_the_same_digest_on_any_threads_and_in_processes(self):
        data = rubato.data(experiment())
        digests = set()
        for threads, workers in ((1, "threads"), (2, "threads"), (2, "processes")):
            torch.manual_seed(1)
            result = rubato.run(experiment(), learner=rubato.torch.Learner(mlp(), cross_entropy, data), threads=threads, workers=workers,
                                on_note=None)
            digests.add(result.model_digest)
        self.assertEqual(len(digests), 1)
        self.assertGreater(result.samples["accuracy_mean"][-1], result.samples["accuracy_mean"][0])

    def test_moves_the_statistics_of_batch_normalisation_by_its_step(self):
        data = rubato.data(experiment())
        module = torch.nn.Sequential(torch.nn.Linear(64, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 10))
        learner = rubato.torch.Learner(module, cross_entropy, data)
        self.assertEqual(learner.dimension, 64 * 8 + 8 + 16 + 8 * 10 + 10 + 16)
        x, g = learner.vector(), numpy.zeros(learner.dimension, "float32")
        learner.attach(x, g)
        before = x.copy()
        client = learner.for_client(0)
        rows = numpy.arange(16)
        client.loss_at(rows)
        numpy.testing.assert_array_equal(x, before)
        inputs = torch.as_tensor(data.x[data.rows[0][rows]])
        mean = module[0](inputs).mean(dim=0).detach().numpy()
        numpy.testing.assert_allclose(before[-16:-8] - g[-16:-8], mean, atol=1e-5)
        result = rubato.run(experiment(), learner=learner, on_note=None)
        self.assertTrue(numpy.isfinite(result.models).all())
        self.assertTrue((result.models[:, -8:] > 0).all())

    def test_is_there_again_from_a_row_of_models(self):
        data = rubato.data(experiment())
        learner = rubato.torch.Learner(mlp(), cross_entropy, data)
        result = rubato.run(experiment(until=100.0), learner=learner, on_note=None)
        module = learner.load(result.models[0])
        with torch.no_grad():
            right = (module(torch.as_tensor(data.test_x)).argmax(dim=1).numpy() == data.test_y).mean()
        self.assertAlmostEqual(right, result.clients["accuracy"][0], places=2)

    def test_learns_data_of_your_own(self):
        x = numpy.random.default_rng(1).normal(size=(200, 3)).astype("float32")
        y = (x.sum(axis=1) > 0).astype("int64")
        asked = experiment(model={"batch": 8}, data={"partition": {"kind": "iid"}})
        data = rubato.torch.data_of((x, y), rows=rubato.deal(asked, y))
        result = rubato.run(asked, learner=rubato.torch.Learner(torch.nn.Linear(3, 2), cross_entropy, data), on_note=None)
        self.assertGreater(result.samples["accuracy_mean"][-1], 0.75)
        sets = torch.utils.data.TensorDataset(torch.as_tensor(x), torch.as_tensor(y))
        self.assertEqual(rubato.torch.data_of(sets).classes, 2)
        frames = rubato.torch.data_of((pandas.DataFrame(x), pandas.Series(y)))
        numpy.testing.assert_array_equal(frames.x, x)
        numpy.testing.assert_array_equal(frames.y, y)

    def test_with_a_loss_that_is_no_mean_is_refused(self):
        data = rubato.data(experiment())
        learner = rubato.torch.Learner(mlp(), torch.nn.CrossEntropyLoss(reduction="none"), data)
        with self.assertRaisesRegex(rubato.RunFailed, "the loss must be a mean over the batch"):
            rubato.run(experiment(), learner=learner, on_note=None)


if __name__ == "__main__":
    main()
