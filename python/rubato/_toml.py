"""Python values as TOML, and back."""

import json
import math
import os
import tomllib


def to_toml(value) -> str:
    """The value on one line. Arrays and scalars of numpy count as lists and numbers."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        text = repr(value)
        return text if any(mark in text for mark in ".e") else text + ".0"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name_of(name)} = {to_toml(part)}" for name, part in value.items()) + " }"
    if isinstance(value, (list, tuple, set, range)):
        return "[" + ", ".join(to_toml(part) for part in value) + "]"
    if value is None:
        return '"none"'
    raise TypeError(f"{type(value).__name__} cannot stand in an experiment: numbers, texts, lists and dicts can")


def name_of(name) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no name of a key")
    is_bare = name and all(letter.isalnum() or letter in "_-" for letter in name) and name.isascii()
    return name if is_bare else json.dumps(name)


def document_of(table: dict) -> str:
    """A table as a document, a key a line."""
    return "".join(f"{name_of(name)} = {to_toml(value)}\n" for name, value in table.items())


def value_of(text: str):
    """What stands on the right of a key."""
    return tomllib.loads(f"value = {text}")["value"]
