"""Attribution: which of several candidate texts a release came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require


class Attribution(Protocol):
    """An attack on the distinguishability game: it scores candidates, the highest is its guess.

    It sees the pool, the candidate sets and the releases; never which candidate was the source.
    Any scores make a valid attack: a poor one only shows less. One whose score of a trial rests on
    other trials too says so by `by_itself = False`; then it is shown one trial of a set at a time.
    """

    @property
    def name(self) -> str:
        """A short name for tables."""
        ...

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """How well each candidate of each set explains its release: the shape of `sets`."""
        ...


@runtime_checkable
class Fitted(Protocol):
    """An attack that must first be shown trials with their sources; the audit says which."""

    @property
    def name(self) -> str:
        """A short name for tables."""
        ...

    def fit(
        self, pool: Sequence[str], sets: Indices, releases: Sequence[Any], columns: Indices
    ) -> Attribution:
        """The attack that was learned from these trials."""
        ...


def guesses(scores: Floats, rng: Generator) -> Indices:
    """The column with the highest score in each row; ties are broken by a fair draw.

    A tie broken by position would be harmless here, since the source's position is uniform, but a
    fair draw keeps an attack that knows nothing at exactly 1/k. NaN is an error, not a guess.

    >>> import numpy as np
    >>> from voile.core.randomness import seeded_rng
    >>> guesses(np.array([[0.0, 2.0], [1.0, 0.5]]), seeded_rng(1))
    array([1, 0])
    """
    table = np.asarray(scores, dtype=np.float64)
    require(table.ndim == 2, "scores", "a row for each trial", f"{table.ndim} dimensions")
    if np.isnan(table).any():
        raise InvalidInput("scores must be numbers, got NaN; an attack must rank every candidate")
    best = table == table.max(axis=1, keepdims=True)
    lots = rng.random(table.shape)
    chosen: Indices = np.where(best, lots, -1.0).argmax(axis=1)
    return chosen


def check_trials(pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> None:
    """One release for each set, and sets of positions in the pool."""
    require(
        len(releases) == len(sets), "releases", f"one for each of {len(sets)} sets", len(releases)
    )
    inside = bool(((sets >= 0) & (sets < len(pool))).all())
    require(inside, "sets", f"positions below {len(pool)}", "others")
