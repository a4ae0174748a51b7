"""A use case without its body: all that its help needs, and nothing of what a release needs.

Importing a use case loads the numerics that it calls, to print a page of text. What a signature
needs is read off the source instead: the definitions it names, what these need to be defined, and
so on through the rooms; bodies of functions are never run, so what only they name is left out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from voile.options import Options

Import = ast.Import | ast.ImportFrom


def first_sentence(home: str) -> str:
    """The first line of a use case's docstring."""
    module, _, name = home.partition(":")
    function = next(
        node for node in _source(module) if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return (ast.get_docstring(function) or "").partition("\n")[0]


def outline(home: str) -> Callable[..., Any]:
    """The use case at a place such as "voile.meaning:explain", with its signature alone."""
    module, _, name = home.partition(":")
    found: Callable[..., Any] = getattr(_outlined(module), name)
    return found


def _outlined(module: str) -> ModuleType:
    """A stand-in for a module, whose definitions are made when they are asked for.

    It is listed among the modules, under a name that nobody imports: there the names in annotations
    are looked up.
    """
    own = f"outline of {module}"
    if own not in sys.modules:
        sys.modules[own] = _Outline(own, module)
    return sys.modules[own]


class _Outline(ModuleType):
    def __init__(self, own: str, module: str) -> None:
        super().__init__(own)
        self._nodes = {name: node for node in _source(module) for name in _names(node)}

    def __getattr__(self, name: str) -> Any:
        node = self._nodes.get(name)
        if node is None:
            raise AttributeError(f"{self.__name__!r} has no {name!r}")
        if isinstance(node, Import):
            return vars(self).setdefault(name, _imported(node, name))
        _leave_out_bodies(node)
        later = [part for part in getattr(node, "body", []) if isinstance(part, ast.AnnAssign)]
        self._make(node, but=[field.annotation for field in later])
        exec(compile(ast.Module([node], []), self.__name__, "exec"), vars(self))
        made = vars(self)[name]
        if isinstance(made, type) and issubclass(made, Options):
            for field in later:
                self._make(field.annotation)
        return made

    def _make(self, node: ast.AST, but: Sequence[ast.AST] = ()) -> None:
        """What a node names, as far as this module defines it."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self._nodes:
            getattr(self, node.id)
        for part in ast.iter_child_nodes(node):
            if part not in but:
                self._make(part, but)


def _source(module: str) -> list[ast.stmt]:
    path = Path(__file__).parents[2].joinpath(*module.split(".")).with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8")).body


def _leave_out_bodies(node: ast.stmt) -> None:
    """What a use case does and returns, and the methods of a class."""
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        node.body, node.returns = node.body[:1], None
    elif isinstance(node, ast.ClassDef):
        fields = [part for part in node.body if not isinstance(part, ast.FunctionDef)]
        node.body = fields or ast.parse("...").body


def _names(node: ast.stmt) -> Iterator[str]:
    """What a statement defines or imports."""
    if isinstance(node, Import):
        yield from (a.asname or a.name.partition(".")[0] for a in node.names)
    elif isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


def _imported(node: Import, name: str) -> Any:
    """What stands in a room as an outline; what all rooms share, and other packages, as it is."""
    alias = next(a for a in node.names if (a.asname or a.name.partition(".")[0]) == name)
    if isinstance(node, ast.Import):
        return import_module(alias.name if alias.asname else name)
    home = str(node.module)
    in_a_room = home.startswith("voile.") and home.count(".") > 1
    return getattr(_outlined(home) if in_a_room else import_module(home), alias.name)
