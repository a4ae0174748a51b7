"""Persons by number, so that all that is done for each row of a part is one look-up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import InvalidInput
from voile.ledger.people import HASH_BYTES, Key, person_name

NOBODY, _UNKNOWN = 0, -1
LARGEST = 2**20
"""Persons that are remembered; then all are forgotten and asked for anew."""

_HASH = np.dtype((np.void, HASH_BYTES))
_MOST_DIGITS = 7

Numbers = NDArray[np.intp]
Hashes = NDArray[np.void]


class Register:
    """Numbers for the persons that a process has met.

    They mean nothing outside the process: what is written and hashed are the keyed hashes.

    >>> register = Register(Key(bytes(32)))
    >>> ann, bob, again, nobody, seven, too = register.numbers(["ann", " bob", "ann", "", 7, 7.0])
    >>> bool(ann == again != bob), bool(seven == too), int(nobody)
    (True, True, 0)
    >>> register.numbers(["8", "7", "8"]).tolist() == [4, seven, 4]
    True
    """

    def __init__(self, key: Key | None) -> None:
        self._key = key
        self._by_value: dict[Any, int] = {}
        self._ids = np.empty(0, dtype=np.int32)  # at a plain number, who is called by it
        self._by_hash: dict[bytes, int] = {bytes(HASH_BYTES): NOBODY}
        self._hashes: Hashes = np.zeros(1024, dtype=_HASH)
        self._unwritten: list[bytes] = []  # the last ones, which the array does not hold yet
        self._scratch: Numbers = np.empty(1024, dtype=np.intp)
        self._seen: NDArray[np.bool_] = np.zeros(1024, dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._by_hash)

    def numbers(self, values: Sequence[Any]) -> Numbers:
        """Each value's person; `NOBODY` where it names none."""
        ids = plain_numbers(values)
        if ids is not None:
            return self._by_id(ids)
        try:
            looked_up = map(self._by_value.get, values, repeat(_UNKNOWN))
            found = np.fromiter(looked_up, dtype=np.intp, count=len(values))
        except TypeError:  # a list or the like, which names nobody
            return self.numbers([person_name(value) for value in values])
        missing = np.flatnonzero(found == _UNKNOWN)
        if len(missing):
            found[missing] = self._met([values[place] for place in missing.tolist()])
        return found

    def _met(self, values: Sequence[Any]) -> list[int]:
        """Values that were not seen before."""
        names = [person_name(value) for value in values]
        persons = list(dict.fromkeys(name for name in names if name is not None))
        numbers: dict[str | None, int] = {None: NOBODY}
        if persons:
            found = self.of_hashes(self._keyed.persons(persons)).tolist()
            numbers.update(zip(persons, found, strict=True))
        for value, name in zip(values, names, strict=True):
            # Nobody is not remembered: no NaN equals another, so they would pile up. Nor are 0
            # and 1, to which False and True are equal, who are nobody.
            # Nor large numbers: a float that equals one may stand for its neighbours, for nobody.
            if name is None or value in (0, 1):
                continue
            if isinstance(value, str) or abs(value) < 2**53:
                self._by_value[value] = numbers[name]
        return [numbers[name] for name in names]

    def _by_id(self, ids: NDArray[np.int64]) -> Numbers:
        top = int(ids.max(initial=0)) + 1
        if top > len(self._ids):
            wider = np.full(2 * top, _UNKNOWN, dtype=np.int32)
            wider[: len(self._ids)] = self._ids
            self._ids = wider
        found = self._ids[ids]
        if found.min(initial=0) == _UNKNOWN:
            new = np.sort(ids[found == _UNKNOWN])
            new = new[np.diff(new, prepend=-1) > 0]
            self._ids[new] = self.of_hashes(self._keyed.numbered(new))
            found = self._ids[ids]
        return found.astype(np.intp)

    def of_hashes(self, persons: Sequence[bytes]) -> Numbers:
        """The numbers of keyed hashes; new ones get the next numbers, in the order of hashes.

        So an entry, whose persons go by number, shows nothing of the order of its part's rows; at
        most who of them was met in an earlier part, which earlier entries tell of all they charged.
        """
        known = self._by_hash
        missing = [person for person in persons if person not in known]
        if missing:
            new = np.unique(np.frombuffer(b"".join(missing), dtype=">u8")).view(_HASH).tolist()
            known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
            self._unwritten += new
        return np.fromiter(map(known.__getitem__, persons), dtype=np.intp, count=len(persons))

    @property
    def _keyed(self) -> Key:
        if self._key is None:
            raise InvalidInput("the ledger's key is needed for this: give --ledger-key FILE")
        return self._key

    def hashes(self, numbers: Numbers) -> Hashes:
        """The keyed hashes, one for each; noughts for nobody."""
        if self._unwritten:
            size = len(self)
            if size > len(self._hashes):
                wider = np.zeros(2 * size, dtype=_HASH)
                wider[: len(self._hashes)] = self._hashes
                self._hashes = wider
            new = np.frombuffer(b"".join(self._unwritten), dtype=_HASH)
            self._hashes[size - len(new) : size] = new
            self._unwritten.clear()
        return self._hashes[numbers]

    def grouped(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The distinct persons by number, and for each row which of them."""
        if len(self) > len(self._scratch):
            self._scratch = np.empty(2 * len(self), dtype=np.intp)
            self._seen = np.zeros(2 * len(self), dtype=np.bool_)
        self._seen[numbers] = True
        people = np.flatnonzero(self._seen[: len(self)])
        self._seen[people] = False
        self._scratch[people] = np.arange(len(people))
        return people, self._scratch[numbers]


def plain_numbers(values: Sequence[Any]) -> NDArray[np.int64] | None:
    """The values as numbers if each is one below 10⁷ as `str` writes it, else None.

    Read from the bytes of all values together, which takes a quarter of the time of as many
    look-ups in a dictionary. "07", "+7" and " 7" are not plain: they are left to `person_name`.

    >>> plain_numbers(["12", "0", "7"]), plain_numbers(["12", "07"]), plain_numbers(["12", 7])
    (array([12,  0,  7]), None, None)
    """
    try:
        text = "\n".join(values)
    except TypeError:
        return None
    between = b"\n" * (len(values) - 1)
    if not text.isascii() or text.encode("ascii").translate(None, b"0123456789") != between:
        return None
    found = np.fromstring(text, dtype=np.int64, sep="\n")
    if len(found) != len(values) or int(found.max(initial=0)) >= 10**_MOST_DIGITS:
        return None
    # With a nought in front of any there are more digits than these numbers need.
    needed = len(found) + sum(np.count_nonzero(found >= 10**n) for n in range(1, _MOST_DIGITS))
    return found if needed == len(text) - len(between) else None
