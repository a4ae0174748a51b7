"""Labels: how much a labelled file gives away, and ways to share it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voile.cli.show import bar, table
from voile.errors import InvalidInput

if TYPE_CHECKING:
    from voile.tasks.labels_audit import LabelReport
    from voile.tasks.labels_compare import Comparison
    from voile.tasks.labels_protect import ProtectedLabels

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
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]
Chart = Annotated[Path | None, typer.Option(help="Also write a chart: .png, .svg or .pdf.")]


@app.command()
def audit(
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
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if features leak beyond epsilon.")
    ] = False,
    chart: Chart = None,
    as_json: AsJson = False,
) -> None:
    """How much of the label is given away by epsilon, and how much by the features.

    Example: `voile labels audit patients.csv --label diagnosis --epsilon 0.1,1,2,4,8`
    """
    from voile.audit.finding import Verdict
    from voile.core.randomness import seeded_rng
    from voile.tasks.labels_audit import labels_audit

    report = labels_audit(
        data,
        label=label,
        epsilons=_numbers(epsilon, "--epsilon"),
        rng=seeded_rng(seed),
        header=not no_header,
        on_error=_policy(on_error),
        drop=_words(drop),
        most_records=records,
    )
    if chart is not None:
        from voile.tasks.labels_chart import chart_audit

        chart_audit(report, chart)
    if as_json:
        typer.echo(json.dumps(report.as_dict(worst=worst), indent=1))
    else:
        _show_audit(report, worst)
        if chart is not None:
            typer.echo(f"chart: {chart}")
    if strict and any(p.finding.verdict is Verdict.VIOLATED for p in report.audit.at):
        raise typer.Exit(1)


@app.command()
def protect(
    data: Data,
    label: Label,
    epsilon: Annotated[float, typer.Option(help="The privacy parameter.")],
    mechanism: Annotated[
        str,
        typer.Option(
            help="rr: noise on the label, features clear. prior: the same among likely labels. "
            "cf: label and what features say of it. ldp: the whole record."
        ),
    ] = "cf",
    out: Annotated[
        Path | None, typer.Option(help="Where to write; default DATA.released.csv.")
    ] = None,
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
    jobs: Annotated[int, typer.Option(help="Processes to use.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="For experiments only: the output must not be released.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a protected copy of a labelled file, each record drawn once, and its recipe.

    Example: `voile labels protect patients.csv --label diagnosis --epsilon 2 --mechanism cf`
    """
    from voile.tasks.labels_protect import labels_protect

    done = labels_protect(
        data,
        out or data.with_name(f"{data.stem}.released.csv"),
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
        jobs=jobs,
        overwrite=overwrite,
    )
    if as_json:
        typer.echo(json.dumps(_protected_dict(done), indent=1))
    else:
        _show_protected(done)


@app.command()
def compare(
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
    chart: Chart = None,
    as_json: AsJson = False,
) -> None:
    """Usefulness (test AUC) against total leakage for label DP, Label DP-CF and local DP.

    Example: `voile labels compare patients.csv --label diagnosis --chart trade-off.png`
    """
    from voile.core.randomness import seeded_rng
    from voile.tasks.labels_compare import labels_compare

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
    )
    if chart is not None:
        from voile.tasks.labels_chart import chart_comparison

        chart_comparison(found, chart)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=1))
        return
    _show_comparison(found)
    if chart is not None:
        typer.echo(f"chart: {chart}")


# ── showing ────────────────────────────────────────────────────────────────────────────────────


