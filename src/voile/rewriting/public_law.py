"""Laws of a token without clipped logits: mixed with the uniform law, or near a public one.

**Every private law lies in a band.** Let the laws K_x keep ε: K_x(y) ≤ e^ε K_x'(y) for all texts
x, x' and tokens y. Then m(y) = inf_x K_x(y) does not depend on the text, and m ≤ K_x ≤ e^ε m. The
other way round, laws between m and e^ε m keep ε, whatever they are. So a private law of a token is
a choice of m, which must be public, and of a law inside the band for each text. Write m = η·q with
a public law q; a band holds a law as soon as η ≤ 1 ≤ e^ε η.

**The nearest law inside.** Among all laws in the band, K = clip(λp, m, e^ε m), with the λ for which
it sums to 1, is nearest to the model's own p in both relative entropies: the derivative of
Σ p ln(p/K) with respect to K(y) is −p/K, that of Σ K ln(K/p) is ln(K/p) + 1, and at a minimum with
Σ K = 1 either is one constant wherever K is strictly inside, below it at the upper and above it at
the lower end. Both say K = λp inside; the sum is increasing in λ, so λ is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Weights
from voile.core.weights import TOTAL, TOTAL_BITS
from voile.errors import require, require_epsilon
from voile.rewriting.token_law import FLOOR, TokenLaw, check_table, upwards

REPEATED = 2.0**-11
"""Public logits come out the same to this much, whatever the model reads beside them."""
DOWN = 0.25
"""The part of ε by which a band reaches below the public law; the rest is above it."""
_BLIND = 2.0**-8
"""Share of the uniform law in a public one: no token is out of reach."""
_AT_ONCE = 2**17
"""Shares that are worked on together: a megabyte."""
_STEPS = 80


@dataclass(frozen=True)
class MixtureSampler(TokenLaw):
    """K(y|x) = (1 − η)·softmax(logits/T) + η/V: the model's law, or any token alike.

    Each token has η/V at least and 1 − η + η/V at most, whatever the logits are, so
    |ln ratio| ≤ ln(1 + (1 − η)V/η), which is ε for η = V/(V + e^ε − 1). No bounds to calibrate, and
    T is free, since it costs nothing. In integers: each token has M = ⌈2**62/(V + e^ε − 1)⌉ units,
    the other 2**62 − VM follow the model; no weight exceeds 2**62 − (V − 1)M ≤ e^ε M.

    Where V exceeds e^ε most tokens are noise: with 49,152 of them half at ε = 10.8, a tenth at 13.

    >>> import numpy as np
    >>> law = MixtureSampler(epsilon=3.0, temperature=1.0)
    >>> np.exp(law.log_law(np.array([[99.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))).round(4)
    array([[0.9094, 0.0453, 0.0453],
           [0.3333, 0.3333, 0.3333]])
    >>> round(float(np.log(0.90945 / 0.04528)), 2)
    3.0
    """

    epsilon: float
    temperature: float = 0.1

    def __post_init__(self) -> None:
        _check(self.epsilon, self.temperature)

    def stated(self, size: int) -> float:
        """ln((2**62 − (V − 1)M)/M), rounded up: the exact bound of the integers."""
        least = self.common(size)
        exact = math.log(TOTAL - (size - 1) * least) - math.log(least)
        return min(self.epsilon, upwards(exact))

    def common(self, size: int) -> int:
        """M units, that every token has, whatever the logits are."""
        alike = TOTAL / (size - 1 + math.exp(min(self.epsilon, 700.0))) * (1 + 2.0**-40)
        return max(1 << FLOOR, min(math.ceil(alike), TOTAL // size))

    def weights(self, logits: NDArray[Any], public: NDArray[Any] | None = None) -> Weights:
        """The law as integers, one row for each row of logits."""
        shares = softmax(check_table(logits), self.temperature)
        least = self.common(shares.shape[1])
        shares *= TOTAL - least * shares.shape[1]
        found = shares.astype(np.uint64) + np.uint64(least)
        low = np.full(shares.shape[1], least, dtype=np.uint64)
        high = np.full(shares.shape[1], TOTAL, dtype=np.uint64)
        for row in found:
            _complete(row, low, high)
        return found


@dataclass(frozen=True)
class BandSampler(TokenLaw):
    """The law nearest to the model's own among those within a band around a public law.

    q is what the same model says that has read what was released so far and the same question
    about *no text*; grammar and style come from it and cost nothing. The band is
    [e^(−ε/4)·q, e^(3ε/4)·q]: inside it all laws keep ε between any two texts (see the module), and
    the law drawn from is K = clip(λp, band), p = softmax(logits/T). Mostly upwards, since what a
    text adds are tokens that the public law hardly expects. q is a softmax at `public_temperature`
    with 2**-8 of the uniform law, so no token is out of reach. These numbers were chosen on texts
    that no figure counts.

    In integers: each token has L = ⌊2**62·e^(−ε/4)·q⌋ units, at least 2**24, and ⌊e^ε' L⌋ at most;
    whatever floats have said before, no weight leaves that interval. ε' is ε less 2**-10: public
    logits may differ in their last digits with what is read in the same batch (`REPEATED`), which
    moves ln q by at most twice as much.

    >>> import numpy as np
    >>> law = BandSampler(epsilon=3.0, temperature=0.5, public_temperature=1.0)
    >>> public = np.array([[2.0, 1.0, -1.0, -1.0]] * 2)
    >>> np.exp(law.log_law(np.array([[2.0, 1, 4, 0], [4.0, 1, 0, 0]]), public)).round(2)
    array([[0.54, 0.12, 0.33, 0.02],
           [0.85, 0.12, 0.02, 0.02]])
    """

    epsilon: float
    temperature: float = 0.1
    public_temperature: float = 1.5
    reads_public: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self.epsilon, self.temperature)
        require(self.epsilon >= 0.01, "epsilon for one token", ">= 0.01", self.epsilon)
        fits = 1 <= self.public_temperature <= 100
        require(fits, "public_temperature", "between 1 and 100", self.public_temperature)

    def stated(self, size: int) -> float:
        """ε, or what lies between the floor and 2**62 where that is less: 26.34."""
        most = (TOTAL_BITS - FLOOR) * math.log(2) + 2 * REPEATED
        return min(self.epsilon, upwards(most))

    def band(self, public: NDArray[Any]) -> tuple[Weights, Weights]:
        """The least and the most units of each token: what is public of the law."""
        shares = softmax(check_table(public), self.public_temperature)
        least = math.exp(-self.epsilon * DOWN) * TOTAL
        shares = least * ((1 - _BLIND) * shares + _BLIND / shares.shape[1])
        low = np.maximum(shares.astype(np.uint64), np.uint64(1 << FLOOR))
        room = min(self.epsilon, 50.0) - 2 * REPEATED
        most = np.minimum(low * (math.exp(room) * (1 - 2.0**-40)), float(TOTAL))
        return low, most.astype(np.uint64)

    def weights(self, logits: NDArray[Any], public: NDArray[Any] | None = None) -> Weights:
        """The law as integers, one row for each row of logits."""
        table = check_table(logits)
        given = None if public is None else public.shape
        require(given == table.shape, "public logits", "a row for each row of logits", given)
        assert public is not None
        found = np.empty(table.shape, dtype=np.uint64)
        step = max(1, _AT_ONCE // table.shape[1])
        for start in range(0, len(table), step):
            here = slice(start, start + step)
            low, high = self.band(public[here])
            found[here] = nearest_within(softmax(table[here], self.temperature), low, high)
        return found


def nearest_within(shares: Floats, low: Weights, high: Weights) -> Weights:
    """Integers between low and high that sum to 2**62: clip(λ·shares), a λ for each row.

    λ is found by a bracketed Newton iteration in doubles. What that and rounding leave goes to the
    tokens with most room: no integer leaves its interval, however good or bad λ is.
    """
    shares = np.maximum(shares, 1e-30) * float(TOTAL)
    least, most = low.astype(np.float64), high.astype(np.float64)
    lower, upper = np.full((len(shares), 1), -60.0), np.full((len(shares), 1), 110.0)
    at = np.zeros((len(shares), 1))
    for _ in range(_STEPS):
        scaled = np.exp(at) * shares
        clipped = np.minimum(np.maximum(scaled, least), most)
        total = clipped.sum(axis=1, keepdims=True)
        if (np.abs(total - TOTAL) <= TOTAL * 2.0**-30).all():
            break
        inside = np.where(clipped == scaled, scaled, 0.0).sum(axis=1, keepdims=True)
        lower, upper = np.where(total < TOTAL, at, lower), np.where(total < TOTAL, upper, at)
        wanted = TOTAL - (total - inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = at + np.log(wanted / inside)
        good = (newton > lower) & (newton < upper)
        at = np.where(good, newton, (lower + upper) / 2)
    found = np.clip(clipped.astype(np.uint64), low, high)
    for row, smallest, largest in zip(found, low, high, strict=True):
        _complete(row, smallest, largest)
    return found


def _complete(weights: Weights, low: Weights, high: Weights) -> None:
    """Give what is missing to 2**62, or take what is too much: the largest with room for it all.

    Where no token has so much room, those with most are filled up first.
    """
    missing = TOTAL - int(weights.sum())
    room = high - weights if missing > 0 else weights - low
    while missing:
        fits = room >= np.uint64(abs(missing))
        place = int((np.where(fits, weights, np.uint64(0)) if fits.any() else room).argmax())
        units = min(abs(missing), int(room[place]))
        require(units > 0, "a band", "wide enough for a law that sums to 1", "one that is not")
        signed = units if missing > 0 else -units
        weights[place] = int(weights[place]) + signed
        room[place] -= np.uint64(units)
        missing -= signed


def softmax(logits: Floats, temperature: float) -> Floats:
    """exp(logits/T), each row summing to 1; NaN counts as −∞, and a row of such as all alike."""
    finite = np.nan_to_num(logits, nan=-1e30, posinf=1e30, neginf=-1e30)
    finite -= finite.max(axis=1, keepdims=True)
    finite /= temperature
    np.exp(finite, out=finite)
    finite /= finite.sum(axis=1, keepdims=True)
    return finite


def _check(epsilon: float, temperature: float) -> None:
    require_epsilon(epsilon)
    require(epsilon >= 1e-3, "epsilon for one token", ">= 0.001", epsilon)
    fits = 1e-3 <= temperature <= 1e3
    require(fits, "temperature", "between 0.001 and 1,000", temperature)
