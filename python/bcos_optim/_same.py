"""Whether containers still hold the very objects that they held, without touching the objects."""

from __future__ import annotations

import ctypes
from ctypes import c_int, py_object
from functools import cache
from operator import is_
from typing import Any

from . import _native


@cache
def helper() -> ctypes.PyDLL | None:
    """The library of passes over Python's objects (they hold its lock); None if it is missing."""
    path = _native.library_path()
    if path is None:
        return None
    try:
        lib = ctypes.PyDLL(str(path.with_name("libbcos_passes.so")))
        lib.bcos_same_items.argtypes = [py_object, py_object]
        lib.bcos_same_values.argtypes = [py_object, py_object]
        lib.bcos_same_contents.argtypes = [py_object, py_object]
        for name in ("bcos_same_items", "bcos_same_values", "bcos_same_contents"):
            getattr(lib, name).restype = c_int
    except (OSError, AttributeError):
        return None
    return lib


def same_items(items: list[Any], known: list[Any]) -> bool:
    lib = helper() if type(items) is list else None
    if lib is not None:
        return bool(lib.bcos_same_items(items, known))
    return len(items) == len(known) and all(map(is_, items, known))


def same_values(values: dict[Any, Any], known: list[Any]) -> bool:
    """The values of a dict, in its order."""
    lib = helper()
    if lib is not None:
        return bool(lib.bcos_same_values(values, known))
    return len(values) == len(known) and all(map(is_, values.values(), known))


def same_entries(dicts: list[dict[str, Any]], name: str, known: list[Any]) -> bool:
    """What each of the dicts has under a name."""
    return all(one.get(name) is value for one, value in zip(dicts, known, strict=True))


def contents(dicts: list[dict[str, Any]]) -> list[Any]:
    """For ``same_contents``: the values of each dict, then the dict."""
    return [value for one in dicts for value in (*one.values(), one)]


def same_contents(dicts: list[dict[str, Any]], known: list[Any]) -> bool:
    """All values of all dicts, in their order."""
    lib = helper()
    if lib is not None:
        return bool(lib.bcos_same_contents(dicts, known))
    return same_items(contents(dicts), known)
