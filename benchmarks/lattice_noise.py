"""Noise drawn exactly on a lattice beside the same noise in doubles, in one process and thread.

    python benchmarks/lattice_noise.py            # about a minute; writes results/lattice_noise.md

The plain formulation is a direction and a radius, Gamma(n) distributed, in doubles.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import voile
from voile.core.lattice_laplace import lattice_laplace

RESULTS = Path(__file__).parent / "results" / "lattice_noise.md"
CASES = ((1, 2_000_000), (2, 2_000_000), (50, 100_000), (300, 20_000))
RATE = 2.0**-15


def in_doubles(count: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    direction = rng.standard_normal((count, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * (rng.standard_gamma(dimension, count) / RATE)[:, None]


def seconds(work) -> float:
    """Processor seconds, the best of five."""
    found = []
    for _ in range(5):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    rng = voile.secure_rng()
    lines = [
        "# Noise on a lattice, beside noise in doubles",
        "",
        "Rows of noise a second of one processor, best of five; the same secure generator.",
        "`python benchmarks/lattice_noise.py`",
        "",
        "| dimensions | exact, on a lattice | in doubles | ratio | mean length of 1 |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for dimension, count in CASES:
        noise = lattice_laplace(dimension, RATE)
        exact = seconds(lambda noise=noise, count=count: noise.draw(count, rng))
        plain = seconds(lambda d=dimension, count=count: in_doubles(count, d, rng))
        length = np.linalg.norm(noise.draw(count, rng).astype(float), axis=1).mean()
        lines.append(
            f"| {dimension} | {count / exact:,.0f} | {count / plain:,.0f} | "
            f"{plain / exact:.2f} | {length * RATE / dimension:.4f} |"
        )
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
