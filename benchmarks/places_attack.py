"""An adversary looks for two places whose laws differ by more than ε allows: 10⁷ pairs each.

    python benchmarks/places_attack.py --epsilon 0.4 0.8 1.6 --pairs 10000000

It shares nothing with the certificate: it evaluates the law that is drawn from, in patches of 64
places, and compares all pairs of a patch. Patches lie close together on the lattice (metres),
across the borders of cells, off the lattice and below the resolution (where ε·(d + √2·h) is
promised for ℓ₂, ε·(d + 2h) for ℓ₁), outside the map, and all over it; then it climbs from the worst
places uphill. Three liars are planted: a design for 1.05 ε, a law that jumps by a hundredth at one
border, and one that forgets to move places to the lattice. Rows that are in
results/places_attack.jsonl are not made again; writes results/places_attack.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from voile.optimise.anchored import aipo
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import exponential_law, laplace_remap
from voile.optimise.problem import Problem
from voile.optimise.region_descent import region_descent
from voile.optimise.region_problem import as_region
from voile.optimise.windows import window_descent
from voile.places.city import synthetic_city
from voile.places.problems import road_problem, sampled_tasks

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "places_attack.jsonl"
SIDE = 8
ROUNDING = 1e-11
"""Of a logarithm: what evaluating a law in doubles may add."""
SHARES = {"close": 0.3, "borders": 0.3, "off the lattice": 0.15, "outside": 0.1, "far": 0.15}


@dataclass(frozen=True)
class Subject:
    """A law on a box that claims (ε, ℓ_p), the step of its lattice (0: none), its borders."""

    name: str
    law: Callable[[np.ndarray], np.ndarray]
    epsilon: float
    p: float
    low: np.ndarray
    high: np.ndarray
    step: float
    borders: tuple[np.ndarray, np.ndarray]

    def logs(self, points: np.ndarray) -> np.ndarray:
        """Ln p of every output that can occur at one of the points."""
        table = self.law(points)
        return np.log(table[:, table.max(axis=0) > 0])


@dataclass
class Found:
    """Pairs looked at, pairs above ε, and the largest ratio to ε, by kind."""

    pairs: int = 0
    violations: int = 0
    worst: dict[str, float] = field(default_factory=dict)


def patches(subject: Subject, kind: str, rng: np.random.Generator) -> np.ndarray:
    """64 places of one kind; those that are not off the lattice are whole steps from its corner."""
    low, high, h = subject.low, subject.high, subject.step or 0.001
    block = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), -1).reshape(-1, 2) - SIDE // 2
    centre = low + np.rint(rng.uniform(0, 1, 2) * (high - low) / h) * h
    if kind == "far":
        return low + np.rint(rng.uniform(0, 1, (SIDE**2, 2)) * (high - low) / h) * h
    if kind == "outside":
        side = rng.integers(2)
        centre[side] = (low if rng.random() < 0.5 else high)[side] + rng.normal(scale=0.3)
        return centre + rng.normal(size=(SIDE**2, 2)) * rng.choice([0.002, 0.02, 0.5])
    if kind == "borders":
        for axis in range(2):
            if axis == 0 or rng.random() < 0.5:
                line = rng.choice(subject.borders[axis])
                centre[axis] = low[axis] + np.rint((line - low[axis]) / h) * h
    if kind == "off the lattice":
        return centre + rng.uniform(-1, 1, (SIDE**2, 2)) * h * rng.choice([0.3, 1.5, 6.0])
    spread = block * h * rng.choice([1, 1, 3])
    return np.clip(centre + spread, low, low + np.floor((high - low) / h) * h)


def excess(subject: Subject, points: np.ndarray, *, rounded: bool) -> tuple[np.ndarray, np.ndarray]:
    """For all pairs: what ln p differs by beyond what is promised, and its ratio to that."""
    gaps = cdist(*[subject.logs(points)] * 2, "chebyshev")
    apart = cdist(points, points, "minkowski", p=subject.p)
    if rounded:  # a place is moved to the lattice first
        apart = apart + 2 ** (1 / subject.p) * subject.step
    allowed = subject.epsilon * apart
    pairs = np.triu_indices(len(points), k=1)
    gaps, allowed = gaps[pairs], allowed[pairs]
    ratio = np.divide(gaps, allowed, out=np.where(gaps > ROUNDING, np.inf, 0.0), where=allowed > 0)
    return gaps - allowed, ratio


def attack(subject: Subject, *, pairs: int, seed: int = 0) -> Found:
    """Every kind of patch, then climbing from the places where the ratio was largest."""
    rng, found, starts = np.random.default_rng(seed), Found(), []
    each = SIDE**2 * (SIDE**2 - 1) // 2
    for kind, share in SHARES.items():
        rounded = kind in ("off the lattice", "outside")
        for _ in range(max(1, round(share * pairs / each))):
            points = patches(subject, kind, rng)
            ratio = _count(subject, points, kind, found, rounded)
            if kind in ("close", "borders"):
                starts.append((ratio, tuple(points.mean(axis=0))))
    for ratio, start in sorted(starts, reverse=True)[:8]:
        _climb(subject, np.array(start), ratio, found)
    return found


def _count(subject: Subject, points: np.ndarray, kind: str, found: Found, rounded: bool) -> float:
    over, ratio = excess(subject, points, rounded=rounded)
    found.pairs += len(over)
    found.violations += int((over > ROUNDING).sum())
    worst = float(ratio.max())
    found.worst[kind] = max(found.worst.get(kind, 0.0), worst)
    return worst


def _climb(subject: Subject, place: np.ndarray, best: float, found: Found) -> None:
    """Uphill on the largest ratio among 16 close places, in steps from 256 down to 1."""
    h = subject.step or 0.001
    block = np.stack(np.meshgrid(np.arange(4), np.arange(4)), -1).reshape(-1, 2) * h
    last = subject.low + np.floor((subject.high - subject.low) / h) * h
    size = 256
    while size >= 1:
        moves = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)]) * size * h
        for move in moves:
            corner = subject.low + np.rint((place + move - subject.low) / h) * h
            points = np.clip(corner + block, subject.low, last)
            ratio = _count(subject, points, "climbing", found, False)
            if ratio > best:
                place, best = corner, ratio
                break
        else:
            size //= 4


def subjects(
    problem: Problem, epsilon: float, p: float, cells: tuple[int, int]
) -> Iterator[Subject]:
    """Every method that claims the whole map, made when it is asked for."""
    low, high = np.asarray(problem.low), np.asarray(problem.high)
    how = {"epsilon": epsilon, "cells": cells, "p": p}

    def lines(counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        x, y = (np.linspace(a, b, c + 1)[1:-1] for a, b, c in zip(low, high, counts, strict=True))
        return x, y

    wide = region_descent(as_region(problem), epsilon=epsilon, cells=cells, p=p, sweeps=1)
    yield (
        Subject("a region, (f) by windows", wide.mechanism.probabilities, epsilon, p, low, high,
                wide.mechanism.resolution, lines(wide.mechanism.grid.cells))
    )  # fmt: skip
    for name, build in (
        ("(d) bilinear, axis budgets", lambda: bilinear_axis(problem, tolerance=1e-3, **how)),
        ("(e) bilinear, exact cone", lambda: bilinear_cone(problem, tolerance=1e-3, **how)),
        ("(f) smooth spline", lambda: smooth_spline(problem, tolerance=1e-3, **how)),
        ("(f) by windows", lambda: window_descent(problem, sweeps=2, side=8, **how)),
    ):
        made = build().mechanism
        yield (
            Subject(
                name,
                made.probabilities,
                epsilon,
                p,
                low,
                high,
                made.resolution,
                lines(made.grid.cells),
            )
        )
    for name, bayes in (("Laplace", False), ("Laplace + remap", True)):
        noisy = laplace_remap(problem, bayes=bayes, finer=1, **how)
        # its lattice has its corner at zero, and the law is that of the nearest point
        at = np.ceil(low / noisy.resolution) * noisy.resolution
        yield (
            Subject(name, noisy.probabilities, epsilon, p, at, high, noisy.resolution,
                    (noisy.xs[1:-1], noisy.ys[1:-1]))
        )  # fmt: skip
    anchored = aipo(problem, tolerance=1e-3, splits=3, **how)
    yield (
        Subject("AIPO", lambda x: anchored.law.probabilities(np.clip(x, low, high)), epsilon, p,
                low, high, 0.0, lines(cells))
    )  # fmt: skip

    def exponential(x: np.ndarray) -> np.ndarray:
        return exponential_law(x, problem.outputs, epsilon=epsilon, p=p)

    yield (Subject("EM", exponential, epsilon, p, low, high, 0.0, lines(cells)))


def liars(problem: Problem, epsilon: float, cells: tuple[int, int]) -> list[Subject]:
    """Laws that claim ε in ℓ₂ and do not keep it."""
    low, high = np.asarray(problem.low), np.asarray(problem.high)
    honest = smooth_spline(problem, epsilon=epsilon, cells=cells, tolerance=1e-3).mechanism
    louder = smooth_spline(problem, epsilon=1.05 * epsilon, cells=cells, tolerance=1e-3).mechanism
    x, y = (np.linspace(a, b, c + 1)[1:-1] for a, b, c in zip(low, high, cells, strict=True))
    base = Subject("honest", honest.probabilities, epsilon, 2.0, low, high, 0.001, (x, y))
    law = honest.probabilities

    def jumping(points: np.ndarray) -> np.ndarray:
        table = law(points)
        table[points[:, 0] > x[0], 0] *= 1.01  # beyond one border only
        return np.asarray(table / table.sum(axis=1, keepdims=True))

    def unsnapped(points: np.ndarray) -> np.ndarray:
        table = law(points)
        odd = np.modf(np.abs(points).sum(axis=1) / 0.0001)[0] > 0.5
        table[odd, 0] *= 1 + 5 * epsilon * 0.001  # tells places apart below the resolution
        return np.asarray(table / table.sum(axis=1, keepdims=True))

    return [
        replace(base, name="liar: solved for 1.05 ε", law=louder.probabilities),
        replace(base, name="liar: a jump of 1 % at one border", law=jumping),
        replace(base, name="liar: not moved to the lattice", law=unsnapped),
    ]


def town(columns: int = 24, rows: int = 18, cells: tuple[int, int] = (8, 6)) -> Problem:
    network, prior = synthetic_city(seed=3, columns=columns, rows=rows)
    tasks = sampled_tasks(network, count=20, prior=prior, seed=3)
    return road_problem(network, cells=cells, tasks=tasks, prior=prior)


def main(args: argparse.Namespace) -> None:
    problem, cells = town(), (12, 9)
    rows = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []
    done = {(r["law"], r["p"], r["epsilon"]) for r in rows if r["pairs"] >= args.pairs}
    begun = time.monotonic()
    for epsilon in args.epsilon:
        for p in (2.0, 1.0):
            if sum(key[1:] == (p, epsilon) for key in done) == (12 if p == 2.0 else 9):
                continue
            lies = liars(problem, epsilon, cells) if p == 2.0 and not args.quick else []
            for subject in itertools.chain(subjects(problem, epsilon, p, cells), lies):
                if (subject.name, p, epsilon) in done:
                    continue
                if time.monotonic() - begun > args.seconds:
                    return
                cpu = time.process_time()
                seen = attack(subject, pairs=args.pairs)
                row = {"law": subject.name, "p": p, "epsilon": epsilon, "pairs": seen.pairs}
                row |= {"violations": seen.violations, "worst": seen.worst}
                row["seconds"] = round(time.process_time() - cpu, 1)
                with FILE.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                rows.append(row)
                print(row, flush=True)
                write(rows, args.pairs, len(problem.outputs))


def write(rows: list[dict], pairs: int, outputs: int) -> None:
    epsilons = sorted({r["epsilon"] for r in rows})
    lines = [
        "# An adversary looks for violating pairs",
        "",
        f"Made by `python benchmarks/places_attack.py --epsilon {' '.join(map(str, epsilons))} "
        f"--pairs {pairs}`; see its docstring. A made-up town of {outputs}",
        "outputs, splines on 12×9 cells (a region on as many as its ε needs). By kind of pair the",
        "largest |ln p(x) − ln p(x')| as a share of what is promised: 1 is the claim itself. The",
        "liars must be found.",
        "",
        f"| law | metric | ε per km | pairs | violations | {' | '.join(SHARES)} | climbing | "
        "CPU s |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for r in sorted(rows, key=lambda r: (r["epsilon"], -r["p"], "liar" in r["law"])):
        kinds = " | ".join(f"{r['worst'][k]:.7f}" for k in (*SHARES, "climbing"))
        lines.append(
            f"| {r['law']} | ℓ{r['p']:g} | {r['epsilon']:g} | {r['pairs']:,} | "
            f"{r['violations']:,} | {kinds} | {r['seconds']:.0f} |"
        )
    (RESULTS / "places_attack.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.6])
    parser.add_argument("--quick", action="store_true", help="without the liars")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after the row under way")
    parser.add_argument("--pairs", type=int, default=10_000_000)
    main(parser.parse_args())
