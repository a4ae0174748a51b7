"""Releasing labelled records: the recipe that says what may be shown, and the release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from voile.cli.columns import Drop as DropColumns
from voile.cli.columns import Pass, dropped_columns
from voile.cli.engine import (
    Address,
    EngineName,
    InputFile,
    Jobs,
    OutputFile,
    chosen_engine,
    default_output,
)
from voile.cli.labels_options import (
    Drop,
    Label,
    NoHeader,
    OnError,
    Overwrite,
    numbers,
    policy,
    words,
)
from voile.cli.labels_show import show_protected, show_recipe
from voile.cli.reporting import ChartFolder, ReportFile, drawn, wanted
from voile.cli.show import AsJson, print_json


def recipe(
    public: Annotated[Path, typer.Argument(help="A PUBLIC file of such records.")],
    label: Label,
    out: Annotated[
        Path | None, typer.Option(help="Where to write it; else beside the file.")
    ] = None,
    mechanism: Annotated[str, typer.Option(help="What it is for: cf (with cells) or ldp.")] = "cf",
    classes: Annotated[
        str, typer.Option(help="All classes there may be, a,b,c; else those in the file.")
    ] = "",
    levels: Annotated[int, typer.Option(help="Levels of a number.")] = 16,
    cells: Annotated[
        int | None, typer.Option(help="For cf: into how many cells the features are cut.")
    ] = None,
    label_share: Annotated[float, typer.Option(help="The label's own part of epsilon.")] = 0.5,
    drop: Drop = "",
    on_error: OnError = "mask",
    no_header: NoHeader = False,
    seed: Annotated[int, typer.Option(help="Of the split by which cells are learned.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Fix ranges, categories, classes and cells from a PUBLIC file: releases show all of them.

    Example: `voile labels recipe last-years-open-data.csv --label diagnosis --out public.json`
    """
    from voile.labels._recipe import labels_recipe

    made = labels_recipe(
        public,
        out or public.with_name(public.name + ".recipe.json"),
        label=label,
        mechanism=mechanism,
        classes=words(classes),
        levels=levels,
        cells=cells,
        label_share=label_share,
        drop=words(drop),
        on_error=policy(on_error),
        header=not no_header,
        seed=seed,
        overwrite=overwrite,
    )
    if as_json:
        print_json(made.as_dict())
    else:
        show_recipe(made)


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
        Path | None,
        typer.Option(help="For cf and ldp: a public recipe (`voile labels recipe`)."),
    ] = None,
    classes: Annotated[
        str, typer.Option(help="For rr and prior: the names of the classes, a,b,c.")
    ] = "",
    learn_from_private: Annotated[
        bool,
        typer.Option(
            "--learn-from-private",
            help="RISKY: take ranges, names and cells from this file; the output shows them, and "
            "the guarantee is claimed only.",
        ),
    ] = False,
    prior: Annotated[
        str, typer.Option(help="For prior: public probabilities of the classes, in their order.")
    ] = "",
    label_share: Annotated[
        float | None,
        typer.Option(help="For cf and ldp: the label's own part of epsilon; else the recipe's."),
    ] = None,
    cells: Annotated[
        int | None, typer.Option(help="For cf with --learn-from-private: how many cells.")
    ] = None,
    levels: Annotated[
        int | None, typer.Option(help="With --learn-from-private: levels of a number (16).")
    ] = None,
    passing: Pass = None,
    drop: DropColumns = None,
    on_error: Annotated[
        str,
        typer.Option(
            help="Broken rows: fail, skip or mask. A missing or unknown value is coded with mask, "
            "and stops the job otherwise."
        ),
    ] = "fail",
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    overwrite: Overwrite = False,
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
    """Write a protected copy of a labelled file, each record drawn once.

    Example: `voile labels protect patients.csv --label diagnosis --epsilon 2 --recipe public.json`

    Every column that the mechanism leaves as it is must be named in --pass or --drop.
    """
    from voile.jobs import named_columns
    from voile.labels._protect import facts_of, labels_protect

    pages = wanted(context, report, charts)
    done = labels_protect(
        data,
        out or default_output(data, ".csv"),
        label=label,
        epsilon=epsilon,
        mechanism=mechanism,
        prior=numbers(prior, "--prior") if prior else (),
        recipe=recipe,
        classes=words(classes),
        learn_from_private=learn_from_private,
        label_share=label_share,
        cells=cells,
        levels=levels,
        pass_columns=named_columns(passing),
        drop=dropped_columns(drop),
        on_error=policy(on_error),
        seed=seed,
        engine=chosen_engine(engine, jobs, address),
        overwrite=overwrite,
        ledger=ledger_choice(ledger, person, budget, ledger_key, over_budget),
    )
    facts = facts_of(done)
    if as_json:
        print_json(facts)
    else:
        show_protected(done, facts)
        show_charged(facts)
    if pages:
        from voile.labels.reports import protect_report

        pages.write(
            lambda how: protect_report(facts, done.main, provenance=how),
            private=[data],
            public=[done.report.output],
            randomness=drawn(seed),
            quiet=as_json,
        )
