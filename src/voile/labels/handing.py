"""Options of releases that are handed on again, or in a random order: a memo, and shuffling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from voile.core.guarantee import Basis
from voile.core.rounding import at_most
from voile.errors import InvalidInput, require
from voile.files.columns_in_clear import ColumnsInClear
from voile.jobs.settings import LedgerChoice, Running
from voile.labels.protection import Protection
from voile.leakage.shuffling import shuffled_guarantee
from voile.options import Option, Options

WHOLE_FILE = 2**40
"""Rows in a part that holds them all."""


@dataclass(frozen=True)
class Handing(Options):
    """What is done so that rows can be handed on again, or without saying whose is which."""

    shuffle: Annotated[
        bool,
        Option(
            "For cf, ldp and sample: release the rows in a random order, and state the (ε, δ) of "
            "the whole file too. All rows are held in memory.",
            "How strong",
        ),
    ] = False
    delta: Annotated[
        float, Option("With --shuffle: the δ of what is stated.", "How strong", shown=True)
    ] = 1e-6
    memo: Annotated[
        str | None,
        Option(
            "For sample, with --person: a secret file, made if it is not there, by which a person "
            "who reports the same record again gets the same report.",
            "Budget",
            secret=True,
        ),
    ] = None

    def check(self, mechanism: str, charge: LedgerChoice) -> None:
        """Refuse what does not go together."""
        require(0 < self.delta < 1, "--delta", "between 0 and 1", self.delta)
        if self.shuffle and mechanism in ("rr", "prior"):
            raise InvalidInput(
                "--shuffle must go with cf, ldp or sample: features in clear say whose row it is"
            )
        if self.memo is None:
            return
        if mechanism != "sample":
            raise InvalidInput("--memo must go with --mechanism sample")
        if self.shuffle:
            raise InvalidInput(
                "--memo must not go with --shuffle: reports that a person repeats are not drawn "
                "independently, and the (ε, δ) of shuffling is for those that are"
            )
        if charge.person is None or charge.ledger is not None:
            raise InvalidInput(
                "--memo must go with --person, the column that says whose record it is, and "
                "without --ledger, which would charge the same report again"
            )

    def running(self, running: Running) -> Running:
        """Shuffled rows are one part, so that any row can come out in any place."""
        from dataclasses import replace

        return replace(running, batch_rows=WHOLE_FILE) if self.shuffle else running

    def check_bound(
        self, protection: Protection, clear: ColumnsInClear, count: Callable[[], int]
    ) -> None:
        """Refuse to shuffle what shuffling does not hide, before anything is drawn."""
        if not self.shuffle:
            return
        if clear.passed:
            raise InvalidInput(
                "--shuffle must go without columns in clear, which say whose row it is; use --drop"
            )
        if protection.local is None or protection.local.basis is Basis.CLAIMED:
            raise InvalidInput("--shuffle must go with a public recipe, for its bound to be stated")
        shuffled_guarantee(protection.local, records=1, delta=self.delta)
        records = count()
        if self.delta * records > 1:
            raise InvalidInput(
                f"--delta must be at most 1 in {records:,}, the number of records, got "
                f"{self.delta:g}: a larger δ allows that some record is shown as it is"
            )


@dataclass(frozen=True)
class Shuffling:
    """What holds of a whole file in a random order, for somebody who sees nothing else."""

    records: int
    epsilon: float
    delta: float
    local_epsilon: float

    @classmethod
    def of(cls, protection: Protection, *, records: int, delta: float) -> Shuffling:
        """The bound of so many shuffled reports; the local one where shuffling gains nothing."""
        assert protection.local is not None  # `check_bound` asked
        found = shuffled_guarantee(protection.local, records=max(1, records), delta=delta)
        return cls(records, found.epsilon, found.delta, protection.local.epsilon)

    def sentence(self) -> str:
        """What was shuffled, and what that gives."""
        local = f"ε = {at_most(self.local_epsilon, digits=4)} holds for each record by itself"
        if self.epsilon >= self.local_epsilon:
            return (
                f"The rows are in a random order. {self.records:,} records are too few for that to "
                f"give more: {local}."
            )
        return (
            f"The rows are in a random order: to somebody who sees this file and nothing else, all "
            f"{self.records:,} records together are (ε = {at_most(self.epsilon, digits=4)}, "
            f"δ = {at_most(self.delta)})-private for one record (central; Feldman, McMillan, "
            f"Talwar 2021, theorem III.1). To whoever saw rows before, or knows when each came, "
            f"{local}."
        )
