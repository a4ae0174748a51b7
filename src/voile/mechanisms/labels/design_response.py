"""A block of answers that holds the truth more often than not: block designs, one code a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.errors import require_epsilon
from voile.mechanisms._records import label_space

MOST_ENTRIES = 2**25
"""Of a table; beyond it `local_hashing` does the same without one."""
_STRONGEST = 30.0
"""Beyond it every answer is a block by itself, whatever the number of labels."""


def design_response(
    labels: Sequence[Any] | Items, *, epsilon: float, granularity: str = "one value"
) -> Channel:
    """Release a block B with weight e^ε if it holds the label and 1 if it does not.

    The blocks are a design: each label lies in r of b blocks, each pair of labels in λ. Then every
    row has the same total r·e^ε + b − r, so two rows differ by a factor e^ε at most: ε-local DP,
    exactly. A label lies in its report with probability p = r·e^ε/(r·e^ε + b − r), any other one
    with p' = (λ·e^ε + r − λ)/(r·e^ε + b − r), and (share of reports that hold x − p')/(p − p') is
    an unbiased estimate of the share of x with variance p'(1 − p')/(n(p − p')²) where x is rare.

    Blocks are single labels (k-ary randomised response), or the hyperplanes of a projective space
    over a prime field, with as many of its points as there are labels (Feldman, Nelson, Nguyen and
    Talwar 2022); of all these the one with the least such variance is taken. About 1/(e^ε + 1) of
    the labels in a block is the best (Ye and Barg 2018), and unary encoding is no better. A report
    is one whole number. Costs a table of labels × blocks, blocks < prime · labels.

    >>> channel = design_response(list(range(32)), epsilon=1.0)
    >>> channel.weights.shape, round(channel.certificate().epsilon, 6)
    ((32, 40), 1.0)
    >>> design_response(["yes", "no"], epsilon=1.0).probabilities().round(4).tolist()    # Warner's
    [[0.7311, 0.2689], [0.2689, 0.7311]]
    """
    epsilon = require_epsilon(epsilon)
    space = label_space(labels)
    blocks = _best_design(len(space), min(epsilon, _STRONGEST)).astype(np.float64)

    def log_weights(strength: float) -> Floats:
        return strength * blocks

    return Channel.build(
        space,
        log_weights,
        epsilon=epsilon,
        granularity=granularity,
        outputs=np.arange(blocks.shape[1]),
    )


def _best_design(labels: int, epsilon: float) -> NDArray[np.bool_]:
    """The incidence of labels and blocks with the least variance of a rare label's share."""
    best, least = np.eye(labels, dtype=np.bool_), _variance(labels, 1, 0, epsilon)
    chosen = None
    for prime in _primes(up_to=int(4 * math.exp(min(epsilon, 5.0))) + 4):
        dimension = _dimension(labels, prime)
        blocks = _points(prime, dimension)
        if prime**2 > 20 * labels + 50 or labels * blocks > MOST_ENTRIES:
            continue
        r, pairs = _points(prime, dimension - 1), _points(prime, dimension - 2)
        if (found := _variance(blocks, r, pairs, epsilon)) < least:
            least, chosen = found, (prime, dimension)
    return best if chosen is None else _hyperplanes(*chosen, labels)


def _variance(blocks: int, each: int, pairs: int, epsilon: float) -> float:
    top = math.exp(epsilon)
    total = each * top + blocks - each
    own, other = each * top / total, (pairs * top + each - pairs) / total
    return other * (1 - other) / (own - other) ** 2


def _points(prime: int, dimension: int) -> int:
    """How many points a projective space over so many coordinates has."""
    return (prime**dimension - 1) // (prime - 1) if dimension > 0 else 0


def _dimension(labels: int, prime: int) -> int:
    dimension = 2
    while _points(prime, dimension) < labels:
        dimension += 1
    return dimension


def _hyperplanes(prime: int, dimension: int, labels: int) -> NDArray[np.bool_]:
    """Which of the first points lie on which hyperplane: those whose product is 0."""
    vectors = np.indices((prime,) * dimension).reshape(dimension, -1).T
    first = vectors[np.arange(len(vectors)), (vectors != 0).argmax(axis=1)]
    points = vectors[first == 1]  # one of each line through the origin
    return np.asarray(points[:labels] @ points.T % prime == 0)


def _primes(*, up_to: int) -> Iterator[int]:
    return (n for n in range(2, up_to + 1) if all(n % d for d in range(2, math.isqrt(n) + 1)))


def examples() -> list[Channel]:
    """Single answers, lines of a plane, and more labels than a small field has points."""
    return [
        design_response(list(range(5)), epsilon=2.0),
        design_response(list(range(13)), epsilon=1.0),
        design_response(list(range(24)), epsilon=0.5),
    ]
