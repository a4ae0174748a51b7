"""Text: vocabularies, words in and out of sentences, identifiers, tiers.

>>> import voile
>>> from voile import text
>>> words = text.vocabulary(["cat", "dog", "tree"], [[0.0, 1.0], [0.2, 1.0], [3.0, 0.0]])
>>> blur = text.protector(words, epsilon=60.0)
>>> blur.release(["A dog, a cat!"], voile.seeded_rng(7))
['Unk dog, unk cat!']
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
