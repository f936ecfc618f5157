"""The papers' printed tables with ours beside them, one line for each line of theirs; what was not run says so."""

from measures import interval, shown, spread
from plan import is_known, nan


def _ours(setting, measure, stored):
    """(text, mean); the quick column stands in where the full one lacks the setting, and says so."""
    for name in ("full", "quick"):
        of = stored.get(name, {}).get("settings", {}).get(setting, {}).get("measures", {}).get(measure)
        if of is None:
            continue
        mean, deviation, count = spread([nan if one is None else one for one in of.values()])
        if not count:
            continue
        text = shown(mean, 4) + (f" ± {deviation:.4f}" if count > 1 else "")
        return text + (f" ({name})" if name == "quick" else ""), mean
    return "not run", nan


def beside(study, setting, measure, stored):
    """Paper / ours / difference."""
    printed = next((one.paper.get(measure) for one in study.settings if one.name == setting), None)
    text, mean = _ours(setting, measure, stored)
    if not isinstance(printed, (int, float)):
        return f"{printed or '-'} / {text}"
    return f"{shown(printed, 4)} / {text}" + (f" / {mean - printed:+.4f}" if is_known(mean) else "")


def _table(heads, rows):
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)] + ["| " + " | ".join(row) + " |" for row in rows])


def table_3(studies, stored):
    """DEPOSITUM: a line for each data set and model and each split, a column for each method."""
    known = {one.name: one for one in studies}
    rows, methods = [], ("DEPOSITUM I", "DEPOSITUM II", "FedMiD", "FedDR", "FedADMM")
    for name, label in (("depositum-mnist-mlp", "MNIST MLP"), ("depositum-mnist-cnn", "MNIST CNN"), ("depositum-emnist-mlp", "EMNIST MLP"),
                        ("depositum-emnist-cnn", "EMNIST CNN"), ("depositum-fmnist-mlp", "FMNIST MLP"), ("depositum-fmnist-cnn", "FMNIST CNN"),
                        ("depositum-fmnist-resnet", "FMNIST ResNet-18"), ("depositum-cifar-cnn", "CIFAR CNN")):
        for split in ("IID", "Dir(1)", "Dir(0.1)"):
            if not any(one.name.endswith(f", {split}") for one in known[name].settings):
                continue
            rows.append([f"{label}, {split}"] + [beside(known[name], f"{one}, {split}", "accuracy_mean_model", stored(known[name])) for one in methods])
    return _table(["", *methods], rows)


def table_4_1(studies, stored):
    """KD-PDFL: a line for each method, a column for each data set and number of clients; EMNIST by the settings that were tuned for no method."""
    known = {one.name: one for one in studies}
    places = (("IoT, N = 10", "kdpdfl-iot-10"), ("IoT, N = 20", "kdpdfl-iot"), ("IoT, N = 40", "kdpdfl-iot-40"),
              ("EMNIST, N = 10", "kdpdfl-10"), ("EMNIST, N = 20", "kdpdfl"), ("EMNIST, N = 40", "kdpdfl-40"))
    return _table(["", *(label for label, _ in places)],
                  [[method] + [beside(known[name], method, "tail_accuracy_mean", stored(known[name])) for _, name in places]
                   for method in ("local", "FedAvg", "FedAvg+", "KD-PDFL")])


def _difference(of, one, other, measure):
    """Paired by seed, with its interval."""
    first, second = (of.get("settings", {}).get(name, {}).get("measures", {}).get(measure, {}) for name in (one, other))
    pairs = [first[seed] - second[seed] for seed in first if second.get(seed) is not None and first[seed] is not None]
    mean, low, high = interval(pairs)
    return "not run" if not pairs else f"{mean:+.4f}" + (f" [{low:+.4f}, {high:+.4f}]" if is_known(low) else "")


def differences(studies, stored):
    """DeceFL: tables 2 and 4 as differences to FedAvg of the same K, the paper's and ours."""
    known = {one.name: one for one in studies}
    rows = []
    for name, label in (("decefl-iid", "table 2"), ("decefl-iid-dnn", "table 2, network"), ("decefl-noniid", "table 4"), ("decefl-noniid-dnn", "table 4, network")):
        study = known[name]
        printed = {one.name: one.paper.get("tail_accuracy_mean") for one in study.settings}
        of = stored(study).get("full") or stored(study).get("quick") or {}
        for setting in study.settings:
            method, _, rest = setting.name.partition(", ")
            server = f"FedAvg, {rest.split(',')[0]}"
            if method == "FedAvg" or printed.get(setting.name) is None:
                continue
            ours = [_difference(of, setting.name, server, measure) for measure in ("best_accuracy_mean", "tail_accuracy_mean")]
            rows.append([label, setting.name, f"{printed[setting.name] - printed[server]:+.4f}", *ours])
    return _table(["", "setting", "paper: difference to FedAvg", "ours on a9a: at the best round [95 %]", "over the last fifth [95 %]"], rows)
