"""The documents of the mPL paper's data sets, as a release with tiers reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from voile.adapt.ampl import Trial
from voile.adapt.secrets import Document, Secrets
from voile.attackers.readers import PRETRAINED
from voile.jobs import RowProblem, open_source
from voile.text.building import build_protector, load_vocabulary
from voile.text.options import Words
from voile.text.tuned_release import documents_of, laws_at, tuned_settings

DATASETS = {"ag_news": "AG News", "imdb": "IMDB", "amazon": "Amazon reviews"}
MESSAGES = "made-up messages"


@dataclass(frozen=True)
class Sizes:
    """How much is read: documents of the search and of a block, words, secrets; by an encoder."""

    search: int
    fresh: int
    blocks: int
    words: int
    secrets: int
    epochs: int
    rounds: int
    trained_rounds: int
    """Of a search against a network, which is trained anew in each."""
    encoded: int = 400

    def read_by(self, attacker: str) -> tuple[int, int]:
        """From how many documents of the search a network learns, and how often it reads them.

        Fewer where an encoder takes a tenth of a second for each.
        """
        if attacker == PRETRAINED:
            return min(self.encoded, self.search), self.epochs // 3
        return self.search, self.epochs

    def read(self, attackers: Iterable[str]) -> str:
        """The same in words, for all that are not exact."""
        each = [(name, *self.read_by(name)) for name in attackers]
        return "networks start at their prior, know the law, and read " + ", ".join(
            f"{count:,} documents {times} times ({name})" for name, count, times in each
        )

    def __str__(self) -> str:
        return (
            f"first {self.words} words, the {self.secrets} most frequent secrets, strengths chosen "
            f"on {self.search:,} documents and judged on {self.blocks} × {self.fresh:,} others"
        )


PAPER = Sizes(
    search=6400, fresh=1000, blocks=1, words=30, secrets=200, epochs=12, rounds=10, trained_rounds=6
)
SMALL = Sizes(
    search=120, fresh=60, blocks=1, words=20, secrets=60, epochs=3, rounds=5, trained_rounds=2
)


def documents(dataset: str, data: Path | None, count: int, *, words: int) -> list[str]:
    """So many different documents in a fixed random order, cut some words after the last read."""
    read = _read(dataset, data, count)
    texts = list(dict.fromkeys(" ".join(text.split()[: words + 10]) for text in read))
    return [texts[n] for n in np.random.default_rng(0).permutation(len(texts))[:count]]


def _read(dataset: str, data: Path | None, count: int) -> list[str]:
    if dataset == MESSAGES or data is None:
        from voile.text.sample_messages import messages

        return [message.text for message in messages(count, seed=0)]
    if dataset == "ag_news":
        news = _rows(data / "ag_news" / "test.csv", header=False)
        return [f"{row['c2']}. {row['c3']}" for row in news]
    if dataset == "imdb":
        reviews = _rows(data / "imdb" / "train.csv.gz")
        return [str(row["text"]).replace("<br />", " ") for row in reviews]
    files = sorted((data / "amazon").glob("*.tsv.gz"))  # half of the texts stand in two of them
    return [str(row["sentence"]) for path in files for row in _rows(path)]


def _rows(path: Path, *, header: bool = True) -> list[Mapping[str, Any]]:
    rows = open_source(path, header=header).rows()
    return [row for _, row in rows if not isinstance(row, RowProblem)]


class World:
    """The documents of a data set as the release reads them, and trials on them."""

    def __init__(self, dataset: str, data: Path | None, sizes: Sizes) -> None:
        count = sizes.search + sizes.blocks * sizes.fresh
        texts = documents(dataset, data, count, words=sizes.words)
        settings = tuned_settings(texts, "text", 1.0, "word-exponential", Words(), None)
        vocabulary = load_vocabulary(settings)
        protector = build_protector(settings, vocabulary)
        found = documents_of(protector, texts, longest=sizes.words)
        self.known: tuple[Document, ...] = tuple(found[: sizes.search])
        starts = range(sizes.search, count, sizes.fresh)
        self.blocks = [found[start : start + sizes.fresh] for start in starts]
        self.secrets = Secrets.of(
            self.known, vocabulary.embedding, drawn=2, most=sizes.secrets,
            written=vocabulary.written,
        )  # fmt: skip
        self._laws = laws_at(settings, vocabulary)

    def trial(self, epsilon: float, **how: Any) -> Trial:
        """The exact attacker at an epsilon, unless another is named; strengths are factors."""
        how = {"attacker": "markov", "counted": "documents"} | how
        laws = self._laws
        return Trial(
            self.secrets,
            self.known,
            lambda s: laws(tuple(epsilon * value for value in s)),
            epsilon,
            **how,
        )

    @cached_property
    def length(self) -> int:
        """The most secrets in a document."""
        every = (*self.known, *(d for block in self.blocks for d in block))
        return max(len(self.secrets.observed(d, d.words).sensitive) for d in every)
