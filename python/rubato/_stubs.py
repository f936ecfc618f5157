"""Writes the stub of Experiment from the table of keys, for editors and mypy: ``python3 -m rubato._stubs _experiment.pyi``. It is written when the
package is built."""

import sys

from . import _keys

_types = {
    "true or false": "bool", "whole number": "int", "number": "float", "text": "str", "file": "_Path",
    "full, off or bytes": 'Literal["full", "off"] | int', "list of whole numbers": "Sequence[int]", "list of texts": "Sequence[str]",
    "client": "int", "list of clients": "Sequence[int]", "list of [source, target]": "Sequence[Sequence[int]]",
    "lists of edges": "Sequence[Sequence[Sequence[int]]]", "list of rows": "Sequence[Sequence[float]]",
    "lists of seconds": "Sequence[Sequence[float]]", "lists of clients": "Sequence[Sequence[int]]",
    "number or law": "float | dict[str, Any]", "number, list or law": "float | Sequence[float] | dict[str, Any]",
    "list of numbers": "Sequence[float]", "number, or list": "float | Sequence[float]",
}

_head = '''"""Made from the table of keys by rubato._stubs."""

from os import PathLike
from typing import Any, Literal, Sequence

_Path = str | PathLike[str]

class Table: ...
'''

_methods = '''
    def __init__(self, source: "_Path | dict[str, Any] | Experiment | None" = None, /, **keys: Any) -> None: ...
    @classmethod
    def from_toml(cls, text: str) -> "Experiment": ...
    def __getitem__(self, path: str) -> Any: ...
    def __setitem__(self, path: str, value: Any) -> None: ...
    def copy(self, changes: dict[str, Any] | None = None, /, **keys: Any) -> "Experiment": ...
    def check(self) -> None: ...
    def to_toml(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, file: _Path, own: Sequence[str] = ()) -> None: ...
    def _folder(self) -> str | None: ...
    def _judged(self, own: Sequence[str] = ()) -> tuple[Any, str]: ...

def experiment_of(source: "_Path | dict[str, Any] | Experiment") -> Experiment: ...
'''


def _type_of(key, path):
    if key.type == "table":
        return _keys.class_of(f"{path}.{key.name}" if path else key.name)
    if key.type == "choice" and not (path == "algorithm" and key.name == "name"):
        return f"Literal[{', '.join(repr(word) for word in key.words)}]".replace("'", '"')
    if key.type == "choice":
        return "str"  # algorithms of one's own have names, too
    if key.type.startswith("list of ") and key.type not in _types:
        return "Sequence[dict[str, Any]]"
    of_one = _types[key.type]
    return f'{of_one} | Literal[{", ".join(repr(word) for word in key.words)}]'.replace("'", '"') if key.words else of_one


def _class(name, base, path):
    lines = [f"\nclass {name}{base}:"]
    for key in _keys.keys_of(path).values():
        help_text = key.help.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
        lines += [f"    {key.name}: {_type_of(key, path)}", f'    """{help_text}"""']
    if path == "algorithm":
        lines.append("    def __getattr__(self, name: str) -> Any: ...")  # options of one's own algorithms
        lines.append("    def __setattr__(self, name: str, value: Any) -> None: ...")
    return "\n".join(lines) + "\n"


def stub() -> str:
    """The text of _experiment.pyi."""
    tables = sorted(_keys.tables(), key=lambda path: -path.count("."))  # what others name comes first
    text = _head + "".join(_class(_keys.class_of(path), "(Table)", path) for path in tables)
    return text + _class("Experiment", "(Table)", "") + _methods


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(stub())
