"""Label audits, releases and comparisons for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from voile.cli.columns import show_in_brief
from voile.cli.show import bar, table
from voile.core.rounding import at_most

if TYPE_CHECKING:
    from voile.labels._audit import LabelReport
    from voile.labels._compare import Comparison
    from voile.labels._protect import ProtectedLabels
    from voile.labels._recipe import MadeRecipe


def show_audit(report: LabelReport, worst: int) -> None:
    """The audit in tables and a small chart."""
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
    claim = found.finding(first.epsilon)
    typer.echo(
        "\nOdds between labels: the features alone move them "
        f"e^{found.surest:.2f}-fold for the surest record (estimate),\n"
        f"and at least e^{found.proved:.2f}-fold for some record "
        f"(wrong with probability ≤ {claim.failure_probability:g}).\n"
        f"So ε = {first.epsilon:g} on the label is an effective ε (CF) of at least "
        f"{claim.lower:.2f}: as a bound on the whole release, {first.epsilon:g} is {claim.verdict}."
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


def show_recipe(made: MadeRecipe) -> None:
    """What a recipe fixes."""
    facts = made.as_dict()
    cells = "" if facts["cells"] is None else f", {facts['cells']} cells of features"
    typer.echo(
        f"recipe: {made.path}, from {made.records:,} records that you say are public\n"
        f"{len(facts['classes'])} classes, {len(facts['features'])} features{cells}"
    )
    if facts["with_missing"]:
        typer.echo(f"with a code for missing values: {', '.join(facts['with_missing'])}")
    typer.echo("Every release by it shows its ranges, names and typical records.")


def show_protected(done: ProtectedLabels, facts: dict[str, Any]) -> None:
    """What was written, and what it promises: first what stands in clear or is at risk."""
    from voile.labels.reports import learned_sentence, shape_sentence
    from voile.report.words import columns_in_clear

    p = done.protection
    show_in_brief(
        [
            line
            for line in (
                columns_in_clear(facts["passed_in_clear"], facts["looks_like_identifiers"]),
            )
            if line
        ]
    )
    if facts["learned_from_private"]:
        typer.secho(learned_sentence(), fg=typer.colors.RED, bold=True)
    skipped = f", {done.report.skipped:,} left out" if done.report.skipped else ""
    typer.echo(f"{done.report.rows:,} records released to {done.report.output}{skipped}")
    if facts["shape"] is not None:
        typer.echo(shape_sentence(facts))
    if facts["dropped"]:
        typer.echo(f"Left out: the columns {', '.join(facts['dropped'])}.")
    typer.echo(f"recipe: {done.recipe_path}")
    rows = []
    for name, bound in (
        ("label, features known (label DP)", p.label),
        ("label, by the whole release (CF)", p.conditional),
        ("whole record (local DP)", p.local),
    ):
        rows.append(
            [name, "not bounded" if bound is None else f"ε = {at_most(bound.epsilon, digits=4)}"]
        )
    table(["what is protected", "bound"], rows)
    if p.kept < 1:
        typer.echo(f"{100 * p.kept:.0f} % of the records keep their cell of features.")
    typer.echo(facts["explanation"])
    if done.seeded:
        typer.echo("seeded: not for release")


def show_comparison(found: Comparison) -> None:
    """All points, and where label DP is beaten."""
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
        typer.echo("Better than label DP, with no more leakage and a surely higher AUC:")
        for better, worse in found.crossings:
            typer.echo(
                f"  {better.mechanism} at ε = {better.epsilon:g} beats label DP at "
                f"ε = {worse.epsilon:g}"
            )
    else:
        typer.echo("Nowhere does CF or local DP surely beat label DP at the same leakage.")
    for text in found.notes:
        typer.echo(f"note: {text}")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"
