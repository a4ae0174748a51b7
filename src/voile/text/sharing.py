"""Texts of one person, or of one file, that share draws: whose each is, and what all cost.

Where stand-ins are the same in several texts, or are to be kept, they are allotted here, once, from
what was seen in all texts: none stands for two things, and each text finds its own in a table.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
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
from voile.text.mapping import Keeper, job_name, mapping_of
from voile.text.plan import Plan, Thing
from voile.text.standins import Allotment
from voile.text.word_protector import TextProtector

if TYPE_CHECKING:
    from voile.text.releaser import MakeTextReleaser, TextReleaser

Codes = NDArray[np.int64]
"""Distinct words of a level: level · size of the vocabulary + word."""


@dataclass(frozen=True)
class Look:
    """What a part holds: the distinct words of each person, and things in their scopes, in order.

    `owners` says whose a scope is, where that is known.
    """

    words: Mapping[str, Codes] = field(repr=False)
    things: Sequence[tuple[str, Thing]] = field(repr=False)
    owners: Mapping[str, str] = field(repr=False)


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
    stand_ins: Mapping[tuple[str, tuple[str, str]], str] | None = field(default=None, repr=False)
    looked: Mapping[str, frozenset[int]] | None = field(default=None, repr=False)

    def problems(
        self, owners: Sequence[str | None], plans: Sequence[Any], words: int
    ) -> Iterator[tuple[int, RowProblem]]:
        """Rows of nobody, of persons whose budget does not cover all of theirs, and unpaid words.

        With names known from other rows a text is planned anew; no word may come in by that.
        """
        for place, (owner, plan) in enumerate(zip(owners, plans, strict=True)):
            if owner is None:
                yield place, RowProblem(f"the column {self.person!r} names no person")
            elif owner in self.unpaid:
                yield place, BeyondBudget()
            elif self.looked is not None and isinstance(plan, Plan):
                paid = self.looked.get(owner, frozenset())
                if not all(level * words + word in paid for level, word in plan.distinct):
                    yield place, RowProblem("it holds a word that was not counted beforehand")

    def known(self, scopes: Sequence[str]) -> Sequence[frozenset[str]]:
        """The names that are known in each scope, where stand-ins were allotted."""
        if self.stand_ins is None:
            return ()
        return [self._names.get(scope, frozenset()) for scope in scopes]

    @cached_property
    def _names(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for scope, (kind, key) in self.stand_ins or ():
            if kind == "PERSON":
                found.setdefault(scope, set()).add(key)
        return {scope: frozenset(names) for scope, names in found.items()}

    def draws(self, scopes: Sequence[str]) -> SharedDraws:
        """The streams and stand-ins of texts in these scopes."""
        return SharedDraws(KeyedStreams(self.key), scopes, self.stand_ins)


def owners_of(batch: Batch, person: str | None) -> list[str | None]:
    """Whose each row is, named as a ledger names persons; the empty name without a column."""
    if person is None:
        return [""] * len(batch)
    return [_owner(value) for value in batch.column(person)]


def scopes_of(scope: Scope | None, part: int, owners: Sequence[str | None]) -> list[str]:
    """The name of each row's scope: its own, its owner's, or the file's, which is empty."""
    if scope is Scope.FILE:
        return [""] * len(owners)
    if scope is Scope.PERSON:
        return [owner or "" for owner in owners]
    return [f"{part} {place}" for place in range(len(owners))]


def _owner(value: Any) -> str | None:
    name = person_name(value)
    return None if name is None else unicodedata.normalize("NFC", name)


def look_at(
    plans: Sequence[Any], owners: Sequence[str | None], scopes: Sequence[str], words: int
) -> Look:
    """What there is in some planned texts, those that can be released."""
    found: dict[str, set[tuple[int, int]]] = {}
    things: dict[tuple[str, tuple[str, str]], tuple[str, Thing]] = {}
    whose: dict[str, str] = {}
    for plan, owner, scope in zip(plans, owners, scopes, strict=True):
        if not isinstance(plan, Plan) or owner is None:
            continue
        found.setdefault(owner, set()).update(plan.distinct)
        for piece in plan.pieces:
            if isinstance(piece, Thing):
                things.setdefault((scope, piece.same), (scope, piece))
                whose[scope] = owner
    codes = {
        owner: np.array(sorted(level * words + word for level, word in distinct), dtype=np.int64)
        for owner, distinct in found.items()
    }
    return Look(codes, list(things.values()), whose)


