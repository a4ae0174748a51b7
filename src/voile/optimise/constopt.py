"""ConstOPT: a linear program near each output, the exponential law farther away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.space import Space, as_items
from voile.errors import GuaranteeBroken, require, require_epsilon


def constopt(
    space: Space,
    *,
    epsilon: float,
    loss: Floats,
    prior: Sequence[float] | Floats | None = None,
    outputs: Sequence[float] | Items | None = None,
    near: int = 50,
    excess: float = 5.0,
    granularity: str = "one location",
) -> Channel:
    """Solve for K(y|x) where x is among the `near` items nearest y; elsewhere Y_y·e^(−ε'·d(x, y)).

    Imola, Kasiviswanathan, White, Aggarwal and Teissier (UAI 2022). Variables: the near entries
    and one scale Y_y an output. Constraints: the pairwise bound among the near items of an
    output; at their border Y_y·e^(−ε'd(x, y)) ≤ K(y|x) ≤ Y_y·exp(ε'·min over far x' of
    (d(x, x') − d(x', y))), without which the two parts do not fit together and the ratio is
    unbounded; and row sums of at least 1. Each row is then divided by its sum. Sums obey the
    same ratio bound as the entries, so division costs a second factor: ε' = ε/2. The objective
    adds `excess` times the surplus mass, which keeps the sums near 1. `near` is the authors' 50, or
    all items if they are fewer; with 10 the loss exceeds that of the exponential mechanism on
    grids of 100 items. Costs seconds for 100 items.

    >>> import voile
    >>> grid = voile.Space([[i, j] for i in range(4) for j in range(4)],
    ...                    metric=voile.metrics.euclidean())
    >>> constopt(grid, epsilon=1.0, loss=grid.distances()).certificate().epsilon <= 1.0
    True
    """
    epsilon = require_epsilon(epsilon)
    released = space.items if outputs is None else as_items(outputs, name="outputs")
    n, m = len(space), len(released)
    require(near >= 1, "near", "at least 1", near)
    near = min(near, n)
    weights = np.full(n, 1 / n) if prior is None else np.asarray(prior, dtype=float)
    half = epsilon / 2 * (1 - 1e-7)
    among = space.distances()
    to_output = space.metric.pairwise(space.items, released)
    table = _solved_table(
        among, to_output, np.asarray(loss, dtype=float), weights / weights.sum(), half, near, excess
    )
    table = np.maximum(table, 0.0)
    table /= table.sum(axis=1, keepdims=True)
    guarantee = Guarantee(epsilon, space.metric, granularity, Basis.CERTIFIED)
    require(table.shape == (n, m), "the solution", f"of shape {(n, m)}", table.shape)
    return Channel.from_probabilities(space, table, guarantee, outputs=released, repair=True)


def _solved_table(
    among: Floats,
    to_output: Floats,
    loss: Floats,
    prior: Floats,
    epsilon: float,
    near: int,
    excess: float,
) -> Floats:
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n, m = to_output.shape
    closest = np.argsort(to_output, axis=0, kind="stable")[:near].T  # (m, near)
    law = np.exp(-epsilon * to_output)
    entry = np.arange(m * near).reshape(m, near)  # positions of the near variables
    scale = m * near + np.arange(m)  # positions of the scales
    price = prior[:, None] * (loss + excess * max(float(loss.max()), 1e-9) / 100)
    rows, columns, values = [], [], []
    count = 0

    def add(row_count: int, terms: list[tuple[Floats, Floats | float]]) -> None:
        nonlocal count
        here = count + np.arange(row_count)
        for column, value in terms:
            rows.append(here)
            columns.append(np.asarray(column).ravel())
            values.append(np.broadcast_to(np.asarray(value, dtype=float).ravel(), row_count))
        count += row_count

    first, second = np.nonzero(~np.eye(near, dtype=bool))
    cost = np.zeros(m * near + m)
    for y in range(m):
        inside = closest[y]
        far = np.setdiff1d(np.arange(n), inside)
        shrink = np.exp(-epsilon * among[np.ix_(inside, inside)])
        add(len(first), [(entry[y][first], shrink[first, second]), (entry[y][second], -1.0)])
        add(near, [(np.full(near, scale[y]), law[inside, y]), (entry[y], -1.0)])
        if len(far):
            gap = among[np.ix_(inside, far)] - to_output[far, y][None, :]
            room = np.exp(epsilon * gap.min(axis=1))
            add(near, [(entry[y], 1.0), (np.full(near, scale[y]), -room)])
        cost[entry[y]] = price[inside, y]
        cost[scale[y]] = float(price[far, y] @ law[far, y])
    ratio_rows = count
    far_mask = np.ones((n, m), dtype=bool)
    np.put_along_axis(far_mask, closest.T, False, axis=0)
    x_far, y_far = np.nonzero(far_mask)
    rows += [ratio_rows + closest.ravel(), ratio_rows + x_far]
    columns += [entry.ravel(), scale[y_far]]
    values += [np.full(m * near, -1.0), -law[x_far, y_far]]
    bound = np.concatenate([np.zeros(ratio_rows), -np.ones(n)])
    matrix = coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(ratio_rows + n, m * near + m),
    ).tocsr()
    solve: Any = linprog  # its stubs know no sparse matrices
    answer = solve(cost, A_ub=matrix, b_ub=bound, bounds=(0, None), method="highs-ipm")
    if answer.x is None:
        raise GuaranteeBroken(
            f"the linear program was not solved ({answer.message}); lower `near` or raise epsilon"
        )
    table = law * answer.x[scale][None, :]
    np.put_along_axis(table, closest.T, answer.x[entry].T, axis=0)
    return np.asarray(table)
