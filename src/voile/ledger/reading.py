"""Reading accounts as of the last entry: what the pages hold, and what entries added since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voile.ledger.chain import chained
from voile.ledger.pages import balances, hashes_of, page_numbers, read
from voile.ledger.people import Key
from voile.ledger.replica import added
from voile.ledger.store import Store

Account = tuple[bytes, int, int, int, int]
"""A person's keyed hash, epsilon, moment, delta and number of rows."""


def accounts_at(
    store: Store, key: Key | None, persons: Sequence[bytes] | None = None
) -> Iterator[Account]:
    """All accounts by hash, or these persons' as far as they have one; a state of one moment.

    What is read is checked: against the chain, and with the key against the seals.
    """
    with store.reading():
        front = store.front()
        new = store.entries(front.through)
        since = added(chained(new, after=front.through, front=front, key=key, seen=None))
        numbers = None if persons is None else page_numbers(persons, front.pages)
        accounts = read(store.pages(numbers), front, key, numbers)
        if persons is None:
            wanted = sorted({*hashes_of(accounts), *since})
        else:
            there = {*hashes_of(accounts), *since}
            wanted = [person for person in persons if person in there]
        totals = balances(accounts, wanted)
        for person, amounts in zip(wanted, totals, strict=True):
            more = since.get(person)
            total = (amounts if more is None else amounts + more).tolist()
            yield (person, total[0], total[1], total[2], total[3])
