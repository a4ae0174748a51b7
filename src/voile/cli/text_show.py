"""How text commands show progress, previews and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from voile.cli.columns import show_clear
from voile.cli.show import print_json

if TYPE_CHECKING:
    from voile.tasks.text_recipe import TextRecipe

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
    from voile.tasks.text_recipe import build_protector

    protector = build_protector(recipe)
    console = Console(stderr=True)
    console.print("Preview, drawn apart from the release; do not hand it on.", style="dim")
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


def show_facts(facts: dict[str, Any], as_json: bool, note: str) -> None:
    """The summary: one sentence, what the epsilon does, what was written, what is not covered."""
    if as_json:
        print_json(facts)
        return
    from voile.tasks.text_protect import sentence

    show_clear(facts)
    words = facts["vocabulary"]
    lines = [sentence(facts)]
    if facts["seed"] is not None:
        lines.append("SEEDED: NOT FOR RELEASE.")
    lines.append(
        f"{facts['mechanism']} over {words['words']:,} words of {words['name']}, ε counted per "
        f"{facts['granularity']}."
    )
    if facts.get("tiers"):
        each = (f"{k} {'in clear' if v is None else f'ε {v:g}'}" for k, v in facts["tiers"].items())
        lines.append("Tiers: " + ", ".join(each) + ".")
    if facts.get("remap"):
        left = ", ".join(f"{count:,}" for count in facts["remap"]["words_left"])
        lines.append(
            f"Remapped under {facts['remap']['prior']}: {left} different words can come out. "
            "A function of the draw alone, so the guarantee is unchanged."
        )
    lines += _expected_lines(facts["expected"])
    if "rows" in facts:
        lines += _counted_lines(facts)
    if facts["dropped"]:
        lines.append(f"Left out: the columns {', '.join(facts['dropped'])}.")
    lines += [f"Not covered: {item}." for item in facts["outside"]]
    typer.echo("\n".join(line for line in (*lines, note) if line))


def _expected_lines(expected: dict[str, Any]) -> list[str]:
    if not expected:
        return []
    lines = [f"Expected share of words kept: {100 * expected['kept']:.3g} % (public frequencies)."]
    if "attacker" in expected:
        lines.append(
            f"The best attacker who knows mechanism and frequencies names the word, among the "
            f"{expected['candidates']:,} most frequent, {100 * expected['attacker']:.3g} % of the "
            f"time; without the release {100 * expected['attacker_without']:.3g} %."
        )
    return lines


def _counted_lines(facts: dict[str, Any]) -> list[str]:
    changed = 100 * facts["changed"] / max(1, facts["words"])
    budget, lengths = facts["epsilon_per_document"], facts["words_per_document"]
    lines = [
        f"Wrote {facts['output']}: {facts['rows']:,} rows, {facts['words']:,} words, "
        f"{changed:.3g} % changed, {facts['seconds']:.1f} s.",
        f"A document's words together: ε = {budget['median']:,.4g} for half of them, "
        f"{budget['nine_in_ten']:,.4g} for nine in ten, {budget['largest']:,.4g} at most "
        f"({lengths['median']:,}, {lengths['nine_in_ten']:,} and {lengths['largest']:,} words).",
    ]
    if facts["skipped"] or facts["masked"]:
        lines.append(f"{facts['skipped']} rows were skipped, {facts['masked']} masked.")
    if facts["resumed_parts"]:
        lines.append(f"Continued an interrupted job: {facts['resumed_parts']} parts were there.")
    return lines
