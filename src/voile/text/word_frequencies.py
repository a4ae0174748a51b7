"""How often words occur, from public lists: what is believed of a word before its release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.text.vocabularies import Vocabulary

RAREST = 1e-9
"""The share of a word that the list does not know: below that of any word it knows."""


@dataclass(frozen=True, eq=False)
class WordFrequencies:
    """A share for each word of a vocabulary and for the unknown word, and where they are from."""

    source: str
    shares: Floats


def word_frequencies(words: Vocabulary) -> WordFrequencies:
    """Frequencies counted in public text (`wordfreq`), or Zipf's law by rank where it is missing.

    The unknown word gets what the list holds outside the vocabulary. A language that the list does
    not know gets Zipf's law too; a vocabulary of several languages gets their mean. Public either
    way: nothing of a private text is looked at.

    >>> from voile.text.vocabularies import vocabulary
    >>> found = word_frequencies(vocabulary(["the", "walrus"], [[0.0], [1.0]]))
    >>> bool(found.shares[0] > found.shares[1]), round(float(found.shares.sum()), 9)
    (True, 1.0)
    """
    try:
        counted = import_module("wordfreq")
        each = [_shares(counted, words, language) for language in words.languages]
    except (ImportError, LookupError):
        return WordFrequencies("Zipf's law by rank in the vocabulary", words.frequencies())
    every = sum(each[1:], each[0])
    name = f"word frequencies of wordfreq ({', '.join(words.languages)})"
    return WordFrequencies(name, every / math.fsum(every))


def _shares(counted: Any, words: Vocabulary, language: str) -> Floats:
    """The share of each word in one language, and of what it holds outside the vocabulary."""
    listed = counted.get_frequency_dict(language, wordlist="best")
    shares = [
        listed.get(word) or counted.word_frequency(word, language, wordlist="best")
        for word in words.words
    ]
    known = np.maximum(np.array(shares), RAREST)
    outside = max(RAREST, 1 - math.fsum(listed.get(word, 0.0) for word in words.words))
    return np.append(known, outside)
