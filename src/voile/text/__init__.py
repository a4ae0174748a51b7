"""Text: vocabularies, words in and out of sentences, identifiers, tiers.

>>> import voile
>>> from voile import text
>>> words = text.vocabulary(["cat", "dog", "tree"], [[0.0, 1.0], [0.2, 1.0], [3.0, 0.0]])
>>> blur = text.protector(words, epsilon=60.0)
>>> blur.release(["A dog, a cat!"], voile.seeded_rng(7))
['Unk dog, unk cat!']
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from voile.text.released import Unknown
from voile.text.vocabularies import Vocabulary, vocabulary
from voile.text.vocabulary_files import glove, minilm, read_vocabulary
from voile.text.word_protector import TextProtector, protector

_HOMES = {
    "audit": "voile.text._audit",
    "calibrate": "voile.text._calibrate",
    "compare": "voile.text._compare",
    "membership": "voile.text._membership",
    "protect": "voile.text._protect",
    "tune": "voile.text._tune",
    "utility": "voile.text._utility",
}
"""Use cases, each imported when it is first asked for."""

__all__ = [
    "TextProtector",
    "Unknown",
    "Vocabulary",
    "audit",
    "calibrate",
    "compare",
    "glove",
    "membership",
    "minilm",
    "protect",
    "protector",
    "read_vocabulary",
    "tune",
    "utility",
    "vocabulary",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'voile.text' has no attribute {name!r}")
