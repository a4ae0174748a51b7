"""Labels: how much a labelled file gives away, and ways to share it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voile.cli._ledger import (
    BudgetOption,
    LedgerKey,
    LedgerWhere,
    Person,
    WhenOver,
    ledger_choice,
    show_charged,
)
from voile.cli.engine import (
    Address,
    EngineName,
    InputFile,
    Jobs,
    OutputFile,
    chosen_engine,
    default_output,
)
from voile.cli.labels_show import show_audit, show_comparison, show_protected
from voile.cli.reporting import ChartFolder, ReportFile, drawn, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json
from voile.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    help="Labelled records: what the features give away, and how to share them.",
)

Data = Annotated[Path, typer.Argument(help="A CSV file with a header.")]
Label = Annotated[str, typer.Option(help="The column that is the secret label.")]
Drop = Annotated[str, typer.Option(help="Columns to leave out, such as identifiers: a,b,c.")]
OnError = Annotated[
    str, typer.Option(help="Rows with missing or broken values: fail, skip or mask.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The file has no header; columns are c1, c2, …")
]


@app.command()
def audit(
    context: typer.Context,
    data: Data,
    label: Label,
    epsilon: Annotated[str, typer.Option(help="Epsilons of the label: 0.1,1,2.")] = "0.1,1,2,4,8",
    drop: Drop = "",
    on_error: OnError = "fail",
    no_header: NoHeader = False,
    records: Annotated[int, typer.Option(help="Use at most so many records, at random.")] = 20_000,
    worst: Annotated[int, typer.Option(help="How many of the worst records to list.")] = 5,
    seed: Annotated[
        int, typer.Option(help="Of splits and resamples; an audit releases nothing.")
    ] = 0,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if features leak beyond epsilon.")
    ] = False,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """How much of the label is given away by epsilon, and how much by the features.

    Example: `voile labels audit patients.csv --label diagnosis --epsilon 0.1,1,2,4,8`
    """
    from voile.audit.finding import Verdict
    from voile.core.randomness import seeded_rng
    from voile.tasks.labels_audit import labels_audit

    pages = wanted(context, report, charts)
    found = labels_audit(
        data,
        label=label,
        epsilons=_numbers(epsilon, "--epsilon"),
        rng=seeded_rng(seed),
        header=not no_header,
        on_error=_policy(on_error),
        drop=_words(drop),
        most_records=records,
        engine=chosen_engine(engine, jobs, address),
    )
    if as_json:
        print_json(found.as_dict(worst=worst))
    else:
        show_audit(found, worst)
    if pages:
        from voile.report.labels import audit_report

        facts = plain(found.as_dict(worst=0))
        pages.write(
            lambda how: audit_report(facts, provenance=how),
            private=[data],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    verdicts = [found.audit.finding(p.epsilon).verdict for p in found.audit.at]
    if strict and Verdict.VIOLATED in verdicts:
        raise typer.Exit(1)


@app.command()
def protect(
    context: typer.Context,
    data: InputFile,
    label: Label,
    epsilon: Annotated[float, typer.Option(help="The privacy parameter.")],
    mechanism: Annotated[
        str,
        typer.Option(
            help="rr: noise on the label, features clear. prior: the same among likely labels. "
            "cf: label and what features say of it. ldp: the whole record."
        ),
    ] = "cf",
    out: OutputFile = None,
    recipe: Annotated[
        Path | None, typer.Option(help="A kept recipe; without one it is learned from the file.")
    ] = None,
    prior: Annotated[
        str, typer.Option(help="For prior: public probabilities of the classes, sorted by name.")
    ] = "",
    label_share: Annotated[
        float, typer.Option(help="For cf and ldp: the label's own part of epsilon.")
    ] = 0.5,
    cells: Annotated[
        int | None, typer.Option(help="For cf: into how many cells the features are cut.")
    ] = None,
    levels: Annotated[int, typer.Option(help="For ldp and cf: levels of a number.")] = 16,
    drop: Drop = "",
    on_error: OnError = "fail",
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    ledger: LedgerWhere = None,
    person: Person = None,
    budget: BudgetOption = None,
    over_budget: WhenOver = "refuse",
    ledger_key: LedgerKey = None,
    seed: Annotated[
        int | None, typer.Option(help="For experiments only: the output must not be released.")
    ] = None,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write a protected copy of a labelled file, each record drawn once, and its recipe.

    Example: `voile labels protect patients.csv --label diagnosis --epsilon 2 --mechanism cf`
    """
    from voile.tasks.labels_protect import facts_of, labels_protect

    pages = wanted(context, report, charts)
    done = labels_protect(
        data,
        out or default_output(data, ".csv"),
        label=label,
        epsilon=epsilon,
        mechanism=mechanism,
        prior=_numbers(prior, "--prior") if prior else (),
        label_share=label_share,
        recipe=recipe,
        cells=cells,
        levels=levels,
        drop=_words(drop),
        on_error=_policy(on_error),
        seed=seed,
        engine=chosen_engine(engine, jobs, address),
        overwrite=overwrite,
        ledger=ledger_choice(ledger, person, budget, ledger_key, over_budget),
    )
    facts = facts_of(done)
    if as_json:
        print_json(facts)
    else:
        show_protected(done)
        show_charged(facts)
    if pages:
        from voile.report.labels import protect_report

        pages.write(
            lambda how: protect_report(facts, done.main, provenance=how),
            private=[data],
            public=[done.report.output],
            randomness=drawn(seed),
            quiet=as_json,
        )


@app.command()
def compare(
    context: typer.Context,
    data: Data,
    label: Label,
    label_epsilon: Annotated[str, typer.Option(help="Epsilons for label DP.")] = "8,4,2,1,0.1",
    record_epsilon: Annotated[
        str, typer.Option(help="Epsilons for CF and local DP.")
    ] = "8,4,2,1.4,1",
    repeats: Annotated[int, typer.Option(help="Random splits to average over.")] = 5,
    drop: Drop = "",
    on_error: OnError = "fail",
    no_header: NoHeader = False,
    records: Annotated[int, typer.Option(help="Use at most so many records, at random.")] = 4_000,
    seed: Annotated[int, typer.Option(help="Of splits and noise; nothing is released.")] = 0,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Usefulness (test AUC) against total leakage for label DP, Label DP-CF and local DP.

    Example: `voile labels compare patients.csv --label diagnosis --report ways.html`
    """
    from voile.core.randomness import seeded_rng
    from voile.tasks.labels_compare import labels_compare

    pages = wanted(context, report, charts)
    found = labels_compare(
        data,
        label=label,
        rng=seeded_rng(seed),
        label_epsilons=_numbers(label_epsilon, "--label-epsilon"),
        record_epsilons=_numbers(record_epsilon, "--record-epsilon"),
        repeats=repeats,
        header=not no_header,
        on_error=_policy(on_error),
        drop=_words(drop),
        most_records=records,
        engine=chosen_engine(engine, jobs, address),
    )
    if as_json:
        print_json(found.as_dict())
    else:
        show_comparison(found)
    if pages:
        from voile.report.labels import compare_report

        facts = plain(found.as_dict())
        pages.write(
            lambda how: compare_report(facts, provenance=how),
            private=[data],
            randomness=repeatable(seed),
            quiet=as_json,
        )


def _numbers(text: str, name: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(f"{name} must be numbers with commas between, got {text!r}") from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _policy(text: str) -> Any:
    if text not in ("fail", "skip", "mask"):
        raise InvalidInput(f"--on-error must be fail, skip or mask, got {text!r}")
    return text
