"""Attribution by a learned channel: how the mechanism moves words, read off its own releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.attackers.attribution_alignment import WordVectors, no_vectors
from voile.attackers.attribution_shadow import Release, shadow_releases
from voile.attackers.channel_reading import SIGN, STRANGE, WORD, Read, Reader
from voile.core.arrays import Floats, Indices

BINS = 40
BLOCK = 128
"""Words whose distances to all others are held at once."""
ROUNDS = 25
"""Steps of iterative scaling; each raises the likelihood of what was seen."""
SAME, TO_SIGN, TO_STRANGE, NEAR = 0, 1, 2, 3
"""Where a word went: nowhere, to a sign, to a word without a vector, or so far (from here on)."""


@dataclass(frozen=True)
class LearnedChannel:
    """The candidate under which the release is likeliest, by a law estimated from the outside.

    A mechanism that replaces words has a channel P(y | x). It is public, so it is asked for
    `budget` releases of the candidates, and the channel is estimated from these alone as

        ln P̂(y | x) = g(d(x, y)) − ln Z(x),    Z(x) = Σ_w e^{g(d(x, w))},

    with g free in each of `BINS` ranges of the distance (and for a word that stays, becomes a sign,
    or has no vector), w running over all words that were seen. g is the maximum of the likelihood,
    found by iterative scaling (each range's share of draws is made what was seen, in turn with Z),
    with one draw added on both sides of each range so that a range nobody saw tells nothing. Any
    mechanism whose law depends on the distance is in this family, so with enough releases the score
    is its log-likelihood up to the width of a range; −Σ d alone (`alignment`) lacks ln Z(x), which
    is what a word in an empty region and one among many neighbours differ in. How many words a
    candidate is released as, and what happens to case and to the space before a word, is counted
    in the same releases.

    No release of a trial is looked at while estimating, so nothing is fitted on what is scored.

    >>> import numpy as np
    >>> def shout(texts):
    ...     return [text.upper() + "!" for text in texts]
    >>> found = LearnedChannel(shout).scores(["yes", "no"], np.array([[0, 1]]), ["NO!"])
    >>> int(found.argmax())
    1
    """

    release: Release
    word_vectors: WordVectors = no_vectors
    budget: int = 20_000
    name: str = "channel"
    batch: int = field(default=1000, repr=False)

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Estimated log-likelihoods, up to what all candidates share."""
        check_trials(pool, sets, releases)
        used, members = np.unique(sets, return_inverse=True)
        candidates = [pool[i] for i in used.tolist()]
        answers, owners = shadow_releases(self.release, candidates, self.budget, self.batch)
        reader = Reader(self.word_vectors, [*candidates, *answers, *map(str, releases)])
        texts = [reader.read(text) for text in candidates]
        shadow = [reader.read(text) for text in answers]
        law = _Law(reader, texts, shadow, owners)
        lengths = _Lengths([len(t.words) for t in texts], [len(t.words) for t in shadow], owners)
        table = np.zeros(sets.shape)
        members = members.reshape(sets.shape)
        for row, release in enumerate(releases):
            seen = reader.read(str(release))
            for column, member in enumerate(members[row].tolist()):
                table[row, column] = law.score(texts[member], seen) + lengths.score(
                    member, len(seen.words)
                )
        return table


class _Law:
    """The estimated channel of words, and that of cases."""

    def __init__(
        self, reader: Reader, texts: Sequence[Read], shadow: Sequence[Read], owners: Indices
    ) -> None:
        self._vectors, self._kinds, self._width = reader.vectors, reader.kinds, 1.0
        asked = [(texts[owner], answer) for owner, answer in zip(owners, shadow, strict=True)]
        alike = [pair for asking in asked for pair in self._side_by_side(*asking)]
        none = np.zeros(0, dtype=np.intp)
        first, second, *written = (
            np.concatenate([none, *(getattr(pair[side], what) for pair in alike)])
            for what in ("words", "cases", "gaps")
            for side in (0, 1)
        )
        sources = np.unique(np.concatenate([none, *(text.words for text in texts)]))
        targets = np.unique(np.concatenate([none, *(answer.words for answer in shadow)]))
        self._vectors = self._placed(first, second)
        self._width = max(float(self._apart(first, second).max(initial=0.0)), 1e-9) / (BINS - 1)
        count = NEAR + BINS + 1
        seen = np.zeros((3, count))
        np.add.at(seen, (self._kinds[first], self._where(first, second)), 1.0)
        self._g, log_z = self._fitted(sources, targets, seen, np.bincount(
            np.searchsorted(sources, first), minlength=len(sources)))  # fmt: skip
        self._z = np.zeros(len(self._kinds))
        self._z[sources] = log_z - np.log(max(len(targets), 1))
        self._cases, self._gaps = _told(*written[:2]), _told(*written[2:])

    def _side_by_side(self, text: Read, answer: Read) -> Iterator[tuple[Read, Read]]:
        """What can be read word against word: all, or what is left where signs came or went."""
        if len(text.words) != len(answer.words):
            text, answer = (one.at(self._kinds[one.words] != SIGN) for one in (text, answer))
        if len(text.words) == len(answer.words):
            yield text, answer

    def score(self, text: Read, seen: Read) -> float:
        """How much likelier the release is than if its words were any: in order, paired best."""
        if len(text.words) == len(seen.words):
            return float(self._pairs(text, seen).sum())
        short, long = (text, seen) if len(text.words) < len(seen.words) else (seen, text)
        spare = len(long.words) - len(short.words)
        best = np.zeros(spare + 1)  # best[s]: the most so far, s words of the longer skipped
        for place in range(len(short.words)):
            one = short.at(np.full(spare + 1, place))
            other = long.at(slice(place, place + spare + 1))
            pair = (one, other) if short is text else (other, one)
            best = np.maximum.accumulate(best + self._pairs(*pair))
        return float(best[-1])

    def _pairs(self, text: Read, seen: Read) -> Floats:
        words = self._g[self._kinds[text.words], self._where(text.words, seen.words)]
        written = self._cases[text.cases, seen.cases] + self._gaps[text.gaps, seen.gaps]
        found: Floats = words - self._z[text.words] + written
        return found

    def _placed(self, first: Indices, second: Indices) -> Floats:
        """Words without a vector put where what is released for them lies, on average.

        A mechanism that does not know them has one place for all.
        """
        drawn = (self._kinds[first] == STRANGE) & (self._kinds[second] == WORD)
        if not drawn.any():
            return self._vectors
        place = self._vectors[second[drawn]].mean(axis=0)
        return np.where((self._kinds == STRANGE)[:, None], place, self._vectors)

    def _apart(self, first: Indices, second: Indices) -> Floats:
        """Distances, of pairs side by side or of a column of words from a row of words."""
        one, other = self._vectors[first], self._vectors[second]
        if first.ndim == 1:
            return np.asarray(np.linalg.norm(one - other, axis=1))
        one, other = one[:, 0], other[0]
        squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
        return np.sqrt(np.maximum(squares, 0.0))

    def _where(self, first: Indices, second: Indices) -> Indices:
        """The range in which each pair lies; from a sign all words are one."""
        far = np.minimum(self._apart(first, second) / self._width, BINS).astype(np.intp)
        kind = self._kinds[second]
        words = np.where(self._kinds[first] == SIGN, NEAR, NEAR + far)
        other = np.where(kind == SIGN, TO_SIGN, TO_STRANGE)
        found: Indices = np.where(kind == WORD, words, other)
        return np.where(first == second, SAME, found)

    def _there(self, sources: Indices, targets: Indices) -> Floats:
        """How many of the targets lie in each range, from each source."""
        columns = NEAR + BINS + 1
        where = self._where(sources[:, None], targets[None, :])
        where += columns * np.arange(len(sources))[:, None]
        counts = np.bincount(where.ravel(), minlength=columns * len(sources))
        return counts.reshape(len(sources), columns).astype(float)

    def _fitted(
        self, sources: Indices, targets: Indices, seen: Floats, draws: Indices
    ) -> tuple[Floats, Floats]:
        """The g of largest likelihood, and ln Z of each source."""
        kinds = self._kinds[sources]
        there = np.concatenate(
            [
                self._there(sources[i : i + BLOCK], targets)
                for i in range(0, max(len(sources), 1), BLOCK)
            ]
        )
        g = np.zeros(seen.shape)
        for _ in range(ROUNDS):
            mass = there * np.exp(g[kinds])
            share = mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300) * draws[:, None]
            expected = np.stack([share[kinds == kind].sum(axis=0) for kind in range(3)])
            g += np.log((seen + 1.0) / (expected + 1.0))
        total = (there * np.exp(g[kinds])).sum(axis=1)
        return g, np.log(np.maximum(total, 1e-300))


