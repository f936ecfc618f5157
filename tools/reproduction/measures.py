"""Numbers of one run, and what several runs say together."""

import csv
import json
import math
import pathlib

from plan import Measure, Outcome, is_known, nan

# Two-sided 95 % of Student's law with 1, 2, ... degrees of freedom; beyond, that of the normal law.
_student = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
            2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045)


def student(freedom):
    return _student[freedom - 1] if freedom <= len(_student) else 1.96


class Run:
    """The folder of a finished unit."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.unit = json.loads((self.folder / "unit.json").read_text())
        summary = self.folder / "summary.json"
        self.summary = json.loads(summary.read_text()) if summary.exists() else {}
        self._columns = None

    def column(self, name):
        if self._columns is None:
            with open(self.folder / "metrics.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self._columns = {key: [float(row[key]) for row in rows] for key in rows[0]} if rows else {}
        return self._columns[name]

    def set_to(self, key):
        """What the command sets the key to, as text."""
        return next(word.split("=", 1)[1] for word in reversed(self.unit["words"]) if word.startswith(key + "="))

    def table(self, file):
        with open(self.folder / file, newline="") as stream:
            return list(csv.DictReader(stream))


def value_at(run, axis, place, column):
    """Along a straight line between samples; nan beyond the last one."""
    xs, ys = run.column(axis), run.column(column)
    if place > xs[-1] * 1.02:
        return nan
    for i in range(1, len(xs)):
        if xs[i] >= place:
            if xs[i] == xs[i - 1]:
                return ys[i]
            return ys[i - 1] + (ys[i] - ys[i - 1]) * (place - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[-1]


def end(column, heading="", digits=3):
    return Measure(column, heading or column, lambda run: run.column(column)[-1], digits)


def average(name, column, heading, digits, of=float, each_client=False):
    """The mean over the samples of what `of` makes of them, where it is said of a client."""
    def value(run):
        values = [of(one) for one in run.column(column)]
        return sum(values) / len(values) / (run.summary["clients"] if each_client else 1)
    return Measure(name, heading, value, digits)


def square(value):
    return value * value


def best(column, heading, digits=3):
    return Measure("best_" + column, heading, lambda run: max(run.column(column)), digits)


def at(place, column, heading, axis="seconds", digits=3):
    return Measure(f"{column}_at_{place}", heading, lambda run: value_at(run, axis, place, column), digits)


def tail(column, heading, share=0.2, digits=3):
    """The mean over the last samples: less scatter than the last one."""
    def of(run):
        values = run.column(column)
        used = values[-max(1, int(len(values) * share)):]
        return sum(used) / len(used)
    return Measure("tail_" + column, heading, of, digits)


def area(column, heading, digits=3):
    """The mean over the run's time, by trapezia."""
    def of(run):
        xs, ys = run.column("seconds"), run.column(column)
        return sum((ys[i] + ys[i - 1]) / 2 * (xs[i] - xs[i - 1]) for i in range(1, len(xs))) / (xs[-1] - xs[0])
    return Measure("area_" + column, heading, of, digits)


def reach(level, heading, column="accuracy_mean", axis="seconds", below=False, digits=0):
    """Where along the axis the level is reached first; nan: never."""
    def of(run):
        for x, y in zip(run.column(axis), run.column(column)):
            if (y <= level) if below else (y >= level):
                return x
        return nan
    return Measure(f"{axis}_to_{level}", heading, of, digits)


