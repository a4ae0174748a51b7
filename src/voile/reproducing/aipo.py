"""AIPO's tables: the methods on a city, their loss, violations and seconds."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.space import Space
from voile.mechanisms.spaces.truncated_exponential import truncation_distance
from voile.metrics.lp_norms import lp
from voile.optimise.anchored import aipo, aipo_relaxed
from voile.optimise.best import best
from voile.optimise.constopt import constopt
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import exponential_law, laplace_remap
from voile.optimise.least_loss import least_loss, least_loss_spanner
from voile.optimise.lower_bounds import lower_bound, paper_bound
from voile.optimise.problem import Problem
from voile.places.city import synthetic_city
from voile.places.problems import road_problem, sampled_tasks
from voile.places.readers import read_roads
from voile.places.roads import RoadNetwork, network_from_degrees
from voile.reproducing.experiment import Row

FILE = "aipo_tables.jsonl"
EPSILONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)
SHAPES = {
    "synthetic": (20, 15),
    "synthetic, small": (8, 6),
    "manhattan": (10, 20),
    "goldcoast": (10, 20),
}
SWEEPS = 400
LATTICE = 2.0**-10
"""Places of the test stand on it, as lattice noise does: its distances are between such places."""
Law = Callable[[np.ndarray], np.ndarray]


def city_problem(city: str, seed: int, data: str | Path) -> Problem:
    """A city's places, outputs and losses; the seed draws tasks, and a made-up city's prior."""
    if city.startswith("synthetic"):
        network, prior = synthetic_city(seed=seed)
    else:
        network = goldcoast(Path(data)) if city == "goldcoast" else read_roads(str(data))
        prior = np.full(len(network), 1 / len(network))
    tasks = sampled_tasks(network, count=80, prior=prior, seed=seed)
    return road_problem(network, cells=SHAPES[city], tasks=tasks, prior=prior)


def goldcoast(folder: Path) -> RoadNetwork:
    """The streets of the Gold Coast (TNTP), lengths in km; connectors of zones are cut."""
    nodes, links, through = {}, [], 0
    for line in _lines(folder / "Goldcoast_nodes_2016_01.tntp.gz"):
        words = line.split()
        if len(words) >= 3 and words[0].isdigit():
            nodes[int(words[0])] = (float(words[2]), float(words[1]))
    for line in _lines(folder / "Goldcoast_network_2016_01.tntp.gz"):
        words = line.split()
        if line.startswith("<FIRST THRU NODE>"):
            through = int(words[-1])
        elif len(words) > 5 and words[0].isdigit():
            links.append((int(words[0]), int(words[1]), float(words[3])))
    kept = [link for link in links if min(link[:2]) >= through]
    number = {node: place for place, node in enumerate(sorted({n for k in kept for n in k[:2]}))}
    degrees = np.array([nodes[node] for node in number])
    edges = np.array([(number[a], number[b]) for a, b, _ in kept])
    lengths = np.array([km for *_, km in kept])
    return network_from_degrees(degrees[:, 0], degrees[:, 1], edges, lengths)


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def violations(law: Law, problem: Problem, epsilon: float, p: float, seed: int) -> float:
    """Percent of pairs of 1,000 random places with a probability ratio above e^(ε·d)."""
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(1000 + seed)
    steps = [np.asarray(end) / LATTICE for end in (problem.low, problem.high)]
    points = LATTICE * rng.integers(np.ceil(steps[0]), np.floor(steps[1]) + 1, (1000, 2))
    table = law(points)
    with np.errstate(divide="ignore"):
        logs = np.log(table[:, table.max(axis=0) > 0])
    logs = np.maximum(logs, -800.0)  # a zero beside a non-zero is a violation at any distance
    gaps, apart = cdist(logs, logs, "chebyshev"), lp(p).pairwise(points, points)
    upper = np.triu_indices(len(points), k=1)
    allowed = epsilon * apart[upper] * (1 + 1e-9) + 1e-9  # laws given in doubles round
    return float(100 * (gaps[upper] > allowed).mean())


def cell_problem(problem: Problem, cells: tuple[int, int], p: float) -> tuple[Any, ...]:
    """The discretised problem of LP and ConstOPT: cells as secrets."""
    grid = problem.grid(cells, degree=1)
    where, _ = grid.locate(problem.places)
    member = where[:, 0] * cells[1] + where[:, 1]
    count = cells[0] * cells[1]
    mass = np.bincount(member, weights=problem.prior, minlength=count)
    loss = np.zeros((count, len(problem.outputs)))
    np.add.at(loss, member, problem.prior[:, None] * problem.loss)
    loss = np.divide(loss, mass[:, None], out=np.zeros_like(loss), where=mass[:, None] > 0)
    index = np.indices(cells).reshape(2, -1).T
    centres = np.asarray(problem.low) + (index + 0.5) * np.asarray(grid.steps)
    space = Space(centres, metric=lp(p, unit="km"))

    def at(points: np.ndarray) -> np.ndarray:
        found, _ = grid.locate(points)
        return np.asarray(found[:, 0] * cells[1] + found[:, 1])

    return space, loss, mass, at


def methods(
    problem: Problem, cells: tuple[int, int], epsilon: float, p: float, sweeps: int
) -> dict[str, Any]:
    """Each method as a function that returns (law or None, loss, certified supremum)."""

    def formula(gamma: float) -> tuple[Law, float, float]:
        def law(x: np.ndarray) -> np.ndarray:
            return exponential_law(x, problem.outputs, epsilon=epsilon, p=p, gamma=gamma)

        return law, problem.expected(law(problem.places)), epsilon

    def remapped() -> tuple[Law, float, float]:
        """EM, and then the output that serves best given what it drew: post-processing."""
        table = exponential_law(problem.places, problem.outputs, epsilon=epsilon, p=p)
        chosen = served(table)

        def law(x: np.ndarray) -> np.ndarray:
            drawn = exponential_law(x, problem.outputs, epsilon=epsilon, p=p)
            made = np.zeros_like(drawn)
            np.add.at(made.T, chosen, drawn.T)
            return made

        return law, problem.expected(law(problem.places)), epsilon

    def served(table: np.ndarray) -> np.ndarray:
        return np.asarray(((problem.prior[:, None] * table).T @ problem.loss).argmin(axis=1))

    def as_in_code(remap: bool) -> tuple[None, float, float]:
        """Outputs drawn anew, the loss table that of the outputs before: as the public code has it.

        Its Laplace is the same kernel as EM, its RMP the remap of that.
        """
        rng = np.random.default_rng(99)
        anew = problem.places[rng.choice(len(problem.places), len(problem.outputs))]
        table = exponential_law(problem.places, anew, epsilon=epsilon, p=p)
        loss = problem.loss if not remap else problem.loss[:, served(table)]
        return None, float((problem.prior[:, None] * table * loss).sum()), np.inf

    def laplace(bayes: bool) -> tuple[Law, float, float]:
        found = laplace_remap(problem, epsilon=epsilon, cells=cells, p=p, bayes=bayes)
        return found.probabilities, problem.expected(found.probabilities(problem.places)), epsilon

    def channel(build: Callable[..., Any]) -> tuple[Law, float, float]:
        space, loss, mass, at = cell_problem(problem, cells, p)
        found = build(space, epsilon=epsilon, loss=loss, prior=mass, outputs=problem.outputs)
        table = found.probabilities()

        def law(x: np.ndarray) -> np.ndarray:
            return np.asarray(table[at(x)])

        return law, problem.expected(law(problem.places)), np.inf

    def anchored(build: Callable[..., Any]) -> tuple[Law, float, float]:
        found = build(problem, epsilon=epsilon, cells=cells, p=p, tolerance=1e-4)
        return found.law.probabilities, found.loss, found.supremum

    def smooth(build: Callable[..., Any]) -> tuple[Law, float, float]:
        found = build(problem, epsilon=epsilon, cells=cells, p=p, tolerance=1e-4)
        return found.mechanism.probabilities, found.loss, found.mechanism.certificate().epsilon

    def chosen() -> tuple[Law, float, float]:
        found = best(problem, epsilon=epsilon, cells=cells, p=p)
        certificate = getattr(found.mechanism, "certificate", None)
        top = epsilon if certificate is None else certificate().epsilon
        return found.mechanism.probabilities, found.loss, top

    gamma = truncation_distance(len(problem.outputs), epsilon=epsilon, beta=0.1)
    return {
        "EM": lambda: formula(np.inf),
        "Laplace": lambda: laplace(False),
        "TEM": lambda: formula(gamma),
        "Laplace + remap": lambda: laplace(True),
        "EM + remap": remapped,
        "ConstOPT (cells)": lambda: channel(constopt),
        "LP (cells)": lambda: channel(least_loss_spanner),
        "LP (cells, all pairs)": lambda: channel(least_loss),
        "EM (code)": lambda: as_in_code(False),
        "RMP (code)": lambda: as_in_code(True),
        "AIPO-R (not private)": lambda: anchored(aipo_relaxed),
        "AIPO": lambda: anchored(aipo),
        "(d)": lambda: smooth(bilinear_axis),
        "(e)": lambda: smooth(bilinear_cone),
        "(f)": lambda: smooth(smooth_spline),
        "best": chosen,
        "bound, paper": lambda: (
            None,
            paper_bound(problem, epsilon=epsilon, cells=cells, p=p).value,
            0,
        ),
        "bound, ours": lambda: (
            None,
            lower_bound(problem, epsilon=epsilon, p=p, sweeps=sweeps).value,
            0,
        ),
    }


def one_method(problem: Problem, name: str, setting: Row, *, sweeps: int = SWEEPS) -> Row:
    """What one method reaches on a problem: loss, certified supremum, violations, CPU seconds."""
    epsilon, p, seed = setting["epsilon"], setting["p"], setting["seed"]
    work = methods(problem, SHAPES[setting["city"]], epsilon, p, sweeps)[name]
    begun = time.process_time()
    law, loss, supremum = work()
    seconds = time.process_time() - begun
    share = None if law is None else violations(law, problem, epsilon, p, seed)
    return {
        "loss": loss,
        "supremum": supremum if np.isfinite(supremum) else None,
        "violations": share,
        "seconds": round(seconds, 2),
    }
