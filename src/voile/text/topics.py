"""What use is left: whether a text's topic is still right in its release, over many strengths.

A text is the mean of its public word vectors, rare words counting more (a/(a + p), Arora et al.,
ICLR 2017), common direction taken out. With a column of labels the topic of a row is its label, and
a linear classifier, trained on the *originals* of other rows, names it from the release
(cross-fitted: no row is judged by what was trained on it). Without one, topics are groups of the
public vocabulary, and a topic is right if release and original fall to the same group.

Nothing here is a release: what is drawn is seeded, counted and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, needs
from voile.files.rows import RowProblem
from voile.files.source import open_source
from voile.leakage.bounds import clopper_pearson
from voile.text.released import ReleasedText
from voile.text.tokens import Token, Tokenizer
from voile.text.vocabularies import Vocabulary
from voile.text.word_protector import TextProtector

ROWS, AMONG = 300, 20_000
"""So many rows are judged, chosen at random among the first of a file."""
LETTERS = 1200
"""Of a long text so much is read."""
MOST_LABELS = 50
_FOLDS = 5
_GROUPS = 20
_FREQUENT = 5000
"""Public groups are made of so many words."""
_RARE = 1e-3


@dataclass(frozen=True)
class TopicUse:
    """The share of rows whose topic is right in sampled releases, at each strength."""

    by: str
    """The column of labels; empty: groups of the public vocabulary."""
    rows: int
    epsilons: tuple[float, ...]
    right: tuple[float, ...]
    """Not falling in epsilon: sampled shares, pooled where chance has them fall."""
    within: float
    """No share is further from what more rows would show (95 %, each)."""
    originals: float
    """The share that is right in the originals: what no release can be expected to exceed."""
    guess: float
    """The share of the commonest topic: what is right without reading."""


Judge = Callable[[Floats], Any]
"""Topics from vectors of all rows, each row by a judge that was not trained on it."""


def topic_use(
    protector_at: Callable[[float], TextProtector],
    epsilons: Sequence[float],
    data: Any,
    column: str,
    *,
    label: str | None = None,
    seed: int = 0,
) -> TopicUse:
    """Judge some rows in a release at each strength; all releases of one seed."""
    texts, labels = _sample(data, column, label, seed)
    protector = protector_at(epsilons[-1])
    read = TextVectors(protector.vocabulary)
    clean = read(texts)
    judge = _groups(protector.vocabulary) if labels is None else _classifiers(clean, labels)
    first = judge(clean)
    truth = first if labels is None else labels
    shares = []
    for epsilon in epsilons:
        made = protector_at(epsilon).alone.release_texts(texts, seeded_rng(seed))
        released = [one.text if isinstance(one, ReleasedText) else "" for one in made]
        shares.append(float((judge(read(released)) == truth).mean()))
    counts = np.unique(truth, return_counts=True)[1]
    rows = len(texts)
    return TopicUse(
        label or "",
        rows,
        tuple(map(float, epsilons)),
        _rising(shares),
        max(_reach(share, rows) for share in shares),
        float((first == truth).mean()),
        float(counts.max() / rows),
    )


def _rising(shares: Sequence[float]) -> tuple[float, ...]:
    """The nearest shares that do not fall (isotonic regression)."""
    from sklearn.isotonic import isotonic_regression

    return tuple(np.asarray(isotonic_regression(np.asarray(shares))).tolist())


def _reach(share: float, rows: int) -> float:
    low, high = clopper_pearson(round(share * rows), rows, failure_probability=0.05)
    return max(share - low, high - share)


# ── rows ───────────────────────────────────────────────────────────────────────────────────────


def _sample(data: Any, column: str, label: str | None, seed: int) -> tuple[list[str], Any]:
    """Some rows at random among the first: texts, and their labels if a column is named."""
    source = open_source(data)
    source.must_have(column, label)
    rng = np.random.default_rng(seed)
    kept: list[tuple[str, str]] = []
    for place, pair in enumerate(_pairs(source, column, label)):
        if len(kept) < ROWS:
            kept.append(pair)
        elif (other := int(rng.integers(place + 1))) < ROWS:
            kept[other] = pair
    if len(kept) < 2 * _FOLDS:
        raise InvalidInput(f"topics need at least {2 * _FOLDS} texts, got {len(kept)}")
    texts = [text for text, _ in kept]
    if label is None:
        return texts, None
    labels = np.array([name for _, name in kept])
    count = len(set(labels.tolist()))
    if not 2 <= count <= MOST_LABELS:
        raise InvalidInput(
            f"{label!r} must hold 2 to {MOST_LABELS} different labels to be a topic, got {count}"
        )
    return texts, labels


def _pairs(source: Any, column: str, label: str | None) -> Iterator[tuple[str, str]]:
    for place, (_, row) in enumerate(source.rows()):
        if place >= AMONG:
            return
        if isinstance(row, RowProblem):
            continue
        text, name = row.get(column), "" if label is None else row.get(label)
        if isinstance(text, str) and text.strip() and name is not None:
            yield text[:LETTERS], str(name)


# ── judges ─────────────────────────────────────────────────────────────────────────────────────


class TextVectors:
    """Texts as directions: the weighted mean of their words' public vectors."""

    def __init__(self, words: Vocabulary) -> None:
        self._tokenizer = Tokenizer(words)
        self._unknown = words.unknown
        self._vectors = word_directions(words)

    def __call__(self, texts: Sequence[str]) -> Floats:
        """A row for each text; zeros for one without a known word."""
        found = np.zeros((len(texts), self._vectors.shape[1]))
        for place, text in enumerate(texts):
            pieces = self._tokenizer.split(text)
            known = [
                piece.position
                for piece in pieces
                if isinstance(piece, Token) and piece.position != self._unknown
            ]
            if known:
                found[place] = self._vectors[known].sum(axis=0)
        return _unit(found)


