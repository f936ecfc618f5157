"""Experiment: what is to be run, from a file, a dict or by attributes."""

import difflib
import os
import tomllib

from . import _core, _keys
from ._errors import InvalidExperiment
from ._toml import document_of, to_toml


def _joined(path, name):
    return f"{path}.{name}" if path else name


def _copied(value):
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(part) for part in value]
    return value


class Table:
    """A table of an experiment. Its attributes are the keys; a key that is not set reads as its default."""

    __slots__ = ("_experiment", "_path")

    def __init__(self, experiment, path):
        object.__setattr__(self, "_experiment", experiment)
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        key = self._key(name)
        path = _joined(self._path, name)
        if key.type == "table":
            return _classes.get(path, Table)(self._experiment, path)
        return self._experiment._read(path, key)

    def __setattr__(self, name, value):
        self._key(name)
        self._experiment._write(_joined(self._path, name), value)

    def __delattr__(self, name):
        self._key(name)
        self._experiment._remove(_joined(self._path, name))

    def __dir__(self):
        return sorted({*object.__dir__(self), *_keys.keys_of(self._path)})

    def __repr__(self):
        return f"{self._path or 'experiment'}: {to_toml(self._experiment._at(self._path) or {})}"

    def _key(self, name):
        known = _keys.keys_of(self._path)
        if name in known:
            return known[name]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(known)}"
        raise AttributeError(f"{self._path or 'an experiment'} has no key {name}{hint}")


class Experiment(Table):
    __slots__ = ("_text", "_file", "_base", "_tree", "_changes", "__weakref__")

    def __init__(self, source=None, /, **keys):
        super().__init__(self, "")
        put = object.__setattr__
        put(self, "_changes", {})
        put(self, "_file", "experiment")
        if isinstance(source, Experiment):
            put(self, "_file", source._file)
            put(self, "_text", source._text)
            put(self, "_base", _copied(source._base))
            put(self, "_changes", dict(source._changes))
            put(self, "_tree", _copied(source._tree))
        elif isinstance(source, (str, os.PathLike)):
            put(self, "_file", os.fspath(source))
            try:
                with open(source, encoding="utf-8", newline="") as file:
                    text = file.read()
            except OSError as error:
                raise FileNotFoundError(f"{os.fspath(source)}: cannot be read: {error.strerror}") from None
            except UnicodeDecodeError:
                raise InvalidExperiment(f"{os.fspath(source)}: is not TOML: its text is not UTF-8") from None
            self._take(text)
        elif source is None or isinstance(source, dict):
            put(self, "_base", _copied(source or {}))
            put(self, "_text", document_of(self._base))
            put(self, "_tree", _copied(self._base))
        else:
            raise TypeError(f"an experiment is made of a file's name, a dict or another Experiment, not of {type(source).__name__}")
        for name, value in keys.items():
            setattr(self, name, value)

    @classmethod
    def from_toml(cls, text: str) -> "Experiment":
        """The experiment of a TOML text; its paths are relative to the working directory."""
        made = cls()
        made._take(text)
        return made

    def _take(self, text):
        object.__setattr__(self, "_text", text)
        try:
            object.__setattr__(self, "_base", tomllib.loads(text))
        except tomllib.TOMLDecodeError:
            self.check()
            raise
        object.__setattr__(self, "_tree", _copied(self._base))

    def __getitem__(self, path):
        """The value of a key by its dotted name: ``experiment["algorithm.eta"]``."""
        table, _, name = path.rpartition(".")
        return getattr(self._table(table), name)

    def __setitem__(self, path, value):
        table, _, name = path.rpartition(".")
        setattr(self._table(table), name, value)

    def copy(self, changes=None, /, **keys) -> "Experiment":
        """Another one with the same keys. `changes` maps dotted names to values: ``copy({"algorithm.eta": 0.1}, seed=2)``."""
        made = type(self)(self, **keys)
        for path, value in (changes or {}).items():
            made[path] = value
        return made

    def check(self) -> None:
        """Raises InvalidExperiment, with all that is wrong at once, if the experiment cannot be run."""
        self._judged()

    def to_toml(self) -> str:
        """The complete experiment file, with defaults filled in and absolute paths."""
        return self._judged()[0].text

    def to_dict(self) -> dict:
        """What has been set, as dicts in dicts."""
        return _copied(self._tree)

    def save(self, file, own=()) -> None:
        """Writes the complete experiment file. The tables in `own`, such as "data" and "model" where learners are written in Python, are
        not judged."""
        text = self._judged(own)[0].text
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)

    def _folder(self):
        return None if self._file == "experiment" else os.path.dirname(os.path.abspath(self._file))

    def __eq__(self, other):
        return isinstance(other, Experiment) and self._tree == other._tree

    __hash__ = None

    def __repr__(self):
        return f"Experiment({to_toml(self._tree)})"

    def _table(self, path):
        table = self
        for name in path.split(".") if path else ():
            table = getattr(table, name)
        if not isinstance(table, Table):
            raise AttributeError(f"{path} is no table")
        return table

    def _judged(self, own=()):
        overrides = [f"{path}={to_toml(value)}" for path, value in self._changes.items()]
        return _core.judge(self._text, self._file, overrides, list(own))

    def _at(self, path):
        value = self._tree
        for name in path.split(".") if path else ():
            if not isinstance(value, dict) or name not in value:
                return None
            value = value[name]
        return value

    def _read(self, path, key):
        value = self._at(path)
        return key.default if value is None else value

    def _write(self, path, value):
        if value is None:
            return self._remove(path)
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, Table):
            value = _copied(value._experiment._at(value._path) or {})
        to_toml(value)  # raises what cannot stand there
        for earlier in [earlier for earlier in self._changes if earlier == path or earlier.startswith(path + ".")]:
            del self._changes[earlier]
        self._changes[path] = _copied(value)
        *outer, name = path.split(".")
        table = self._tree
        for part in outer:
            if not isinstance(table.get(part), dict):
                table[part] = {}
            table = table[part]
        table[name] = _copied(value)

    def _remove(self, path):
        for earlier in [earlier for earlier in self._changes if earlier == path or earlier.startswith(path + ".")]:
            del self._changes[earlier]
        *outer, name = path.split(".")
        for tree in (self._base, self._tree):
            for part in outer:
                tree = tree.get(part, {}) if isinstance(tree, dict) else {}
            if isinstance(tree, dict):
                tree.pop(name, None)
        object.__setattr__(self, "_text", document_of(self._base))


