"""Labels: how much a labelled file gives away, and ways to share it."""

from __future__ import annotations

from typing import Annotated

import typer

from voile.cli.engine import Address, EngineName, Jobs, chosen_engine
from voile.cli.labels_options import Data, Drop, Label, NoHeader, OnError, numbers, policy, words
from voile.cli.labels_release import protect, recipe
from voile.cli.labels_show import show_audit, show_comparison
from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.rooms import group
from voile.cli.show import AsJson, plain, print_json

app = typer.Typer(
    cls=group("labels"),
    no_args_is_help=True,
    help="Labelled records: what the features give away, and how to share them.",
)


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
    from voile.labels._audit import labels_audit

    pages = wanted(context, report, charts)
    found = labels_audit(
        data,
        label=label,
        epsilons=numbers(epsilon, "--epsilon"),
        rng=seeded_rng(seed),
        header=not no_header,
        on_error=policy(on_error),
        drop=words(drop),
        most_records=records,
        engine=chosen_engine(engine, jobs, address),
    )
    if as_json:
        print_json(found.as_dict(worst=worst))
    else:
        show_audit(found, worst)
    if pages:
        from voile.labels.reports import audit_report

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


app.command()(recipe)
app.command()(protect)


@app.command()
def compare(
    context: typer.Context,
    data: Data,
    label: Label,
    label_epsilon: Annotated[str, typer.Option(help="Epsilons for label DP.")] = "8,4,2,1,0.1",
    record_epsilon: Annotated[
        str, typer.Option(help="Epsilons for CF and local DP.")
    ] = "8,4,2,1.4,1",
    repeats: Annotated[int | None, typer.Option(help="Random splits to average over (5).")] = None,
    drop: Drop = "",
    on_error: OnError = "fail",
    no_header: NoHeader = False,
    records: Annotated[
        int | None, typer.Option(help="Use at most so many records, at random (4,000).")
    ] = None,
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
    from voile.labels._compare import MOST_RECORDS, REPEATS, labels_compare

    pages = wanted(context, report, charts)
    found = labels_compare(
        data,
        label=label,
        rng=seeded_rng(seed),
        label_epsilons=numbers(label_epsilon, "--label-epsilon"),
        record_epsilons=numbers(record_epsilon, "--record-epsilon"),
        repeats=REPEATS if repeats is None else repeats,
        header=not no_header,
        on_error=policy(on_error),
        drop=words(drop),
        most_records=MOST_RECORDS if records is None else records,
        engine=chosen_engine(engine, jobs, address),
    )
    if as_json:
        print_json(found.as_dict())
    else:
        show_comparison(found)
    if pages:
        from voile.labels.reports import compare_report

        facts = plain(found.as_dict())
        pages.write(
            lambda how: compare_report(facts, provenance=how),
            private=[data],
            randomness=repeatable(seed),
            quiet=as_json,
        )
