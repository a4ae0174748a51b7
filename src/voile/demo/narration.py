"""How the demo tells what is being done, the command for it, and what was found."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace

from voile.demo.steps import Event, Plan, Skipped
from voile.progress import say, tell
from voile.report.terminal import table_text

HEADINGS = {
    "town": "A first look: one promise, eight prices",
    "text": "Text: support messages",
    "places": "Places: pick-ups of a fleet",
    "labels": "Labels: a table of patients",
    "report": "The report",
}


class Narrator:
    """Says each event as it comes; a room's heading before its first."""

    def __init__(self) -> None:
        self._room = ""

    def tell(self, event: Event) -> None:
        """Say one event, in lines that stay."""
        if isinstance(event, Skipped):
            self._heading(event.room)
            say(f"  left out: {event.reason}")
        elif isinstance(event, Plan):
            self._heading(event.room)
            say(f"▸ {event.title}")
            if event.command:
                say(f"  $ {event.command}")
            if event.note:
                say(_wrapped(f"({event.note})"))
            tell(event.title)
        else:
            if event.table is not None:
                say(textwrap.indent(table_text(replace(event.table, caption="")), "  "))
            for line in event.found:
                say(_wrapped(line))

    def _heading(self, room: str) -> None:
        if room != self._room:
            say(f"\n{HEADINGS.get(room, room)}")
            self._room = room


def _wrapped(line: str) -> str:
    """A sentence in the width of the terminal, set off from the commands."""
    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    return textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ")