@dataclass(frozen=True)
class MakeSharing:
    """Makes the releasers of a job whose parts share draws; `keeper` is told all stand-ins.

    `what` tells what is released, and how, from all else under the same key.
    """

    make: MakeTextReleaser
    protector: TextProtector
    person: str | None
    keeper: Keeper | None = None
    what: str = field(default="", repr=False)

    @property
    def looking(self) -> Callable[[], TextReleaser] | None:
        """A look is needed for what persons spend and for stand-ins that texts share."""
        needed = self.person is not None or self.protector.stand_ins is not None
        return self.make if needed else None

    def owed(self, looks: Sequence[Look]) -> tuple[Sequence[str], Bill]:
        """Each person's distinct words of the whole file, once."""
        draws = self._draws(looks)
        return list(draws), Bill.listed([self.protector.costs(each) for each in draws.values()])

    def told(self, key: bytes, looks: Sequence[Look], unpaid: frozenset[str]) -> MakeTextReleaser:
        """Releasers that know the key, and what each person spends."""
        draws, first = self._draws(looks), _first(looks)
        persons: dict[int, dict[str, int]] = {}
        for person, each in draws.items() if self.person is not None else ():
            if person not in unpaid:
                counted = persons.setdefault(first[person], {})
                name = "persons " + ",".join(map(str, each))
                counted[name] = counted.get(name, 0) + 1
        stand_ins = None if self.protector.stand_ins is None else self._allotted(key, looks)
        looked = None if stand_ins is None or self.person is None else _looked(looks)
        sharing = Sharing(key, self.person, unpaid, persons, stand_ins, looked)
        return replace(self.make, sharing=sharing)

    def _allotted(
        self, key: bytes, looks: Sequence[Look]
    ) -> Mapping[tuple[str, tuple[str, str]], str]:
        """Stand-ins for all things of the file, in its order, under the job's key."""
        assert self.protector.stand_ins is not None
        allotment = Allotment(
            KeyedStreams(key).rng(b"stand-ins"), self.protector.stand_ins.language
        )
        written: dict[tuple[str, tuple[str, str]], str] = {}
        owners: dict[str, str] = {}
        for look in looks:
            owners |= look.owners
            for scope, thing in look.things:
                allotment.stand_in(scope, thing)
                written.setdefault((scope, thing.same), thing.written)
        if self.keeper is not None:
            name = job_name(key, self.what)
            self.keeper.keep(mapping_of(name, allotment.table, written, owners))
        return allotment.table

    def _draws(self, looks: Sequence[Look]) -> dict[str, tuple[int, ...]]:
        """How many distinct words of each level each person has in all parts together."""
        found: dict[str, list[Codes]] = {}
        for look in looks:
            for person, codes in look.words.items():
                found.setdefault(person, []).append(codes)
        words, levels = len(self.protector.vocabulary.embedding), len(self.protector.levels)
        return {
            person: tuple(
                np.bincount(np.unique(np.concatenate(codes)) // words, minlength=levels).tolist()
            )
            for person, codes in found.items()
        }


def _looked(looks: Sequence[Look]) -> dict[str, frozenset[int]]:
    """The distinct words of each person in all parts, which are what is paid for."""
    found: dict[str, set[int]] = {}
    for look in looks:
        for person, codes in look.words.items():
            found.setdefault(person, set()).update(codes.tolist())
    return {person: frozenset(codes) for person, codes in found.items()}


def _first(looks: Sequence[Look]) -> dict[str, int]:
    """The part in which each person occurs first."""
    first: dict[str, int] = {}
    for part, look in enumerate(looks):
        for person in look.words:
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
