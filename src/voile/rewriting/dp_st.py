"""DP-ST: replace a text's triples by public ones, and write a text from those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.rewriting.generation import likeliest
from voile.rewriting.language_model import LanguageModel, Tokens
from voile.rewriting.rewriter import Fidelity, Rewritten, check_fidelity, guarantee_for
from voile.rewriting.token_sampler import TokenSampler
from voile.rewriting.triples import Extractor, Triple

Encoder = Callable[[Sequence[str]], Any]
Writer = Callable[[Sequence[Sequence[Triple]]], Sequence[str]]
"""Public triples of each text in, a text for each out."""


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
class DpSt:
    """A corpus, an extractor, and ε for a whole text; see `dp_st`."""

    corpus: TripleCorpus
    extract: Extractor
    encode: Encoder
    write: Writer
    epsilon: float
    slots: int
    fidelity: Fidelity
    keep_without_triples: bool

    @property
    def guarantee(self) -> Guarantee:
        """ε for one text, the sum over its triples."""
        outside: tuple[str, ...] = ()
        if self.fidelity == "as_released":
            outside = ("which cluster each triple falls into", "how many triples a text has")
            if self.keep_without_triples:
                outside += ("texts without a triple, released as they are",)
        return guarantee_for(
            "one text", epsilon=self.epsilon, fidelity=self.fidelity, outside=outside
        )

    @property
    def triple_guarantee(self) -> Guarantee:
        """One triple's share of it."""
        share = self.epsilon / self.slots
        return replace(self.guarantee, epsilon=share, granularity="one triple")

    @property
    def text_guarantee(self) -> Guarantee:
        """The same as `guarantee`: ε is given for the text."""
        return self.guarantee

    def at(self, epsilon: float) -> DpSt:
        """The same corpus at another epsilon."""
        epsilon = require_epsilon(epsilon)
        return replace(self, epsilon=epsilon)

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
        asked = [triples for triples in drawn if triples]
        answers = iter(self.write(asked) if asked else ())
        written = [next(answers) if triples else kept[row] for row, triples in enumerate(drawn)]
        return Rewritten(written, list(map(len, drawn)), cut if self.fidelity == "sound" else 0)

    def release(self, texts: Sequence[str] | Items, rng: Generator) -> Items:
        """The rewritten texts as an array."""
        return np.array(self.rewrite(list(texts), rng).texts, dtype=object)

    def draw(self, triples: Sequence[Triple], rng: Generator) -> list[Triple]:
        """One public triple a slot: first its cluster, then itself, each with half of the share.

        An empty slot has utility 0 everywhere: a uniform cluster, then a uniform triple in it.
        """
        vectors = np.zeros((self.slots, self.corpus.vectors.shape[1]))
        if triples:
            vectors[: len(triples)] = _unit(self.encode([" ".join(t) for t in triples]))
        clusters = self._sampler.draw(_utility(vectors, self.corpus.centroids), rng)
        chosen = []
        for vector, cluster in zip(vectors, clusters, strict=True):
            members = self.corpus.members[cluster]
            chosen.append(members[self._member(vector, members, self._sampler, rng)])
        return [self.corpus.triples[i] for i in chosen]

    def log_law(self, triples: Sequence[Triple]) -> Floats:
        """ln of the probability of each public triple in each slot."""  # noqa: D403
        vectors = np.zeros((self.slots, self.corpus.vectors.shape[1]))
        if triples:
            vectors[: len(triples)] = _unit(self.encode([" ".join(t) for t in triples]))
        table = np.empty((self.slots, len(self.corpus.triples)))
        outer = self._sampler.log_law(_utility(vectors, self.corpus.centroids))
        for cluster, members in enumerate(self.corpus.members):
            inner = _utility(vectors, self.corpus.vectors[members])
            law = np.zeros_like(inner) if len(members) == 1 else self._sampler.log_law(inner)
            table[:, members] = outer[:, [cluster]] + law
        return table

    @property
    def _sampler(self) -> TokenSampler:
        return TokenSampler(self.epsilon / self.slots / 2, 0.0, 1.0)

    def _draw_as_released(self, triples: Sequence[Triple], rng: Generator) -> list[Triple]:
        """The nearest cluster without any draw, then one triple of it with all of the share."""
        vectors = _unit(self.encode([" ".join(t) for t in triples]))
        sampler = TokenSampler(self.epsilon / len(triples), 0.0, 1.0)
        chosen = []
        for vector in vectors:
            members = self.corpus.members[int((self.corpus.centroids @ vector).argmax())]
            chosen.append(members[self._member(vector, members, sampler, rng)])
        return [self.corpus.triples[i] for i in chosen]

    def _member(
        self, vector: Floats, members: Indices, sampler: TokenSampler, rng: Generator
    ) -> int:
        if len(members) == 1:
            return 0
        return int(sampler.draw(_utility(vector[None], self.corpus.vectors[members]), rng)[0])


def dp_st(
    corpus: TripleCorpus,
    *,
    extract: Extractor,
    encode: Encoder,
    epsilon: float,
    write: Writer | None = None,
    slots: int = 3,
    fidelity: Fidelity = "sound",
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
    """
    check_fidelity(fidelity)
    epsilon = require_epsilon(epsilon)
    require(slots >= 1, "slots", ">= 1", slots)
    asked = keep_without_triples and fidelity == "sound"
    require(not asked, "keep_without_triples", "off where the guarantee is sound", "on")
    require(len(corpus.members) >= 2, "a corpus", "at least two clusters", len(corpus.members))
    return DpSt(
        corpus, extract, encode, write or plain_sentences, epsilon, slots, fidelity,
        keep_without_triples,
    )  # fmt: skip


def plain_sentences(drawn: Sequence[Sequence[Triple]]) -> list[str]:
    """Triples as short sentences; needs no model.

    >>> plain_sentences([[("a man", "goes to", "boston")]])
    ['a man goes to boston.']
    """
    return [" ".join(f"{' '.join(triple)}." for triple in triples) for triples in drawn]


def model_writer(language: LanguageModel, *, max_new_tokens: int = 48, batch: int = 32) -> Writer:
    """Let an instruction-following model write one natural text from the triples of each.

    The likeliest text, without a draw; equal triples are written once.
    """
    asked = (
        "Write one short, natural and grammatical text from these facts. Use only the facts, "
        "leave out what does not fit, and give no explanation.\nFacts: "
    )
    tokenizer = language.tokenizer

    def question(triples: Sequence[Triple]) -> Tokens:
        facts = "; ".join(" | ".join(triple) for triple in triples)
        chat = [{"role": "user", "content": asked + facts}]
        said = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        return tuple(tokenizer(said, add_special_tokens=False)["input_ids"])

    def write(drawn: Sequence[Sequence[Triple]]) -> list[str]:
        prompts = [question(triples) for triples in drawn]
        tokens = likeliest(language, prompts, length=max_new_tokens, batch=batch)
        return [str(tokenizer.decode(t, skip_special_tokens=True)).strip() for t in tokens]

    return write


def _unit(vectors: Any) -> Floats:
    table = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)


def _utility(vectors: Floats, others: Floats) -> Floats:
    return np.maximum(vectors @ others.T, 0.0)
