"""Text on the command line: release a file's text column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from voile.cli import text_measure
from voile.cli._ledger import (
    BudgetOption,
    LedgerKey,
    LedgerWhere,
    Person,
    WhenOver,
    ledger_choice,
    show_charged,
)
from voile.cli.columns import Drop, Pass, dropped_columns
from voile.cli.engine import (
    Address,
    EngineName,
    InputFile,
    Jobs,
    OutputFile,
    chosen_engine,
    default_output,
)
from voile.cli.neighbours import NoCache, with_neighbours
from voile.cli.reporting import ChartFolder, ReportFile, Wanted, drawn, wanted
from voile.cli.rooms import group
from voile.cli.show import AsJson
from voile.cli.showing import heard
from voile.cli.text_show import show_facts, show_preview

app = typer.Typer(
    cls=group("text"),
    no_args_is_help=True,
    help="Release text word by word, and measure utility and leakage.",
    rich_markup_mode="markdown",
)


@app.command()
def protect(
    context: typer.Context,
    file: InputFile,
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    epsilon: Annotated[float | None, typer.Option(help="Privacy parameter for each word.")] = None,
    keep: Annotated[
        float | None, typer.Option(help="Choose epsilon so that this share of words is kept.")
    ] = None,
    max_kept: Annotated[
        float | None,
        typer.Option(help="Choose epsilon so that no watched word is kept more often than this."),
    ] = None,
    watch: Annotated[
        Path | None,
        typer.Option(help="A public list, one word a line: show how often the law keeps them."),
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
    out: OutputFile = None,
    passing: Pass = None,
    drop: Drop = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help="tem, word-exponential, santext, santext-plus, custext, madlib, mahalanobis or "
            "vickrey."
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
    signs: Annotated[
        str, typer.Option(help="Signs at words, as in HIV+ and O-: drop or keep.")
    ] = "drop",
    tiers: Annotated[
        str | None, typer.Option(help="pii or pii,poii: give names a strength of their own.")
    ] = None,
    alpha: Annotated[
        str, typer.Option(help="Strengths of pii, poii and the rest, times epsilon; or 'keep'.")
    ] = "0.3,0.6,1",
    pipeline: Annotated[
        str | None,
        typer.Option(help="Finds names: a spaCy pipeline, or a .txt list; default: small English."),
    ] = None,
    remap: Annotated[
        bool,
        typer.Option(
            "--remap", help="Replace each drawn word by the likeliest-to-serve one; costs no ε."
        ),
    ] = False,
    document_column: Annotated[
        bool, typer.Option("--document-column", help="Add each document's total epsilon.")
    ] = False,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    on_error: Annotated[str, typer.Option(help="A bad row: fail, skip or mask.")] = "fail",
    batch_rows: Annotated[int, typer.Option(help="Rows in a part.")] = 2000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    no_cache: NoCache = False,
    ledger: LedgerWhere = None,
    person: Person = None,
    budget: BudgetOption = None,
    over_budget: WhenOver = "refuse",
    ledger_key: LedgerKey = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable draws, for experiments: not for release.")
    ] = None,
    preview: Annotated[int, typer.Option(help="Show this many rows before and after.")] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and release nothing.")
    ] = False,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Replace every word of a text column by a draw, and say what was guaranteed.

    Example: `voile text protect reviews.csv --column text --epsilon 3 --pass stars --drop user`

    Every column beside the text must be named in --pass or --drop.

    Interrupted? Repeat the same command: it continues and never draws twice for a row.
    """
    from voile.errors import InvalidInput
    from voile.jobs import OnError, check_output, named_columns
    from voile.text import _protect as text_protect
    from voile.text.settings import TextRecipe, epsilon_keeping, epsilon_keeping_watched
    from voile.text.tiers import DEFAULT_PIPELINE
    from voile.text.watched import read_watched

    pages = wanted(context, report, charts)
    if sum(given is not None for given in (epsilon, keep, max_kept, document_epsilon)) != 1:
        raise InvalidInput("give one of --epsilon, --keep, --max-kept and --document-epsilon")
    recipe = TextRecipe(
        source=file,
        column=column,
        epsilon=1.0 if epsilon is None else epsilon,
        mechanism=mechanism,
        vocabulary=vocabulary,
        top=top,
        metric=metric,
        unknown=_one_of(unknown, ("perturb", "drop", "fail", "keep"), "--unknown"),
        keep_stopwords=keep_stopwords,
        identifiers=identifiers,
        signs=_one_of(signs, ("drop", "keep"), "--signs"),
        alphas=_alphas(tiers, alpha),
        pipeline=pipeline or DEFAULT_PIPELINE,
        longest=longest,
        document_epsilon=document_epsilon,
        public_length=public_length,
        remap=remap,
        seed=seed,
        watch=() if watch is None else read_watched(watch),
        cache="none" if no_cache else "read",
    )
    target = out or default_output(file)
    if not dry_run:
        check_output(target, overwrite=overwrite)
    recipe, source = text_protect.checked(recipe)
    passed, dropped = named_columns(passing), dropped_columns(drop)
    clear = text_protect.clear_columns(recipe, source, passed, dropped, document_column)
    if keep is not None:
        recipe = replace(recipe, epsilon=epsilon_keeping(recipe, keep))
    if max_kept is not None:
        recipe = replace(recipe, epsilon=epsilon_keeping_watched(recipe, max_kept))
    choice = ledger_choice(ledger, person, budget, ledger_key, over_budget)
    policy = OnError(_one_of(on_error, ("fail", "skip", "mask"), "--on-error"))
    if preview:
        show_preview(recipe, preview)
    if dry_run:
        from voile.text.settings import build_protector

        facts = text_protect.describe(recipe, build_protector(recipe), clear)
        show_facts(facts, as_json, "Nothing was released.")
        _write(pages, facts, file, None, seed, as_json)
        return
    recipe = with_neighbours(recipe, source, quiet=as_json)
    with heard(quiet=as_json):
        facts = text_protect.protect_file(
            recipe,
            out=target,
            engine=chosen_engine(engine, jobs, address),
            pass_columns=passed,
            drop_columns=dropped,
            document_column=document_column,
            on_error=policy,
            batch_rows=batch_rows,
            overwrite=overwrite,
            ledger=choice,
        )
    show_facts(facts, as_json, "")
    if not as_json:
        show_charged(facts)
    _write(pages, facts, file, target, seed, as_json)


def _write(
    pages: Wanted,
    facts: dict[str, Any],
    file: str,
    out: str | None,
    seed: int | None,
    quiet: bool,
) -> None:
    if not pages:
        return
    from voile.text.release_report import protect_report

    pages.write(
        lambda how: protect_report(facts, provenance=how),
        private=[file],
        public=[] if out is None else [out],
        randomness=drawn(seed),
        quiet=quiet,
    )


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


app.command()(text_measure.utility)
app.command()(text_measure.membership)
