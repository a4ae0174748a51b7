"""DP-ST: replace a text's triples by public ones, and write a text from those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.rewriting.dp_st_writing import GuidedWriter, Writer, plain_sentences
from voile.rewriting.families import TextRewriter
from voile.rewriting.public_law import MixtureSampler
from voile.rewriting.rewriter import (
    Fidelity,
    Law,
    Rewritten,
    check_fidelity_of_law,
    guarantee_for,
)
from voile.rewriting.token_law import TokenLaw
from voile.rewriting.token_sampler import TokenSampler
from voile.rewriting.triples import Extractor, Triple

Encoder = Callable[[Sequence[str]], Any]
SHARPNESS = 0.02
"""Temperature of cosines where triples are drawn from a mixture: nearly always the nearest."""


@dataclass(frozen=True, eq=False)
class TripleCorpus:
    """Public triples, their vectors, and clusters of them."""

    triples: tuple[Triple, ...]
    vectors: Floats
    centroids: Floats
    members: tuple[Indices, ...]


def triple_corpus(
    triples: Sequence[Triple], encode: Encoder, *, clusters: int, seed: int = 42
) -> TripleCorpus:
    """Cluster public triples by mini-batch k-means over their sentence vectors.

    The triples must be public: the corpus is what every release is made of.
    """
    from sklearn.cluster import MiniBatchKMeans

    distinct = list(dict.fromkeys(triples))
    fits = 1 <= clusters <= len(distinct)
    require(fits, "clusters", f"between 1 and {len(distinct)} triples", clusters)
    vectors = _unit(encode([" ".join(t) for t in distinct]))
    found = MiniBatchKMeans(clusters, random_state=seed, n_init=1, batch_size=8192).fit(vectors)
    groups = [np.flatnonzero(found.labels_ == c) for c in range(clusters)]
    groups = [group for group in groups if len(group)]
    centroids = _unit(np.stack([vectors[group].mean(axis=0) for group in groups]))
    return TripleCorpus(tuple(distinct), vectors, centroids, tuple(groups))


@dataclass(frozen=True, eq=False)
class DpSt(TextRewriter):
    """A corpus, an extractor, and ε for a whole text; see `dp_st`."""

    corpus: TripleCorpus
    extract: Extractor
    encode: Encoder
    write: Writer | GuidedWriter
    epsilon: float
    slots: int
    fidelity: Fidelity
    keep_without_triples: bool
    law: Law = "clipped"

    @property
    def guarantee(self) -> Guarantee:
        """ε for one text, the sum over its triples."""
        outside: tuple[str, ...] = ()
        if self.fidelity == "as_released":
            outside = ("which cluster each triple falls into", "how many triples a text has")
            if self.keep_without_triples:
                outside += ("texts without a triple, released as they are",)
        stated = self.epsilon if self.fidelity == "as_released" else self._stated()
        return guarantee_for("one text", epsilon=stated, fidelity=self.fidelity, outside=outside)

    def _stated(self) -> float:
        """What the integers of all draws give at most: slots, then tokens."""
        total = self.slots * self._stated_slot()
        if self._guided is not None:
            total += self._guided.at(self._for_writing).stated
        return min(self.epsilon, total * (1 + 2.0**-40))

    def _stated_slot(self) -> float:
        if self.law != "clipped":
            return self._sampler.stated(len(self.corpus.triples))
        sizes = {len(members) for members in self.corpus.members}
        inner = [self._sampler.stated(size) for size in sizes if size > 1]
        return self._sampler.stated(len(self.corpus.members)) + max(inner, default=0.0)

    @property
    def triple_guarantee(self) -> Guarantee:
        """One triple's share of it."""
        share = (self.epsilon - self._for_writing) / self.slots
        if self.fidelity == "sound":
            share = min(share, self._stated_slot())
        return replace(self.guarantee, epsilon=share, granularity="one triple")

    @property
    def _guided(self) -> GuidedWriter | None:
        return self.write if isinstance(self.write, GuidedWriter) else None

    @property
    def _for_writing(self) -> float:
        """Half of ε, where writing sees the text; else nothing."""
        return self.epsilon / 2 if self._guided is not None else 0.0

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """Extract, draw a public triple for each, write a text from them."""
        found = self.extract(texts)
        cut = sum(len(triples) > self.slots for triples in found)
        drawn: list[list[Triple]] = []
        kept: dict[int, str] = {}
        for row, triples in enumerate(found):
            if self.fidelity == "sound":
                drawn.append(self.draw(triples[: self.slots], rng))
            else:
                drawn.append(self._draw_as_released(triples, rng) if triples else [])
                if not triples:
                    kept[row] = texts[row] if self.keep_without_triples else ""
        asked = [row for row, triples in enumerate(drawn) if triples]
        answers = iter(self._written([drawn[i] for i in asked], [texts[i] for i in asked], rng))
        written = [next(answers) if triples else kept[row] for row, triples in enumerate(drawn)]
        return Rewritten(written, list(map(len, drawn)), cut if self.fidelity == "sound" else 0)

    def _written(
        self, drawn: Sequence[Sequence[Triple]], texts: Sequence[str], rng: Generator
    ) -> Sequence[str]:
        if not drawn:
            return ()
        if isinstance(self.write, GuidedWriter):
            return self.write.at(self._for_writing).write(drawn, texts, rng)
        return self.write(drawn)

    def draw(self, triples: Sequence[Triple], rng: Generator) -> list[Triple]:
        """One public triple a slot: first its cluster, then itself, each with half of the share.

        From a mixture the triple at once, with all of it. An empty slot has utility 0 everywhere:
        a uniform cluster, then a uniform triple in it.
        """
        vectors = self._slots(triples)
        if self.law != "clipped":
            drawn = self._sampler.draw(_utility(vectors, self.corpus.vectors), rng)
            return [self.corpus.triples[i] for i in drawn]
        clusters = self._sampler.draw(_utility(vectors, self.corpus.centroids), rng)
        chosen = []
        for vector, cluster in zip(vectors, clusters, strict=True):
            members = self.corpus.members[cluster]
            chosen.append(members[self._member(vector, members, self._sampler, rng)])
        return [self.corpus.triples[i] for i in chosen]

    def log_law(self, triples: Sequence[Triple]) -> Floats:
        """ln of the probability of each public triple in each slot."""  # noqa: D403
        vectors = self._slots(triples)
        if self.law != "clipped":
            return self._sampler.log_law(_utility(vectors, self.corpus.vectors))
        table = np.empty((self.slots, len(self.corpus.triples)))
        outer = self._sampler.log_law(_utility(vectors, self.corpus.centroids))
        for cluster, members in enumerate(self.corpus.members):
            inner = _utility(vectors, self.corpus.vectors[members])
            law = np.zeros_like(inner) if len(members) == 1 else self._sampler.log_law(inner)
            table[:, members] = outer[:, [cluster]] + law
        return table

    def _slots(self, triples: Sequence[Triple]) -> Floats:
        """The vector of each slot's triple; zeros where there is none."""
        vectors = np.zeros((self.slots, self.corpus.vectors.shape[1]))
        if triples:
            vectors[: len(triples)] = _unit(self.encode([" ".join(t) for t in triples]))
        return vectors

    @property
    def _sampler(self) -> TokenLaw:
        share = (self.epsilon - self._for_writing) / self.slots
        if self.law != "clipped":
            return MixtureSampler(share, SHARPNESS)
        return TokenSampler(share / 2, 0.0, 1.0)

    def _draw_as_released(self, triples: Sequence[Triple], rng: Generator) -> list[Triple]:
        """The nearest cluster without any draw, then one triple of it with all of the share."""
        vectors = _unit(self.encode([" ".join(t) for t in triples]))
        sampler = TokenSampler(self.epsilon / len(triples), 0.0, 1.0)
        chosen = []
        for vector in vectors:
            members = self.corpus.members[int((self.corpus.centroids @ vector).argmax())]
            chosen.append(members[self._member(vector, members, sampler, rng)])
        return [self.corpus.triples[i] for i in chosen]

    def _member(self, vector: Floats, members: Indices, sampler: TokenLaw, rng: Generator) -> int:
        if len(members) == 1:
            return 0
        return int(sampler.draw(_utility(vector[None], self.corpus.vectors[members]), rng)[0])


