"""What a charge hands back, and what tells one request from another."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from voile.ledger.amounts import Bill, Bools, Whole
from voile.ledger.register import Hashes


@dataclass(frozen=True)
class Receipt:
    """Which rows may be released, and whether this was decided in an earlier run."""

    within: Bools
    named: Bools
    """Rows that name a person; no other is ever within."""

    replayed: bool
    settle: Callable[[], None]
    """Returns once the charge is on disk, and raises if it could not be written."""


def on_disk() -> None:
    """What has ended already needs no waiting."""


def request_digest(persons: Hashes, prices: Whole, bill: Bill) -> bytes:
    """What was asked for: resuming with other rows under the same part would be seen."""
    content = hashlib.sha256(persons.tobytes())
    content.update(prices.astype("<i8").tobytes())
    content.update(bill.which.astype("<i4").tobytes())
    return content.digest()
