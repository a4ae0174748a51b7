"""Reading accounts as of the last entry: what the pages hold, and what entries added since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voile.errors import InvalidInput
from voile.ledger.chain import chained
from voile.ledger.pages import balances, hashes_of, page_numbers, read
from voile.ledger.people import Key, person_name
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


class Accounts:
    """What a ledger's owner may ask about persons."""

    store: Store
    key: Key | None

    def spent(self, person: str) -> int:
        """The sum of a person's epsilons, in units."""
        return self.account(person)[0]

    def account(self, person: str) -> tuple[int, int, int, int]:
        """A person's epsilon, moment, delta and number of rows."""
        name = person_name(person)
        found = [] if name is None else list(self.accounts([self._key.person(name)]))
        return found[0][1:] if found else (0, 0, 0, 0)

    def accounts(self, persons: Sequence[bytes] | None = None) -> Iterator[Account]:
        """All accounts, or these persons', as of the last entry; a state of one moment."""
        return accounts_at(self.store, self.key, persons)

    @property
    def _key(self) -> Key:
        if self.key is None:
            raise InvalidInput("the ledger's key is needed for this: give --ledger-key FILE")
        return self.key
