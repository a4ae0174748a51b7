"""Text: vocabularies, words in and out of sentences, identifiers, tiers.

>>> import voile
>>> from voile import text
>>> words = text.vocabulary(["cat", "dog", "tree"], [[0.0, 1.0], [0.2, 1.0], [3.0, 0.0]])
>>> blur = text.protector(words, epsilon=60.0)
>>> blur.release(["A dog, a cat!"], voile.seeded_rng(7))
['Unk dog, unk cat!']
"""

from voile.text.released import Unknown
from voile.text.vocabularies import Vocabulary, vocabulary
from voile.text.vocabulary_files import glove, minilm, read_vocabulary
from voile.text.word_protector import TextProtector, protector

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
