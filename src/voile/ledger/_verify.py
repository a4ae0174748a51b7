"""Whether a ledger is what was written into it, said to a person."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from voile.audit.finding import Verdict
from voile.errors import InvalidInput
from voile.ledger._options import KeyFile, Where
from voile.ledger.book import Ledger
from voile.ledger.entries import Head
from voile.ledger.people import read_key
from voile.ledger.verification import check_ledger
from voile.options import Option, use_case
from voile.report.model import Report
from voile.report.result import SILENT, Result


@dataclass(frozen=True, repr=False, eq=False)
class Verified(Result):
    """What was read through, and what in it does not agree."""

    whole: bool
    entries: int
    people: int
    head: str
    seals_checked: bool
    problems: tuple[str, ...]
    seen: Head | None = field(default=None, metadata=SILENT)
    """The head last seen with the key."""
    head_noted: bool = field(default=False, metadata=SILENT)
    """Whether a head noted earlier was looked for."""

    @property
    def verdict(self) -> Verdict:
        """Holds only with the seals and an earlier head: without, a forger's ledger agrees too."""
        if self.problems:
            return Verdict.VIOLATED
        anchored = self.head_noted or self.seen is not None
        return Verdict.HOLDS if self.seals_checked and anchored else Verdict.OPEN

    def _report(self) -> Report:
        return Report(
            title="Whether a ledger is whole",
            answer=self._answer(),
            verdict=self.verdict,
            because=self._because(),
            notes=(*(f"CHANGED: {problem}" for problem in self.problems), f"Head {self.head}"),
            cards=(("entries", f"{self.entries:,}"), ("persons", f"{self.people:,}")),
        )

    def _answer(self) -> str:
        if self.problems:
            return "The ledger is not what was written into it."
        kept = "chain, seals and accounts" if self.seals_checked else "chain and accounts"
        return f"{self.entries:,} entries, {self.people:,} persons: {kept} agree."

    def _because(self) -> str:
        if self.problems:
            many = len(self.problems)
            return f"{many} {'thing does' if many == 1 else 'things do'} not agree."
        told = []
        if not self.seals_checked:
            told.append("Seals were not checked: that takes the key (--ledger-key).")
        if self.seen is not None:
            told.append(f"It goes on from entry {self.seen.number}, the last seen with this key.")
        elif not self.head_noted:
            told.append("Whether it was cut back to an earlier state only a noted --head tells.")
        else:
            told.append("The head that was noted is in it.")
        return " ".join(told)


@use_case("ledger verify")
def verify(
    ledger: Where,
    *,
    head: Annotated[
        str | None,
        Option("A head noted earlier: NUMBER:HASH, or a guarantee file that holds it."),
    ] = None,
    ledger_key: KeyFile = None,
) -> Verified:
    """Recompute the chain, the seals and every account; exit with 1 if anything was changed.

    Example: `voile ledger verify ledger.db --head reviews.protected.csv.guarantee.json`
    """
    key = None if ledger_key is None else read_key(ledger_key)
    with Ledger(str(ledger), key) as opened:
        found = check_ledger(opened, head=None if head is None else _noted(head))
    return Verified(
        whole=not found.problems,
        entries=found.entries,
        people=found.people,
        head=str(found.head),
        seals_checked=found.sealed,
        problems=found.problems,
        seen=found.seen,
        head_noted=head is not None,
    )


def _noted(head: str) -> Head:
    """A head as it was printed, or the one in a guarantee file."""
    path = Path(head)
    if ":" in head or not path.is_file():
        return Head.read(head)
    try:
        return Head.read(json.loads(path.read_text("utf-8"))["ledger"]["head"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(f"{path.name} must be a guarantee file with a ledger's head") from None
