"""Gaussian noise on the integers, drawn exactly: P(z) ∝ e^(−z²/2σ²) for every integer z.

No floating-point number decides what is drawn. A trial proposes |z| = t·k + i with σ = 8t: k from
a table of integers, i uniform below t, a sign. It is accepted with a probability A ≤ 1 that makes
the law exact (Canonne, Kamath and Steinke, NeurIPS 2020, draw by such rejections; Karney, ACM TOMS
2016, splits |z| likewise). To accept, a uniform real number U, its bits drawn when they are needed,
is compared with A. The first 64 bits and a double settle it unless the two are closer than 2**-40,
which bounds all rounding generously; then both are worked out to as many digits as it takes.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from voile.core.arrays import Integers, Weights
from voile.core.randomness import Generator, uniform_bits
from voile.errors import require

FINENESS = 8
"""Scales are multiples of 8: a proposal is constant over an eighth of σ, 95 % are accepted."""
LARGEST = 2**32 * FINENESS
"""Scales below it are drawn in blocks; larger ones one by one."""

_TABLE = 80  # values of k that the table holds: up to ten σ
HEIGHT = 2**62 * 10_000 // 105_270
"""B: the table holds ⌈B·e^(−k²/128)⌉ for each k, one entry for all beyond, in all below 2**62."""
DOUBT = 2.0**-40
"""How close a trial may come before doubles no longer settle it."""
_AT_ONCE = 2**16


def _weights() -> list[int]:
    with localcontext() as context:
        context.prec = 60
        heights = [HEIGHT * (Decimal(-k * k) / (2 * FINENESS**2)).exp() for k in range(_TABLE)]
        return [int(height) + 1 for height in heights]


WEIGHTS = _weights()
SUMS = np.cumsum(np.array([*WEIGHTS, 1], dtype=np.uint64))
_RATIOS = np.array([HEIGHT / weight for weight in WEIGHTS] + [0.0, 0.0])


def discrete_gaussian(eighths: Integers, rng: Generator, *, doubt: float = DOUBT) -> Integers:
    """One integer for each entry, Gaussian with σ = 8 times that entry.

    Costs about 0.2 µs a draw. `doubt` is how close U and A may come before both are worked out
    exactly; a larger one must not change anything.

    >>> import numpy as np, voile
    >>> discrete_gaussian(np.full(3, 2**20), voile.seeded_rng(1)).dtype
    dtype('int64')
    """
    whole = eighths.ndim == 1 and eighths.dtype == np.int64
    require(whole, "scales", "a list of 64-bit integers", eighths.dtype)
    fits = not len(eighths) or (int(eighths.min()) >= 1 and int(eighths.max()) < 2**32)
    require(fits, "scales", f"multiples of 8 from 8 to below {LARGEST}", "others")
    drawn = np.empty(len(eighths), dtype=np.int64)
    for start in range(0, len(eighths), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        _fill(drawn[part], eighths[part].astype(np.uint64), rng, doubt)
    return drawn


def _fill(drawn: Integers, eighths: Weights, rng: Generator, doubt: float) -> None:
    """Trials for all entries, then again for those that were refused."""
    left = np.arange(len(drawn))
    while len(left):
        t = eighths[left]
        first, second, third = uniform_bits(rng, 3 * len(left), bits=64).reshape(3, -1)
        k = np.searchsorted(SUMS, first >> np.uint64(2), side="right")
        negative = (first & np.uint64(1)).astype(bool)
        # The high half of a 32-bit word times t is uniform below t, but for 2**32 mod t words.
        product = (second >> np.uint64(32)) * t
        fair = (product & np.uint64(2**32 - 1)) >= np.uint64(2**32) % t
        size = k.astype(np.uint64) * t + (product >> np.uint64(32))
        reach = size / (FINENESS * t)
        accept = _RATIOS[k] * np.exp(-0.5 * reach * reach)
        gap = accept - third * 2.0**-64
        taken = gap > 0
        fair &= k <= _TABLE  # the few words past the table's sum propose nothing
        for place in np.flatnonzero(fair & ((np.abs(gap) < doubt) | (k == _TABLE))):
            found = _settled(int(k[place]), int(size[place]), int(t[place]), int(third[place]), rng)
            taken[place] = found is not None
            size[place] = 0 if found is None else found
        taken &= fair & ~(negative & (size == 0))
        signed = size.astype(np.int64)
        np.negative(signed, out=signed, where=negative)
        drawn[left[taken]] = signed[taken]
        left = left[~taken]


def _settled(k: int, size: int, t: int, word: int, rng: Generator) -> int | None:
    """|z| of a trial if it is accepted: U against A = (B / weight of k)·e^(−z²/2σ²), exactly.

    Past the table k goes on with probability ½ a step, which falls more slowly than the Gaussian.
    """
    weight = Fraction(1) if k == _TABLE else Fraction(WEIGHTS[k])
    if k == _TABLE:
        while True:
            weight /= 2
            if int(uniform_bits(rng, 1, bits=1)[0]):
                break
            size += t
    exponent = Fraction(size * size, 2 * (FINENESS * t) ** 2)
    return size if _below(word, HEIGHT / weight, exponent, rng) else None


def _below(word: int, ratio: Fraction, exponent: Fraction, rng: Generator) -> bool:
    """Whether a uniform real number that begins with these 64 bits is below ratio·e^(−exponent)."""
    bits = 64
    while True:
        with localcontext() as context:
            context.prec = digits = 40 + bits // 3
            power = (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
            value = power * ratio.numerator / ratio.denominator * 2**bits
            # five correctly rounded steps; rounding the exponent costs its size times a digit's
            slack = value * (10 + Decimal(int(exponent))) * Decimal(10) ** (1 - digits)
            if word + 1 <= value - slack:
                return True
            if word >= value + slack:
                return False
        word = word << 64 | int(uniform_bits(rng, 1, bits=64)[0])
        bits += 64


def discrete_gaussian_beyond(eighth: int, rng: Generator) -> int:
    """The same law for one integer and any scale, however large, in integers of any length."""
    while True:
        first, word = (int(w) for w in uniform_bits(rng, 2, bits=64))
        k = int(np.searchsorted(SUMS, np.uint64(first >> 2), side="right"))
        if k > _TABLE:
            continue
        size = _settled(k, k * eighth + _uniform_below(eighth, rng), eighth, word, rng)
        if size is not None and not (size == 0 and first & 1):
            return -size if first & 1 else size


def _uniform_below(bound: int, rng: Generator) -> int:
    """A uniform integer below any bound."""
    bits = bound.bit_length()
    while True:
        words = [int(w) for w in uniform_bits(rng, -(-bits // 64), bits=64)]
        value = sum(word << (64 * place) for place, word in enumerate(words)) & ((1 << bits) - 1)
        if value < bound:
            return value