def _told(before: Indices, after: Indices) -> Floats:
    """How much likelier a way of writing is after each of the four, from pairs that were seen."""
    seen = np.full((4, 4), 0.5)
    np.add.at(seen, (before, after), 1.0)
    found: Floats = np.log(seen / seen.sum(axis=1, keepdims=True))
    return found - np.log(seen.sum(axis=0) / seen.sum())


class _Lengths:
    """How many words each candidate is released as, smoothed by how they change in all."""

    def __init__(self, before: Sequence[int], after: Sequence[int], owners: Indices) -> None:
        self._before = np.asarray(before)
        self._counts: dict[tuple[int, int], int] = {}
        self._shifts: dict[int, int] = {}
        for owner, length in zip(owners.tolist(), after, strict=True):
            self._counts[owner, length] = self._counts.get((owner, length), 0) + 1
            shift = length - int(self._before[owner])
            self._shifts[shift] = self._shifts.get(shift, 0) + 1
        self._total, self._each = len(owners), len(owners) / max(len(before), 1)

    def score(self, owner: int, length: int) -> float:
        """The log of the smoothed share; unseen changes are the rarer the larger they are."""
        shift = length - int(self._before[owner])
        usual = (self._shifts.get(shift, 0) + 0.5 / (1 + shift * shift)) / (self._total + 2)
        own = self._counts.get((owner, length), 0)
        return float(np.log((own + 2 * usual) / (self._each + 2)))
