"""Accounts on pages: sums of entries up to some entry, sealed, and read where they are needed.

Persons go by the first bits of their hashes to 2ᵏ pages. A page's seal covers its content, its
number, how many pages there are and the entry that they reach to; that entry and the number of
pages stand on the sealed first page. So a page of an older state is told, and since a person's page
is known by the hash alone, so is an account that was left out: there is no other place for it. All
pages are written anew together, after at least as many charges as there are accounts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from voile.errors import BadFile
from voile.ledger.amounts import Whole
from voile.ledger.entries import COLUMNS
from voile.ledger.people import HASH_BYTES, Key
from voile.ledger.store import Front, Page

PER_PAGE = 32
_ACCOUNT = np.dtype([("person", ">u8"), ("amounts", "<i8", (COLUMNS,))])

Accounts = NDArray[np.void]
"""Persons by hash with four amounts each, sorted."""


def accounts_of(persons: Sequence[bytes], totals: Whole) -> Accounts:
    """Accounts of these persons, sorted by hash."""
    found = np.empty(len(persons), dtype=_ACCOUNT)
    found["person"] = np.frombuffer(b"".join(persons), dtype=">u8")
    found["amounts"] = totals
    return found[np.argsort(_numbers(found))]


def merged(older: Accounts, newer: Accounts) -> Accounts:
    """Both, the newer one where a person is in both."""
    kept = older[~np.isin(_numbers(older), _numbers(newer))]
    both = np.concatenate([kept, newer], dtype=_ACCOUNT)  # else in the machine's byte order
    return both[np.argsort(_numbers(both))]


def balances(accounts: Accounts, persons: Sequence[bytes]) -> Whole:
    """Four amounts for each person, noughts for one without an account."""
    wanted = np.frombuffer(b"".join(persons), dtype=">u8").astype(np.uint64)
    found = np.zeros((len(wanted), COLUMNS), dtype=np.int64)
    if len(accounts) and len(wanted):
        there_are = _numbers(accounts)
        places = np.minimum(np.searchsorted(there_are, wanted), len(accounts) - 1)
        there = there_are[places] == wanted
        found[there] = accounts["amounts"][places[there]]
    return found


def hashes_of(accounts: Accounts) -> list[bytes]:
    """The persons' hashes."""
    return list(accounts["person"].astype(">u8").view(f"V{HASH_BYTES}").tolist())


def page_numbers(persons: Sequence[bytes], pages: int) -> list[int]:
    """The pages on which these persons' accounts would stand, each once."""
    if not pages or not persons:
        return []
    hashes = np.frombuffer(b"".join(persons), dtype=">u8").astype(np.uint64)
    return [int(n) for n in np.unique(_page(hashes, pages))]


def pages_for(people: int, before: int) -> int:
    """How many pages: a power of two, about 32 persons on each; never fewer than before."""
    wanted = 1
    while wanted * PER_PAGE < people:
        wanted *= 2
    return max(wanted, before)


def written(accounts: Accounts, front: Front, key: Key) -> Iterator[Page]:
    """All pages that hold these accounts, sealed for a first page."""
    where = _page(_numbers(accounts), front.pages)
    ends = np.searchsorted(where, np.arange(front.pages + 1)).tolist()
    for number in range(front.pages):
        content = accounts[ends[number] : ends[number + 1]].tobytes()
        yield number, content, _seal(key, front, number, content)


def read(
    pages: Iterable[Page], front: Front, key: Key | None, numbers: Sequence[int] | None = None
) -> Accounts:
    """The accounts of pages, each checked against its seal (if there is a key) and its place.

    All pages must come, or those of `numbers`; one that is missing is an error like one that was
    changed.
    """
    wanted = range(front.pages) if numbers is None else numbers
    contents: dict[int, bytes] = {}
    for number, content, seal in pages:
        whole = isinstance(content, bytes) and len(content) % _ACCOUNT.itemsize == 0
        if not whole or (key is not None and _seal(key, front, number, content) != seal):
            raise changed(f"accounts on page {number} are not what was written")
        contents[number] = content
    missing = [number for number in wanted if number not in contents]
    if missing:
        raise changed(f"{len(missing)} of {len(wanted)} pages of accounts are missing")
    joined = b"".join(contents[number] for number in wanted)
    return np.frombuffer(joined, dtype=_ACCOUNT)


def changed(what: str) -> BadFile:
    """A ledger that is not what was written into it: nothing more is charged."""
    return BadFile(
        f"the ledger was changed by somebody without its key: {what}; nothing is charged; "
        "`voile ledger verify` lists what differs, go on with the newest copy that verifies"
    )


def _numbers(accounts: Accounts) -> NDArray[np.uint64]:
    """The hashes as numbers of this machine: of the same order as their bytes."""
    return np.asarray(accounts["person"].astype(np.uint64))


def _page(hashes: NDArray[np.uint64], pages: int) -> NDArray[np.int64]:
    bits = pages.bit_length() - 1
    if not bits:
        return np.zeros(len(hashes), dtype=np.int64)
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


def _seal(key: Key, front: Front, number: int, content: bytes) -> bytes:
    place = f"{front.identity} {front.through} {front.pages} {number} ".encode()
    return key.page_seal(place + content)
