"""Mechanisms: one file each, a constructor and `examples()`; the folders are the registry.

A file of the constructor's name in `words`, `labels`, `places` or `spaces` is all that it takes;
names load on first use. Type checkers read `__init__.pyi`, which `scripts/exports` writes.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from voile.exports import from_homes

_FOLDERS = ("words", "labels", "places", "spaces")
_HOMES = {
    module.name: f"{__name__}.{family}.{module.name}"
    for family in _FOLDERS
    for module in pkgutil.iter_modules([f"{folder}/{family}" for folder in __path__])
}

__getattr__, __dir__, __all__ = from_homes(__name__, _HOMES)


def module_of(name: str) -> Any:
    """The module that a mechanism stands in, with its `examples()`."""
    return import_module(_HOMES[name])


def names_in(family: str) -> tuple[str, ...]:
    """The mechanisms of one folder."""
    return tuple(name for name in __all__ if _HOMES[name].split(".")[-2] == family)
