"""An algorithm of your own: DRACO, written in Python. In float64 it leads to the models of the engine's, number by number.

    python3 own_algorithm.py
    rubato run quickstart.toml --python own_algorithm.py --set algorithm.name=my_draco
"""

import numpy
import rubato


@rubato.register
class Draco(rubato.Algorithm):
    """Increments over a row-stochastic graph: what a client has learned since it last sent, added up by its neighbours."""

    name = "my_draco"
    options = {"eta": rubato.Option(0.05, "step size", above=0), "self_apply": rubato.Option(False, "adds its own increments")}
    needs = rubato.Needs(send_only_if_computed=True, may_pause=True)
    may_be_unified = may_begin = True

    def __init__(self):
        self.outbox = self.begun = None

    def begin(self, work):
        self.begun = self.model.copy()

    def compute(self, work, step):
        origin = self.model if self.begun is None else self.begun
        increment = origin.copy()
        work.descend(increment, step.index, self.given["eta"])
        increment -= origin
        if self.given["self_apply"]:
            self.model += increment
        self.outbox = increment if self.outbox is None else self.outbox + increment

    def publish(self, work, step):
        message, self.outbox = self.outbox, None
        return numpy.zeros_like(self.model) if message is None else message

    def merge(self, work, step, messages):
        for message in messages:
            self.model += message.weight * message.model


if __name__ == "__main__":
    experiment = rubato.Experiment({
        "until": 60.0, "precision": "float64", "clients": {"count": 10}, "topology": {"kind": "ring"},
        "channel": {"kind": "random", "delay": {"law": "exponential", "mean": 0.05}, "loss": 0.02},
        "unification": {"period": 10.0}, "algorithm": {"name": "my_draco", "self_apply": True},
        "data": {"name": "digits"}, "model": {"name": "softmax", "batch": 16}})
    here = rubato.run(experiment)
    engine = rubato.run(experiment.copy({"algorithm.name": "draco"}))
    print("the same models:", here.model_digest == engine.model_digest)
    print("the same clocks:", here.timeline_digest == engine.timeline_digest)
