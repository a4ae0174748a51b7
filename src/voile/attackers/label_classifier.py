"""An attacker who reads labels off features: P(y|x) fitted to records and calibrated."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.label_linear import PenalisedLinear
from voile.attackers.label_pairs import Pair, telling_pairs, with_pairs
from voile.attackers.label_reading import Block, ReadAs, Values, learn_block, read_as
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, MissingExtra, require

LINEAR, TREES = "logistic regression", "boosted trees"
FEWEST = 10
"""Records that each class needs, so that every fold and its calibration part hold some."""


Columns = Sequence[Values]
"""Features by column: doubles (NaN: missing) or names."""


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """Several classifiers as one, stacked: softmax(Σ_m w_m ln p_m + shift), p_m their predictions.

    Weights and shift were fitted to records that the classifiers had not seen; `support` is their
    number, and beliefs are mixed with the prior at weight 1/(support + 1), because so many records
    cannot speak for a surer belief.
    """

    readers: tuple[Callable[[Values], Block], ...]
    members: tuple[tuple[str, Callable[[Sequence[Block]], Floats]], ...]
    weights: Floats
    shift: Floats
    prior: Floats
    support: int
    loss: float
    losses: tuple[tuple[str, float], ...]

    @property
    def name(self) -> str:
        """The member with the smallest log-loss by itself."""
        return min(self.losses, key=lambda pair: pair[1])[0]

    def blocks(self, features: Columns) -> list[Block]:
        """The columns as the classifiers read them."""
        return [read(values) for read, values in zip(self.readers, features, strict=True)]

    def posteriors(self, features: Columns) -> Floats:
        """P(y|x) for each record."""
        return self.beliefs(self.blocks(features))

    def beliefs(self, blocks: Sequence[Block]) -> Floats:
        """The same, for columns that were read already."""
        logits = self.shift + sum(
            weight * _log(raw(blocks))
            for weight, (_, raw) in zip(self.weights, self.members, strict=True)
        )
        logits -= logits.max(axis=1, keepdims=True)
        table = np.exp(logits)
        table /= table.sum(axis=1, keepdims=True)
        return np.asarray((self.support * table + self.prior) / (self.support + 1))


@dataclass(frozen=True, eq=False)
class FitDraws:
    """All that is random in a fit: which records it is calibrated on, and its seed.

    Drawn beforehand, so that a fit gives the same answer wherever and whenever it is done.
    """

    held: NDArray[np.bool_]
    seed: int

    @classmethod
    def of(cls, labels: Indices, *, rng: Generator) -> FitDraws:
        """Draws for a fit to records with these labels."""
        held = stratified(labels, parts=5, rng=rng) == 0
        return cls(held, int(rng.integers(2**31)))


def fit_classifier(
    features: Columns,
    labels: Indices,
    *,
    classes: int,
    rng: Generator,
    only: str | None = None,
) -> FittedClassifier:
    """Fit several classifiers on four fifths of the records, stack them on the last fifth.

    Each column is read as what it looks like (`read_as`), and a few sums and differences of two
    numbers beside them (`telling_pairs`); a logistic regression reads the sparse encodings,
    gradient-boosted trees the dense ones (or `only` the named one). They are stacked and
    calibrated at once, by maximum likelihood with a weak pull to their even geometric mean. Costs
    a few seconds for 10⁴ records.

    >>> from voile.core.randomness import seeded_rng
    >>> rng = seeded_rng(1)
    >>> labels = rng.integers(2, size=2000)
    >>> column = rng.normal(size=2000) + 2.0 * labels
    >>> model = fit_classifier([column], labels, classes=2, rng=rng)
    >>> bool(abs(model.posteriors([np.array([1.0])])[0, 1] - 0.5) < 0.1)
    True
    """
    check_records(features, labels, classes)
    return fit_drawn(
        features, labels, FitDraws.of(labels, rng=rng), how=ways(features), classes=classes,
        only=only,
    )  # fmt: skip


def ways(features: Columns) -> tuple[ReadAs, ...]:
    """How each column is read."""
    return tuple(read_as(values) for values in features)


def fit_drawn(
    features: Columns,
    labels: Indices,
    draws: FitDraws,
    *,
    how: Sequence[ReadAs],
    classes: int,
    only: str | None = None,
) -> FittedClassifier:
    """`fit_classifier` with what is random in it given, and how each column is read."""
    check_records(features, labels, classes)
    held, seed = draws.held, draws.seed
    prior = np.bincount(labels, minlength=classes) / len(labels)
    own, later, readers = [], [], []
    for way, values in zip(how, features, strict=True):
        block, read = learn_block(way, values[~held], labels[~held], seed)
        own.append(block)
        later.append(read(values[held]))
        readers.append(read)
    pairs = telling_pairs(own, labels[~held])
    members = [
        (name, _fitted(member, own, pairs, labels[~held], classes))
        for name, member in _members(seed).items()
        if only in (None, name)
    ]
    if not members:
        raise InvalidInput(f"only must be one of {', '.join(_members(0))}, got {only!r}")
    tables = [raw(later) for _, raw in members]
    losses = tuple(
        (name, _stacked([table], labels[held])[2])
        for (name, _), table in zip(members, tables, strict=True)
    )
    weights, shift, loss = _stacked(tables, labels[held])
    return FittedClassifier(
        tuple(readers), tuple(members), weights, shift, prior, int(held.sum()), loss, losses
    )


def halves(labels: Indices, *, rng: Generator) -> tuple[Indices, Indices]:
    """Two random halves of the records, each class divided evenly."""
    parts = stratified(labels, parts=2, rng=rng)
    return np.flatnonzero(parts == 0), np.flatnonzero(parts == 1)


@dataclass(frozen=True)
class _Member:
    """A kind of classifier: how it is made for these blocks, and which side of them it reads."""

    build: Callable[[Sequence[Block]], Any]
    sparse: bool

    def table(self, blocks: Sequence[Block]) -> Any:
        from scipy.sparse import hstack

        if self.sparse:
            return hstack([block.wide for block in blocks], format="csr")
        return np.hstack([block.dense for block in blocks])


def _members(seed: int) -> dict[str, _Member]:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as problem:
        raise MissingExtra("scikit-learn", extra="labels") from problem

    def trees(blocks: Sequence[Block]) -> Any:
        named = [[block.categorical] * block.dense.shape[1] for block in blocks]
        return HistGradientBoostingClassifier(
            max_iter=100,
            max_leaf_nodes=15,
            early_stopping=False,
            categorical_features=np.concatenate(named),
            random_state=seed,
        )

    return {
        LINEAR: _Member(lambda blocks: PenalisedLinear(seed), sparse=True),
        TREES: _Member(trees, sparse=False),
    }


def _fitted(
    member: _Member,
    blocks: Sequence[Block],
    pairs: Sequence[Pair],
    labels: Indices,
    classes: int,
) -> Callable[[Sequence[Block]], Floats]:
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    blocks = with_pairs(blocks, pairs)
    model = member.build(blocks)
    # One thread: at these sizes OpenMP's waiting costs more than it brings on a shared machine.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # judged by its loss, like the others
        model.fit(member.table(blocks), labels)
    known = np.asarray(model.classes_, dtype=np.intp)

    def raw(others: Sequence[Block]) -> Floats:
        rows = member.table(with_pairs(others, pairs))
        table = np.zeros((rows.shape[0], classes))
        with threadpool_limits(1):
            table[:, known] = model.predict_proba(rows)
        return table

    return raw


def _stacked(tables: Sequence[Floats], labels: Indices) -> tuple[Floats, Floats, float]:
    """Weights of the tables, a shift for each class, and the log-loss with them."""
    from scipy.optimize import minimize

    logs = np.stack([_log(table) for table in tables])
    rows, count = np.arange(len(labels)), len(tables)
    classes = logs.shape[2]
    even = np.concatenate([np.full(count, 1 / count), np.zeros(classes)])

    def objective(parameters: Floats) -> tuple[float, Floats]:
        logits = np.tensordot(parameters[:count], logs, axes=1) + parameters[count:]
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        sums = chances.sum(axis=1, keepdims=True)
        likelihood = logits[rows, labels] - np.log(sums[:, 0])
        over = chances / sums
        over[rows, labels] -= 1.0
        slope = np.concatenate([np.einsum("mnk,nk->m", logs, over), over.sum(axis=0)])
        away = parameters - even
        return float(-likelihood.sum() + 0.5 * (away**2).sum()), slope + away

    found = minimize(
        objective, even, jac=True, method="L-BFGS-B",
        bounds=[(0.0, 20.0)] * count + [(-5.0, 5.0)] * classes,
    )  # fmt: skip
    value = objective(found.x)[0] - 0.5 * float(((found.x - even) ** 2).sum())
    return np.asarray(found.x[:count]), np.asarray(found.x[count:]), value / len(labels)


def _log(table: Floats) -> Floats:
    return np.log(np.maximum(table, 1e-6))


def stratified(labels: Indices, *, parts: int, rng: Generator) -> Indices:
    """A part for each record, every class spread evenly and at random over the parts."""
    chosen = np.empty(len(labels), dtype=np.intp)
    offset = 0
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        chosen[members] = (np.arange(len(members)) + offset) % parts
        offset += len(members)
    return chosen


def check_records(features: Columns, labels: Indices, classes: int) -> None:
    """Refuse what no classifier could be fitted to."""
    good = len(features) > 0 and all(np.shape(values) == np.shape(labels) for values in features)
    require(good, "features", "columns with a value for each label", f"{len(features)} columns")
    infinite = any(values.dtype.kind == "f" and np.isinf(values).any() for values in features)
    require(not infinite, "features", "finite or missing", "infinity")
    require(classes >= 2, "classes", ">= 2", classes)
    fewest = int(np.bincount(labels, minlength=classes).min())
    require(fewest >= FEWEST // 2, "records of each class", f">= {FEWEST // 2}", fewest,
            "merge rare classes or gather more records")  # fmt: skip
