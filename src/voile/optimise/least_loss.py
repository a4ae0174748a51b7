"""The optimal channel on a finite space: the linear program, over all pairs or over a spanner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.space import Space, as_items
from voile.errors import InvalidInput, require, require_epsilon
from voile.optimise.block_solver import solve_blocks
from voile.optimise.cones import ratio_cones


def least_loss(
    space: Space,
    *,
    epsilon: float,
    loss: Floats,
    prior: Sequence[float] | Floats | None = None,
    outputs: Sequence[float] | Items | None = None,
    granularity: str = "one location",
    tolerance: float = 1e-7,
) -> Channel:
    """The channel of least expected loss with K(y|x) ≤ e^(ε·d(x, x'))·K(y|x') for all pairs.

    Bordenabe, Chatzikokolakis and Palamidessi (CCS 2014), section 3. Pairs with a third item on
    a shortest path between them follow from the others and are left out. The solver's answer
    meets the constraints only nearly; it is repaired and certified, so the channel's ε is kept
    on its integers. Loss above the optimum: about the solver's tolerance. Costs about 30·m·n²·n
    multiplications for n items and m outputs.

    >>> import voile
    >>> grid = voile.Space([[i, j] for i in range(3) for j in range(3)],
    ...                    metric=voile.metrics.euclidean())
    >>> channel = least_loss(grid, epsilon=1.0, loss=grid.distances())
    >>> channel.certificate().epsilon <= 1.0
    True
    """
    distances = _distinct(space)
    inside = epsilon * (1 - 1e-7)
    return _solve(
        space,
        essential_pairs(distances),
        inside * distances,
        epsilon,
        loss,
        prior,
        outputs,
        granularity,
        tolerance,
    )


def least_loss_spanner(
    space: Space,
    *,
    epsilon: float,
    loss: Floats,
    stretch: float = 1.05,
    prior: Sequence[float] | Floats | None = None,
    outputs: Sequence[float] | Items | None = None,
    granularity: str = "one location",
    tolerance: float = 1e-6,
) -> Channel:
    """The same over the edges of a spanner only, with ε divided by its stretch.

    If every pair is joined by a path at most `stretch` times its distance, constraints of
    ε/stretch along the edges imply ε for all pairs (Bordenabe et al., section 4). Fewer
    constraints, a slightly worse optimum.
    """
    require(stretch >= 1, "stretch", ">= 1", stretch)
    distances = _distinct(space)
    inside = epsilon / stretch * (1 - 1e-7)
    pairs = greedy_spanner(distances, stretch=stretch)
    return _solve(
        space, pairs, inside * distances, epsilon, loss, prior, outputs, granularity, tolerance
    )


def essential_pairs(distances: Floats) -> Indices:
    """Ordered pairs (i, j) without a third item k such that d(i, k) + d(k, j) = d(i, j)."""
    n = len(distances)
    implied = np.eye(n, dtype=bool)
    for k in range(n):
        through = distances[:, k, None] + distances[None, k, :]
        between = through <= distances * (1 + 1e-12)
        between[k, :] = between[:, k] = False
        implied |= between
    return np.argwhere(~implied)


def greedy_spanner(distances: Floats, *, stretch: float) -> Indices:
    """Ordered pairs of a graph whose paths are at most `stretch` times the distance.

    Pairs are visited by distance and joined if the graph so far does not (Althöfer et al. 1993).
    """
    n = len(distances)
    paths = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    rows, columns = np.triu_indices(n, k=1)
    order = np.argsort(distances[rows, columns], kind="stable")
    edges = []
    for i, j in zip(rows[order], columns[order], strict=True):
        length = distances[i, j]
        if paths[i, j] > stretch * length * (1 - 1e-12):
            edges += [(i, j), (j, i)]
            ways = np.minimum(
                paths[:, i, None] + paths[None, j, :], paths[:, j, None] + paths[None, i, :]
            )
            np.minimum(paths, ways + length, out=paths)
    return np.array(edges, dtype=np.intp)


def _distinct(space: Space) -> Floats:
    distances = space.distances()
    if len(space) < 2 or np.any(np.triu(distances == 0, k=1)):
        raise InvalidInput(
            "the space must have at least two items, none of them at distance 0 from another; "
            "merge items that are one secret under two names"
        )
    return distances


def _solve(
    space: Space,
    pairs: Indices,
    exponents: Floats,
    epsilon: float,
    loss: Floats,
    prior: Sequence[float] | Floats | None,
    outputs: Sequence[float] | Items | None,
    granularity: str,
    tolerance: float,
) -> Channel:
    epsilon = require_epsilon(epsilon)
    released = space.items if outputs is None else as_items(outputs, name="outputs")
    weights = np.full(len(space), 1 / len(space)) if prior is None else np.asarray(prior, float)
    table = np.asarray(loss, dtype=float)
    shape = (len(space), len(released))
    require(table.shape == shape, "loss", f"of shape {shape}", table.shape)
    require(weights.shape == shape[:1], "prior", f"{len(space)} numbers", weights.shape)
    cones = ratio_cones(pairs, exponents[pairs[:, 0], pairs[:, 1]], len(space))
    costs = np.ascontiguousarray((weights[:, None] * table).T)
    answer = solve_blocks(costs, cones, tolerance=tolerance)
    guarantee = Guarantee(epsilon, space.metric, granularity, Basis.CERTIFIED)
    return Channel.from_probabilities(
        space, np.maximum(answer.coefficients.T, 0.0), guarantee, outputs=released, repair=True
    )
