"""Noise for places without a design: any place on Earth in, a blurred one out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats
from voile.core.guarantee import Basis, Guarantee
from voile.core.lattice_laplace import LatticeLaplace, lattice_laplace, lattice_step
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require, require_epsilon
from voile.metrics.lp_norms import lp
from voile.places.design_words import limits
from voile.places.earth import SHARPEST, BoxMap, Globe
from voile.places.geodesy import geodesic_km, plane_epsilon
from voile.places.lengths import rounded_up
from voile.places.public_places import PublicPlaces
from voile.places.solved import LARGEST_EPSILON

SMALLEST_EPSILON = 0.001
"""Per km: noise of 2,400 km on average, beyond which nothing is left to report."""
_WRITTEN = 1e-4
"""Km: what rounding degrees to six decimals moves a place by, at most."""


@dataclass(frozen=True, eq=False)
class PlacesNoise:
    """Laplace noise on a lattice of about a metre, drawn exactly; ε per geodesic km.

    A place is put into space or on a public map (`earth`), moved to the nearest point of a lattice
    of step h, `lattice_laplace` is added, and the sum is brought back to the ground. Its
    log-probability is ε/σ-Lipschitz in the lattice point, σ the most by which the map lengthens a
    distance: between two places d apart the loss is at most ε·(d + √N·h). What follows the
    noise depends on public data only. Exact in the sense of docs/explanation/lattice-noise.md.

    >>> import voile
    >>> noise = PlacesNoise(2.0)
    >>> points, _, _ = noise.located(np.array([48.8584]), np.array([2.2945]))
    >>> lat, lon = noise.drawn(points, voile.seeded_rng(1))
    >>> bool(abs(lat[0] - 48.8584) < 0.1), round(noise.mean_error, 2)
    (True, 1.18)
    """

    epsilon: float
    ground: Globe | BoxMap = field(default_factory=Globe)
    remap: PublicPlaces | None = None

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        require(
            SMALLEST_EPSILON <= self.epsilon <= LARGEST_EPSILON,
            "epsilon",
            f"between {SMALLEST_EPSILON:g} and {LARGEST_EPSILON:g} per km",
            self.epsilon,
            "it is per km: 0.5 to 10 are usual",
        )

    def opened(self) -> PlacesNoise:
        """Itself: as a saved design is opened in each process."""
        return self

    @property
    def step(self) -> float:
        """The lattice's step in km, a power of two: 0.98 m, finer for large ε."""
        return lattice_step(self.epsilon)

    @cached_property
    def noise(self) -> LatticeLaplace:
        """In steps of the lattice."""
        strength = plane_epsilon(self.epsilon, self.ground.stretch)
        return lattice_laplace(self.ground.dimensions, strength * self.step)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one release promises, per geodesic km on the WGS 84 ellipsoid."""
        outside = limits(2.0, self.step, dimensions=self.ground.dimensions)
        return Guarantee(
            self.epsilon, lp(2.0, unit="km"), "one location", Basis.PROVED, outside=outside
        )

    @property
    def reach(self) -> float:
        """How far from the map's centre (km) a place may lie."""
        return self.ground.reach

    def located(
        self, latitudes: Floats, longitudes: Floats
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Each place as a point; none is moved to a border, those beyond the reach are too far."""
        points, far = self.ground.to_km(latitudes, longitudes)
        return points, far, far

    def drawn(self, points: Floats, rng: Generator) -> tuple[Floats, Floats]:
        """A blurred place for each point."""
        noisy = self._noisy(points, rng)
        if self.remap is None:
            return self.ground.to_degrees(noisy)
        return self.remap.moved(noisy, self.ground, self.log_law)

    def drawn_and_moved(self, points: Floats, rng: Generator) -> tuple[Floats, Floats, Floats]:
        """What `drawn` draws, and how far (km) each draw was moved: a function of draws alone."""
        noisy = self._noisy(points, rng)
        lat, lon = fallen = self.ground.to_degrees(noisy)
        if self.remap is not None:
            lat, lon = self.remap.moved(noisy, self.ground, self.log_law)
        return lat, lon, geodesic_km(*fallen, lat, lon)

    def _noisy(self, points: Floats, rng: Generator) -> Floats:
        lattice = np.rint(points / self.step).astype(np.int64)
        return np.asarray(self.noise.add(lattice, rng) * self.step, dtype=float)

    # ── how far releases fall ──────────────────────────────────────────────────────────────

    @property
    def mean_error(self) -> float:
        """How far (km) a release lies from the place on average, before a remap; rounded up.

        Given its scale σ the noise has independent Gaussian coordinates, so its part along the
        ground is σ·√(π/2) long on average, on the plane and on the globe alike. Bringing a
        point back to the ground from height h makes that 1/(1 + h/R) times as long: on average
        less than 1 + 2(σ/R)². Rounding to the lattice and of the degrees written is added.
        """
        scales, shares = self.noise.scales * self.step, np.exp(self.noise.log_shares)
        curved = 1 + 2 * (scales / SHARPEST) ** 2
        flat = float((shares * scales * curved).sum() / shares.sum()) * math.sqrt(math.pi / 2)
        return flat * (1 + 1e-9) + math.sqrt(self.ground.dimensions) / 2 * self.step + _WRITTEN

    def log_law(self, distances: Floats) -> Floats:
        """Ln of the probability of noise so many km long (in its own space), but for a constant."""
        from scipy.special import logsumexp

        scales = self.noise.scales * self.step
        logs = self.noise.log_shares - self.ground.dimensions * np.log(scales)
        squared = np.asarray(distances, dtype=float)[..., None] ** 2
        return np.asarray(logsumexp(logs - squared / (2 * scales**2), axis=-1))

    def log_density(self, distances: Floats) -> Floats:
        """Ln of the density per km² of releases so many km along the ground from a place.

        What an attacker reckons with: the law's own scales, on flat ground.
        """
        from scipy.special import logsumexp

        scales = self.noise.scales * self.step
        logs = self.noise.log_shares - np.log(2 * math.pi * scales**2)
        squared = np.asarray(distances, dtype=float)[..., None] ** 2
        return np.asarray(logsumexp(logs - squared / (2 * scales**2), axis=-1))

    def share_within(self, distance: float) -> float:
        """The share of releases that falls within so many km, before a remap."""
        scales, shares = self.noise.scales * self.step, np.exp(self.noise.log_shares)
        return float(-(shares * np.expm1(-(distance**2) / (2 * scales**2))).sum())

    def error_within(self, share: float) -> float:
        """The distance (km) within which so large a share of releases falls, before a remap."""
        from scipy.optimize import brentq

        return float(brentq(lambda d: self.share_within(d) - share, 0.0, 1000 / self.epsilon))


def noise_of_error(
    mean_error: float, ground: Globe | BoxMap, remap: PublicPlaces | None
) -> PlacesNoise:
    """The noise of least ε (to four digits) whose releases fall within so many km on average.

    The error falls with ε; from what the continuous law would need the search goes up digit by
    digit, and the error is that of the very numbers that are drawn.
    """
    factor = 2.0 if ground.dimensions == 2 else 0.75 * math.pi
    least, most = factor / LARGEST_EPSILON * 1.1, factor / SMALLEST_EPSILON * 0.9
    if not least <= mean_error <= most:
        raise InvalidInput(
            f"--mean-error must lie between {1000 * least:.0f}m and {most:.0f}km, got "
            f"{mean_error:g}km"
        )
    epsilon = rounded_up(factor / mean_error, 4)
    while True:
        found = PlacesNoise(epsilon, ground, remap)
        if found.mean_error <= mean_error:
            return found
        epsilon = rounded_up(epsilon * (1 + 1e-6), 4)
