"""Text: vocabularies, words in and out of sentences, identifiers, tiers.

>>> import voile
>>> from voile.domains import text
>>> words = text.vocabulary(["cat", "dog", "tree"], [[0.0, 1.0], [0.2, 1.0], [3.0, 0.0]])
>>> blur = text.protector(words, epsilon=60.0)
>>> blur.release(["A dog, a cat!"], voile.seeded_rng(7))
['Unk dog, unk cat!']
"""

from voile.domains.text.protector import TextProtector, protector
from voile.domains.text.released import Unknown
from voile.domains.text.vocabulary import Vocabulary, vocabulary
from voile.domains.text.vocabulary_files import glove, minilm, read_vocabulary

__all__ = [
    "TextProtector",
    "Unknown",
    "Vocabulary",
    "glove",
    "minilm",
    "protector",
    "read_vocabulary",
    "vocabulary",
]
