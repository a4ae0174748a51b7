"""Groups of commands that import a use case only when it is asked for."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from voile.surface import ROOMS


def group(room: str) -> type[TyperGroup]:
    """The group of a room's commands: each is imported when it is run or its help is shown."""
    homes = ROOMS[room]

    class Room(TyperGroup):
        """Commands made from use cases, beside those that were added by hand."""

        def list_commands(self, ctx: Any) -> list[str]:
            """All names, use cases first."""
            return list(dict.fromkeys([*homes, *super().list_commands(ctx)]))

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """A command as a list of commands shows it: by name and first sentence."""
            by_hand = super().get_command(ctx, cmd_name)
            if by_hand is not None or cmd_name not in homes:
                return by_hand
            return TyperCommand(cmd_name, help=first_sentence(homes[cmd_name]))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """The command that was asked for, made from its use case."""
            name, found, rest = super().resolve_command(ctx, args)
            if name in homes and super().get_command(ctx, name) is None:
                asked = {"--help", "-h"} & set(rest)
                found = made((outline if asked else use_case_at)(homes[name]), name)
            return name, found, rest

    return Room


def first_sentence(home: str) -> str:
    """The first line of a use case's docstring, read off its source: nothing is imported."""
    _, function = _source(home)
    return (ast.get_docstring(function) or "").partition("\n")[0]


def use_case_at(home: str) -> Callable[..., Any]:
    """The use case at a place such as "voile.meaning:explain"."""
    module, _, attribute = home.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def outline(home: str) -> Callable[..., Any]:
    """A use case without its body: its help needs the signature, and only what that names.

    Importing the whole of it would load the numerics of a release to print a page of text. What
    the signature takes from its own module cannot be had without it: then it is imported.
    """
    module, function = _source(home)
    function.body, function.returns = function.body[:1], None
    needed = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom)]
    for node in imports:
        node.names = [
            a for a in node.names if (a.asname or a.name) in needed or node.module == "__future__"
        ]
    imports = [node for node in imports if node.names]
    if needed - {a.asname or a.name for node in imports for a in node.names} - set(dir(builtins)):
        return use_case_at(home)
    module.body = [*imports, function]
    names: dict[str, Any] = {"__name__": home.partition(":")[0]}
    exec(compile(module, home, "exec"), names)
    found: Callable[..., Any] = names[function.name]
    return found


def _source(home: str) -> tuple[ast.Module, ast.FunctionDef]:
    module, _, attribute = home.partition(":")
    path = Path(__file__).parents[2].joinpath(*module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return tree, next(node for node in functions if node.name == attribute)


def made(use_case: Callable[..., Any], name: str) -> Any:
    """The command of a use case."""
    from voile.cli.commands import command

    app = typer.Typer(rich_markup_mode="markdown", add_completion=False)
    app.command(name)(command(use_case))
    return get_command(app)
