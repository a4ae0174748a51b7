"""Laplace noise on the plane, gathered in cells, each cell released as what serves best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items, frozen
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import as_items, lookup, positions_of
from voile.errors import BadFile, InvalidInput, require, require_epsilon
from voile.metrics.lp import lp
from voile.optimise._compile import in_slices
from voile.optimise.plane import plane_points
from voile.optimise.problem import Problem

LARGEST_LAW = {1.0: 16_000_000, 2.0: 6_000_000}
"""Masses (places × noise cells) worth computing for a finer remap: two or three seconds."""


@dataclass(frozen=True, eq=False)
class LaplaceRemap:
    """Add Laplace noise, find the cell it falls in, release the output that the cell maps to.

    Cells on the border reach to infinity. For ℓ₂ the noise has density ε²/(2π)·e^(−ε‖z‖₂)
    (Andrés et al., CCS 2013), for ℓ₁ (ε/2)²·e^(−ε‖z‖₁). The noise is ε-Lipschitz in the place,
    and what follows depends on public data only, so the guarantee is proved; the draw is in
    doubles (see docs/known-limits.md), but only the cell's output ever leaves.
    """

    xs: Floats  # borders of the cells along each axis
    ys: Floats
    mapping: Indices
    outputs: Items
    guarantee: Guarantee

    def __post_init__(self) -> None:
        cells = (len(self.xs) - 1) * (len(self.ys) - 1)
        object.__setattr__(self, "outputs", as_items(self.outputs, name="outputs"))
        object.__setattr__(self, "mapping", frozen(np.array(self.mapping, dtype=np.intp)))
        require(
            self.mapping.shape == (cells,),
            "mapping",
            f"one entry for each of {cells} cells",
            self.mapping.shape,
        )
        inside = bool(((self.mapping >= 0) & (self.mapping < len(self.outputs))).all())
        require(inside, "mapping", f"positions below {len(self.outputs)}", "others")
        require(self.p in (1.0, 2.0), "p", "1 or 2", self.p)

    @property
    def p(self) -> float:
        """The exponent of the ℓ_p metric that the guarantee speaks of."""
        return float(dict(self.guarantee.metric.parameters).get("p", math.nan))

    def cell_probabilities(self, places: Sequence[Any] | Items) -> Floats:
        """The probability of each cell at each place, to about 1e-11 of itself."""
        return cell_law(
            self._points(places),
            self.xs,
            self.ys,
            epsilon=self.guarantee.epsilon,
            p=self.p,
        )

    def probabilities(self, places: Sequence[Any] | Items) -> Floats:
        """The probability of each output at each place."""
        return gathered(self.cell_probabilities(places), self.mapping, len(self.outputs))

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """Ln of the probability of each release, shape (len(secrets), len(releases))."""
        columns = lookup(self._positions, np.asarray(releases), size=len(self.outputs))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities(secrets)[:, columns]))

    def expected_loss(self, places: Items, loss: Floats, prior: Floats) -> float:
        """Σ_x π(x) Σ_y K(y|x)·loss[x, y] over the given places."""
        share = np.asarray(prior, dtype=float)
        return float(share @ (self.probabilities(places) * loss).sum(axis=1) / share.sum())

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One output for each place."""
        return self.outputs[self.draw(secrets, rng)]

    def draw(self, secrets: Sequence[Any] | Items, rng: Generator) -> Indices:
        """The same as positions among the outputs."""
        places = self._points(secrets)
        noisy = places + _noise(len(places), self.guarantee.epsilon, self.p, rng)
        column = np.clip(
            np.searchsorted(self.xs, noisy[:, 0], side="right") - 1, 0, len(self.xs) - 2
        )
        row = np.clip(np.searchsorted(self.ys, noisy[:, 1], side="right") - 1, 0, len(self.ys) - 2)
        return np.asarray(self.mapping[column * (len(self.ys) - 1) + row])

    def _points(self, places: Sequence[Any] | Items) -> Floats:
        low, high = (self.xs[0], self.ys[0]), (self.xs[-1], self.ys[-1])
        return plane_points(places, low, high, unit=self.guarantee.metric.unit)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return positions_of(self.outputs)

    def to_record(self) -> tuple[str, dict[str, Any], dict[str, Items]]:
        """Kind, description and arrays, for `voile.save`."""
        meta = {
            "epsilon": self.guarantee.epsilon,
            "p": self.p,
            "unit": self.guarantee.metric.unit,
            "granularity": self.guarantee.granularity,
            "outside": list(self.guarantee.outside),
        }
        arrays = {"xs": self.xs, "ys": self.ys, "mapping": self.mapping, "outputs": self.outputs}
        return "laplace remap", meta, arrays


