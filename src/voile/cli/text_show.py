"""How text commands show progress, previews and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from voile.cli.columns import show_in_brief
from voile.cli.show import print_json

if TYPE_CHECKING:
    from voile.text.settings import TextRecipe
    from voile.text.word_protector import TextProtector

LEVEL_COLOURS = ("bold red", "bold yellow", "bold cyan")


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A counter of rows and rows a second on standard error; nothing is left of it at the end."""
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        """Rows done, and how fast."""

        def render(self, task: Any) -> Text:
            """One task's numbers."""
            return Text(f"{task.completed:,.0f} rows  {task.speed or 0:,.0f} rows/s")

    console = Console(stderr=True, quiet=quiet)
    columns = (SpinnerColumn(), TextColumn("releasing"), Speed(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("rows", total=None)
        yield lambda rows: bar.advance(task, rows)


def show_preview(recipe: TextRecipe, count: int) -> None:
    """Rows before and after, coloured by tier; drawn apart from the release."""
    from rich.console import Console
    from rich.text import Text

    from voile.core.randomness import secure_rng
    from voile.jobs import RowProblem, open_source
    from voile.text.settings import build_protector

    protector = build_protector(recipe)
    console = Console(stderr=True)
    console.print("Preview, drawn apart from the release; do not hand it on.", style="dim")
    for law, colour in zip(_laws(protector), LEVEL_COLOURS, strict=False):
        console.print(Text(law, style=colour if len(protector.laws) > 1 else ""))
    shown = 0
    for line, row in open_source(recipe.source).rows():
        text = None if isinstance(row, RowProblem) else row.get(recipe.column)
        if not isinstance(text, str) or shown == count:
            if shown == count:
                break
            continue
        shown += 1
        before, after = Text(), Text()
        touching = False
        for old, new, level in protector.preview(text[:400], secure_rng()):
            if touching and level >= 0 and new[0] != "'" and new != "n't":
                after.append(" ")
            touching = level >= 0
            style = LEVEL_COLOURS[level] if level >= 0 and len(protector.laws) > 1 else ""
            before.append(old, style=style)
            after.append(new, style=style if new == old else f"{style} underline".strip())
        console.print(Text(f"{line:>6} ", style="dim") + before)
        console.print(Text("     → ", style="dim") + after)


def _laws(protector: TextProtector) -> list[str]:
    """The law of each level, a line each."""
    from voile.core.rounding import at_most
    from voile.text.promise import promised

    rows = promised(protector, nearest={}, totals=None)["levels"]
    said = {"in clear": "IN CLEAR", "drawn": "ε of the document, split over its words"}
    return [
        f"{row['title']}: "
        + (
            said[row["released"]]
            if row["epsilon"] is None
            else f"ε = {at_most(row['epsilon'])} each"
        )
        for row in rows
    ]


def show_facts(facts: dict[str, Any], as_json: bool, note: str) -> None:
    """What stands in clear first, then the promise, what it does, and what it does not cover."""
    if as_json:
        print_json(facts)
        return
    from voile.text import sentences as text_sentences

    show_in_brief(facts["in_brief"])
    lines = ["SEEDED: NOT FOR RELEASE."] if facts["seed"] is not None else []
    lines += text_sentences.odds_sentences(facts)
    words = facts["vocabulary"]
    lines.append(f"{facts['mechanism']} over {words['words']:,} words of {words['name']}.")
    if facts.get("remap"):
        left = ", ".join(f"{count:,}" for count in facts["remap"]["words_left"])
        lines.append(
            f"Remapped under {facts['remap']['prior']}: {left} different words can come out. "
            "A function of the draw alone, so the guarantee is unchanged; fewer words can make "
            "what is trained on the release less accurate: measure it with `voile text utility`."
        )
    lines += text_sentences.expected_sentences(facts)
    lines += text_sentences.watched_sentences(facts)
    if "rows" in facts:
        lines.append(
            f"Wrote {facts['output']}: {facts['rows']:,} rows, {facts['words']:,} words, "
            f"{facts['seconds']:.1f} s."
        )
        lines += text_sentences.counted_sentences(facts)
        if facts["resumed_parts"]:
            there = facts["resumed_parts"]
            lines.append(f"Continued an interrupted job: {there} parts were there.")
    if facts["dropped"]:
        lines.append(f"Left out: the columns {', '.join(facts['dropped'])}.")
    lines += [f"Not covered: {item}." for item in facts["outside"]]
    typer.echo("\n".join(line for line in (*lines, note) if line))
