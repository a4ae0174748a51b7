"""Making a ledger, and the key that goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from voile.errors import InvalidInput
from voile.ledger._options import KeyFile, Where
from voile.ledger.address import is_server
from voile.ledger.book import Ledger
from voile.ledger.filters import Budget
from voile.ledger.people import make_key, read_key
from voile.options import Option, use_case
from voile.report.model import Report
from voile.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class NewLedger(Result):
    """A ledger that was made: where its key lies, and whether that is new too."""

    key_file: str
    new_key: bool

    def _report(self) -> Report:
        made = "and its key" if self.new_key else "for the key"
        return Report(
            title="A new ledger",
            answer=f"Made an empty ledger{',' * self.new_key} {made} {self.key_file}.",
            notes=(
                "Keep a copy of the key elsewhere than the ledger: with both, persons can be "
                "looked up; without it, nothing more can be charged.",
            ),
        )


@use_case("ledger init")
def init(
    ledger: Where,
    *,
    budget: Annotated[
        float | None, Option("A person's budget; default: the first release sets it.", "Budget")
    ] = None,
    budget_delta: Annotated[
        float, Option("Count by moments, which may fail with this probability.", "Budget")
    ] = 0.0,
    budget_leaks: Annotated[
        float,
        Option("The part of --budget-delta for releases that have a delta themselves.", "Budget"),
    ] = 0.0,
    ledger_key: KeyFile = None,
) -> NewLedger:
    """Make an empty ledger, and a key for it that only you can read.

    Without a key file's name the key lies beside the ledger; a key that is there is used.

    Example: `voile ledger init ledger.db --budget 20`
    """
    if budget_delta and budget is None:
        raise InvalidInput("--budget-delta must go with --budget")
    if budget_leaks and not budget_delta:
        raise InvalidInput("--budget-leaks must go with --budget-delta")
    terms = None if budget is None else Budget(budget, delta=budget_delta, leaks=budget_leaks)
    where = str(ledger)
    server = is_server(where)
    if ledger_key is None and server:
        raise InvalidInput("name the file of the key: --ledger-key FILE")
    key_file = Path(ledger_key or f"{where}.key")
    new = not key_file.exists()
    key = make_key(key_file) if new else read_key(key_file)
    try:
        Ledger.create(where, key, budget=terms).close()
    except BaseException:
        if new:
            key_file.unlink(missing_ok=True)
        raise
    return NewLedger(str(key_file), new)