def dp_st(
    corpus: TripleCorpus,
    *,
    extract: Extractor,
    encode: Encoder,
    epsilon: float,
    write: Writer | GuidedWriter | None = None,
    slots: int = 3,
    fidelity: Fidelity = "sound",
    law: Law = "clipped",
    keep_without_triples: bool = False,
) -> DpSt:
    """Draw a public triple for each triple of a text, and write a text from the public ones.

    Meisenbacher et al. (EMNLP 2025): utility max(cosine, 0) in [0, 1], Pr ∝ exp(ε_t·u/2). Here a
    text always takes `slots` triples, the missing ones drawn blindly, and the cluster is drawn
    too, each with half of ε_t = ε/slots: two exponential mechanisms of ε_t/2 a slot, so ε for
    any two texts whatever triples they hold, and nothing shows of how many. `as_released` takes
    the nearest cluster without a draw, which ε does not cover, and as many triples as it finds.
    A text without triples is never released in clear unless `keep_without_triples`, which only
    `as_released` allows. Writing sees public triples only: post-processing.

    With `law` "mixture" a slot is one draw from the whole corpus with all of ε_t: the nearest
    triple, mixed with the uniform law (`MixtureSampler`). "public" draws so with half of ε and
    spends the other half on writing: the model reads the text too, and each token stays in a band
    around what it says to the public triples alone (`GuidedWriter`).
    """
    check_fidelity_of_law(fidelity, law)
    guided = isinstance(write, GuidedWriter)
    fits = guided == (law == "public")
    require(fits, "write", "a GuidedWriter with the public law, and with no other", repr(law))
    epsilon = require_epsilon(epsilon)
    require(slots >= 1, "slots", ">= 1", slots)
    asked = keep_without_triples and fidelity == "sound"
    require(not asked, "keep_without_triples", "off where the guarantee is sound", "on")
    require(len(corpus.members) >= 2, "a corpus", "at least two clusters", len(corpus.members))
    return DpSt(
        corpus, extract, encode, write or plain_sentences, epsilon, slots, fidelity,
        keep_without_triples, law,
    )  # fmt: skip


def _unit(vectors: Any) -> Floats:
    table = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)


def _utility(vectors: Floats, others: Floats) -> Floats:
    return np.maximum(vectors @ others.T, 0.0)
