"""Attribution by a learned channel: how the mechanism moves words, read off its own releases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.attackers.attribution_alignment import WordVectors, no_vectors
from voile.attackers.attribution_shadow import Release, shadow_releases
from voile.attackers.attribution_shape import case_of
from voile.core.arrays import Floats, Indices

BINS = 40
BLOCK = 128
"""Words whose distances to all others are held at once."""
ROUNDS = 25
"""Steps of iterative scaling; each raises the likelihood of what was seen."""
WORD, SIGN, STRANGE = 0, 1, 2
"""A word with a vector; signs alone; a word without a vector."""
SAME, TO_SIGN, TO_STRANGE, NEAR = 0, 1, 2, 3
"""Where a word went: nowhere, to a sign, to a word without a vector, or so far (from here on)."""
NONE, SPACES, WHITE = 0, 2, 3
"""What may stand before a word, beside one space."""
_ENDS = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_SHORTENED = re.compile(r"(.+?)(n't|['’]\w+)")
_INNER = re.compile(r"\w+|\W")
_CASES = {"": 0, "words": 1, "capitalised": 2, "capitals": 3}
_CHUNK = re.compile(r"(\s*)(\S+)")


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
        reader = _Reader(self.word_vectors, [*candidates, *answers, *map(str, releases)])
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


@dataclass(frozen=True, eq=False)
class _Read:
    """A text as numbers: which words, and how each was written."""

    words: Indices
    cases: Indices
    gaps: Indices

    def at(self, places: Any) -> _Read:
        """Some of its words."""
        return _Read(self.words[places], self.cases[places], self.gaps[places])


class _Reader:
    """Texts taken apart as vectors know their words: “mrs.” is one, “boston,” and “i'd” are two.

    What they do not know comes apart at its signs: “r&b” is three, of which one is a sign.
    """

    def __init__(self, word_vectors: WordVectors, texts: Sequence[str]) -> None:
        chunks = {chunk for text in texts for chunk in text.split()}
        forms = sorted({form for chunk in chunks for form in _forms(chunk)})
        vectors = np.asarray(word_vectors(forms), dtype=np.float64).reshape(len(forms), -1)
        has = np.asarray(np.isfinite(vectors).all(axis=1))
        self._number = {form: n for n, form in enumerate(forms)}
        self.vectors = np.where(has[:, None], vectors, 0.0)
        signs = np.array([not any(map(str.isalnum, form)) for form in forms], dtype=bool)
        self.kinds: Indices = np.where(has & ~signs, WORD, np.where(signs, SIGN, STRANGE))
        self._parts = {chunk: tuple(self._split(chunk)) for chunk in chunks}

    def read(self, text: str) -> _Read:
        found, gaps = list[tuple[int, int]](), list[int]()
        for gap, chunk in _CHUNK.findall(text):
            parts = self._parts[chunk]
            found += parts
            gaps += [_gap(gap), *[NONE] * (len(parts) - 1)]
        numbers = np.array(found, dtype=np.intp).reshape(-1, 2)
        return _Read(numbers[:, 0], numbers[:, 1], np.array(gaps, dtype=np.intp))

    def _split(self, chunk: str) -> Iterator[tuple[int, int]]:
        if self._known(chunk):
            yield self._numbered(chunk)
            return
        before, core, after = _ENDS.fullmatch(chunk).groups()  # type: ignore[union-attr]
        yield from map(self._numbered, before)
        shortened = _SHORTENED.fullmatch(core)
        if shortened and not self._known(core) and all(map(self._known, shortened.groups())):
            yield from map(self._numbered, shortened.groups())
        elif core:
            yield from map(self._numbered, [core] if self._known(core) else _INNER.findall(core))
        yield from map(self._numbered, after)

    def _known(self, form: str) -> bool:
        number = self._number.get(form.lower())
        return number is not None and self.kinds[number] == WORD

    def _numbered(self, form: str) -> tuple[int, int]:
        return self._number[form.lower()], _CASES[case_of(form)]


def _gap(space: str) -> int:
    """What stands before a word: nothing, a space, more than one, or other white."""
    if space in ("", " "):
        return len(space)
    return SPACES if not space.strip(" ") else WHITE


def _forms(chunk: str) -> Iterator[str]:
    """All pieces into which a chunk may come apart, in small letters."""
    low = chunk.lower()
    before, core, after = _ENDS.fullmatch(low).groups()  # type: ignore[union-attr]
    yield from (low, *before, *after)
    if core:
        yield from (core, *_INNER.findall(core))
        shortened = _SHORTENED.fullmatch(core)
        yield from shortened.groups() if shortened else ()


class _Law:
    """The estimated channel of words, and that of cases."""

    def __init__(
        self, reader: _Reader, texts: Sequence[_Read], shadow: Sequence[_Read], owners: Indices
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

    def _side_by_side(self, text: _Read, answer: _Read) -> Iterator[tuple[_Read, _Read]]:
        """What can be read word against word: all, or what is left where signs came or went."""
        if len(text.words) != len(answer.words):
            text, answer = (one.at(self._kinds[one.words] != SIGN) for one in (text, answer))
        if len(text.words) == len(answer.words):
            yield text, answer

    def score(self, text: _Read, seen: _Read) -> float:
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

    def _pairs(self, text: _Read, seen: _Read) -> Floats:
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
