"""Attribution by a classifier of pairs: which differences of meaning tell a source from another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.attackers.attribution_embedding import Encoder
from voile.attackers.attribution_stack import Weights, fit_weights
from voile.core.arrays import Floats, Indices


@dataclass(frozen=True)
class Pairwise:
    """The candidate that a choice model prefers, learned on sentence vectors u and v of the pair.

    Features are u·v, coordinate by coordinate, and |u − v|: where the nearest vector weighs all
    directions of meaning alike, this one learns which of them a mechanism keeps. Fitted on trials
    that the audit does not count.
    """

    encode: Encoder
    name: str = "pairwise"
    penalty: float = 0.03

    def fit(
        self, pool: Sequence[str], sets: Indices, releases: Sequence[Any], columns: Indices
    ) -> FittedPairs:
        """Weights learned from these trials."""
        features = pair_features(self.encode, pool, sets, releases)
        return FittedPairs(
            self.encode, fit_weights(features, columns, penalty=self.penalty), self.name
        )


@dataclass(frozen=True)
class FittedPairs:
    """The same with its weights."""

    encode: Encoder
    weights: Weights
    name: str

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """What the choice model gives each candidate."""
        return self.weights.scores(pair_features(self.encode, pool, sets, releases))


def pair_features(
    encode: Encoder, pool: Sequence[str], sets: Indices, releases: Sequence[Any]
) -> Floats:
    """For each trial and candidate: u·v and |u − v|, coordinate by coordinate."""
    check_trials(pool, sets, releases)
    used, members = np.unique(sets, return_inverse=True)
    texts = np.asarray(encode([pool[i] for i in used.tolist()]), dtype=np.float64)
    released = np.asarray(encode([str(one) for one in releases]), dtype=np.float64)[:, None, :]
    candidates = texts[members.reshape(sets.shape)]
    return np.concatenate([candidates * released, np.abs(candidates - released)], axis=2)