def _show_audit(report: LabelReport, worst: int) -> None:
    found = report.audit
    guess = float(found.prior.max())
    typer.echo(
        f"{found.records:,} records, {len(found.prior)} classes; attacked with {found.classifier}, "
        f"cross-fitted.\nBlind guess {guess:.3f}, features alone {found.at[0].without_release:.3f}."
    )
    typer.echo(
        "\nHow often the label is guessed when its noisy copy and the features are released:"
    )
    table(
        ["ε", "ε announces", "in fact", "95 % interval", "unexpected", "answer adds", "at most"],
        [
            [
                f"{p.epsilon:g}",
                f"{p.expected:.3f}",
                f"{p.total.value:.3f}",
                f"{p.total.lower:.3f} – {p.total.upper:.3f}",
                f"{p.unexpected.value:+.3f}",
                f"{p.advantage.value:+.3f}",
                f"{p.advantage_bound:.3f}",
            ]
            for p in found.at
        ],
    )
    typer.echo("")
    for p in found.at:
        known, whole = round(32 * p.expected), round(32 * p.total.value)
        typer.echo(f"  ε {p.epsilon:>4g} {'█' * known}{'░' * max(0, whole - known)}")
    typer.echo("         █ announced by ε   ░ unexpected, from the features")
    first = found.at[0]
    surest, proved = first.effective - first.epsilon, first.finding.lower - first.epsilon
    typer.echo(
        f"\nOdds between labels: the features alone move them e^{surest:.2f}-fold for the surest "
        f"record (estimate)\nand at least e^{proved:.2f}-fold for some (wrong with probability "
        f"≤ {first.finding.failure_probability:g}).\nSo ε = {first.epsilon:g} on the label is an "
        f"effective ε (CF) of at least {first.finding.lower:.2f}: as a bound on the whole release, "
        f"{first.epsilon:g} is {first.finding.verdict}."
    )
    typer.echo("\nWhich features carry it (accuracy lost, or gained alone over guessing):")
    table(
        ["feature", "shuffled", "left out", "alone"],
        [
            [s.name, f"{s.shuffled:+.3f}", _signed(s.left_out), _signed(s.alone)]
            for s in report.features[:10]
        ],
    )
    lines = ", ".join(f"{line} ({gain:+.2f})" for line, gain in report.worst_lines(worst))
    typer.echo(f"\nRecords that leak most at ε = {first.epsilon:g}, by line: {lines}")
    for text in report.notes:
        typer.echo(f"note: {text}")
    for text in found.warnings:
        typer.echo(f"warning: {text}")


def _show_protected(done: ProtectedLabels) -> None:
    p = done.protection
    skipped = f", {done.report.skipped:,} left out" if done.report.skipped else ""
    typer.echo(f"{done.report.rows:,} records released to {done.report.output}{skipped}")
    made = "learned from this file" if done.drafted else "as it was"
    typer.echo(f"recipe: {done.recipe_path} ({made})")
    rows = []
    for name, bound in (
        ("label, features known (label DP)", p.label),
        ("label, by the whole release (CF)", p.conditional),
        ("whole record (local DP)", p.local),
    ):
        rows.append([name, "not bounded" if bound is None else f"ε = {bound.epsilon:.4g}"])
    table(["what is protected", "bound"], rows)
    if p.kept < 1:
        typer.echo(f"{100 * p.kept:.0f} % of the records keep their cell of features.")
    main = p.conditional or p.label
    if main is not None:
        typer.echo(main.explain(candidates=2))
    if done.seeded:
        typer.echo("seeded: not for release")


def _protected_dict(done: ProtectedLabels) -> dict[str, Any]:
    p = done.protection
    main = p.conditional or p.label
    bounds = {"label": p.label, "conditional": p.conditional, "local": p.local}
    return {
        "output": str(done.report.output),
        "recipe": str(done.recipe_path),
        "records": done.report.rows,
        "skipped": done.report.skipped,
        "masked": done.report.masked,
        "mechanism": p.name,
        "epsilon": {name: bound.epsilon if bound else None for name, bound in bounds.items()},
        "not_covered": list(main.outside) if main else [],
        "kept_cells": p.kept,
        "stamp": "seeded: not for release" if done.seeded else "",
    }


def _show_comparison(found: Comparison) -> None:
    typer.echo(
        f"Clean records give an AUC of {found.clean_auc:.3f}. An attacker guesses the label with "
        f"{found.guess:.3f} blindly, {found.features_alone:.3f} from clear features alone."
    )
    table(
        ["mechanism", "ε", "leakage", "± ", "cap", "AUC", "±", "AUC over 0.5"],
        [
            [
                p.mechanism,
                f"{p.epsilon:g}",
                f"{p.leakage:.3f}",
                f"{p.leakage_error:.3f}",
                "none" if p.cap is None else f"{p.cap:.3f}",
                f"{p.auc:.3f}",
                f"{p.auc_error:.3f}",
                bar(2 * (p.auc - 0.5), 20),
            ]
            for p in found.points
        ],
    )
    if found.crossings:
        typer.echo("Better than label DP, with no more leakage and a higher AUC (by 2 errors):")
        for better, worse in found.crossings:
            typer.echo(
                f"  {better.mechanism} at ε = {better.epsilon:g} beats label DP at "
                f"ε = {worse.epsilon:g}"
            )
    else:
        typer.echo("Nowhere does CF or local DP beat label DP at the same leakage.")
    for text in found.notes:
        typer.echo(f"note: {text}")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


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
