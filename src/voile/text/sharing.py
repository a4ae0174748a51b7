"""Texts of one person, or of one file, that share draws: whose each is, and what all cost."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.keyed_streams import KeyedStreams
from voile.errors import InvalidInput
from voile.files import no_such_column
from voile.files.rows import RowProblem
from voile.jobs import Batch, BeyondBudget
from voile.jobs.settings import LedgerChoice
from voile.ledger import Bill
from voile.ledger.people import person_name
from voile.text.consistent import Scope, SharedDraws
from voile.text.plan import Plan
from voile.text.word_protector import TextProtector

if TYPE_CHECKING:
    from voile.text.releaser import MakeTextReleaser, TextReleaser

Codes = NDArray[np.int64]
"""Distinct words of a level: level · size of the vocabulary + word."""
Look = Mapping[str, Codes]
"""What a part holds of each person."""


@dataclass(frozen=True)
class Sharing:
    """What each part of a job must know to draw as the others do. It travels to workers.

    `person` is the column that says whose a text is; without one the file is one scope. `unpaid`
    are persons whom a ledger has refused. `persons` says of each part how many persons that occur
    in it first have so many distinct words: what `Tally` reads.
    """

    key: bytes = field(repr=False)
    person: str | None = field(default=None, repr=False)
    unpaid: frozenset[str] = field(default=frozenset(), repr=False)
    persons: Mapping[int, Mapping[str, int]] = field(default_factory=dict, repr=False)

    def problems(self, owners: Sequence[str | None]) -> Iterator[tuple[int, RowProblem]]:
        """Rows of nobody, and of persons whose budget does not cover all of their rows."""
        for place, owner in enumerate(owners):
            if owner is None:
                yield place, RowProblem(f"the column {self.person!r} names no person")
            elif owner in self.unpaid:
                yield place, BeyondBudget()

    def draws(self, owners: Sequence[str | None]) -> SharedDraws:
        """The streams of texts of these owners."""
        names = [(owner or "").encode("utf-8", "surrogatepass") for owner in owners]
        return SharedDraws(KeyedStreams(self.key), names)


def owners_of(batch: Batch, person: str | None) -> list[str | None]:
    """Whose each row is, named as a ledger names persons; the empty name without a column."""
    if person is None:
        return [""] * len(batch)
    return [_owner(value) for value in batch.column(person)]


def _owner(value: Any) -> str | None:
    name = person_name(value)
    return None if name is None else unicodedata.normalize("NFC", name)


def look_at(plans: Sequence[Any], owners: Sequence[str | None], words: int) -> Look:
    """The distinct words of each person in some planned texts, those that can be released."""
    found: dict[str, set[tuple[int, int]]] = {}
    for plan, owner in zip(plans, owners, strict=True):
        if isinstance(plan, Plan) and owner is not None:
            found.setdefault(owner, set()).update(plan.distinct)
    return {
        owner: np.array(sorted(level * words + word for level, word in distinct), dtype=np.int64)
        for owner, distinct in found.items()
    }


@dataclass(frozen=True)
class MakeSharing:
    """Makes the releasers of a job whose parts share draws."""

    make: MakeTextReleaser
    protector: TextProtector
    person: str | None

    @property
    def looking(self) -> Callable[[], TextReleaser] | None:
        """A look is needed for what a person spends; a file's words have no owner."""
        return self.make if self.person is not None else None

    def owed(self, looks: Sequence[Look]) -> tuple[Sequence[str], Bill]:
        """Each person's distinct words of the whole file, once."""
        draws = self._draws(looks)
        return list(draws), Bill.listed([self.protector.costs(each) for each in draws.values()])

    def told(self, key: bytes, looks: Sequence[Look], unpaid: frozenset[str]) -> MakeTextReleaser:
        """Releasers that know the key, and what each person spends."""
        draws, first = self._draws(looks), _first(looks)
        persons: dict[int, dict[str, int]] = {}
        for person, each in draws.items():
            if person not in unpaid:
                counted = persons.setdefault(first[person], {})
                name = "persons " + ",".join(map(str, each))
                counted[name] = counted.get(name, 0) + 1
        return replace(self.make, sharing=Sharing(key, self.person, unpaid, persons))

    def _draws(self, looks: Sequence[Look]) -> dict[str, tuple[int, ...]]:
        """How many distinct words of each level each person has in all parts together."""
        found: dict[str, list[Codes]] = {}
        for look in looks:
            for person, codes in look.items():
                found.setdefault(person, []).append(codes)
        words, levels = len(self.protector.vocabulary.embedding), len(self.protector.levels)
        return {
            person: tuple(
                np.bincount(np.unique(np.concatenate(codes)) // words, minlength=levels).tolist()
            )
            for person, codes in found.items()
        }


def _first(looks: Sequence[Look]) -> dict[str, int]:
    """The part in which each person occurs first."""
    first: dict[str, int] = {}
    for part, look in enumerate(looks):
        for person in look:
            first.setdefault(person, part)
    return first


def check_person(scope: Scope | None, charge: LedgerChoice, columns: Sequence[str]) -> LedgerChoice:
    """What a scope asks of the options of persons; those that are left for a ledger."""
    if scope is Scope.FILE and charge.ledger is not None:
        raise InvalidInput(
            "--ledger must not go with --consistent file: a draw belongs to everybody who uses "
            "the word, so what it gives away of a person hangs on what others wrote; choose "
            "person or document"
        )
    if scope is not Scope.PERSON:
        return charge
    if charge.person is None:
        raise InvalidInput(
            "--consistent person must go with --person, the column that says whose row it is"
        )
    if charge.person not in columns:
        raise no_such_column(charge.person, columns, what="--person")
    return charge if charge.ledger is not None else replace(charge, person=None)
