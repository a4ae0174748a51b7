"""Bayes' rule on a stated joint prior: exact, and exponential in the length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from voile.attackers.attack import HIDDEN
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require

LARGEST_TABLE = 50_000_000


@dataclass(frozen=True, eq=False)
class JointBayes:
    """See `joint_bayes`."""

    log_law: Floats
    log_joint: Floats

    def log_posteriors(
        self, sequences: Sequence[Indices], sensitive: Sequence[Indices] | None = None
    ) -> list[Floats]:
        """The marginals of the joint posterior, for each sequence."""
        return [self._posterior(sequence) for sequence in sequences]

    def _posterior(self, releases: Indices) -> Floats:
        releases = np.asarray(releases, dtype=np.intp)
        length = self.log_joint.ndim
        require(releases.shape == (length,), "releases", f"{length} positions", releases.shape)
        joint = self.log_joint
        for position in np.flatnonzero(releases != HIDDEN):
            shape = [1] * length
            shape[position] = -1
            joint = joint + self.log_law[:, releases[position]].reshape(shape)
        return self._marginals(joint)

    def _marginals(self, joint: Floats) -> Floats:
        axes = range(joint.ndim)
        rows = [logsumexp(joint, axis=tuple(a for a in axes if a != own)) for own in axes]
        table = np.stack([np.atleast_1d(row) for row in rows])
        return table - logsumexp(table, axis=1, keepdims=True)


def joint_bayes(log_law: Floats, joint_prior: Floats) -> JointBayes:
    """The attacker who knows the channel and the joint prior of a whole sequence.

    P(x_1 … x_L | y_1 … y_L) ∝ P(x_1 … x_L) · Π K(y_l | x_l): each secret is released by itself,
    but the secrets depend on each other. `joint_prior` has one axis a position. Costs its size,
    candidates^L: for small cases, and as the yardstick of every other attacker.

    >>> import numpy as np
    >>> law = np.log([[0.72, 0.28], [0.28, 0.72]])
    >>> attack = joint_bayes(law, np.array([[0.01, 0.49], [0.49, 0.01]]))
    >>> before, after = attack.log_posteriors([np.array([-1, -1]), np.array([0, 1])])
    >>> shift = after - before
    >>> round(float(shift[0, 0] - shift[0, 1]), 5)      # mPL paper, section 2.4
    1.84568
    """
    prior = np.asarray(joint_prior, dtype=np.float64)
    law = np.asarray(log_law, dtype=np.float64)
    cube = prior.ndim >= 1 and set(prior.shape) == {len(law)}
    require(cube, "joint_prior", f"{len(law)} candidates along each axis", prior.shape)
    require(prior.size <= LARGEST_TABLE, "joint_prior", f"at most {LARGEST_TABLE:,} entries",
            f"{prior.size:,}", "use a Markov prior")  # fmt: skip
    if (prior < 0).any() or abs(float(prior.sum()) - 1) > 1e-9:
        raise InvalidInput("joint_prior must be probabilities that sum to 1")
    with np.errstate(divide="ignore"):
        return JointBayes(law, np.log(prior))
