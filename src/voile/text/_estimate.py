"""`voile.text.estimate`: how often words and topics occur, from a released text file alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from voile.core.arrays import Indices
from voile.errors import InvalidInput, require
from voile.files.source import Source, open_source
from voile.jobs.settings import BootstrapSeed, EachConfidence, Resamples
from voile.mechanisms._word_law import WordLaw
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.report.model import Report, Table
from voile.report.result import Result
from voile.report.words import counted
from voile.text.building import build_protector, load_vocabulary
from voile.text.given import Promised, TextColumn, VectorFile
from voile.text.reading import texts_in
from voile.text.released_file import draws_of, told_by
from voile.text.tokens import Tokenizer
from voile.text.vocabularies import Vocabulary
from voile.text.word_frequencies import word_frequencies
from voile.text.word_shares import KEPT, word_shares, word_table

FEWEST = 30
"""So many texts at least: intervals come from resampling them."""
FEW_KEPT = 0.5
ROUGH = (
    "ROUGH: at this ε a word came out as itself {kept:.0f} % of the time, so the largest shares "
    "are told at best, and intervals are too narrow (of single words on news at ε = 3 two in three "
    "held the truth)."
)
"""What is said below that share of words that came out as themselves."""
COLUMNS = ("what", "released", "estimate", "from", "to")


@dataclass(frozen=True)
class WordShare:
    """A word, or several that are a topic: its share of released words, and of the true ones."""

    name: str
    released: float
    share: float
    lower: float
    upper: float

    def row(self) -> tuple[str, float, float, float, float]:
        """As it stands in a table."""
        return (self.name, self.released, self.share, self.lower, self.upper)


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedText(Result):
    """Likeliest shares of words and topics among all words that were drawn."""

    mechanism: str
    epsilon: float
    texts: int
    words: int
    confidence: float
    topics: tuple[WordShare, ...]
    commonest: tuple[WordShare, ...]
    others: WordShare
    """All words that are not told apart."""
    kept: float
    """How often a word came out as itself, by these estimates."""
    half_width: float
    texts_needed: int
    ground: str

    def _records(self) -> Iterator[dict[str, Any]]:
        every = (*self.topics, *self.commonest)
        return (dict(zip(COLUMNS, one.row(), strict=True)) for one in every)

    def _report(self) -> Report:
        first = (self.topics or self.commonest)[0]
        parts = (("Topics", self.topics), ("The commonest words", self.commonest))
        return Report(
            title="What a released text says about its words",
            about="Estimates from released words",
            answer=(
                f"{counted(self.words, 'drawn word')} of {counted(self.texts, 'text')} by "
                f"{self.mechanism} at ε = {self.epsilon:g}: {first.name} is "
                f"{100 * first.share:.2f} % of them at the likeliest, between "
                f"{100 * first.lower:.2f} % and {100 * first.upper:.2f} %."
            ),
            notes=(
                *((ROUGH.format(kept=100 * self.kept),) if self.kept < FEW_KEPT else ()),
                "Made of the release and its law alone: post-processing, which costs no budget.",
                f"Intervals: {self.ground}.",
                f"For intervals of ± {100 * self.half_width:g} points about "
                f"{self.texts_needed:,} such texts are needed.",
                f"All other words together are {100 * self.others.share:.1f} %; how they divide "
                "among themselves is taken from public frequencies.",
            ),
            tables=tuple(
                Table(
                    f"{title}, {100 * self.confidence:g} % intervals",
                    COLUMNS,
                    tuple((n, *(f"{100 * x:.3f} %" for x in rest)) for n, *rest in rows),
                )
                for title, shares in parts
                if (rows := [one.row() for one in shares])
            ),
            terms=("epsilon", "release"),
        )


@use_case("text estimate")
def estimate(
    released: Annotated[Data, Option("What `voile text protect` wrote.", reads="public")],
    *,
    column: TextColumn = "text",
    topic: Annotated[
        tuple[str, ...],
        Option("Words that count as one, joined by +: pain+ache,doctor+nurse.", shown=True),
    ] = (),
    guarantee: Promised = None,
    vocabulary: VectorFile = None,
    most: Annotated[int, Option("Show so many of the commonest words.")] = 20,
    confidence: EachConfidence = 0.95,
    half_width: Annotated[
        float, Option("Say how many texts intervals of ± this share need.")
    ] = 0.001,
    resamples: Resamples = 100,
    seed: BootstrapSeed = 0,
) -> EstimatedText:
    """Estimate how often words and topics occur in the true texts, from a released file.

    Example: `voile text estimate reviews.protected.csv --topic bad+awful+terrible`

    Law, epsilon and vocabulary are taken from the guarantee file, and costs no budget. The shares
    under which all released words are likeliest are found by EM over the vocabulary with the law
    that drew them. Words that stand in clear, and what was replaced by a sign, are not counted.
    """
    require(0.5 <= confidence < 1, "confidence", "between 0.5 and 1", confidence)
    require(half_width > 0, "half_width", "> 0", half_width)
    require(resamples >= 20, "resamples", ">= 20", resamples)
    require(most >= 1, "most", ">= 1", most)
    source = open_source(released)
    column = source.chosen(column)
    told = told_by(guarantee, source)
    settings = told.settings(column, vocabulary, cache=True)
    tell("loading the vocabulary")
    words = load_vocabulary(settings)
    told.check_vocabulary(words)
    topics = [_positions(one, words) for one in topic]
    protector = build_protector(settings, words)
    drawn, texts = _draws(source, column, protector.tokenizer, told.unknown_in_clear)
    public = word_frequencies(words).shares
    counts = np.bincount(drawn, minlength=len(public))
    apart = [np.argsort(-counts, kind="stable")[:KEPT], np.argsort(-public, kind="stable")[:KEPT]]
    asked = np.array([at for one in topics for at in one], dtype=np.intp)
    law = protector.laws[0]
    assert isinstance(law, WordLaw)  # `told_by` refuses what is not drawn word by word
    table = word_table(law, np.concatenate([*apart, asked]), public)
    found = word_shares(table, drawn, texts, resamples=resamples, seed=seed)

    def share(name: str, at: Sequence[int]) -> WordShare:
        seen = float(np.isin(drawn, np.array(at)).mean())
        return WordShare(name, seen, *found.of(at, confidence))

    top = table.words[np.argsort(-found.shares[:-1], kind="stable")[:most]].tolist()
    of_topics = tuple(share(" + ".join(_spelt(one)), at)
                      for one, at in zip(topic, topics, strict=True))  # fmt: skip
    commonest = tuple(share(words.written[at], [at]) for at in top)
    counted_texts = int(texts.max()) + 1
    widest = max((one.upper - one.lower) / 2 for one in of_topics or commonest)
    return EstimatedText(
        mechanism=told.mechanism,
        epsilon=told.epsilon,
        texts=counted_texts,
        words=len(drawn),
        confidence=confidence,
        topics=of_topics,
        commonest=commonest,
        others=WordShare(
            "all other words",
            float((table.outputs(drawn) == len(table.words)).mean()),
            *found.others(confidence),
        ),
        kept=found.kept,
        half_width=half_width,
        texts_needed=max(FEWEST, math.ceil(counted_texts * (widest / half_width) ** 2)),
        ground=f"percentiles of {resamples} resamples of whole texts (bootstrap), not exact",
    )


def _spelt(topic: str) -> list[str]:
    return [word for word in (part.strip().lower() for part in topic.split("+")) if word]


def _positions(topic: str, words: Vocabulary) -> list[int]:
    """The words of a topic; each must be in the vocabulary, for nothing else can be told apart."""
    spelt = _spelt(topic)
    absent = [word for word in spelt if word not in words.positions]
    if not spelt or absent:
        what = f"{absent[0]!r} is not" if absent else "there is none"
        raise InvalidInput(f"--topic must be words of the vocabulary joined by +, {what}")
    return sorted({words.positions[word] for word in spelt})


def _draws(
    source: Source, column: str, tokenizer: Tokenizer, unknown_in_clear: bool
) -> tuple[Indices, Indices]:
    """Every drawn word, and the text in which it stands; empty texts say nothing."""
    drawn: list[int] = []
    texts: list[int] = []
    count = 0
    for text in texts_in(source, column):
        found = draws_of(text, tokenizer, unknown_in_clear=unknown_in_clear).drawn
        if found:
            drawn += [word.position for word in found]
            texts += [count] * len(found)
            count += 1
    require(count >= FEWEST, "released texts", f">= {FEWEST}, to resample", count)
    return np.array(drawn, dtype=np.intp), np.array(texts, dtype=np.intp)
