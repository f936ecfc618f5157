"""A first run: 25 clients on a ring learn handwritten digits; their accuracy as a frame of pandas."""

import rubato

experiment = rubato.Experiment(name="first-run", until=65.0)
experiment.clients.count = 25
experiment.topology.kind = "ring"
experiment.channel.kind = "random"
experiment.channel.loss = 0.02
experiment.unification.period = 10.0
experiment.algorithm.name = "draco"
experiment.algorithm.self_apply = True
experiment.data.name = "digits"
experiment.data.partition.kind = "dirichlet_by_class"
experiment.data.partition.alpha = 0.5
experiment.model.name = "softmax"
experiment.model.batch = 16
experiment.metrics.every_seconds = 13.0

result = rubato.run(experiment)
print(result.to_pandas()[["seconds", "accuracy_mean", "loss_mean", "consensus"]].round(3).to_string(index=False))
print("model digest", result.model_digest)
