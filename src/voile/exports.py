"""What a package exports: stated once, in its stub, and loaded on first use.

`__init__.pyi` holds lines such as `from voile.core.channel import Channel as Channel`, which type
checkers and editors read as they are; `__init__.py` takes its names from there, so that importing a
package loads none of its modules.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Exports = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]
"""A package's `__getattr__`, `__dir__` and `__all__`."""


def exported(package: str, file: str) -> Exports:
    """The exports of a package, by the stub that lies beside its file.

    >>> import voile
    >>> "Channel" in dir(voile), voile.Channel.__module__
    (True, 'voile.core.channel')
    """
    with open(f"{file.removesuffix('.py')}.pyi", encoding="utf-8") as stub:
        tree = ast.parse(stub.read())
    lines = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    return from_homes(package, {a.name: str(line.module) for line in lines for a in line.names})


def from_homes(package: str, homes: Mapping[str, str]) -> Exports:
    """The exports of a package, each by the module that defines it; one of itself is a room."""
    names = sorted(homes)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        inside = home == package
        found = import_module(f"{home}.{name}") if inside else getattr(import_module(home), name)
        vars(sys.modules[package])[name] = found
        return found

    return load, names.copy, names
