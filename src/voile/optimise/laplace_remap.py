"""Laplace noise on the plane, gathered in cells, each cell released as what serves best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items, frozen
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import as_items, lookup, positions_of
from voile.errors import BadFile, InvalidInput, require, require_epsilon
from voile.metrics.lattice import rounding_clause
from voile.metrics.lp_norms import lp
from voile.optimise.plane import plane_points
from voile.optimise.plane_noise import PlaneNoise
from voile.optimise.problem import Problem

LARGEST_LAW = 16_000_000
"""Masses (places × noise cells) worth computing for a finer remap: two or three seconds."""


@dataclass(frozen=True, eq=False)
class LaplaceRemap:
    """Add Laplace noise, find the cell it falls in, release the output that the cell maps to.

    Cells on the border reach to infinity. For ℓ₂ the noise has a density close to
    ε²/(2π)·e^(−ε‖z‖₂) (Andrés et al., CCS 2013), for ℓ₁ to (ε/2)²·e^(−ε‖z‖₁); it is drawn by
    integers on a lattice that places are moved to (`plane_noise`). It is ε-Lipschitz in the
    lattice point, and what follows depends on public data only, so the guarantee is proved.
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
        unit = self.guarantee.metric.unit
        clause = rounding_clause(self.resolution, p=self.p, dimensions=2, unit=unit)
        object.__setattr__(self, "guarantee", replace(self.guarantee, outside=(clause,)))

    @property
    def p(self) -> float:
        """The exponent of the ℓ_p metric that the guarantee speaks of."""
        return float(dict(self.guarantee.metric.parameters).get("p", math.nan))

    @cached_property
    def _noise(self) -> PlaneNoise:
        return PlaneNoise(self.guarantee.epsilon, self.p)

    @property
    def resolution(self) -> float:
        """The step of the lattice that places are moved to."""
        return self._noise.step

    def snap(self, places: Sequence[Any] | Items) -> Floats:
        """The lattice place of each place: what the guarantee's distances are between."""
        return np.asarray(self._noise.lattice(self._points(places)) * self.resolution)

    def cell_probabilities(self, places: Sequence[Any] | Items) -> Floats:
        """The probability of each cell at each place, to about 1e-12 of itself."""
        return self._noise.cell_law(self._points(places), self.xs, self.ys)

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
        noisy = self._noise.draw(self._points(secrets), rng)
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
    (`affordable`). Costs places × noise cells × scales of the noise, about 150, in multiplications.
    """
    epsilon = require_epsilon(epsilon)
    if len(problem.low) != 2 or p not in (1.0, 2.0):
        raise InvalidInput("Laplace noise must be in the plane with ℓ₁ or ℓ₂; use smooth_spline")
    times = affordable(len(problem.places), cells) if finer is None else finer
    require(times >= 1, "finer", "at least 1", times)
    xs = np.linspace(problem.low[0], problem.high[0], times * int(cells[0]) + 1)
    ys = np.linspace(problem.low[1], problem.high[1], times * int(cells[1]) + 1)
    guarantee = Guarantee(epsilon, lp(p, unit=unit), "one location", Basis.PROVED)
    if bayes:
        law = PlaneNoise(epsilon, p).cell_law(problem.places, xs, ys)
        mapping = ((law * problem.prior[:, None]).T @ problem.loss).argmin(axis=1)
    else:
        from scipy.spatial import cKDTree

        middle = [(a[1:] + a[:-1]) / 2 for a in (xs, ys)]
        centres = np.stack(np.meshgrid(*middle, indexing="ij"), -1).reshape(-1, 2)
        mapping = cKDTree(problem.outputs).query(centres)[1]
    return LaplaceRemap(xs, ys, np.asarray(mapping), problem.outputs, guarantee)


def affordable(places: int, cells: Sequence[int]) -> int:
    """How many times finer than the outputs noise is gathered: 3, less where it takes seconds."""
    return next((k for k in (3, 2) if places * math.prod(cells) * k * k <= LARGEST_LAW), 1)


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
