"""Public lists of words that often are the secret: what a law does to them is shown, not averaged.

The lists are samples of their class, in English, and no more: a word that is missing here is not
safe. They serve to say what an epsilon does; no guarantee rests on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from voile.core.arrays import Indices
from voile.errors import InvalidInput
from voile.files.encodings import lines_of
from voile.text.vocabularies import Vocabulary

_LISTS = {
    "names": """
        mary john anna david maria james sarah michael fatima ahmed mohammed wei priya juan carlos
        olga ivan yuki chen ali smith johnson garcia müller nguyen kim singh khan cohen kowalski
        """,
    "illness": """
        hiv aids cancer diabetes depression schizophrenia epilepsy hepatitis tuberculosis syphilis
        leukemia tumor asthma dementia alzheimer anorexia bipolar autism stroke chemotherapy
        insulin methadone overdose miscarriage abortion pregnant infertility biopsy diagnosis
        suicide
        """,
    "places": """
        london paris berlin tokyo moscow lagos mumbai boston chicago warsaw vienna oslo dublin
        madrid cairo nairobi seoul lima toronto sydney germany nigeria poland mexico pakistan
        """,
    "belief and origin": """
        muslim jewish christian catholic hindu sikh atheist mosque synagogue kurdish roma
        refugee immigrant asylum communist republican democrat union gay lesbian transgender
        """,
    "money and law": """
        salary debt bankruptcy loan mortgage divorce custody alimony arrested prison convicted
        probation lawsuit fraud bribe fired dismissed unemployed harassment rape
        """,
    "numbers": """
        1 2 3 7 10 12 17 25 42 50 65 99 100 1945 1984 1990 2000 2005 two three seven twelve thirty
        hundred thousand million
        """,
}

WATCHED = {kind: tuple(dict.fromkeys(words.split())) for kind, words in _LISTS.items()}
"""Words by class."""


def watched_words(words: Vocabulary, own: Sequence[str] = ()) -> Indices:
    """Where the watched words that it holds stand in a vocabulary, a list of one's own included."""
    listed = {*own, *(word for each in WATCHED.values() for word in each)}
    known = words.positions
    return np.array(sorted({known[word] for word in listed if word in known}), dtype=np.intp)


def read_watched(path: str | Path) -> tuple[str, ...]:
    """A public list of one's own: a word a line, in small letters, each once."""
    lines = lines_of(path, what="--watch must name a list of words")
    words = tuple(dict.fromkeys(line.lower() for line in lines if line))
    spaced = sum(any(map(str.isspace, word)) for word in words)
    if not words or spaced:
        found = f"{spaced} lines with several" if words else "an empty one"
        raise InvalidInput(f"--watch must name a file with a word a line, got {found}")
    return words
