"""Bounds stay bounds: sums are rounded up, and so is what is printed after "at most".

The decimal that is shown is taken from the number as Python writes it, so 0.8 stays 0.8, and
what is read back from `at_most` is never below the number, from `at_least` never above it.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_SMALLEST_PLAIN, _LARGEST_PLAIN = Decimal("1e-4"), Decimal("1e6")


def at_most(value: float, *, digits: int = 3) -> str:
    """A number with so many significant digits, rounded up.

    >>> at_most(2.2201), at_most(0.8), at_most(0.614106998, digits=6), at_most(27001.0)
    ('2.23', '0.8', '0.614107', '27100')
    """
    return _shown(value, digits, ROUND_CEILING)


def at_least(value: float, *, digits: int = 3) -> str:
    """A number with so many significant digits, rounded down.

    >>> at_least(2.2299), at_least(0.8)
    ('2.22', '0.8')
    """
    return _shown(value, digits, ROUND_FLOOR)


def odds_at_most(factor: float) -> str:
    """An odds factor rounded up; close to 1 it is the excess over 1 that keeps two digits.

    >>> odds_at_most(1.0), odds_at_most(1.0408108), odds_at_most(2.2255), odds_at_most(27001.0)
    ('1×', '1.041×', '2.23×', '27,100×')
    """
    if 1 < factor < 1.1:
        excess = _rounded(Decimal(repr(float(factor))) - 1, 2, ROUND_CEILING)
        return f"{_text(1 + excess)}×"
    text = at_most(factor)
    plain = factor >= 1000 and text.isdigit()
    return f"{int(text):,}×" if plain else f"{text}×"


def percent_at_most(share: float, *, digits: int = 3) -> str:
    """A share in per cent, rounded up; close to all of it, one digit more.

    >>> percent_at_most(0.07), percent_at_most(0.047637), percent_at_most(0.99961)
    ('7 %', '4.77 %', '99.97 %')
    """
    exact = Decimal(repr(float(share))) * 100
    return f"{_text(_rounded(exact, digits + (share >= 0.995), ROUND_CEILING))} %"


def product_at_most(value: float, times: float) -> str:
    """The product of two numbers as they are written, with three digits, rounded up.

    >>> product_at_most(0.1, 3.0), product_at_most(0.8, 0.123)
    ('0.3', '0.0984')
    """
    if not (math.isfinite(value) and math.isfinite(times)):
        return at_most(product_upwards(value, times))
    exact = Decimal(repr(float(value))) * Decimal(repr(float(times)))
    return _text(_rounded(exact, 3, ROUND_CEILING))


def sum_upwards(*terms: float) -> float:
    """The smallest double that is not below the sum.

    >>> sum_upwards(0.1, 0.2) >= 0.1 + 0.2, sum_upwards(1.0, 2.0**-60) > 1.0
    (True, True)
    """
    if not all(map(math.isfinite, terms)):
        return math.fsum(terms)
    return _upwards(sum(map(Fraction, terms), Fraction(0)))


def product_upwards(value: float, times: float) -> float:
    """The smallest double that is not below the product.

    >>> product_upwards(0.5, 4)
    2.0
    """
    if not (math.isfinite(value) and math.isfinite(times)):
        return 0.0 if 0 in (value, times) else value * times
    return _upwards(Fraction(value) * Fraction(times))


def exp_upwards(exponent: float) -> float:
    """A double that is not below e^exponent, by at most a few units in its last place."""
    if exponent <= 0:
        return 1.0 if exponent == 0 else math.exp(exponent)
    return math.exp(exponent) * (1 + 2.0**-51) if exponent < 709 else math.inf


def _upwards(exact: Fraction) -> float:
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def _shown(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    return _text(_rounded(Decimal(repr(float(value))), digits, rounding))


def _rounded(exact: Decimal, digits: int, rounding: str) -> Decimal:
    return Context(prec=digits, rounding=rounding).plus(exact)


def _text(number: Decimal) -> str:
    """As `g` writes it, but plain up to a million; the digits are all there already."""
    if number and not _SMALLEST_PLAIN <= abs(number) < _LARGEST_PLAIN:
        return f"{float(number):.{len(number.normalize().as_tuple().digits)}g}"
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