def laplace_remap_from_record(meta: Mapping[str, Any], arrays: Mapping[str, Items]) -> LaplaceRemap:
    """The mechanism of a saved record."""
    try:
        guarantee = Guarantee(
            float(meta["epsilon"]),
            lp(float(meta["p"]), unit=str(meta["unit"])),
            str(meta["granularity"]),
            Basis.PROVED,
            outside=tuple(meta.get("outside", ())),
        )
        return LaplaceRemap(
            np.asarray(arrays["xs"]),
            np.asarray(arrays["ys"]),
            np.asarray(arrays["mapping"]),
            arrays["outputs"],
            guarantee,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BadFile(
            f"the file does not describe Laplace noise with a remap: {problem}"
        ) from problem


def laplace_remap(
    problem: Problem,
    *,
    epsilon: float,
    cells: Sequence[int],
    p: float = 2.0,
    bayes: bool = True,
    finer: int | None = None,
    unit: str = "km",
) -> LaplaceRemap:
    """Laplace noise in cells; each cell released as argmin_y Σ_x π(x) K(cell|x) loss[x, y].

    Chatzikokolakis, Elsalamouny and Palamidessi (PoPETs 2017). With `bayes` false each cell is
    released as the output nearest its centre: plain Laplace noise. The noise is gathered in cells
    `finer` times as many along each axis as `cells`: the guarantee does not depend on them, and a
    remap that sees more of the noise loses less. Without it, 3 times or as many as are quick
    (`affordable`). Costs places × noise cells × 16 to 64 exponentials for ℓ₂, one for ℓ₁.
    """
    epsilon = require_epsilon(epsilon)
    if len(problem.low) != 2 or p not in (1.0, 2.0):
        raise InvalidInput("Laplace noise must be in the plane with ℓ₁ or ℓ₂; use smooth_spline")
    times = affordable(len(problem.places), cells, p=p) if finer is None else finer
    require(times >= 1, "finer", "at least 1", times)
    xs = np.linspace(problem.low[0], problem.high[0], times * int(cells[0]) + 1)
    ys = np.linspace(problem.low[1], problem.high[1], times * int(cells[1]) + 1)
    guarantee = Guarantee(epsilon, lp(p, unit=unit), "one location", Basis.PROVED)
    if bayes:
        law = cell_law(problem.places, xs, ys, epsilon=epsilon, p=p)
        mapping = ((law * problem.prior[:, None]).T @ problem.loss).argmin(axis=1)
    else:
        from scipy.spatial import cKDTree

        middle = [(a[1:] + a[:-1]) / 2 for a in (xs, ys)]
        centres = np.stack(np.meshgrid(*middle, indexing="ij"), -1).reshape(-1, 2)
        mapping = cKDTree(problem.outputs).query(centres)[1]
    return LaplaceRemap(xs, ys, np.asarray(mapping), problem.outputs, guarantee)


def affordable(places: int, cells: Sequence[int], *, p: float) -> int:
    """How many times finer than the outputs noise is gathered: 3, less where it takes seconds."""
    most = LARGEST_LAW[p]
    return next((k for k in (3, 2) if places * math.prod(cells) * k * k <= most), 1)


def cell_law(places: Floats, xs: Floats, ys: Floats, *, epsilon: float, p: float) -> Floats:
    """The mass of each cell of the noise around each place."""
    if p == 1.0:
        wide, tall = (
            _line_law(places[:, a], borders, epsilon) for a, borders in ((0, xs), (1, ys))
        )
        return np.asarray((wide[:, :, None] * tall[:, None, :]).reshape(len(places), -1))
    from voile.optimise._laplace_kernels import NODE_WEIGHTS, NODES, cell_masses

    masses = np.empty((len(places), (len(xs) - 1) * (len(ys) - 1)))
    points = np.ascontiguousarray(places, dtype=float)
    in_slices(
        lambda _, part: cell_masses(
            points[part], xs, ys, epsilon, NODES, NODE_WEIGHTS, masses[part]
        ),
        len(points),
    )
    return masses


def gathered(law: Floats, mapping: Indices, count: int) -> Floats:
    """Columns of cells added up to columns of outputs."""
    from scipy.sparse import csr_array

    cells = np.arange(len(mapping))
    matrix = csr_array((np.ones(len(mapping)), (cells, mapping)), shape=(len(mapping), count))
    return np.asarray(law @ matrix)


def exponential_law(
    places: Floats, outputs: Floats, *, epsilon: float, p: float, gamma: float = math.inf
) -> Floats:
    """Pr(y|x) ∝ exp(−(ε/2)·min(‖x − y‖_p, γ)) at any place: EM, and TEM with a finite γ."""
    distances = lp(p).pairwise(places, outputs)
    shape = np.exp(-epsilon / 2 * np.minimum(distances, gamma))
    return np.asarray(shape / shape.sum(axis=1, keepdims=True))


def _line_law(places: Floats, borders: Floats, epsilon: float) -> Floats:
    """Masses of (ε/2)·e^(−ε|z|) between borders; small ones as differences of their own size."""
    offset = epsilon * (borders[None, 1:-1] - places[:, None])
    far = np.full((len(places), 1), np.inf)
    edges = np.concatenate([-far, offset, far], axis=1)
    low, high = edges[:, :-1], edges[:, 1:]
    near = np.minimum(np.abs(low), np.abs(high))
    aside = np.exp(-near) * -np.expm1(-(high - low)) / 2
    around = -(np.expm1(-np.abs(low)) + np.expm1(-np.abs(high))) / 2
    return np.asarray(np.where((low < 0) & (high > 0), around, aside))


def _noise(count: int, epsilon: float, p: float, rng: Generator) -> Floats:
    if p == 1.0:
        size = rng.standard_exponential((count, 2)) / epsilon
        return np.asarray(np.where(rng.random((count, 2)) < 0.5, -size, size))
    angle = rng.uniform(0, 2 * math.pi, count)
    radius = rng.standard_gamma(2.0, count) / epsilon
    return np.asarray(radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1))
