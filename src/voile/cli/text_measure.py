"""`voile text utility` and `voile text membership`: what a release is good for and gives away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json

if TYPE_CHECKING:
    from voile.text._utility import TextUtility


def utility(
    context: typer.Context,
    original: Annotated[Path, typer.Argument(help="The file before its release.")],
    released: Annotated[Path, typer.Argument(help="The file that was released.")],
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    label: Annotated[
        str | None, typer.Option(help="A column to predict: how well does the release train?")
    ] = None,
    encoder: Annotated[bool, typer.Option(help="Compare meanings with a sentence encoder.")] = True,
    sample: Annotated[int, typer.Option(help="Rows to compare by meaning.")] = 500,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a release is still good for.

    Example: `voile text utility reviews.csv reviews.protected.csv --label label`
    """
    from dataclasses import asdict

    from voile.text._utility import text_utility

    pages = wanted(context, report, charts)
    found = text_utility(
        original, released, column=column, label=label, encoder=encoder, sample=sample
    )
    if as_json:
        print_json(asdict(found))
    else:
        typer.echo("\n".join(_utility_lines(found)))
    if pages:
        from voile.text.measured_reports import utility_report

        pages.write(
            lambda how: utility_report(plain(asdict(found)), provenance=how),
            private=[original, released],
            randomness=repeatable(0),
            quiet=as_json,
        )


def _utility_lines(found: TextUtility) -> list[str]:
    lines = [f"Words gone: {100 * found.words_gone:.1f} % ({found.rows:,} rows)."]
    if found.similarity is not None:
        lines.append(
            f"Similarity of meaning: {found.similarity} over {found.similarity_rows} rows."
        )
    if found.accuracy is not None:
        lines.append(
            f"Trained on the release, tested on {found.test_rows:,} other originals: accuracy "
            f"{found.accuracy}."
        )
        lines.append(f"Trained on the originals: {found.baseline}.")
    return lines


def membership(
    context: typer.Context,
    original: Annotated[Path, typer.Argument(help="The file before its release.")],
    released: Annotated[Path, typer.Argument(help="The file that was released.")],
    label: Annotated[str, typer.Option(help="The column that the attacked model predicts.")],
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    claim: Annotated[
        float, typer.Option(help="The epsilon claimed for one record; infinity if none.")
    ] = float("inf"),
    seed: Annotated[int, typer.Option(help="Split and training.")] = 0,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Attack a model trained on the release: find out which records it was trained on.

    Example: `voile text membership reviews.csv reviews.protected.csv --label label`
    """
    from voile.text._membership import membership_facts, text_membership

    pages = wanted(context, report, charts)
    found = text_membership(original, released, column=column, label=label, claim=claim, seed=seed)
    facts = plain(membership_facts(found))
    if as_json:
        print_json(facts)
    else:
        typer.echo(str(found.finding))
    if pages:
        from voile.text.measured_reports import membership_report

        pages.write(
            lambda how: membership_report(facts, provenance=how),
            private=[original, released],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    if found.finding.verdict == "violated":
        raise typer.Exit(1)
