"""Groups of commands that import a use case only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from voile.cli.outlines import first_sentence, outline
from voile.surface import ROOMS, names


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
            name, *rest = args
            if name in homes and super().get_command(ctx, name) is None:
                asked = {"--help", "-h"} & set(rest)
                return name, made((outline if asked else resolve_name)(homes[name]), name), rest
            here = self.list_commands(ctx)
            if not (name in here or name.startswith("-") or ctx.resilient_parsing):
                near = _near(name, here)
                ctx.fail(f"No such command {name!r}.{near and f' Did you mean {near}?'}")
            return super().resolve_command(ctx, args)

    return Room


def _near(typed: str, here: list[str]) -> str:
    """Commands that may be meant: spelled almost so here, or called so in another room."""
    elsewhere = [name for name in names() if name.rpartition(" ")[2] == typed]
    return " or ".join(get_close_matches(typed, here, n=1) or elsewhere)


def made(use_case: Callable[..., Any], name: str) -> Any:
    """The command of a use case."""
    from voile.cli.commands import command

    app = typer.Typer(rich_markup_mode="markdown", add_completion=False)
    app.command(name)(command(use_case))
    return get_command(app)
