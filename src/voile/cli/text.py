"""Text on the command line: protect a file, measure what is left of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from voile.tasks.text_recipe import TextRecipe

app = typer.Typer(
    no_args_is_help=True,
    help="Release text word by word, and measure utility and leakage.",
    rich_markup_mode="markdown",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]
LEVEL_COLOURS = ("bold red", "bold yellow", "bold cyan")


@app.command()
def protect(
    file: Annotated[Path, typer.Argument(help="CSV, JSONL, Parquet or text; .gz allowed.")],
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    epsilon: Annotated[float | None, typer.Option(help="Privacy parameter for each word.")] = None,
    keep: Annotated[
        float | None, typer.Option(help="Choose epsilon so that this share of words is kept.")
    ] = None,
    document_epsilon: Annotated[
        float | None, typer.Option(help="A budget for each document instead of each word.")
    ] = None,
    longest: Annotated[
        int | None, typer.Option(help="Drop what follows this many words of a document.")
    ] = None,
    public_length: Annotated[
        bool, typer.Option("--public-length", help="Split the budget over each actual length.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Output; default FILE.protected.…")] = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help="tem, exponential, santext, santext+, custext, madlib, mahalanobis or vickrey."
        ),
    ] = "tem",
    vocabulary: Annotated[
        str, typer.Option(help="glove, minilm, a file of vectors, or private-corpus.")
    ] = "glove",
    top: Annotated[int, typer.Option(help="Use this many most frequent words.")] = 50_000,
    metric: Annotated[str, typer.Option(help="euclidean or angular.")] = "euclidean",
    unknown: Annotated[
        str, typer.Option(help="Words outside the vocabulary: perturb, drop, fail or keep.")
    ] = "perturb",
    keep_stopwords: Annotated[
        bool, typer.Option("--keep-stopwords", help="Leave stop words in clear.")
    ] = False,
    identifiers: Annotated[
        bool, typer.Option(help="Replace e-mails, phones, cards, … by placeholders.")
    ] = True,
    tiers: Annotated[
        str | None, typer.Option(help="pii or pii,poii: give names a strength of their own.")
    ] = None,
    alpha: Annotated[
        str, typer.Option(help="Strengths of pii, poii and the rest, times epsilon; or 'keep'.")
    ] = "0.3,0.6,1",
    pipeline: Annotated[
        str | None, typer.Option(help="A spaCy pipeline that finds names; default: small English.")
    ] = None,
    document_column: Annotated[
        bool, typer.Option("--document-column", help="Add each document's total epsilon.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes; 0 takes all cores.")] = 1,
    on_error: Annotated[str, typer.Option(help="A bad row: fail, skip or mask.")] = "fail",
    batch_rows: Annotated[int, typer.Option(help="Rows in a part.")] = 2000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable draws, for experiments: not for release.")
    ] = None,
    preview: Annotated[int, typer.Option(help="Show this many rows before and after.")] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Replace every word of a text column by a draw, and say what was guaranteed.

    Example: `voile text protect reviews.csv --column text --epsilon 3 --jobs 2`

    Interrupted? Repeat the same command: it continues and never draws twice for a row.
    """
    import os

    from voile.domains.text.tiers import DEFAULT_PIPELINE
    from voile.errors import InvalidInput
    from voile.jobs import OnError
    from voile.tasks import text_protect
    from voile.tasks.text_recipe import TextRecipe

    given = [epsilon is not None, keep is not None, document_epsilon is not None]
    if sum(given) != 1:
        raise InvalidInput("give one of --epsilon, --keep and --document-epsilon")
    recipe = TextRecipe(
        source=str(file),
        column=column,
        epsilon=1.0 if epsilon is None else epsilon,
        mechanism=mechanism,
        vocabulary=vocabulary,
        top=top,
        metric=metric,
        unknown=_one_of(unknown, ("perturb", "drop", "fail", "keep"), "--unknown"),
        keep_stopwords=keep_stopwords,
        identifiers=identifiers,
        alphas=_alphas(tiers, alpha),
        pipeline=pipeline or DEFAULT_PIPELINE,
        longest=longest,
        document_epsilon=document_epsilon,
        public_length=public_length,
        seed=seed,
    )
    recipe, _ = text_protect.checked(recipe)
    if keep is not None:
        from dataclasses import replace

        recipe = replace(recipe, epsilon=text_protect.epsilon_keeping(recipe, keep))
    policy = OnError(_one_of(on_error, ("fail", "skip", "mask"), "--on-error"))
    if preview:
        _show_preview(recipe, preview)
    if dry_run:
        from voile.tasks.text_recipe import build_protector

        facts = text_protect.describe(recipe, build_protector(recipe))
        _print(facts, as_json, "Nothing was written.")
        return
    with _progress(quiet=as_json) as progress:
        facts = text_protect.protect_file(
            recipe,
            out=out or _default_output(file),
            jobs=jobs or os.cpu_count() or 1,
            document_column=document_column,
            on_error=policy,
            batch_rows=batch_rows,
            overwrite=overwrite,
            progress=progress,
        )
    _print(facts, as_json, "")


def _one_of(value: str, allowed: tuple[str, ...], name: str) -> str:
    from voile.errors import require

    require(value in allowed, name, " or ".join(allowed), value)
    return value


def _alphas(tiers: str | None, alpha: str) -> tuple[float | None, ...]:
    """Strengths of pii, poii and the rest; poii follows the rest if it is not asked for."""
    from voile.errors import InvalidInput, require

    if tiers is None:
        return ()
    _one_of(tiers, ("pii", "pii,poii"), "--tiers")
    try:
        values = [None if a.strip() == "keep" else float(a) for a in alpha.split(",")]
    except ValueError:
        raise InvalidInput(f"--alpha must be numbers or 'keep', got {alpha!r}") from None
    require(all(v is None or v > 0 for v in values), "--alpha", "> 0", alpha)
    if len(values) == 2 and tiers == "pii,poii":
        values.append(1.0)
    if tiers == "pii":
        values = [values[0], values[-1] if len(values) > 1 else 1.0]
        values.insert(1, values[-1])
    require(len(values) == 3, "--alpha", "one number for each tier and the rest", alpha)
    return tuple(values)


def _default_output(file: Path) -> Path:
    stem, dot, endings = file.name.partition(".")
    return file.with_name(f"{stem}.protected{dot}{endings}")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.completed:,.0f} rows  {task.speed or 0:,.0f} rows/s")

    console = Console(stderr=True, quiet=quiet)
    columns = (SpinnerColumn(), TextColumn("releasing"), Speed(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("rows", total=None)
        yield lambda rows: bar.advance(task, rows)


def _show_preview(recipe: TextRecipe, count: int) -> None:
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
        for old, new, level in protector.preview(text[:400], secure_rng()):
            style = LEVEL_COLOURS[level] if level >= 0 and len(protector.laws) > 1 else ""
            before.append(old, style=style)
            after.append(new, style=style if new == old else f"{style} underline".strip())
        console.print(Text(f"{line:>6} ", style="dim") + before)
        console.print(Text("     → ", style="dim") + after)


def _print(facts: dict[str, Any], as_json: bool, note: str) -> None:
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    from voile.tasks.text_protect import sentence

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
    lines += _expected_lines(facts["expected"])
    if "rows" in facts:
        lines += _counted_lines(facts)
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
