"""Drawn texts read as a whole: what an honest recipient could do, done before they are handed on.

Everything here is a function of the draws, of what stands in clear and of public text. So it is
post-processing: the guarantee of the draws holds for what it makes of them, whatever that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from voile.core.arrays import Indices, Items
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.mechanisms._word_law import WordLaw
from voile.restoring.reader import Observed, Reader, Readings
from voile.text.consistent import draw_words
from voile.text.language_prior import Gain, LanguagePrior
from voile.text.options import SERVING, Misfit, Use
from voile.text.plan import Plan
from voile.text.released import Read
from voile.text.reranker import MOST_WEIGHED, ModelUsed, Reranker
from voile.text.states import States
from voile.text.word_protector import TextProtector


class Restorer:
    """Reads planned and drawn texts with a prior, a law a level, and what is wanted of the result.

    The prior's `expected` is what context gains on held-out public text put through the same
    laws. Texts that were drawn together are judged together: where context gains clearly less than
    that, the prior does not fit, and `misfit` says what is done instead. Whether it fits is
    read off the draws alone, so that too is post-processing.
    """

    def __init__(
        self,
        prior: LanguagePrior,
        protector: TextProtector,
        *,
        use: Use,
        misfit: Misfit,
        model: str | None = None,
        cache: Path | None = None,
    ) -> None:
        self.use, self.misfit, self.expected = use, misfit, prior.expected
        self.alike = protector.consistent is not None
        self.states = States(protector.vocabulary)
        self.reranker = (
            None if model is None else Reranker(model, self.states, prior.ngrams, prior.model)
        )
        self._reader = Reader(
            [law if isinstance(law, WordLaw) else None for law in protector.laws],
            prior.ngrams,
            general=prior.general,
            case_shares=prior.case_shares,
            edge=self.states.edge,
            unread=protector.vocabulary.unknown,
            cache=cache,
        )

    def read(self, plans: Sequence[Plan], drawn: Items) -> tuple[Items, list[Read]]:
        """What is handed on instead of each draw, and what was found about each text."""
        texts, places = self._observed(plans, drawn)
        again = self.reranker is not None and self.reranker.wanted
        found = self._found(texts, listed=again)
        gains = found.evidence[:, 0] - found.evidence[:, 1]
        counts = np.array([len(plan.drawn) for plan in plans], dtype=np.int64)
        fits = self._fits(gains, counts)
        if again and fits:
            assert self.reranker is not None
            words = self.reranker.read(texts, found)[places]
        else:
            words = self._chosen(found, fits)[places]
        answer = np.where(words >= 0, words, drawn)
        if self.alike:
            answer = _alike(answer, np.repeat(np.arange(len(plans)), counts), drawn)
        ends = np.cumsum(counts)
        left = np.append(0.0, np.cumsum(found.left_out[places]))
        shares = left[ends] - left[ends - counts]
        each = zip(counts.tolist(), shares.tolist(), gains.tolist(), strict=True)
        return answer, [Read(n, share, gain, fits) for n, share, gain in each]

    def _found(self, texts: Observed, *, listed: bool) -> Readings:
        serving = SERVING[self.use]
        return self._reader.read(texts, serving=serving, tied=self.alike, listed=listed)

    def gain_on(self, texts: Sequence[str], protector: TextProtector) -> Gain | None:
        """What context gains on public texts, planned and drawn as private ones are."""
        plans = _planned(texts, protector)
        if len(plans) < 5:
            return None
        _, drawn = draw_words(protector.alone, plans, seeded_rng(0))
        _, found = self.read(plans, drawn)
        return _gain(np.array([r.gain for r in found]), np.array([r.words for r in found]))

    def model_on(self, texts: Sequence[str], protector: TextProtector) -> ModelUsed | None:
        """What the language model is worth on public texts, where the truth is known."""
        plans = [] if self.reranker is None else _planned(texts, protector)[:MOST_WEIGHED]
        if self.reranker is None or len(plans) < 5:
            return None
        before, drawn = draw_words(protector.alone, plans, seeded_rng(0))
        seen, places = self._observed(plans, drawn)
        found = self._found(seen, listed=True)
        return self.reranker.weighed(seen, found, places, before).used

    def _fits(self, gains: Items, counts: Items) -> bool:
        if self.expected is None or self.misfit == "ignore" or not counts.any():
            return True
        seen = _gain(gains[counts > 0], counts[counts > 0])
        error = self.expected.error(int(counts.sum()))
        return seen.mean + error >= self.expected.enough

    def _chosen(self, found: Readings, fits: bool) -> Indices:
        if fits:
            return found.words
        return found.plain if self.misfit == "frequencies" else np.full_like(found.words, -1)

    def _observed(self, plans: Sequence[Plan], drawn: Items) -> tuple[Observed, Indices]:
        """All texts as states, and where among them each drawn word stands."""
        known: list[int] = []
        cases: list[int] = []
        numbers: list[int] = []
        ends: list[int] = []
        first = 0
        for plan in plans:
            for state, place, case in self.states.walk(plan):
                known.append(state)
                cases.append(int(case))
                numbers.append(first + place if place >= 0 else -1)
            first += len(plan.drawn)
            ends.append(len(known))
        which = np.array(numbers, dtype=np.int64)
        places = np.flatnonzero(which >= 0)
        every = np.zeros(len(which), dtype=np.int64)
        laws = every.copy()
        every[places] = drawn[which[places]]
        levels = np.array([level for plan in plans for level in plan.levels], dtype=np.int64)
        laws[places] = levels[which[places]]
        seen = Observed(
            np.array(ends, dtype=np.int64),
            np.array(known, dtype=np.int64),
            every,
            laws,
            np.array(cases, dtype=np.int64),
        )
        return seen, places


def _planned(texts: Sequence[str], protector: TextProtector) -> list[Plan]:
    return [p for p in protector.plan(texts) if isinstance(p, Plan) and p.drawn]


def _alike(read: Items, texts: Items, drawn: Items) -> Items:
    """Where a repeated word was drawn once: for equal draws of a text what most were read as."""
    _, group = np.unique(np.stack([texts, drawn]), axis=1, return_inverse=True)
    pairs, times = np.unique(np.stack([group.ravel(), read]), axis=1, return_counts=True)
    order = np.lexsort((pairs[1], -times, pairs[0]))  # by group, most often first
    _, first = np.unique(pairs[0][order], return_index=True)
    return np.asarray(pairs[1][order][first][group.ravel()])


def _gain(gains: Items, counts: Items) -> Gain:
    """Nats a word over all texts, and the spread that a single word's share has."""
    words = counts.sum()
    mean = float(gains.sum() / words)
    spread = float(np.sqrt(((gains - mean * counts) ** 2).sum() / words))
    return Gain(mean, spread, len(counts))


def check_laws(protector: TextProtector, name: str) -> None:
    """Refuse what cannot be read back: a law that is not known word by word, or one a length."""
    if protector.law_of_length is not None:
        raise InvalidInput(
            "--restore must not go with --public-length, which has a law for each length; use "
            "--longest"
        )
    size = len(protector.vocabulary.embedding)
    known = (isinstance(law, WordLaw) and len(law.neighbours.outputs) == size
             for law in protector.laws if law is not None)  # fmt: skip
    if not all(known):
        raise InvalidInput(
            f"--restore must go with tem, word-exponential or santext, whose laws are known word "
            f"by word, got {name}"
        )
