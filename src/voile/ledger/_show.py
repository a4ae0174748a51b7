"""Making a ledger, and reading it: totals, single persons, everything, and whether it is whole."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from voile.errors import InvalidInput
from voile.ledger import (
    Budget,
    Head,
    Key,
    Ledger,
    Terms,
    Verification,
    make_key,
    read_key,
    shown,
    verify,
)
from voile.ledger.address import is_server
from voile.ledger.amounts import NANO


@dataclass(frozen=True)
class MadeLedger:
    """A new ledger and the key that goes with it."""

    where: str
    key_file: str
    new_key: bool


def init_ledger(
    where: str,
    *,
    key_file: str | None = None,
    budget: float | None = None,
    delta: float = 0.0,
) -> MadeLedger:
    """An empty ledger, and a new key if there is none in that file."""
    if delta and budget is None:
        raise InvalidInput("--budget-delta must go with --budget")
    terms = None if budget is None else Budget(budget, delta=delta)
    server = is_server(where)
    if key_file is None:
        if server:
            raise InvalidInput("name the file of the key: --ledger-key FILE")
        key_file = f"{where}.key"
    new = not Path(key_file).exists()
    key = make_key(key_file) if new else read_key(key_file)
    try:
        Ledger.create(where, key, budget=terms).close()
    except BaseException:
        if new:
            Path(key_file).unlink(missing_ok=True)
        raise
    return MadeLedger(where, key_file, new)


def show_ledger(
    where: str, *, persons: Sequence[str] = (), key_file: str | None = None
) -> dict[str, Any]:
    """Totals over all persons, and what the named ones have spent and have left."""
    ledger = _opened(where, key_file, needed=bool(persons))
    terms = ledger.terms()
    facts: dict[str, Any] = {
        "ledger": ledger.identity,
        "head": str(ledger.head),
        "counts": None if terms is None or terms.kind is None else str(terms.kind),
        "budget": None if terms is None else terms.budget.epsilon,
        "budget_delta": 0.0 if terms is None else terms.budget.delta,
        **_totals(ledger, terms),
    }
    if persons:
        facts["persons"] = [_person(ledger, terms, name) for name in persons]
    ledger.close()
    return facts


def _totals(ledger: Ledger, terms: Terms | None) -> dict[str, Any]:
    """Counts and sums, read once through, whatever the number of persons."""
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


def _person(ledger: Ledger, terms: Terms | None, name: str) -> dict[str, Any]:
    epsilon, _, _, rows = ledger.account(name)
    answer: dict[str, Any] = {"person": name, "rows": rows, "spent": float(shown(epsilon))}
    if terms is not None:
        answer["left"] = float(shown(terms.left(epsilon)))
        answer["meaning"] = terms.sentence(epsilon) if rows else "Nothing was released."
    return answer


def export_ledger(where: str, file: TextIO, *, entries: bool = False) -> int:
    """All accounts as CSV, or all entries as JSON lines; the number of lines.

    Persons appear as their keyed hashes. Needs no key.
    """
    ledger = Ledger(where, None)
    count = 0
    if entries:
        for line in _entry_lines(ledger):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    else:
        terms = ledger.terms()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["person", "rows", "spent", "left"])
        for person, epsilon, _, _, rows in ledger.accounts():
            left = "" if terms is None else shown(terms.left(epsilon))
            writer.writerow([person.hex(), rows, shown(epsilon), left])
            count += 1
    ledger.close()
    return count


def _entry_lines(ledger: Ledger) -> Iterator[dict[str, Any]]:
    for entry in ledger.store.entries():
        table = entry.table().tolist()
        charges = [
            {"person": person.hex(), "spent": shown(amounts[0]), "rows": amounts[3]}
            for person, amounts in zip(entry.hashes(), table, strict=True)
        ]
        yield {
            "number": entry.number,
            "event": entry.event,
            "time": entry.time,
            "job": entry.job,
            "part": entry.part,
            "rows": entry.rows,
            "rows_within": int(entry.decisions().sum()),
            "charges": charges,
            "facts": entry.known(),
            "hash": entry.digest.hex(),
        }


def verify_ledger(
    where: str, *, key_file: str | None = None, head: str | None = None
) -> Verification:
    """Chain, seals (with the key), accounts and, if one was noted, the head."""
    ledger = _opened(where, key_file, needed=False)
    found = verify(ledger, head=None if head is None else _noted(head))
    ledger.close()
    return found


def _noted(head: str) -> Head:
    """A head as it was printed, or the one in a guarantee file."""
    path = Path(head)
    if ":" in head or not path.is_file():
        return Head.read(head)
    try:
        return Head.read(json.loads(path.read_text("utf-8"))["ledger"]["head"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(f"{path.name} must be a guarantee file with a ledger's head") from None


def _opened(where: str, key_file: str | None, *, needed: bool) -> Ledger:
    key: Key | None = read_key(key_file) if needed or key_file is not None else None
    return Ledger(where, key)


def epsilon_text(value: float) -> str:
    """An epsilon as the ledger holds it, without a tail of digits."""
    return shown(round(value * NANO))
