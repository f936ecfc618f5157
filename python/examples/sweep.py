"""Step sizes by Optuna: each trial is a run, and trials whose loss runs away end early (python3-optuna)."""

import optuna

import rubato

optuna.logging.set_verbosity(optuna.logging.WARNING)
experiment = rubato.Experiment({
    "until": 30.0, "clients": {"count": 8}, "topology": {"kind": "ring"}, "algorithm": {"name": "dpsgd", "eta": 0.1},
    "data": {"name": "digits"}, "model": {"name": "softmax", "batch": 16}, "metrics": {"every_seconds": 5.0}})


def objective(trial: optuna.Trial) -> float:
    eta = trial.suggest_float("eta", 1e-3, 1.0, log=True)

    def is_hopeless(sample: rubato.Sample) -> bool:
        trial.report(sample.loss_mean, sample.sample)
        return trial.should_prune()

    result = rubato.run(experiment.copy({"algorithm.eta": eta}), stop_when=is_hopeless, models=False)
    if result.was_stopped:
        raise optuna.TrialPruned
    return float(result.samples["loss_mean"][-1])


study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1), pruner=optuna.pruners.MedianPruner(n_startup_trials=3))
study.optimize(objective, n_trials=8)
print(f"best of {len(study.trials)} trials: eta {study.best_params['eta']:.3f}, loss {study.best_value:.3f}")
