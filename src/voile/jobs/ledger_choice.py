"""How a release is charged to a ledger, the same for text, places and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from voile.core.guarantee import Guarantee
from voile.errors import InvalidInput
from voile.files import no_such_column
from voile.jobs import Charging, JobReport, WhenSpent
from voile.jobs.settings import LedgerChoice
from voile.ledger import Budget, Kind, read_key, shown


def charging_for(
    choice: LedgerChoice,
    guarantee: Guarantee,
    columns: Sequence[str],
    *,
    seed: int | None,
) -> Charging | None:
    """The charging of a job, once ledger, key, kind and budget agree; None without a ledger."""
    if not choice.agreed():
        return None
    assert choice.ledger is not None  # as agreed
    assert choice.person is not None
    if seed is not None:
        raise InvalidInput(
            "a ledger counts releases, and what a seed draws must not be released; "
            "leave out --seed or --ledger"
        )
    if choice.person not in columns:
        raise no_such_column(choice.person, columns, what="--person")
    charging = Charging(
        choice.ledger, read_key(choice.ledger_key), choice.person, WhenSpent(choice.over_budget)
    )
    budget = None if choice.budget is None else Budget(choice.budget)
    charging.ledger.agree(Kind.of(guarantee), budget)
    return replace(charging, seen=charging.ledger.head)


@dataclass(frozen=True)
class Charged:
    """What a guarantee file says about the ledger that was charged."""

    identity: str
    job: str
    person_column: str
    counts: str
    budget: float
    budget_delta: float
    over_budget: str
    rows_over_budget: int
    head: str
    promise: str

    def sentences(self) -> tuple[str, ...]:
        """What the ledger did, after a release."""
        lines = [self.promise]
        if self.rows_over_budget:
            done = {"mask": "masked", "drop": "left out"}[self.over_budget]
            lines.append(f"{self.rows_over_budget:,} rows were beyond their budget and are {done}.")
        number = self.head.split(":")[0]
        return (*lines, f"Ledger at entry {number}; its head is in the guarantee file.")


def charged(charging: Charging | None, report: JobReport) -> Charged | None:
    """What was charged for a finished job; nothing without a ledger."""
    if charging is None:
        return None
    ledger = charging.ledger
    terms = ledger.terms()
    assert terms is not None  # agreed on before the job began
    limit = terms.budget.epsilon_limit
    by_moments = f", or by moments δ = {terms.budget.delta:g}" if terms.budget.delta else ""
    return Charged(
        identity=ledger.identity,
        job=report.job,
        person_column=charging.person,
        counts=str(terms.kind),
        budget=terms.budget.epsilon,
        budget_delta=terms.budget.delta,
        over_budget=str(charging.when_spent),
        rows_over_budget=report.over_budget,
        head=str(ledger.head),
        promise=f"No person's releases in this ledger add up to more than {shown(limit)} "
        f"({terms.kind}){by_moments}; what stands in clear is not counted.",
    )
