"""Mechanisms: one file each, a constructor and `examples()`; the folders are the registry.

A file of the constructor's name in `words`, `labels`, `places` or `spaces` is all that it takes;
names load on first use. Type checkers read `__init__.pyi`, which `scripts/exports` writes.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

_FOLDERS = ("words", "labels", "places", "spaces")
_HOMES = {
    module.name: f"{__name__}.{family}.{module.name}"
    for family in _FOLDERS
    for module in pkgutil.iter_modules([f"{folder}/{family}" for folder in __path__])
}

__all__ = sorted(_HOMES)


def module_of(name: str) -> Any:
    """The module that a mechanism stands in, with its `examples()`."""
    return import_module(_HOMES[name])


def names_in(family: str) -> tuple[str, ...]:
    """The mechanisms of one folder."""
    return tuple(name for name in __all__ if _HOMES[name].split(".")[-2] == family)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(module_of(name), name)
    return found


def __dir__() -> list[str]:
    return __all__