@lru_cache(maxsize=2)
def word_directions(words: Vocabulary) -> Floats:
    """Centred word vectors, each times what the word counts in a text."""
    frequencies = words.frequencies()
    shares = frequencies / frequencies.sum()
    points = words.embedding.points
    centred = points - shares @ points
    return np.asarray(centred * (_RARE / (_RARE + shares))[:, None])


def _unit(table: Floats) -> Floats:
    return np.asarray(table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12))


def _classifiers(clean: Floats, labels: Any) -> Judge:
    """A linear classifier for each fold, trained on the originals of the others."""
    with needs("scikit-learn", extra="text"):
        from sklearn.linear_model import LogisticRegression
    folds = _folds(labels)
    models = [
        LogisticRegression(C=10.0, max_iter=300).fit(clean[folds != k], labels[folds != k])
        for k in range(_FOLDS)
    ]

    def judge(vectors: Floats) -> Any:
        named = labels.copy()
        for k, model in enumerate(models):
            named[folds == k] = model.predict(vectors[folds == k])
        return named

    return judge


def _folds(labels: Any) -> Indices:
    """Folds that hold each label alike: dealt out in turn, label by label."""
    dealt = np.empty(len(labels), dtype=np.intp)
    dealt[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % _FOLDS
    return dealt


def _groups(words: Vocabulary) -> Judge:
    centres = _centres(words)
    return lambda vectors: (vectors @ centres.T).argmax(axis=1)


@lru_cache(maxsize=2)
def _centres(words: Vocabulary) -> Floats:
    """Directions of groups of frequent words: spherical k-means, begun far apart."""
    table = word_directions(words)
    order = np.argsort(-words.frequencies(), kind="stable")[: min(_FREQUENT, len(words))]
    points = _unit(table[order])
    chosen = [0]
    nearest = points @ points[0]
    while len(chosen) < min(_GROUPS, len(points)):
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, points @ points[chosen[-1]])
    centres = points[chosen]
    for _ in range(20):
        member = (points @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, member, points)
        centres = np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 0, _unit(sums), centres)
    return np.asarray(centres)
