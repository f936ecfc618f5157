"""Tables of numbers, as the files of a run hold them."""

import csv
import io
from collections.abc import Mapping

import numpy


class Named(Mapping):
    """Values by their names, which are attributes as well."""

    __slots__ = ("_values",)
    _missing: str

    def __init__(self, values):
        self._values = dict(values)

    def __getitem__(self, name):
        return self._values[name]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __getattr__(self, name):
        if name == "_values":  # while it is copied
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(self._missing.format(name, ", ".join(self._values))) from None

    def __dir__(self):
        return [*object.__dir__(self), *self._values]


class Columns(Named):
    """A table by its columns: names to numpy arrays, all of one length."""

    _missing = "there is no column {}; there are: {}"

    @classmethod
    def from_csv(cls, text: str) -> "Columns":
        rows = list(csv.reader(io.StringIO(text)))
        names = rows[0] if rows else []
        return cls((name, _numbers([row[i] for row in rows[1:]])) for i, name in enumerate(names))

    def to_pandas(self):
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self._values)

    def __repr__(self):
        rows = len(next(iter(self._values.values()), ()))
        return f"{rows} rows of {', '.join(self._values)}"


def _numbers(texts):
    for kind in (int, float):
        try:
            return numpy.array([kind(text) for text in texts], dtype=numpy.int64 if kind is int else numpy.float64)
        except (ValueError, OverflowError):
            pass
    try:
        return numpy.array([float(text) if text else numpy.nan for text in texts])
    except ValueError:
        return numpy.array(texts, dtype=object)
