"""Several levels of sensitivity, one mechanism and strength a level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Indices
from voile.core.certificate import certify
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.space import Space, as_positions
from voile.errors import InvalidInput, require


def tiered(channels: Sequence[Channel], *, levels: Sequence[int] | Indices) -> Channel:
    """A secret x of level ℓ is released by channels[ℓ].

    All channels share one space and one set of outputs. Within a level the level's own bound
    holds. *Across* levels it need not: two near secrets of different levels are released by
    different laws, and no multiple of their distance has to bound that. So the claim is what the
    certificate of the whole table finds, and the guarantee's `outside` says what each level has.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    >>> weak = voile.mechanisms.exponential(line, epsilon=2.0)
    >>> strong = voile.mechanisms.exponential(line, epsilon=0.5)
    >>> both = tiered([weak, strong], levels=[0, 1, 1])
    >>> round(both.guarantee.epsilon, 3)
    1.219
    """
    require(len(channels) > 0, "channels", "at least one", "none")
    first = channels[0]
    chosen = as_positions(levels, name="levels", below=len(channels))
    size = len(first.space)
    require(chosen.shape == (size,), "levels", f"one for each of {size} secrets", chosen.shape)
    for other in channels[1:]:
        same_items = np.array_equal(first.space.items, other.space.items)
        same_outputs = np.array_equal(first.outputs, other.outputs)
        if not (same_items and same_outputs and first.space.metric == other.space.metric):
            raise InvalidInput("tiered channels must share one space and one set of outputs")
    table = np.stack([channels[level].weights[x] for x, level in enumerate(chosen)])
    notes = []
    for level in np.unique(chosen):
        members = np.flatnonzero(chosen == level)
        part = Space(first.space.items[members], metric=first.space.metric)
        inside_level = certify(part, table[members]).epsilon
        notes.append(
            f"within level {level} ({len(members)} secrets) the bound is the tighter "
            f"{inside_level:.4g}; which level a secret has is protected only by the overall bound"
        )
    whole = certify(first.space, table)
    guarantee = Guarantee(
        whole.epsilon,
        first.space.metric,
        first.guarantee.granularity,
        Basis.CERTIFIED,
        outside=tuple(notes),
    )
    return Channel(first.space, first.outputs, table, guarantee)


def examples() -> list[Channel]:
    """Names blurred three times as strongly as other words."""
    from voile import metrics

    words = Space(np.random.default_rng(8).normal(size=(20, 3)), metric=metrics.euclidean())
    distances = words.distances()
    built = [
        Channel.build(
            words, lambda s: -0.5 * s * distances, epsilon=epsilon, granularity="one word"
        )
        for epsilon in (1.0, 3.0)
    ]
    return [tiered(built, levels=[i % 2 for i in range(20)])]
