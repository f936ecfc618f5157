"""Tables of numbers, as the files of a run hold them."""

import csv
import io
from collections.abc import Mapping

import numpy


class Columns(Mapping):
    """A table by its columns: names to numpy arrays, all of one length."""

    def __init__(self, columns):
        self._columns = dict(columns)

    @classmethod
    def from_csv(cls, text: str) -> "Columns":
        rows = list(csv.reader(io.StringIO(text)))
        names = rows[0] if rows else []
        return cls((name, _numbers([row[i] for row in rows[1:]])) for i, name in enumerate(names))

    def __getitem__(self, name):
        return self._columns[name]

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def __getattr__(self, name):
        try:
            return self.__dict__["_columns"][name]
        except KeyError:
            raise AttributeError(f"there is no column {name}; there are: {', '.join(self.__dict__.get('_columns', ()))}") from None

    def __dir__(self):
        return [*object.__dir__(self), *self._columns]

    def to_pandas(self):
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def __repr__(self):
        rows = len(next(iter(self._columns.values()), ()))
        return f"{rows} rows of {', '.join(self._columns)}"


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
