"""Whether the draws of a channel follow the law it states."""

from __future__ import annotations

import math

import numpy as np

from voile.audit.finding import Finding
from voile.core.arrays import Floats, Indices
from voile.core.space import as_positions
from voile.errors import require


def sampler(draws: Indices, law: Floats, *, failure_probability: float = 1e-9) -> Finding:
    """A lower bound on the total variation distance between the draws' law and the stated one.

    With n draws from p itself, the empirical distance has mean at most ½·Σ√(p_y/n) and exceeds
    its mean by √(ln(1/α)/2n) with probability at most α (McDiarmid's inequality: one draw moves
    it by at most 1/n). What is left above both is a real difference. An output of probability 0
    that was drawn proves a difference by itself.

    >>> import numpy as np
    >>> fair = np.array([0.5, 0.5])
    >>> print(sampler(np.zeros(1000, dtype=int), fair).verdict)
    violated
    """
    law = np.asarray(law, dtype=float)
    fair = law.ndim == 1 and bool((law >= 0).all()) and abs(float(law.sum()) - 1) < 1e-9
    require(fair, "law", "probabilities that sum to 1", "others")
    require(len(draws) > 0, "draws", "at least one", "none")
    require(0 < failure_probability < 1, "failure_probability", "in (0, 1)", failure_probability)
    count = len(draws)
    drawn = as_positions(draws, name="draws", below=len(law))
    observed = np.bincount(drawn, minlength=len(law)) / count
    distance = float(np.abs(observed - law).sum() / 2)
    expected = float(np.sqrt(law / count).sum() / 2)
    deviation = math.sqrt(math.log(1 / failure_probability) / (2 * count))
    impossible = int((observed[law == 0] > 0).sum())
    lower = max(0.0, distance - expected - deviation)
    return Finding(
        question="Distance of the draws from the stated law:",
        claim=0.0,
        lower=max(lower, 1 / count) if impossible else lower,
        upper=1.0,
        failure_probability=failure_probability,
        samples=count,
        unit="draw",
        detail=f"{impossible} impossible outputs were drawn" if impossible else "",
    )
