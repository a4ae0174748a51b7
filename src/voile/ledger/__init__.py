"""A budget for each person: what was released about whom, added up, durable and tamper-evident.

The sum over a person's releases bounds what all of them together can tell about that person. The
ledger keeps it: charged before the release, once for each part of a job, under one lock for all
processes, by keyed hash instead of by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voile.ledger.amounts import Bill, Cost, shown, simple_cost, stated
from voile.ledger.book import Ledger
from voile.ledger.entries import Entry, Event, Head
from voile.ledger.filters import Budget
from voile.ledger.kinds import Kind
from voile.ledger.people import Key, make_key, person_name, read_key
from voile.ledger.receipt import Receipt
from voile.ledger.terms import Terms
from voile.ledger.verification import Verification, check_ledger

if TYPE_CHECKING:
    from voile.ledger._export import export
    from voile.ledger._init import init
    from voile.ledger._keep import backup, migrate
    from voile.ledger._show import show
    from voile.ledger._verify import verify

_USE_CASES = {
    "abandon": "voile.jobs._abandon",
    "backup": "voile.ledger._keep",
    "export": "voile.ledger._export",
    "init": "voile.ledger._init",
    "migrate": "voile.ledger._keep",
    "show": "voile.ledger._show",
    "verify": "voile.ledger._verify",
}
"""The commands; a name loads on first use, since their reports need more than a charge does."""

__all__ = [
    "Bill",
    "Budget",
    "Cost",
    "Entry",
    "Event",
    "Head",
    "Key",
    "Kind",
    "Ledger",
    "Receipt",
    "Terms",
    "Verification",
    "abandon",
    "backup",
    "check_ledger",
    "export",
    "init",
    "make_key",
    "migrate",
    "person_name",
    "read_key",
    "show",
    "shown",
    "simple_cost",
    "stated",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _USE_CASES:
        return getattr(import_module(_USE_CASES[name]), name)
    raise AttributeError(f"module 'voile.ledger' has no attribute {name!r}")
