"""How the text audit and its tuning are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from voile.cli.show import table

if TYPE_CHECKING:
    from voile.audit.finding import Finding
    from voile.text._audit import AttackRun, TextPosterior
    from voile.text._tune import TunedText


def show_audit(found: TextPosterior, delta: float) -> None:
    """A row an epsilon, then what the attackers are worth and what was left out."""
    lead, several = found.lead, len(found.runs) > 1
    leakage = lead.audit.leakage
    rows = []
    for k, epsilon in enumerate(leakage.epsilons):
        run = found.strongest(k)
        finding = run.audit.findings[k]
        row = [
            f"{epsilon:g}",
            _percent(run.shares[k]),
            f"{100 * finding.lower:.3g} – {100 * finding.upper:.3g} %",
            _told(
                finding,
                run.audit.groups_to_certify[k],
                delta,
                evidence=run.audit.is_evidence,
            ),
        ]
        if run.control is not None:
            row.insert(2, _percent(run.control[k]))
        rows.append([*row, f"{run.attacker}, seed {run.seed}"] if several else row)
    heads = ["leakage over", "share of triples", "interval", f"at most {100 * delta:g} %?"]
    if lead.control is not None:
        heads.insert(2, "in the control")
    table([*heads, "found by"] if several else heads, rows)
    if several:
        _show_attackers(found)
    typer.echo(
        f"{leakage.triples:,} triples from {leakage.releases:,} releases in "
        f"{lead.audit.groups:,} documents; largest leakage seen {leakage.supremum:.3g}."
    )
    for run in found.runs:
        if run is lead or not run.reliability.trustworthy:
            which = f"The {run.attacker}" + (f" of seed {run.seed}" if several else "")
            typer.echo(f"{which} is {run.reliability}.")
        if run.audit.learned is not None and (run is lead or not run.audit.is_evidence):
            which = f"The {run.attacker}" + (f" of seed {run.seed}" if several else "")
            typer.echo(f"{which} {run.audit.learned}{_worth(run)}.")
    if found.unaligned or found.unpaired:
        typer.echo(
            f"Left out: {found.unaligned:,} of {found.unaligned + found.documents:,} documents "
            f"that could not be aligned, and {found.unpaired:,} words without a clear partner."
        )
    if lead.control is not None:
        typer.echo(
            "The control's releases carry nothing: what is found there is the attacker's own error."
        )
    if several:
        typer.echo(
            f"This is what {len(found.runs)} attackers found, and the strongest of them above; "
            "others may find more."
        )
    else:
        typer.echo("This is what one attacker found; a stronger one may find more.")


def _show_attackers(found: TextPosterior) -> None:
    """Each attacker over its splits."""
    rows = []
    for at in found.attackers():
        row = [
            at.attacker,
            f"{at.epsilon:g}",
            _percent(at.mean),
            "" if at.deviation is None else _percent(at.deviation),
            _percent(at.highest),
            f"{at.violated} of {len(at.seeds)}",
        ]
        if at.control is not None:
            row.insert(4, _percent(at.control))
        rows.append(row)
    heads = ["attacker", "leakage over", "mean share", "deviation", "highest", "violated"]
    if found.lead.control is not None:
        heads.insert(4, "mean control")
    typer.echo("")
    table(heads, rows)
    typer.echo("")


def _worth(run: AttackRun) -> str:
    """What follows where an attacker was not shown to learn."""
    if run.audit.is_evidence:
        return ""
    return ": it was not shown to learn from them, so the leakage it claims is no evidence"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _told(finding: Finding, needed: int | None, delta: float, *, evidence: bool) -> str:
    """What the interval says about delta, for this attacker."""
    if finding.verdict == "violated":
        return "no: violated"
    if finding.upper <= delta:
        return "yes, for this attacker"
    if not evidence:
        return "open: it learned nothing"
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
    typer.echo(f"With these strengths: voile text protect FILE {found.protect_options()}")
    if found.caveat:
        typer.echo(found.caveat)
