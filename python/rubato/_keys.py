"""The keys of an experiment, from the table that the engine itself reads files by."""

from typing import Any, NamedTuple

from . import _core
from ._toml import value_of


class Key(NamedTuple):
    """A key of the experiment file."""

    table: str
    name: str
    type: str
    fallback: str
    meaning: str
    rule: str
    words: "list[str]"

    @property
    def default(self) -> Any:
        """The default, or None where the key must be set or may be absent."""
        if self.type == "table" or self.fallback in ("", "must be set", '"none"'):
            return None
        return value_of(self.fallback)

    @property
    def help(self) -> str:
        """A line: meaning, type, limits, default."""
        about = self.type + (f"; {self.rule}" if self.rule else "")
        default = f"; default {self.fallback}" if self.fallback else ""
        return f"{self.meaning} ({about}{default})"


_shared = {"clients.compute": "timer", "clients.transmit": "timer"}
_known: "dict[str, dict[str, Key]] | None" = None


def _read() -> "dict[str, dict[str, Key]]":
    tables: "dict[str, dict[str, Key]]" = {}
    for fields in _core.keys():
        key = Key(*fields)
        tables.setdefault(key.table, {}).setdefault(key.name, key)
    return tables


def forget() -> None:
    """Keys are read anew: an algorithm has brought its options."""
    global _known
    _known = None


def keys_of(path: str) -> "dict[str, Key]":
    """The keys of the table at this dotted path, by name."""
    global _known
    if _known is None:
        _known = _read()
    found = dict(_known.get(path, {}))
    found.update(_known.get(_shared.get(path, "-"), {}))
    return found


def tables() -> "list[str]":
    """Dotted paths of all tables, those of the top first."""
    found = []

    def visit(path: str) -> None:
        for key in keys_of(path).values():
            if key.type == "table":
                inner = f"{path}.{key.name}" if path else key.name
                found.append(inner)
                visit(inner)

    visit("")
    return found


def class_of(path: str) -> str:
    """The name of the Python class for a table."""
    return "".join(part.title() for part in path.replace("_", ".").split("."))


def words_about(path: str) -> str:
    """What a table is about, in a sentence."""
    for table, _, words in _core.tables():
        if table == path:
            return words
    return ""
