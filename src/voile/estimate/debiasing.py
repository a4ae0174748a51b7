"""Taking a channel's noise off again: for each release a score whose mean is the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.space import lookup
from voile.errors import InvalidInput, require

WORST_CONDITION = 1e10
"""Beyond it the rows of a channel are alike to what doubles can tell."""


def output_counts(channel: Channel, releases: Sequence[Any] | Items) -> Indices:
    """How often each output occurs among releases; all must be outputs of the channel."""
    require(len(releases) > 0, "releases", "at least one", "none")
    places = lookup(channel._output_positions, releases, size=len(channel.outputs))
    return np.bincount(places, minlength=len(channel.outputs)).astype(np.intp)


def checked_counts(channel: Channel, counts: Indices) -> Indices:
    """Counts of outputs, if they are that."""
    found = np.asarray(counts)
    size = len(channel.outputs)
    good = found.shape == (size,) and found.dtype.kind in "iu" and bool((found >= 0).all())
    require(good, "counts", f"{size} whole numbers >= 0, one an output", f"shape {found.shape}")
    require(int(found.sum()) > 0, "releases", "at least one", "none")
    silent = (found > 0) & ~channel.weights.any(axis=0)
    require(not silent.any(), "counts", "of outputs that the channel can release", "others")
    return found.astype(np.intp)


def unbiased_scores(channel: Channel) -> Floats:
    """M[x, y] with Σ_y K(y|x')·M[x, y] = 1 if x = x' and 0 otherwise.

    The mean of M[x, y_i] over releases y_i is an unbiased estimate of the share of secret x,
    whatever the population. Of all such tables this one, (K Λ Kᵀ)⁻¹ K Λ with Λ = 1/p and p the law
    of outputs if all secrets are alike frequent, has the least variance at that population
    (Gauss–Markov); for randomised response and designs it is the textbook estimator. Each column
    sums to 1, so estimated shares sum to 1 exactly. Costs a solve of secrets³.

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=np.log(3))
    >>> unbiased_scores(warner).round(6).tolist()    # (1{y = x} − 1/4) / (3/4 − 1/4)
    [[1.5, -0.5], [-0.5, 1.5]]
    """
    found = scores_of(channel.probabilities())
    if found is None:
        raise InvalidInput(
            f"the releases must tell the {len(channel.space)} secrets apart, the channel's rows "
            "are too much alike; merge secrets, or use a larger epsilon"
        )
    return found


def scores_of(table: Floats) -> Floats | None:
    """The scores of a table K[x, y] of probabilities; none if its rows are too much alike."""
    law = table.mean(axis=0)
    weighted = np.divide(table, law, out=np.zeros_like(table), where=law > 0)
    gram = weighted @ table.T
    if not float(np.linalg.cond(gram)) < WORST_CONDITION:
        return None
    return np.asarray(np.linalg.solve(gram, weighted))
