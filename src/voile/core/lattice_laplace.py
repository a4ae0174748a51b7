"""Laplace noise on a lattice in any dimension, drawn exactly and bounded on the bits of the draw.

The density e^(−a‖z‖) is a mixture of Gaussians whose variance is Gamma distributed. Here the
mixture has countably many scales σ_k, chosen by integers W_k of sum 2**62, and each coordinate is a
discrete Gaussian, so the law of the noise z ∈ ℤⁿ is

    f(‖z‖) = Σ_k (W_k / 2**62)·e^(−‖z‖²/2σ_k²) / (σ_k·√2π)ⁿ,

exactly: the sum of e^(−z²/2σ²) over the integers is σ·√2π but for a part below e^(−80000), σ being
at least 64. If |d ln f(r)/dr| ≤ a for all r, then |ln f(‖y−x‖) − ln f(‖y−x'‖)| ≤ a·‖x − x'‖ by the
triangle inequality: x + z is a-private in the Euclidean distance, whatever the mixture. `steepest`
bounds that slope from the very W_k and σ_k. docs/explanation/lattice-noise.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from voile.core.arrays import Floats, Integers, Weights, frozen
from voile.core.discrete_gaussian import (
    FINENESS,
    discrete_gaussian,
    discrete_gaussian_beyond,
)
from voile.core.interval_masses import interval_log_mass
from voile.core.randomness import Generator, uniform_bits
from voile.core.weights import TOTAL, TOTAL_BITS
from voile.errors import GuaranteeBroken, require

COARSEST = 2.0**-9
"""The largest rate a step: the lattice must be that much finer than the noise."""
FINEST = 2.0**-28
"""The smallest one: scales must stay below 2**35."""

WIDEST_STEP = 2.0**-10
"""No lattice of places is coarser: about a metre, where the unit is a km."""
LARGEST_RATE = 2.0**20
"""The largest rate that a step may have before it is divided: beyond, noise never leaves a step."""

_SMALLEST = 8
"""Scales are at least 64 steps, where multiples of 8 are close enough to each other."""

_BEYOND = 2**8
"""Weight of all scales past the table."""
_CHAIN = 64
"""How many scales past the table a bound looks at; each is half as likely as the one before."""
_SPACING = 0.07  # of the logarithms of neighbouring variances, at most
_SPARE = 2.0**-10  # the mixture is made this much flatter than it may be: room for `_STRETCH`
_STRETCH = 2.0**-11  # from one radius to the next at which the slope is bounded


@dataclass(frozen=True, eq=False)
class LatticeLaplace:
    """Noise whose log-probability changes by at most `rate` a step; see `lattice_laplace`.

    `eighths` are the scales σ_k / 8 in increasing order, `weights` their weights and, last, the
    weight of the chain past them: 5/4, 6/4, 7/4, 2, 10/4, … of the last one, each half as likely.
    """

    dimension: int
    rate: float
    eighths: Integers
    weights: Weights

    def __post_init__(self) -> None:
        weights = self.weights.tolist()
        require(sum(weights) == TOTAL and min(weights) > 0, "weights", "of sum 2**62", "others")
        steepest = self.steepest()
        if not steepest <= self.rate:
            raise GuaranteeBroken(
                f"lattice noise must change by at most {self.rate:g} a step, got {steepest:g}",
                certified=steepest,
            )

    # ── drawing ──────────────────────────────────────────────────────────────────────────────

    def add(self, points: Integers, rng: Generator) -> Integers:
        """Rows of lattice points with noise added, in steps.

        Sums are cut at ±2**62. That is a function of the sum, so it is post-processing; cutting the
        noise instead would show the point.
        """
        words = uniform_bits(rng, len(points), bits=TOTAL_BITS)
        chosen = np.searchsorted(self._sums, words, side="right")
        beyond = np.flatnonzero(chosen == len(self.eighths))
        chosen[beyond] = 0
        scales = np.repeat(self.eighths[chosen], self.dimension)
        sums = points + discrete_gaussian(scales, rng).reshape(len(points), self.dimension)
        for row in beyond:
            far = zip(points[row].tolist(), self.beyond(rng), strict=True)
            sums[row] = [max(-(2**62), min(2**62, x + z)) for x, z in far]
        return np.asarray(sums, dtype=np.int64)

    def draw(self, count: int, rng: Generator) -> Integers:
        """`count` rows of noise alone."""
        return self.add(np.zeros((count, self.dimension), dtype=np.int64), rng)

    def beyond(self, rng: Generator) -> list[int]:
        """One row from the chain past the table: once in 2**54 draws."""
        place = 0
        while not int(uniform_bits(rng, 1, bits=1)[0]):
            place += 1
        scale = _chained(int(self.eighths[-1]), place)
        return [discrete_gaussian_beyond(scale, rng) for _ in range(self.dimension)]

    @cached_property
    def _sums(self) -> Weights:
        return np.cumsum(self.weights[:-1])

    # ── its law ──────────────────────────────────────────────────────────────────────────────

    @cached_property
    def scales(self) -> Floats:
        """σ_k in steps, those of the chain too as far as doubles can tell them."""
        last = int(self.eighths[-1])
        chain = [_chained(last, place) for place in range(_CHAIN)]
        return np.asarray(frozen(FINENESS * np.array([*self.eighths.tolist(), *chain], float)))

    @cached_property
    def log_shares(self) -> Floats:
        """Ln of each scale's probability."""
        chain = [float(self.weights[-1]) / 2.0 ** (place + 1) for place in range(_CHAIN)]
        shares = np.array([*self.weights[:-1].tolist(), *chain], dtype=float) / TOTAL
        return np.asarray(frozen(np.log(shares)))

    def law(self, reach: float) -> tuple[Floats, Floats]:
        """Scales and logarithms of their probabilities, as far as lengths up to `reach` need them.

        Of the scales wider than the reach, each is half as likely as the one before and lower
        where the noise fell: 48 of them leave less than 2**-48.
        """
        last = int(self.eighths[-1])
        wider = max(0.0, math.log2(max(reach, 1.0) / (FINENESS * last)))
        places = range(48 + 4 * math.ceil(wider))
        chain = [float(FINENESS * _chained(last, place)) for place in places]
        halves = [math.log(float(self.weights[-1])) - (place + 1) * math.log(2) for place in places]
        inner = np.log(self.weights[:-1].astype(float))
        logs = np.append(inner, halves) - math.log(TOTAL)
        return np.append(FINENESS * self.eighths.astype(float), chain), logs

    def log_prob(self, squared: Floats) -> Floats:
        """Ln f at squared lengths."""
        from scipy.special import logsumexp

        lengths = np.asarray(squared, float)
        scales, logs = self.law(math.sqrt(float(lengths.max(initial=0.0))))
        constant = logs - self.dimension * np.log(scales * math.sqrt(2 * math.pi))
        exponents = constant - lengths[..., None] / (2 * scales**2)
        return np.asarray(logsumexp(exponents, axis=-1))

    def box_log_prob(self, low: Integers, high: Integers) -> Floats:
        """Ln of the probability that low ≤ z < high in every coordinate, the last axis of both.

        Given the scale, coordinates are independent, so a box costs its edges and not its volume.
        """
        from scipy.special import logsumexp

        near = np.minimum(np.abs(low), np.abs(high))
        scales, logs = self.law(float(near.max(initial=0)))
        for axis in range(self.dimension):
            ends = low[..., axis, None], high[..., axis, None]
            logs = logs + interval_log_mass(*ends, scales)
        return np.asarray(logsumexp(logs, axis=-1))

    def slope(self, radius: Floats) -> Floats:
        """−d ln f/dr = Σ p_k·r/σ_k², p_k the chance of scale k given that the length is r."""
        return _slope(radius, self.scales, self._log_heights)

    @cached_property
    def _log_heights(self) -> Floats:
        return np.asarray(self.log_shares - self.dimension * np.log(self.scales))

    def steepest(self) -> float:
        """An upper bound for the slope over all r ≥ 0.

        The slope is at most r/σ_0². Its derivative is E[1/σ²] − Var(r/σ²) ≤ slope/r, so from r to
        r' > r it grows by r'/r at most: a geometric sequence of radii bounds it in between. Past R
        only the chain counts, which is itself again at twice the radius, with half the slope, but
        for four scales fewer; they weigh nothing there.
        """
        first, last = self.scales[0] ** 2, self.scales[len(self.eighths) - 1]
        start, far = self.rate * float(first) / 2, self._far(float(last))
        count = math.ceil(math.log(2 * far / start) / math.log1p(_STRETCH)) + 1
        highest = 0.0
        for part in np.array_split(np.arange(count), max(1, count // 2**14)):
            radius = start * np.exp(part * math.log1p(_STRETCH))
            highest = max(highest, float(self.slope(radius).max()))
        return max(highest * (1 + _STRETCH) * (1 + 1e-9), start / float(first))

    def _far(self, last: float) -> float:
        """R: from here on all scales before the chain weigh and add less than an eighth."""
        inner = len(self.eighths)
        # Four scales would continue the chain inwards: what the step from r to 2r leaves out.
        scales = np.append(self.scales[:inner], last * np.array([0.625, 0.75, 0.875, 1.0]))
        outward = math.log(2.0) * (self.dimension + 4)
        inward = self._log_heights[inner : inner + 4] + outward
        heights = np.append(self._log_heights[:inner], inward)
        nearest, height = self.scales[inner], self._log_heights[inner]
        gaps = 1 / scales**2 - 1 / nearest**2
        radius = 2.0 * nearest
        while True:
            share = np.exp(np.minimum(heights - height - radius**2 * gaps / 2, 600.0))
            slope = share * radius / scales**2
            falling = bool((radius**2 * gaps > 1).all())
            if falling and max(float(share.sum()), float(slope.sum()) / self.rate) < 1 / 8:
                return float(radius)
            radius *= 1.25


def _slope(radius: Floats, scales: Floats, log_heights: Floats) -> Floats:
    squared = np.asarray(radius, float)[..., None] ** 2
    exponents = log_heights - squared / (2 * scales**2)
    exponents -= exponents.max(axis=-1, keepdims=True)
    chances = np.exp(exponents)
    return np.asarray(radius * (chances / scales**2).sum(axis=-1) / chances.sum(axis=-1))


def _chained(last: int, place: int) -> int:
    """The scales past the table: 5, 6, 7, 8, 10, 12 … quarters of the last, a multiple of 4."""
    return last // 4 * (5 + place % 4) << (place // 4)


def lattice_step(epsilon: float) -> float:
    """The step of a lattice of places for noise of this ε, a power of two: finer for large ε."""
    return float(2.0 ** math.floor(math.log2(min(WIDEST_STEP, COARSEST / epsilon))))


def finer(rate: float) -> int:
    """Into how many steps, a power of two, a step at this rate must be divided for the noise."""
    return 2 ** max(0, math.ceil(math.log2(rate / COARSEST)))


@lru_cache(maxsize=256)
def lattice_laplace(dimension: int, rate: float) -> LatticeLaplace:
    """Noise of density close to e^(−rate·‖z‖₂) on ℤⁿ, its log-probability rate-Lipschitz.

    σ² is Gamma((n+1)/2) distributed with scale 2/rate², on scales 3.5 % apart, each a multiple of
    8. Longer than the continuous noise by about a thousandth. Costs n draws of
    `discrete_gaussian`.

    >>> import voile
    >>> noise = lattice_laplace(2, 0.001)
    >>> noise.draw(3, voile.seeded_rng(1)).shape, noise.steepest() <= 0.001
    ((3, 2), True)
    """
    from scipy.special import gammainccinv, gammaincinv

    require(1 <= dimension <= 1024, "dimension", "between 1 and 1024", dimension)
    fits = FINEST <= rate <= COARSEST
    require(fits, "the rate a step", f"between {FINEST:.2g} and {COARSEST:.2g}", rate)
    shape, flat = (dimension + 1) / 2, rate * (1 - _SPARE)
    low, high = float(gammaincinv(shape, 2.0**-14)), float(gammainccinv(shape, 2.0**-56))
    low = max(low, (flat * FINENESS * _SMALLEST) ** 2 / 2)
    # Given its length, noise tells the variance to within 1/√(rate·length): scales lie closer.
    steps = math.ceil(math.log(high / low) / min(_SPACING, 1.4 / math.sqrt(2 * high)))
    variances = low * np.exp(np.linspace(0, math.log(high / low), steps + 1))
    eighths = np.unique(np.rint(np.sqrt(2 * variances) / flat / FINENESS).astype(np.int64))
    eighths[-1] += -eighths[-1] % 4
    variances = (flat * FINENESS * eighths.astype(float)) ** 2 / 2
    widths = np.gradient(np.log(variances))
    logs = shape * np.log(variances) - variances + np.log(widths)
    shares = np.exp(logs - logs.max())
    weights = np.floor(shares / shares.sum() * (TOTAL - 2**20)).astype(np.int64)
    weights = np.maximum(weights, 1)
    weights[shares.argmax()] += TOTAL - _BEYOND - int(weights.sum())
    table = np.append(weights, _BEYOND).astype(np.uint64)
    return LatticeLaplace(dimension, rate, np.asarray(frozen(eighths)), np.asarray(frozen(table)))
