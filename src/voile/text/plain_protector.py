"""A protector of words from a vocabulary and an epsilon, and nothing else to decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voile.core.mechanism import Mechanism
from voile.text.released import Unknown
from voile.text.vocabularies import Vocabulary
from voile.text.word_protector import TextProtector


def protector(
    vocabulary: Vocabulary,
    *,
    epsilon: float,
    mechanism: Callable[..., Mechanism] | None = None,
    unknown: Unknown = Unknown.PERTURB,
    keep_stopwords: bool = False,
    identifiers: bool = True,
    cache: str | Path | None = None,
) -> TextProtector:
    """A protector that spends epsilon on each word, by TEM unless another mechanism is given.

    >>> import voile
    >>> from voile.text.vocabularies import vocabulary
    >>> words = vocabulary(["good", "fine", "bad"], [[0.0], [0.1], [7.0]])
    >>> blur = protector(words, epsilon=4.0)
    >>> blur.release(["Good: mail me@example.org"], voile.seeded_rng(3))
    ['Good: unk [EMAIL]']
    """
    from voile.mechanisms.words.word_truncated_exponential import word_truncated_exponential

    law: Mechanism
    if mechanism is None:
        law = word_truncated_exponential(vocabulary.embedding, epsilon=epsilon, cache=cache)
    else:
        law = mechanism(vocabulary.embedding, epsilon=epsilon)
    return TextProtector(
        vocabulary,
        (law,),
        unknown=Unknown(unknown),
        keep_stopwords=keep_stopwords,
        identifiers=identifiers,
    )
