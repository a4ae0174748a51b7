"""A public list of words with vectors: the secrets that a word can be."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.errors import InvalidInput, require
from voile.mechanisms._embedding import Embedding

UNKNOWN_WORD = "unk"
"""How a release of the unknown word is written."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words, most frequent first, and their lattice; the last position is the unknown word.

    `private` says that the list was taken from the text to be protected, which a guarantee then
    has to mention: which words occur is released in clear.
    """

    words: tuple[str, ...]
    embedding: Embedding
    name: str
    private: bool = False
    languages: tuple[str, ...] = ("en",)
    """What the words are in, by which public frequencies are looked up."""

    @cached_property
    def unknown(self) -> int:
        """The position of the unknown word: every word outside the list is this one secret."""
        return len(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({self.name}, {len(self)} words)"

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each word stands."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def written(self) -> tuple[str, ...]:
        """What is written for each position."""
        return (*self.words, UNKNOWN_WORD)

    def frequencies(self) -> Floats:
        """Public word frequencies by rank, 1 / (rank + 2.7), and nothing for the unknown word.

        Zipf's law with Mandelbrot's offset for English. It serves to say what an epsilon does
        without a look at the private text; no guarantee rests on it.
        """
        shares = 1 / (np.arange(1, len(self) + 1) + 2.7)
        return np.append(shares / math.fsum(shares), 0.0)  # fsum: the same on any processor


def vocabulary(
    words: Sequence[str],
    vectors: Sequence[Any] | Items,
    *,
    name: str = "given words",
    metric: str = "euclidean",
    private: bool = False,
) -> Vocabulary:
    """Words and their vectors as a space of secrets, under "euclidean" or "angular" distance.

    Words are lower-cased and must be distinct. The unknown word gets the mean vector, a public
    place. "angular" scales vectors to length 1 and takes the distance between the ends, the
    chord 2·sin(θ/2): a true metric, at most the angle.

    >>> animals = vocabulary(["cat", "dog"], [[0.0], [1.0]])
    >>> len(animals), animals.unknown, animals.positions["dog"]
    (2, 2, 1)
    """
    require(metric in ("euclidean", "angular"), "metric", "euclidean or angular", metric,
            "cosine distance is no metric")  # fmt: skip
    cleaned = [unicodedata.normalize("NFC", word).lower() for word in words]
    require(len(cleaned) >= 2, "a vocabulary", "at least two words", len(cleaned))
    if len(set(cleaned)) < len(cleaned):
        raise InvalidInput(
            f"words must be distinct once lower-cased, {len(cleaned) - len(set(cleaned))} of "
            f"{len(cleaned)} are not; drop the later ones"
        )
    table = np.asarray(vectors)
    one_each = table.ndim == 2 and len(table) == len(cleaned)
    require(one_each, "vectors", f"{len(cleaned)} rows", f"shape {table.shape}")
    whole = np.vstack([table, table.mean(axis=0, dtype=np.float64)])
    embedding = Embedding.of(whole, normalise=metric == "angular")
    return Vocabulary(tuple(cleaned), embedding, name, private)


def no_words() -> Vocabulary:
    """The vocabulary where no word is drawn: nothing needs to be installed or read for it."""
    return Vocabulary((), Embedding.of(np.zeros((2, 1))), "none, as no word is drawn")


def is_word(entry: str) -> bool:
    """Whether a list's entry can stand for a word: a letter or a digit, and no space in it."""
    return any(map(str.isalnum, entry)) and not any(map(str.isspace, entry))
