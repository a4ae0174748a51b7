"""The demo's closing page: the report of each step, and a table of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from voile.audit.finding import Verdict
from voile.demo.steps import Step
from voile.report.model import Provenance, Report, Table, combined


def demo_report(steps: Sequence[Step], *, provenance: Provenance) -> Report:
    """One report of all steps. Their claims differ, so there is no verdict on all of them."""
    parts = [step.report for step in steps]
    found = combined("What voile does", parts, answer=_answer(steps), provenance=provenance)
    return replace(found, verdict=None, because="", tables=(_overview(steps),))


def _answer(steps: Sequence[Step]) -> str:
    made = sum(step.result.releases for step in steps)
    refuted = [step.title for step in steps if step.report.verdict is Verdict.VIOLATED]
    told = (
        f"A claim was refuted by: {'; '.join(refuted)}" if refuted else "No claim was found broken."
    )
    return (
        f"On made-up people, places and records, voile made {made} releases and attacked them. "
        f"{told} How much still shows is measured below, step by step."
    )


def _overview(steps: Sequence[Step]) -> Table:
    rows = [(s.title, s.command or s.note, str(s.report.verdict or "")) for s in steps]
    return Table("The steps, and the command for each", ("step", "command", "claim"), tuple(rows))
