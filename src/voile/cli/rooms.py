"""Groups of commands that import a use case only when it is asked for."""

from __future__ import annotations

import ast
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
                found = made(homes[name], name)
            return name, found, rest

    return Room


def first_sentence(home: str) -> str:
    """The first line of a use case's docstring, read off its source: nothing is imported."""
    module, _, attribute = home.partition(":")
    path = Path(__file__).parents[2].joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == attribute:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    return ""


def made(home: str, name: str) -> Any:
    """The command of the use case at a place such as "voile.meaning:explain"."""
    from voile.cli.commands import command

    module, _, attribute = home.partition(":")
    app = typer.Typer(rich_markup_mode="markdown", add_completion=False)
    app.command(name)(command(getattr(import_module(module), attribute)))
    return get_command(app)