_head = """What is to be run: a file of keys, as values.

    experiment = rubato.Experiment("experiment.toml")           # a file
    experiment = rubato.Experiment({"until": 100, ...})          # a dict
    experiment = rubato.Experiment(until=100)                    # by attributes
    experiment.clients.count = 25
    experiment["algorithm.eta"] = 0.05                           # by dotted names

A key that is not set reads as its default. Setting a choice, such as ``topology.kind``, drops the keys of the file that the new
choice does not know. ``check()`` raises InvalidExperiment with all that is wrong at once.

The tables and their keys:
"""


def _summary():
    lines = [_head]
    for path in ["", *_keys.tables()]:
        lines.append(f"{path or 'top level'}: {_keys.words_about(path)}")
        names = [key.name for key in _keys.keys_of(path).values() if key.type != "table"]
        lines.append(f"    {', '.join(names)}\n")
    return "\n".join(lines)


def _property(name, key):
    return property(lambda self: Table.__getattr__(self, name), lambda self, value: Table.__setattr__(self, name, value),
                    lambda self: Table.__delattr__(self, name), key.help)


_classes: dict = {}


def _make_classes():
    for path in _keys.tables():
        members = {key.name: _property(key.name, key) for key in _keys.keys_of(path).values()}
        members |= {"__slots__": (), "__doc__": f"[{path}]: {_keys.words_about(path) or _keys.words_about('timer')}",
                    "__module__": "rubato"}
        _classes[path] = type(_keys.class_of(path), (Table,), members)
    for key in _keys.keys_of("").values():
        setattr(Experiment, key.name, _property(key.name, key))
    Experiment.__doc__ = _summary()


_make_classes()


def experiment_of(source) -> Experiment:
    """An Experiment of what a function was given: one, a dict or a file's name."""
    return source if isinstance(source, Experiment) else Experiment(source)
