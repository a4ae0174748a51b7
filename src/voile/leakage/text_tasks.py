"""What classifiers learn from released texts: a task to keep, an attribute to hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.errors import MissingExtra, require


def macro_f1(
    training: Sequence[str],
    labels: Sequence[str],
    *,
    tests: Sequence[str],
    test_labels: Sequence[str],
) -> float:
    """The F1 score, averaged over classes, of a linear classifier on words and word pairs.

    TF-IDF and logistic regression. Utility as TeDA (section 4.1) and its predecessors measure it:
    trained on releases, tested on clean texts. Classes that the tests lack do not count.
    """
    return _scored(_fitted(training, labels), tests, test_labels)


def attribute_f1(
    releases: Sequence[str], attributes: Sequence[str], *, test_share: float = 0.3, seed: int = 0
) -> float:
    """The F1 score of an attacker who reads an attribute off releases.

    Trained on 70 % of the *releases* and tested on the others: unlike the utility task, the
    attacker meets released texts only, and has adapted to them.
    """
    order = np.random.default_rng(seed).permutation(len(releases))
    tested = max(1, round(test_share * len(releases)))
    train, test = order[tested:], order[:tested]
    model = _fitted([releases[i] for i in train], [attributes[i] for i in train])
    return _scored(model, [releases[i] for i in test], [attributes[i] for i in test])


def _fitted(texts: Sequence[str], labels: Sequence[str]) -> Any:
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    except ImportError:
        raise MissingExtra("scikit-learn", extra="text") from None
    require(len(set(labels)) >= 2, "labels", "of two classes or more", len(set(labels)))
    features = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), token_pattern=r"\S+")
    model = make_pipeline(features, LogisticRegression(C=4.0, max_iter=1000))
    # releases may all be empty: one word that every text has keeps the vocabulary non-empty
    return model.fit([f"{text} ·" for text in texts], list(labels))


def _scored(model: Any, texts: Sequence[str], labels: Sequence[str]) -> float:
    from sklearn.metrics import f1_score

    guessed = model.predict([f"{text} ·" for text in texts])
    present = sorted(set(labels))
    score = f1_score(list(labels), guessed, labels=present, average="macro", zero_division=0.0)
    return float(score)
