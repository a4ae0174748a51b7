"""Attribution by shadow releases: the mechanism is asked what it makes of each candidate."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.attribution import check_trials
from voile.attackers.attribution_shape import case_of
from voile.core.arrays import Floats, Indices
from voile.progress import tell

Release = Callable[[Sequence[str]], Sequence[str]]
"""Texts in, one release each out: the mechanism, which is public."""

_PIECES = re.compile(r"\w+|[^\w\s]|^\s+|\s+$|\s{2,}|[^\S ]")
"""Words and signs in order, and every gap that is not one space between two of them."""
MOST, FEWEST = 400, 10
"""Shadow releases of one candidate: as many as the budget gives, between these."""


def shadow_releases(
    release: Release, candidates: Sequence[str], budget: int, batch: int
) -> tuple[list[str], Indices]:
    """Releases of the candidates, as many of each, and whose each of them is."""
    each = int(np.clip(budget // max(len(candidates), 1), FEWEST, MOST))
    asked = tuple(text for text in candidates for _ in range(each))
    answers: list[str] = []
    for start in range(0, len(asked), batch):
        answers += [str(one) for one in release(asked[start : start + batch])]
        tell("shadow releases", done=len(answers), total=len(asked))
    return answers, np.repeat(np.arange(len(candidates)), each)


@dataclass(frozen=True)
class Shadow:
    """The candidate whose own releases look most like this one: ln P̂(release | candidate).

    The mechanism is public, so it is asked for `budget` releases of the candidates in all, and a
    release is scored by how often its pieces (words, their case, signs, odd gaps) stand at their
    places in a candidate's own releases, and how often those are as long: smoothed counts,

        P̂(w | x, place) = (n(x, place, w) + a·P̂(w | x)) / (n(x, place) + a),
        P̂(w | x) = (n(x, w) + b·P̂(w)) / (n(x) + b).

    No release of a trial is looked at while counting, so nothing is fitted on what is scored.

    >>> import numpy as np
    >>> def shout(texts):
    ...     return [text.upper() + "!" for text in texts]
    >>> found = Shadow(shout).scores(["yes", "no"], np.array([[0, 1]]), ["NO!"])
    >>> int(found.argmax())
    1
    """

    release: Release
    budget: int = 20_000
    name: str = "shadow"
    place_weight: float = 5.0
    word_weight: float = 20.0
    batch: int = field(default=1000, repr=False)

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Estimated log-likelihoods, up to what all candidates share."""
        check_trials(pool, sets, releases)
        used = np.unique(sets)
        candidates = [pool[i] for i in used.tolist()]
        answers, owners = shadow_releases(self.release, candidates, self.budget, self.batch)
        words: dict[str, int] = {}
        shadow = _Streams.of(answers, owners, words)
        seen = _Streams.of([str(one) for one in releases], np.arange(len(releases)), words)
        members = np.searchsorted(used, sets)
        counts = _Counts(shadow, len(used), len(words), self.place_weight, self.word_weight)
        return np.column_stack([counts.scores(seen, column) for column in members.T])


@dataclass(frozen=True, eq=False)
class _Streams:
    """All pieces of many texts: whose, at which place, which; and how many each text has."""

    owner: Indices
    place: Indices
    word: Indices
    lengths: Indices
    owners: Indices

    @classmethod
    def of(cls, texts: Sequence[str], owners: Indices, words: dict[str, int]) -> _Streams:
        """Each piece gives its small letters and its case; equal strings have one number."""
        rows, places, numbers, lengths = [], [], [], []
        for row, text in enumerate(texts):
            pieces = _PIECES.findall(text)
            lengths.append(len(pieces))
            for place, piece in enumerate(pieces):
                for offset, what in enumerate((piece.lower(), f"\0{case_of(piece)}")):
                    rows.append(row)
                    places.append(2 * place + offset)
                    numbers.append(words.setdefault(what, len(words)))
        columns = (np.array(values, dtype=np.intp) for values in (rows, places, numbers, lengths))
        texts_of, places_of, words_of, long = columns
        return cls(owners[texts_of], places_of, words_of, long, owners)


class _Counts:
    """Counts of shadow releases, looked up by candidate, place and piece."""

    def __init__(
        self, shadow: _Streams, candidates: int, words: int, place_weight: float, word_weight: float
    ) -> None:
        self._words, self._weights = words, (place_weight, word_weight)
        self._places = int(shadow.place.max(initial=0)) + 1
        self._all = np.bincount(shadow.word, minlength=words) + 1.0
        self._all /= self._all.sum()
        self._own = _Tally(shadow.owner * words + shadow.word)
        self._totals = np.bincount(shadow.owner, minlength=candidates)
        slots = shadow.owner * self._places + shadow.place
        self._slots = np.bincount(slots, minlength=candidates * self._places)
        self._there = _Tally(slots * words + shadow.word)
        self._releases = np.bincount(shadow.owners, minlength=candidates)
        self._longest = int(shadow.lengths.max(initial=0)) + 2
        self._lengths = _Tally(shadow.owners * self._longest + shadow.lengths)
        every = np.bincount(shadow.lengths, minlength=self._longest) + 0.5
        self._any_length = every / every.sum()

    def scores(self, seen: _Streams, members: Indices) -> Floats:
        """The log of P̂ of each release under the candidate of its row."""
        place_weight, word_weight = self._weights
        member = members[seen.owner]
        place = np.minimum(seen.place, self._places - 1)
        slot = member * self._places + place
        of_candidate = (
            self._own.count(member * self._words + seen.word) + word_weight * self._all[seen.word]
        ) / (self._totals[member] + word_weight)
        here = self._there.count(slot * self._words + seen.word)
        share = (here + place_weight * of_candidate) / (self._slots[slot] + place_weight)
        total = np.bincount(seen.owner, weights=np.log(share), minlength=len(members))
        length = np.minimum(seen.lengths, self._longest - 1)
        often = self._lengths.count(members * self._longest + length) + self._any_length[length]
        return total + np.log(often / (self._releases[members] + 1))


class _Tally:
    """How often each of many keys occurred."""

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self._keys, self._counts = np.unique(keys, return_counts=True)

    def count(self, keys: NDArray[np.int64]) -> Floats:
        if not len(self._keys):
            return np.zeros(len(keys))
        where = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: Floats = np.where(self._keys[where] == keys, self._counts[where], 0).astype(float)
        return found
