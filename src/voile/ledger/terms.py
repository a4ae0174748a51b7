"""What a ledger was opened for: one kind of epsilon, one budget a person."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from voile.core.rounding import exp_upwards, odds_at_most
from voile.errors import BadFile, InvalidInput
from voile.ledger.amounts import shown, stated
from voile.ledger.filters import Budget
from voile.ledger.kinds import Kind


@dataclass(frozen=True)
class Terms:
    """The kind that is counted and what a person may spend; fixed with the first charge."""

    kind: Kind | None
    """None as long as no release has said what it spends."""

    budget: Budget

    @classmethod
    def read(cls, text: str) -> Terms:
        """From the JSON that `text` writes."""
        return _read(text)

    def text(self) -> str:
        """As the ledger holds it."""
        budget = {name: getattr(self.budget, name) for name in ("epsilon", "delta", "leaks")}
        kind = None if self.kind is None else self.kind.facts()
        return json.dumps({"kind": kind, "budget": budget}, sort_keys=True)

    def facts(self) -> dict[str, Any]:
        """For a program to read."""
        return dict(json.loads(self.text()))

    def left(self, epsilon: int) -> int:
        """What the sum of epsilons leaves of the budget, in units; by moments there may be more."""
        return max(0, self.budget.epsilon_limit - epsilon)

    def sentence(self, spent: int) -> str:
        """What a person who has spent so much can rely on."""
        if self.kind is None:
            return "Nothing was released."
        unit, noun = self.kind.unit, self.kind.granularity.removeprefix("one ")
        odds = odds_at_most(exp_upwards(stated(spent)))
        pair = (
            f"whatever all {noun}s of the person were"
            if self.kind.bounded
            else f"two lives in which no {noun} is more than 1 {unit} apart"
        )
        text = (
            f"All releases together: {pair}, the odds change by at most e^{shown(spent)} = {odds}"
        )
        if self.budget.delta and spent > self.budget.epsilon_limit:
            text += (
                f"; by moments at most e^{shown(self.budget.epsilon_limit)}, except with "
                f"probability {self.budget.delta:g}"
            )
        return text + "."


@lru_cache(maxsize=16)
def _read(text: str) -> Terms:
    """Kept: it is read for each part of a job, and a budget's limits take a while to compute."""
    try:
        facts = json.loads(text)
        kind = facts["kind"]
        return Terms(None if kind is None else Kind.read(kind), Budget(**facts["budget"]))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, InvalidInput):
        raise BadFile(
            "the ledger's kind and budget are not what was written; it was changed or is damaged: "
            "see `voile ledger verify`, or bring back a backup"
        ) from None


def chosen_budget(before: Terms | None, budget: Budget | None) -> Budget:
    """The budget that is meant; one without a delta keeps the delta that was set."""
    if before is None:
        if budget is None:
            raise InvalidInput("the first release into a ledger must set its --budget")
        return budget
    if budget is None:
        return before.budget
    return budget if budget.delta else replace(before.budget, epsilon=budget.epsilon)


def refuse_change(before: Terms, kind: Kind, budget: Budget) -> None:
    """Say why kind or budget cannot be changed any more."""
    if before.kind is not None and before.kind != kind:
        raise InvalidInput(
            f"the ledger is of another metric: it counts {before.kind}, this release spends {kind} "
            f"(they differ in {before.kind.differs_in(kind)}); keep a ledger for each"
        )
    raise InvalidInput(
        f"the ledger's budget must stay what it is, {before.budget}; got {budget}; leave out "
        "--budget, or begin a new ledger"
    )
