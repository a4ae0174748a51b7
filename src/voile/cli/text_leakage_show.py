"""How the text audit and its tuning are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from voile.cli.show import table

if TYPE_CHECKING:
    from voile.audit.finding import Finding
    from voile.tasks.text_posterior import TextPosterior
    from voile.tasks.text_tune import TunedText


def show_audit(found: TextPosterior, delta: float) -> None:
    """A row an epsilon, then what the attacker is worth and what was left out."""
    leakage = found.audit.leakage
    rows = []
    for k, finding in enumerate(found.audit.findings):
        row = [
            f"{leakage.epsilons[k]:g}",
            f"{100 * leakage.violation_shares[k]:.3g} %",
            f"{100 * finding.lower:.3g} – {100 * finding.upper:.3g} %",
            _told(finding, found.audit.groups_to_certify[k], delta),
        ]
        if found.control is not None:
            row.insert(2, f"{100 * found.control[k]:.3g} %")
        rows.append(row)
    heads = ["leakage over", "share of triples", "interval", f"at most {100 * delta:g} %?"]
    if found.control is not None:
        heads.insert(2, "in the control")
    table(heads, rows)
    typer.echo(
        f"{leakage.triples:,} triples from {leakage.releases:,} releases in "
        f"{found.audit.groups:,} documents; largest leakage seen {leakage.supremum:.3g}."
    )
    typer.echo(f"The {found.attacker} is {found.reliability}.")
    if found.unaligned or found.unpaired:
        typer.echo(
            f"Left out: {found.unaligned:,} of {found.unaligned + found.documents:,} documents "
            f"that could not be aligned, and {found.unpaired:,} words without a clear partner."
        )
    if found.control is not None:
        typer.echo(
            "The control's releases carry nothing: what is found there is the attacker's own error."
        )
    typer.echo("This is what one attacker found; a stronger one may find more.")


def _told(finding: Finding, needed: int | None, delta: float) -> str:
    """What the interval says about delta, for this attacker."""
    if finding.verdict == "violated":
        return "no: violated"
    if finding.upper <= delta:
        return "yes, for this attacker"
    return f"open, {needed:,} documents tell" if needed else "open"


def show_tuned(found: TunedText, target: float) -> None:
    """All rounds, the chosen one, and how to use it."""
    best = found.chosen.strengths
    table(
        ["round", "pii", "poii", f"violations, {found.counted}", "utility loss", ""],
        [
            [
                str(number + 1),
                f"{r.strengths[0]:.3g}",
                f"{r.strengths[1]:.3g}",
                f"{100 * r.violation:.3g} %",
                f"{r.utility_loss:.4f}",
                "chosen" if r.strengths == best else "",
            ]
            for number, r in enumerate(found.state.rounds)
        ],
    )
    if not found.meets_target:
        typer.echo(f"No round kept violations below {100 * target:g} %: this is the best found.")
    typer.echo(f"Use: voile text protect FILE {found.protect_options()}")
    if found.caveat:
        typer.echo(found.caveat)
