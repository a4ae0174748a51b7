"""Posterior leakage, triples a second: all pairs in tiles, against a loop over sampled triples.

.venv/bin/python benchmarks/posterior_speed.py      # writes benchmarks/results/posterior_speed.md
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import voile
from voile.core.arrays import Floats
from voile.leakage.posterior import posterior_leakage

RESULTS = Path(__file__).parent / "results" / "posterior_speed.md"
EPSILONS = [0.3, 0.4, 0.5]


def plain_loop(shifts: Floats, distances: Floats, *, triples: int) -> float:
    """Triples a second of the obvious program: draw a triple, compute, compare."""
    rng = np.random.default_rng(0)
    releases = rng.integers(len(shifts), size=triples)
    pairs = rng.integers(shifts.shape[1], size=(triples, 2))
    counts = [0] * len(EPSILONS)
    start = time.perf_counter()
    for release, (i, j) in zip(releases, pairs, strict=True):
        if i != j:
            value = abs(shifts[release, i] - shifts[release, j]) / distances[i, j]
            for k, epsilon in enumerate(EPSILONS):
                counts[k] += value > epsilon
    return triples / (time.perf_counter() - start)


def main() -> None:
    lines = [
        "# Posterior leakage, triples a second",
        "",
        "`benchmarks/posterior_speed.py`, 2 cores, shifts drawn at random, three epsilons; all "
        "columns measured in one run.",
        "",
        "| candidates | releases | triples | voile, triples/s | loop, triples/s | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rng = np.random.default_rng(1)
    for size, releases in ((500, 400), (2000, 60), (5000, 16)):
        points = rng.normal(size=(size, 20))
        distances = voile.metrics.euclidean().pairwise(points, points)
        shifts = rng.normal(size=(releases, size))
        best = 0.0
        for _ in range(3):
            start = time.perf_counter()
            found = posterior_leakage(shifts, distances, epsilons=EPSILONS)
            best = max(best, found.triples / (time.perf_counter() - start))
        loop = plain_loop(shifts, distances, triples=200_000)
        lines.append(
            f"| {size:,} | {releases} | {found.triples:,} | {best:,.0f} | {loop:,.0f} "
            f"| {best / loop:,.0f}× |"
        )
        print(lines[-1], flush=True)
    lines += ["", "Memory beyond the distances, releases streamed in groups of 10:", ""]
    points = rng.normal(size=(1000, 20))
    distances = voile.metrics.euclidean().pairwise(points, points)

    def groups(count: int) -> Iterator[Floats]:
        for _ in range(count):
            yield rng.normal(size=(10, 1000))

    for count in (5, 50):
        tracemalloc.start()
        posterior_leakage(groups(count), distances, epsilons=EPSILONS)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        lines.append(f"- {10 * count} releases: {peak / 2**20:.0f} MB")
        print(lines[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
