"""A budget for each person: what was released about whom, added up, durable and tamper-evident.

The sum over a person's releases bounds what all of them together can tell about that person. The
ledger keeps it: charged before the release, once for each part of a job, under one lock for all
processes, by keyed hash instead of by name.
"""

from voile.ledger.amounts import Bill, Cost, shown, simple_cost, stated
from voile.ledger.book import Ledger
from voile.ledger.entries import Entry, Event, Head
from voile.ledger.filters import Budget
from voile.ledger.kinds import Kind
from voile.ledger.people import Key, make_key, person_name, read_key
from voile.ledger.receipt import Receipt
from voile.ledger.terms import Terms
from voile.ledger.verify import Verification, verify

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
    "make_key",
    "person_name",
    "read_key",
    "shown",
    "simple_cost",
    "stated",
    "verify",
]
