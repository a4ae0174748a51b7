"""One column of a record, drawn at random, at the whole epsilon; the rest is not released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core import weights as integer
from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import require
from voile.mechanisms._records import outputs_of, record_codes, record_space, secrets_of
from voile.mechanisms._spread import spread


@dataclass(frozen=True, eq=False)
class SampledColumn:
    """See `sampled_column`. A record is a row of codes, a release a row (column, output)."""

    channels: tuple[Channel, ...]
    column: Channel
    """One row: how often each column is drawn."""
    guarantee: Guarantee

    @cached_property
    def space(self) -> Space:
        """All records there are, where they are few enough to be listed."""
        return record_space(self.channels)

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """A column and its output for each row of codes; the column is drawn first."""
        rows = record_codes(secrets, secrets_of(self.channels))
        chosen = self.column.draw(np.zeros(len(rows), dtype=np.intp), rng)
        outputs = np.empty(len(rows), dtype=np.intp)
        for j, channel in enumerate(self.channels):
            here = np.flatnonzero(chosen == j)
            outputs[here] = channel.draw(rows[here, j], rng)
        return np.stack([chosen, outputs], axis=1)

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """The law ln K(release | secret): of the column, and of its output."""
        rows, given = record_codes(secrets, secrets_of(self.channels)), self._releases(releases)
        law = self.column.log_probabilities()[0]
        table = np.empty((len(rows), len(given)))
        for j, channel in enumerate(self.channels):
            here = np.flatnonzero(given[:, 0] == j)
            own = channel.log_probabilities()[np.ix_(rows[:, j], given[here, 1])]
            table[:, here] = law[j] + own
        return table

    def output_counts(self, releases: Sequence[Any] | Items) -> tuple[Indices, ...]:
        """For each column how often each of its outputs was released."""
        rows = self._releases(releases)
        return tuple(
            np.bincount(rows[rows[:, 0] == j, 1], minlength=len(channel.outputs))
            for j, channel in enumerate(self.channels)
        )

    def _releases(self, values: Sequence[Any] | Items) -> Indices:
        rows = np.asarray(values)
        good = rows.ndim == 2 and rows.shape[1] == 2 and rows.dtype.kind in "iu"
        require(good, "releases", "rows (column, output) of integers", f"shape {rows.shape}")
        good = bool(((rows[:, 0] >= 0) & (rows[:, 0] < len(self.channels))).all())
        require(good, "columns", f"below {len(self.channels)}", "others")
        limits = np.array(outputs_of(self.channels))[rows[:, 0]]
        inside = bool(((rows[:, 1] >= 0) & (rows[:, 1] < limits)).all())
        require(inside, "outputs", "below the number of outputs of their column", "others")
        return rows.astype(np.intp)


def sampled_column(
    channels: Sequence[Channel],
    *,
    probabilities: Sequence[float] | Floats | None = None,
    granularity: str = "one record",
) -> SampledColumn:
    """Draw column j with a public probability, release it through channels[j], and nothing else.

    K((j, z)|x) = q_j·K_j(z|x_j). The column is drawn without a look at the record, so q_j cancels
    in every ratio, and ln K(·|x) − ln K(·|x') is at most the largest log-ratio of one channel
    between any two of its secrets, max_j ε_j, computed from the integers that are sampled: ε-local
    DP for the whole record with *all* of ε in one column, where `columnwise` divides it (Nguyên et
    al. 2016; Wang et al. 2019). For d columns alike that is worth more than d times the records.
    If a secret of column j is a pair (value, label), label and value are released jointly. A new
    report of the same record costs ε again, of another column too. Costs two draws a record.

    >>> import voile
    >>> rr = voile.mechanisms.randomised_response
    >>> either = sampled_column([rr(["a", "b", "c"], epsilon=1.0), rr([0, 1], epsilon=1.0)])
    >>> round(either.guarantee.epsilon, 6)
    1.0
    >>> either.release([[2, 0], [1, 1]], voile.seeded_rng(1)).shape
    (2, 2)
    """
    from voile.metrics.discrete_distance import discrete

    require(len(channels) > 0, "channels", "at least one", "none")
    given = np.ones(len(channels)) if probabilities is None else np.asarray(probabilities, float)
    good = given.shape == (len(channels),) and bool((given >= 0).all() and np.isfinite(given).all())
    require(good and given.sum() > 0, "probabilities", f"{len(channels)} numbers >= 0", "others")
    with np.errstate(divide="ignore"):
        table = integer.quantise(np.log(given / given.sum())[None, :], floor=-1)
    free = Guarantee(float("inf"), discrete(), "one choice")
    choice = Channel(Space([0], metric=discrete()), np.arange(len(channels)), table, free)
    used = [channel for channel, share in zip(channels, table[0], strict=True) if share]
    claim = Guarantee(max(map(spread, used)), discrete(), granularity, Basis.CERTIFIED)
    return SampledColumn(tuple(channels), choice, claim)


def examples() -> list[SampledColumn]:
    """A category and a number, each with a label, drawn unevenly."""
    from voile import metrics

    def same(labels: int, epsilon: float) -> Channel:
        space = Space(list(range(labels)), metric=metrics.discrete())
        return Channel.build(
            space, lambda s: s * np.eye(labels), epsilon=epsilon, granularity="one value"
        )

    return [sampled_column([same(4, 1.0), same(6, 1.0)], probabilities=[0.7, 0.3])]
