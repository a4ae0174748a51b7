r"""One draw for one thing: a word that repeats in a document, person or file is drawn once there.

**What is promised.** Sort the places of a scope (a document, all rows of a person, the whole file)
by which hold the same word of the same level: the *pattern*. Given the pattern, the scope is its
distinct words v_1 … v_k, and its release is y_1 … y_k, y_j drawn by the law of v_j's level and put
at all its places. So for two scopes of one pattern

    |ln K(y|v) − ln K(y|v')| ≤ Σ_j ε_j · d(v_j, v'_j),

once for each *distinct* word, however often it stands there: repeating one draw tells nothing new.
Drawn anew at n places, the same word would spend n·ε, and an attacker would average.

**What is not.** The pattern itself is released: which places hold one word. Whoever knows the word
at one place knows it at all of them. In a document that is its author's business as a rule; in a
person's rows, whoever knows one of them reads its words in the others; in a file, everybody who
wrote a row does so in everybody else's. Hence no ledger is charged under the widest scope: what
one person's words give away would hang on what others wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from voile.core.arrays import Indices, Items
from voile.core.keyed_streams import KeyedStreams, release_each
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.text.plan import Plan

if TYPE_CHECKING:
    from voile.text.word_protector import TextProtector


class Scope(StrEnum):
    """Where a word that repeats is drawn once."""

    DOCUMENT = "document"
    PERSON = "person"
    FILE = "file"

    @property
    def granularity(self) -> str:
        """What one secret is."""
        return f"one distinct word of a {self}"

    @property
    def shows(self) -> str:
        """What it shows beyond the guarantee; in capitals where strangers' texts are linked."""
        return {
            Scope.DOCUMENT: "which places of a document hold the same word: whoever knows the word "
            "at one of them knows it at all of them",
            Scope.PERSON: "which places of a person's rows hold the same word, so which rows share "
            "words: whoever knows one row of a person reads its words in that person's others",
            Scope.FILE: "WHICH PLACES OF THE WHOLE FILE HOLD THE SAME WORD: WHOEVER KNOWS ONE ROW, "
            "A PERSON THEIR OWN, READS ITS WORDS IN ALL OTHERS",
        }[self]


@dataclass(frozen=True)
class SharedDraws:
    """Draws that rows of several parts share: a stream for each scope, level and word.

    `scopes` says for each text in which scope it stands: whose it is, or nothing for a whole file.
    `stand_ins` are those of all scopes, where they were allotted beforehand.
    """

    streams: KeyedStreams = field(repr=False)
    scopes: Sequence[str] = field(repr=False)
    stand_ins: Mapping[tuple[str, tuple[str, str]], str] | None = field(default=None, repr=False)


def draw_words(
    protector: TextProtector,
    plans: Sequence[Plan],
    rng: Generator,
    shared: SharedDraws | None = None,
) -> tuple[Items, Items]:
    """The words of all plans one after the other, and what is released for each.

    Without `shared` these texts are the whole file; a person's rows are not known then.
    """
    before = np.array([t.position for plan in plans for t in plan.drawn], dtype=np.intp)
    levels = np.array([level for plan in plans for level in plan.levels], dtype=np.intp)
    counts = [len(plan.drawn) for plan in plans]
    sizes = levels  # they decide nothing unless a law hangs on the length
    if protector.law_of_length is not None:
        sizes = np.repeat([protector.size(plan) for plan in plans], counts).astype(np.intp)
    if protector.consistent is None:
        return before, _released(protector, before, levels, sizes, rng)
    numbers, scopes = _scopes(protector.consistent, plans, shared)
    owners = np.repeat(numbers, counts).astype(np.intp)
    widest = len(protector.vocabulary.embedding)
    codes = (owners * len(protector.levels) + levels) * widest + before
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    source: Generator | _Named = rng
    if scopes:
        assert shared is not None
        names = [_name(scopes[owners[i]], int(levels[i]), int(before[i])) for i in first]
        source = (shared.streams, names)
    after = _released(protector, before[first], levels[first], sizes[first], source)
    return before, after[which]


_Named = tuple[KeyedStreams, list[bytes]]
"""Streams, and the name of each draw."""


def _scopes(
    scope: Scope, plans: Sequence[Plan], shared: SharedDraws | None
) -> tuple[Indices, Sequence[bytes]]:
    """For each text the number of its scope, and the names of scopes by number."""
    if scope is Scope.DOCUMENT:
        return np.arange(len(plans)), ()
    if shared is None:
        if scope is Scope.PERSON:
            raise InvalidInput("draws that a person's texts share need to know whose each text is")
        return np.zeros(len(plans), dtype=np.intp), ()
    places: dict[str, int] = {}
    numbers = [places.setdefault(name, len(places)) for name in shared.scopes]
    names = [name.encode("utf-8", "surrogatepass") for name in places]
    return np.array(numbers, dtype=np.intp), names


def _name(scope: bytes, level: int, word: int) -> bytes:
    """A draw's own name: eight bytes, then the scope, so that no two draws have one name."""
    return level.to_bytes(2, "little") + word.to_bytes(6, "little") + scope


def _released(
    protector: TextProtector,
    words: Items,
    levels: Indices,
    sizes: Indices,
    source: Generator | _Named,
) -> Items:
    """A draw for each word by its level's law, or by that of its text's length."""
    keys = levels if protector.law_of_length is None else sizes
    after = words.copy()
    for key in np.unique(keys):
        here = np.flatnonzero(keys == key)
        law = protector.law_of(int(levels[here[0]]), int(sizes[here[0]]))
        if law is None:
            continue
        if isinstance(source, tuple):
            streams, names = source
            after[here] = release_each(law, words[here], [names[i] for i in here], streams)
        else:
            after[here] = law.release(words[here], source)
    return after


def as_scope(name: Any) -> Scope | None:
    """The scope that an option names; None if it names none."""
    return None if name is None else Scope(name)