def wiggle(column, heading, digits=4):
    """The deviation of successive differences in the second half: how much a curve goes up and down."""
    def of(run):
        ys = run.column(column)
        ys = ys[len(ys) // 2:]
        steps = [b - a for a, b in zip(ys, ys[1:])]
        mean = sum(steps) / len(steps)
        return math.sqrt(sum((one - mean) ** 2 for one in steps) / len(steps))
    return Measure("wiggle_" + column, heading, of, digits)


def delivered(heading="delivered"):
    def of(run):
        messages = run.summary["messages"]
        return messages["delivered"] / max(1, messages["sent"])
    return Measure("delivered", heading, of, 3)


def spread(values):
    """Mean, deviation (n - 1) and number of those that are known."""
    known = [one for one in values if is_known(one)]
    if not known:
        return nan, nan, 0
    mean = sum(known) / len(known)
    if len(known) < 2:
        return mean, nan, len(known)
    return mean, math.sqrt(sum((one - mean) ** 2 for one in known) / (len(known) - 1)), len(known)


class Results:
    """The numbers of one column of a study: by setting, measure and seed."""

    def __init__(self, values):
        self.values = values

    def of(self, setting, measure):
        return self.values[setting][measure]

    def mean(self, setting, measure):
        return spread(self.of(setting, measure).values())[0]

    def differences(self, one, other, measure):
        """Paired by seed: same data, clocks, links and start."""
        first, second = self.of(one, measure), self.of(other, measure)
        return [first[seed] - second[seed] for seed in first
                if seed in second and is_known(first[seed]) and is_known(second[seed])]


def interval(differences):
    mean, deviation, count = spread(differences)
    if count < 2:
        return mean, nan, nan
    half = student(count - 1) * deviation / math.sqrt(count)
    return mean, mean - half, mean + half


def shown(value, digits):
    """With so many digits behind the point; -3: three digits that count."""
    if not is_known(value):
        return "-"
    if digits < 0:
        return f"{value:.{-digits}g}"
    if value != 0 and (abs(value) >= 1e5 or abs(value) < 10 ** -digits / 2):
        return f"{value:.2e}"
    return f"{value:.{digits}f}"


def shown_interval(differences, digits):
    mean, low, high = interval(differences)
    form = f"+.{-digits}g" if digits < 0 else f"+.{digits}f"
    if not is_known(mean):
        return "no pair"
    if not is_known(low):
        return f"{mean:{form}} (one pair)"
    return f"{mean:{form}} [{low:{form}}, {high:{form}}], {len(differences)} pairs"


def _judged(one, other, measure, digits, verdict, asked=""):
    """The difference between `one` and `other`, over pairs of one seed; `verdict` has its mean and the ends of its interval, which are
    the mean where there is one pair."""
    def judge(results):
        differences = results.differences(one, other, measure)
        if not differences:
            raise KeyError(measure)
        mean, low, high = interval(differences)
        ends = (low, high) if is_known(low) else (mean, mean)
        return Outcome(f"{one} - {other}: {shown_interval(differences, digits)}{asked}", verdict(*ends))
    return judge


def more(one, other, measure, digits=3, by=0.0):
    """`one` has more than `other`, by at least so much."""
    return _judged(one, other, measure, digits, lambda low, high: True if low > by else False if high < by else None)


def less(one, other, measure, digits=3):
    return _judged(one, other, measure, digits, lambda low, high: True if high < 0 else False if low > 0 else None)


def earlier(one, other, measure, digits=0):
    """`one` reaches it before `other` does; who never does is later than who always does."""
    def judge(results):
        first, second = results.of(one, measure).values(), results.of(other, measure).values()
        arrived = [sum(map(is_known, of)) for of in (first, second)]
        if arrived in ([len(first), 0], [0, len(second)]) and any(arrived):
            return Outcome(f"{one} arrives {arrived[0]} times of {len(first)}, {other} {arrived[1]} of {len(second)}", arrived[1] == 0)
        return less(one, other, measure, digits)(results)
    return judge


def alike(one, other, measure, within, digits=3):
    """The interval of the difference lies within so much on both sides."""
    def verdict(low, high):
        if max(abs(low), abs(high)) <= within:
            return True
        return False if low > within or high < -within else None
    return _judged(one, other, measure, digits, verdict, f", asked for: within {within}")


def near(one, measure, value, within, digits=3):
    """The mean is so near to the paper's number."""
    def judge(results):
        mean, deviation, count = spread(results.of(one, measure).values())
        if not count:
            raise KeyError(measure)
        return Outcome(f"{one}: {shown(mean, digits)} against {value}, asked for: within {within}", abs(mean - value) <= within)
    return judge


def falls(names, measure, digits=3, rises=False):
    """From each setting to the next: all differences have the sign (True), one has the other for sure (False)."""
    def judge(results):
        texts, verdicts = [], []
        for one, other in zip(names, names[1:]):
            outcome = (less if rises else more)(one, other, measure, digits)(results)
            verdicts.append(outcome.holds)
            texts.append(shown(results.mean(one, measure), digits))
        texts.append(shown(results.mean(names[-1], measure), digits))
        holds = True if all(verdicts) else False if False in verdicts else None
        return Outcome(" > ".join(names).replace(" > ", " < " if rises else " > ") + ": " + ", ".join(texts), holds)
    return judge


def both(*judges):
    """All of them."""
    def judge(results):
        outcomes = [one(results) for one in judges]
        holds = [one.holds for one in outcomes]
        return Outcome("; ".join(one.text for one in outcomes), True if all(holds) else False if False in holds else None)
    return judge


def power(names, measure, at_most):
    """The slope of the logarithms of means by those of the numbers that the settings' names end in, by least squares over those that
    were run, three at the least."""
    def judge(results):
        known = [name for name in names if name in results.values]
        if len(known) < 3:
            raise KeyError(measure)
        found = least_squares([math.log(float(name.split()[-1])) for name in known], [math.log(results.mean(name, measure)) for name in known])
        return Outcome(f"slope {found:.2f} from {known[0]} to {known[-1].split()[-1]}, asked for: at most {at_most}", found <= at_most)
    return judge


def least_squares(xs, ys):
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def _bounded(name, measure, words, digits, holds):
    def judge(results):
        mean = results.mean(name, measure)
        if not is_known(mean):
            raise KeyError(measure)
        return Outcome(f"{name}: {shown(mean, digits)}, asked for: {words}", holds(mean))
    return judge


def at_most(name, measure, limit, digits=2):
    """The mean over seeds."""
    return _bounded(name, measure, f"at most {limit}", digits, lambda mean: mean <= limit)


def at_least(name, measure, limit, digits=2):
    return _bounded(name, measure, f"at least {limit}", digits, lambda mean: mean >= limit)


def part(one, other, measure, at_most=math.inf, at_least=0.0):
    """Of the mean of `other` that of `one` is such a part."""
    def judge(results):
        ours, theirs = results.mean(one, measure), results.mean(other, measure)
        asked = f"at most {at_most}" if at_most < math.inf else f"at least {at_least}"
        return Outcome(f"{one} {ours:.3g}, {other} {theirs:.3g}: {ours / theirs:.2f} of it, asked for: {asked}", at_least <= ours / theirs <= at_most)
    return judge
