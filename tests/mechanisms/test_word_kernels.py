"""What words are drawn with is the same number, to the last bit, on any processor."""

from __future__ import annotations

import hashlib
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import voile
from voile.mechanisms import word_truncated_exponential
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def digest(values: object) -> str:
    return hashlib.sha256(np.asarray(values).tobytes()).hexdigest()[:16]


def exponents() -> list[float]:
    """A grid over all exponents, and the places where halvings change."""
    turns = (np.arange(59) + 0.5) * math.log(2)
    return [*np.arange(0, 41, 2.0**-6), *turns, *np.nextafter(turns, 0), 5e-324, 1e-17, 41.0]


def test_the_exponential_is_within_an_ulp_and_a_half() -> None:
    """RELATIVE_ERROR allows it four."""
    from voile.mechanisms._word_kernels import exp_minus

    with localcontext() as context:
        context.prec = 40
        for x in map(float, exponents()):
            exact = (-Decimal(x)).exp()
            off = abs(Decimal(exp_minus(x)) - exact) / Decimal(math.ulp(float(exact)))
            assert off < 1.5


def test_the_exponential_has_the_same_bits_everywhere() -> None:
    from voile.mechanisms._word_kernels import exp_minus

    assert digest([exp_minus(float(x)) for x in exponents()]) == "a02b338e7342d446"


def test_lattice_law_and_seeded_draws_have_the_same_bits_everywhere() -> None:
    points = np.random.default_rng(3).integers(-90, 91, size=(300, 11)) / 32
    chords = Embedding.of(points, normalise=True)
    assert chords.digest[:16] == "1f97014b917c6ec7"
    law = word_truncated_exponential(chords, epsilon=14.0, neighbours=20)
    proposals, accepts = law.law(17)
    assert digest(proposals) == "86a24a997803d10a"
    assert digest(accepts) == "ccd03dcc426cebb1"
    drawn = law.release(np.arange(300).repeat(40), voile.seeded_rng(5))
    assert digest(drawn.astype(np.int64)) == "986ef93fcf3ca48e"
