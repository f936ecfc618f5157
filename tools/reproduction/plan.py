"""What a study is: settings that are run with several seeds, what is read from the runs, and what the paper says of it."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Callable, Optional

nan = float("nan")


@dataclass(frozen=True)
class Setting:
    """One line of a study's table."""

    name: str
    file: str  # below examples/papers, or a path from the root of the tree
    sets: tuple = ()  # key=value, in both columns
    full: tuple = ()  # in the full column alone
    quick: tuple = ()
    paper: dict = field(default_factory=dict)  # measure -> what the paper prints, a number or a text
    only: str = ""  # "full": not in the quick column
    asks: tuple = ()  # another command of rubato in place of `run`, and its options


@dataclass(frozen=True)
class Measure:
    name: str
    heading: str
    of: Callable  # Run -> number; nan: not reached, not known
    digits: int = 3


@dataclass(frozen=True)
class Outcome:
    """A claim held against the runs of one column."""

    text: str  # the numbers
    holds: Optional[bool]  # None: the interval has both signs


@dataclass(frozen=True)
class Claim:
    text: str
    judge: Callable  # Results -> Outcome; raises KeyError where runs are missing
    ceiling: str = ""  # what it is called when it holds; "": as the study


@dataclass(frozen=True)
class Panel:
    """A part of a figure. Curves where x is a column of metrics.csv, else dots, a line for each setting."""

    y: str
    x: str = ""
    x_label: str = ""
    y_label: str = ""
    x_log: bool = False
    y_log: bool = False
    x_to: float = math.inf  # where the axis ends at the latest
    y_from: float = -math.inf  # what of the curves is shown
    y_to: float = math.inf
    settings: tuple = ()  # (): all
    title: str = ""


@dataclass(frozen=True)
class Study:
    name: str
    paper: str  # heading of its part of the page
    item: str  # the figure or table
    says: str  # what the paper finds, in a sentence or two
    settings: tuple
    measures: tuple
    claims: tuple
    panels: tuple
    quick_seeds: int
    full_seeds: int
    quick: tuple = ()  # key=value of all runs in that column
    full: tuple = ()
    first_seed: int = 1
    ceiling: str = "direction reproduced"  # what a claim that holds in the full column is called at most
    choices: str = ""  # what the paper leaves open and what stands here; what was substituted
    note: str = ""  # what came out, and what was tried
    guess: tuple = (2.0, 20.0)  # CPU seconds of a run, as long as no run was measured

    def of_column(self, column):
        return [one for one in self.settings if column == "full" or one.only != "full"]

    def seeds(self, column, wanted=0):
        count = wanted or (self.full_seeds if column == "full" else self.quick_seeds)
        return range(self.first_seed, self.first_seed + count)

    def sets(self, column, setting):
        """Later ones win."""
        shared, own = (self.full, setting.full) if column == "full" else (self.quick, setting.quick)
        return tuple(setting.sets) + tuple(shared) + tuple(own)


def with_name(setting, name, *sets, **changes):
    return dataclasses.replace(setting, name=name, sets=tuple(setting.sets) + sets, **changes)


def is_known(value):
    return value is not None and not math.isnan(value)
