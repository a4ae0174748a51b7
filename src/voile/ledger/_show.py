"""What a ledger holds: totals over all persons, and the accounts of those who are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from voile.ledger._options import KeyFile, Where
from voile.ledger.amounts import NANO, shown
from voile.ledger.book import Ledger
from voile.ledger.people import read_key
from voile.ledger.terms import Terms
from voile.options import Option, use_case
from voile.report.model import Report, Table
from voile.report.result import Result


@dataclass(frozen=True)
class Account:
    """Somebody who was asked for by name; nothing is left or meant before a budget is set."""

    person: str
    rows: int
    spent: float
    left: float | None
    meaning: str


@dataclass(frozen=True, repr=False, eq=False)
class Accounts(Result):
    """What was spent in all, and by the persons who were named."""

    ledger: str
    head: str
    counts: str | None
    budget: float | None
    budget_delta: float
    people: int
    rows: int
    spent: float
    largest_spent: float
    people_without_budget_left: int
    persons: tuple[Account, ...]

    def _records(self) -> tuple[Account, ...]:
        return self.persons

    def _report(self) -> Report:
        """Totals for everybody; persons by name only on the owner's own screen."""
        return Report(
            title="What a ledger holds",
            answer=self._answer(),
            guarantee=() if self.counts is None else (self._sums(),),
            notes=(f"Head {self.head}",),
            about="What was spent",
            cards=() if self.counts is None else self._cards(),
            for_owner=(self._named(),) if self.persons else (),
        )

    def _answer(self) -> str:
        if self.budget is None:
            return "Nothing was charged yet; the first release sets kind and budget."
        delta = f", δ = {self.budget_delta:g}" if self.budget_delta else ""
        budget = f"budget {self.budget:g} a person{delta}"
        if self.counts is None:
            return f"Nothing was charged yet; {budget}; the first release sets what it counts."
        return f"Counts {self.counts}; {budget}."

    def _sums(self) -> str:
        return (
            f"{self.people:,} persons, {self.rows:,} releases charged; the most that one has "
            f"spent is {epsilon_text(self.largest_spent)}; "
            f"{self.people_without_budget_left:,} have nothing left."
        )

    def _cards(self) -> tuple[tuple[str, str], ...]:
        return (
            ("persons", f"{self.people:,}"),
            ("releases charged (of a row, or of a whole trace)", f"{self.rows:,}"),
            ("most spent by one", epsilon_text(self.largest_spent)),
            ("have nothing left", f"{self.people_without_budget_left:,}"),
        )

    def _named(self) -> Table:
        """The accounts that were asked for; of one alone, what its sum means as well."""
        rows = [
            (
                account.person,
                account.rows,
                epsilon_text(account.spent),
                "" if account.left is None else epsilon_text(account.left),
            )
            for account in self.persons
        ]
        meaning = self.persons[0].meaning if len(self.persons) == 1 else ""
        return Table(meaning, ("person", "rows", "spent", "left"), tuple(rows))


@use_case("ledger show")
def show(
    ledger: Where,
    *,
    person: Annotated[
        list[str] | None,
        Option("Somebody to look up; may be repeated; needs the key.", secret=True),
    ] = None,
    ledger_key: KeyFile = None,
) -> Accounts:
    """What was spent in all, and by the persons you name.

    Example: `voile ledger show ledger.db --person 1007 --ledger-key ledger.db.key`
    """
    names = [person] if isinstance(person, str) else person or []
    key = read_key(ledger_key) if names or ledger_key is not None else None
    with Ledger(str(ledger), key) as opened:
        terms = opened.terms()
        return Accounts(
            ledger=opened.identity,
            head=str(opened.head),
            counts=None if terms is None or terms.kind is None else str(terms.kind),
            budget=None if terms is None else terms.budget.epsilon,
            budget_delta=0.0 if terms is None else terms.budget.delta,
            persons=tuple(_account(opened, terms, name) for name in names),
            **_totals(opened, terms),
        )


def _totals(ledger: Ledger, terms: Terms | None) -> dict[str, Any]:
    """Counts and sums over all persons; read once through, whatever the number of persons."""
    people = rows = total = largest = spent_up = 0
    for _, epsilon, _, _, released in ledger.accounts():
        people += released > 0
        rows += released
        total += epsilon
        largest = max(largest, epsilon)
        spent_up += terms is not None and epsilon >= terms.budget.epsilon_limit
    return {
        "people": people,
        "rows": rows,
        "spent": float(shown(total)),
        "largest_spent": float(shown(largest)),
        "people_without_budget_left": spent_up,
    }


def _account(ledger: Ledger, terms: Terms | None, name: str) -> Account:
    epsilon, _, _, rows = ledger.account(name)
    spent = float(shown(epsilon))
    if terms is None:
        return Account(name, rows, spent, None, "")
    meaning = terms.sentence(epsilon) if rows else "Nothing was released."
    return Account(name, rows, spent, float(shown(terms.left(epsilon))), meaning)


def epsilon_text(value: float) -> str:
    """An epsilon as the ledger holds it, without a tail of digits."""
    return shown(round(value * NANO))
