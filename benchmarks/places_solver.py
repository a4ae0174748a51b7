"""The block solver against HiGHS and libqif, in one run each.

    python benchmarks/places_solver.py highs      # (d) at 12×16 cells; HiGHS gets --limit seconds
    python benchmarks/places_solver.py qif        # the pairwise-optimal channel on 8×8
    python benchmarks/places_solver.py best       # `best` at 15×20 cells, end to end

Each appends its measured lines to results/places_solver.md: wall-clock seconds, or CPU seconds
where it says so.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path

import numpy as np

from voile import metrics
from voile.core.space import Space
from voile.optimise.best import best
from voile.optimise.block_solver import solve_blocks
from voile.optimise.cones import axis_cones
from voile.optimise.least_loss import least_loss
from voile.optimise.problem import Problem
from voile.places.city import synthetic_city
from voile.places.problems import road_problem, sampled_tasks

RESULTS = Path(__file__).parent / "results" / "places_solver.md"


def city(columns: int, rows: int) -> Problem:
    network, prior = synthetic_city(seed=0)
    tasks = sampled_tasks(network, count=80, prior=prior, seed=0)
    return road_problem(network, cells=(columns, rows), tasks=tasks, prior=prior)


def highs(epsilon: float, limit: float) -> list[str]:
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, coo_array, identity, kron

    problem = city(16, 12)
    grid = problem.grid((16, 12), degree=1)
    costs = problem.costs(grid)
    budget = epsilon / math.sqrt(2)
    cones = axis_cones(*grid.rows(), grid.size, budgets=(budget, budget))
    solve_blocks(costs[:8], cones, iterations=2)  # compile
    begun = time.process_time()
    ours = solve_blocks(costs, cones, tolerance=1e-6)
    mine = time.process_time() - begun
    m, _, width = cones.matrix.shape
    rows = np.repeat(np.arange(m), width)
    one = coo_array(
        (cones.matrix.ravel(), (rows, cones.index.ravel())), shape=(m, grid.size)
    ).tocsr()
    one = one[np.unique(one.toarray(), axis=0, return_index=True)[1]]  # no row twice for HiGHS
    outputs = len(costs)
    begun = time.process_time()
    answer = linprog(
        costs.ravel(),
        A_ub=-block_diag([one] * outputs, format="csr"),
        b_ub=np.zeros(one.shape[0] * outputs),
        A_eq=kron(np.ones((1, outputs)), identity(grid.size), format="csr"),
        b_eq=np.ones(grid.size),
        bounds=(0, None),
        method="highs-ipm",
        options={"time_limit": limit},
    )
    theirs = time.process_time() - begun
    solved = answer.status == 0
    value = f"{answer.fun:.6f}" if solved else "stopped without an answer"
    ratio = f"{theirs / mine:.0f}×" if solved else f"more than {theirs / mine:.0f}×"
    return [
        f"| (d), 12×16, ε = {epsilon:g}, {costs.size:,} variables | blocks | {mine:.1f} CPU | "
        f"{ours.loss:.6f}, gap {ours.gap:.0e} |",
        f"| the same | HiGHS interior point | {theirs:.1f} CPU | {value}; {ratio} |",
    ]


def qif_side_by_side(side: int) -> list[str]:
    import qif

    space = Space([[i, j] for i in range(side) for j in range(side)], metric=metrics.euclidean())
    loss = space.distances()
    least_loss(Space(space.items[:9], metric=space.metric), epsilon=1.0, loss=loss[:9, :9])
    begun = time.perf_counter()
    ours = least_loss(space, epsilon=1.0, loss=loss)
    mine = time.perf_counter() - begun
    n = side * side
    prior = np.full(n, 1 / n)
    begun = time.perf_counter()
    table = qif.mechanism.d_privacy.min_loss_given_d(
        prior, n, lambda a, b: float(loss[a, b]), lambda a, b: float(loss[a, b]), "all"
    )
    theirs = time.perf_counter() - begun
    value = float((prior[:, None] * np.asarray(table) * loss).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(table))
        gaps = np.abs(logs[:, None, :] - logs[None, :, :])
    gaps = np.where(np.isnan(gaps), 0.0, gaps).max(axis=2)  # two zeros agree
    true = float((gaps[loss > 0] / loss[loss > 0]).max())
    return [
        f"| optimal channel, {side}×{side}, ε = 1 | least_loss | {mine:.1f} | "
        f"{ours.expected_loss(loss):.4f}, true ε 1 {ours.certificate().epsilon - 1:+.0e} |",
        f"| the same | libqif min_loss_given_d | {theirs:.1f} | {value:.4f}, true ε 1 "
        f"{true - 1:+.0e}; {theirs / mine:.0f}× |",
    ]


def end_to_end(epsilons: list[float], p: float) -> list[str]:
    problem = city(20, 15)
    lines = []
    for epsilon in epsilons:
        begun, cpu = time.perf_counter(), time.process_time()
        found = best(problem, epsilon=epsilon, cells=(20, 15), p=p)
        wall, used = time.perf_counter() - begun, time.process_time() - cpu
        lines.append(
            f"| `best`, 15×20, ℓ{p:g}, ε = {epsilon:g} | {found.name} | "
            f"{wall:.1f} ({used:.0f} CPU) | {found.loss:.4f} km |"
        )
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("highs", "qif", "best"))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.4])
    parser.add_argument("--p", type=float, default=2.0)
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--side", type=int, default=8)
    args = parser.parse_args()
    if args.what == "highs":
        found = highs(args.epsilon[0], args.limit)
    elif args.what == "qif":
        found = qif_side_by_side(args.side)
    else:
        found = end_to_end(args.epsilon, args.p)
    if not RESULTS.exists():
        RESULTS.write_text(
            "# The solver against its peers\n\nMade by `python benchmarks/places_solver.py`; "
            f"{os.cpu_count()} cores. Wall-clock seconds; the two sides of a comparison ran in one "
            "process, one after the other.\n\n| program | by | seconds | answer |\n"
            "| --- | --- | ---: | --- |\n",
            encoding="utf-8",
        )
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\n".join(found) + "\n")
    print("\n".join(found))
