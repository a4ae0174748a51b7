"""Exact draws, certificates and start-up, each beside a peer in the same run.

.venv/bin/python benchmarks/core.py        # about two minutes; writes benchmarks/results/core.md
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import opendp.prelude as dp

import voile

RESULTS = Path(__file__).parent / "results" / "core.md"
SIZES = (100, 1_000, 10_000, 100_000)
EPSILON = 2.0


def seconds(work: Callable[[], object], *, repeats: int = 3) -> float:
    """The best of a few runs: the one least disturbed by others on the machine."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def channel_of(size: int) -> voile.Channel:
    """One secret, `size` outputs: a row of the exponential mechanism."""
    outputs = np.random.default_rng(1).random((size, 2)) * 10
    space = voile.Space(outputs[:1], metric=voile.metrics.euclidean())
    return voile.mechanisms.exponential(space, epsilon=EPSILON, outputs=outputs)


def draws(size: int) -> tuple[float, float, float, float, float]:
    """Draws a second: ours in bulk, seeded, one by one; then Gumbel-argmax and OpenDP."""
    channel = channel_of(size)
    scores = channel.log_probabilities()[0]
    rng, plain = voile.secure_rng(), np.random.default_rng(2)
    bulk = np.zeros(1_000_000, dtype=np.intp)
    channel.draw(bulk[:10], rng)  # the running sums are made once
    ours = len(bulk) / seconds(lambda: channel.draw(bulk, rng))
    seeded = len(bulk) / seconds(lambda: channel.draw(bulk, plain))
    one = np.zeros(1, dtype=np.intp)
    single = 2_000 / seconds(lambda: [channel.draw(one, rng) for _ in range(2_000)])

    batch = max(1, 2_000_000 // size)

    def gumbel() -> None:
        (scores + plain.gumbel(size=(batch, size))).argmax(axis=1)

    gumbels = batch / seconds(gumbel)
    noisy_max = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float),
        dp.max_divergence(),
        scale=2 / EPSILON,
    )
    utilities = scores.tolist()
    calls = max(2, 20_000 // size)
    opendp = calls / seconds(lambda: [noisy_max(utilities) for _ in range(calls)], repeats=2)
    return ours, seeded, single, gumbels, opendp


def certificate(size: int) -> float:
    """Seconds to certify a square channel."""
    from voile.core.certificate import certify

    points = np.random.default_rng(3).random((size, 3))
    space = voile.Space(points, metric=voile.metrics.euclidean())
    channel = voile.mechanisms.exponential(space, epsilon=3.0)
    return seconds(lambda: certify(space, channel.weights), repeats=2)


def plain_certificate(size: int) -> float:
    """The same by a loop over secrets in NumPy."""
    points = np.random.default_rng(3).random((size, 3))
    space = voile.Space(points, metric=voile.metrics.euclidean())
    logs = voile.mechanisms.exponential(space, epsilon=3.0).log_probabilities()
    distances = space.distances() + np.diag(np.full(size, np.inf))

    def loop() -> float:
        worst = 0.0
        for row, apart in zip(logs, distances, strict=True):
            worst = max(worst, float((np.abs(logs - row).max(axis=1) / apart).max()))
        return worst

    return seconds(loop, repeats=1)


def start_up(statement: str) -> float:
    command = [sys.executable, *statement.split(" ", 2)] if statement.startswith("-m") else [
        sys.executable, "-c", statement
    ]  # fmt: skip
    return seconds(lambda: subprocess.run(command, capture_output=True, check=True), repeats=7)


def main() -> None:
    lines = [
        "# Core benchmarks",
        "",
        f"`benchmarks/core.py`, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{platform.machine()}, 2 cores. Best of a few runs; all columns measured in one run.",
        "",
        "## Draws a second from a prepared channel",
        "",
        "Ours are exact draws from integers with a cryptographic generator; Gumbel-argmax is "
        "NumPy's, in doubles with a non-cryptographic generator; OpenDP's `make_noisy_max` is "
        "permute-and-flip, called once a draw as its interface has it.",
        "",
        "| candidates | voile | voile, seeded | voile, one call a draw | Gumbel-argmax | OpenDP "
        "| voile / Gumbel | voile / OpenDP | one call / OpenDP |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for size in SIZES:
        ours, seeded, single, gumbels, opendp = draws(size)
        lines.append(
            f"| {size:,} | {ours:,.0f} | {seeded:,.0f} | {single:,.0f} | {gumbels:,.0f} "
            f"| {opendp:,.0f} | {ours / gumbels:,.1f}× | {ours / opendp:,.0f}× "
            f"| {single / opendp:,.1f}× |"
        )
        print(lines[-1], flush=True)
    lines += ["", "## Certifying a square channel (all pairs, all outputs)", ""]
    lines += ["| secrets | voile | loop in NumPy | ratio |", "| --- | --- | --- | --- |"]
    for size in (250, 500, 1_000, 2_000):
        ours, plain = certificate(size), plain_certificate(size)
        lines.append(f"| {size:,} | {ours:.2f} s | {plain:.2f} s | {plain / ours:.1f}× |")
        print(lines[-1], flush=True)
    numpy = start_up("import numpy")
    lines += [
        "",
        "## Start-up",
        "",
        "| | seconds | against `import numpy` |",
        "| --- | --- | --- |",
    ]
    for name, statement in (
        ("`import numpy`", "import numpy"),
        ("`import voile`", "import voile"),
        ("`voile --help`", "-m voile --help"),
        ("`import typer, rich`", "import typer, rich"),
    ):
        taken = start_up(statement)
        lines.append(f"| {name} | {taken:.3f} | {taken / numpy:.2f}× |")
        print(lines[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"Wrote {RESULTS.relative_to(Path.cwd())}")


if __name__ == "__main__":
    dp.enable_features("contrib")
    main()
