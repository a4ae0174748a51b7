"""The result of running figures again: a list, or outcomes, and their report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from voile.report.model import Report, Table
from voile.report.result import Result
from voile.reproducing.experiment import DOES_NOT, ENDLESS, HOLDS, Outcome
from voile.reproducing.papers import PAPERS, entry


@dataclass(frozen=True)
class Listed:
    """One figure, table or theorem that there is."""

    id: str
    item: str
    says: str
    small: str
    paper_size: str
    instead: str


@dataclass(frozen=True, repr=False, eq=False)
class Reproduced(Result):
    """What was run again and what came out; without names, what there is to run."""

    outcomes: tuple[Outcome, ...]
    listed: tuple[Listed, ...] = ()

    def _records(self) -> tuple[Any, ...]:
        return self.outcomes or self.listed

    def _report(self) -> Report:
        if not self.outcomes:
            return self._list()
        verdicts = [outcome.verdict for outcome in self.outcomes]
        told = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
        first = self.outcomes[0]
        alone = f"{_title(first)}: {first.verdict}."
        return Report(
            title="The papers, run again",
            about="What was run",
            answer=alone if len(verdicts) == 1 else f"{len(verdicts)} of them: {told}.",
            guarantee=tuple(f"{_title(o)}: {o.setting}." for o in self.outcomes),
            tables=tuple(table for o in self.outcomes for table in _tables(o)),
            notes=(
                "Intervals are of our own run; a verdict is about the claim at this size and on "
                "this data, not about the paper's own numbers.",
            ),
        )

    def _list(self) -> Report:
        return Report(
            title="What there is to run again",
            answer=(
                f"{sum(not one.instead for one in self.listed)} of {len(self.listed)} entries can "
                "be run: `voile reproduce teda-3 --size small --out FOLDER`."
            ),
            tables=tuple(self._table(paper) for paper in PAPERS),
        )

    def _table(self, paper: str) -> Table:
        rows = [one for one in self.listed if one.id.startswith(f"{paper}-")]
        return Table(
            PAPERS[paper],
            ("name", "what", "small", "paper"),
            tuple((o.id, o.item, o.small or o.instead, o.paper_size) for o in rows),
        )


def _title(outcome: Outcome) -> str:
    one = entry(outcome.id)
    return f"{outcome.id} ({one.paper.upper()}, {one.item}), {outcome.size}"


def _tables(outcome: Outcome) -> list[Table]:
    words = {True: HOLDS, False: DOES_NOT, None: "cannot be told at this size"}
    return [
        Table(
            f"{_title(outcome)}: what the paper says",
            ("claim", "here"),
            tuple((claim.says, words[claim.holds]) for claim in outcome.claims),
        ),
        Table(
            f"{_title(outcome)}: what we find ({outcome.seconds:.0f} CPU s)",
            ("what", "ours", "from", "to", "paper"),
            tuple(
                (m.what, *map(_endless, (m.ours, m.lower, m.upper)), m.theirs or None)
                for m in outcome.measured
            ),
        ),
    ]


def _endless(value: float | None) -> float | None:
    return math.inf if value is not None and value >= ENDLESS else value
