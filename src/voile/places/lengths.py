"""Lengths with their unit, as users write them."""

from __future__ import annotations

import math
import re

from voile.core.rounding import at_most
from voile.errors import InvalidInput

_LENGTH = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(m|km|mi)\s*", re.IGNORECASE)
_KM = {"m": 0.001, "km": 1.0, "mi": 1.609344}


def length_km(text: str, name: str) -> float:
    """Kilometres of a length with its unit.

    >>> length_km("500m", "--mean-error"), length_km("1.2 km", "--mean-error")
    (0.5, 1.2)
    """
    found = _LENGTH.fullmatch(text)
    if found is None or float(found[1]) == 0:
        raise InvalidInput(f"{name} must be a length with its unit, such as 500m or 1.2km")
    return float(found[1]) * _KM[found[2].lower()]


def length_words(km: float, *, bound: bool = False) -> str:
    """A length as people say it: to three digits, in metres below a kilometre; a bound rounds up.

    >>> [length_words(km) for km in (0.0042, 0.429797, 0.9996, 2.4149, 12121.0)]
    ['4.2 m', '430 m', '1 km', '2.41 km', '12,100 km']
    >>> length_words(1.0014, bound=True)
    '1.01 km'
    """
    if not math.isfinite(km) or km == 0:
        return "0 m" if km == 0 else "no length"
    digits = float(at_most(km)) if bound else float(f"{km:.3g}")
    value, unit = (digits, "km") if digits >= 1 else (1000 * digits, "m")
    decimals = max(0, 2 - math.floor(math.log10(value) + 1e-12))
    text = f"{value:,.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def rounded_up(value: float, digits: int) -> float:
    """To so many digits, never below: what was asked for is kept.

    >>> rounded_up(1.2341, 4), rounded_up(0.25, 3)
    (1.235, 0.25)
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.{digits}g}")


def to_a_tenth(km: float | None) -> float | None:
    """Kilometres to a tenth of a metre, for a table in which losses are compared.

    >>> to_a_tenth(0.429797), to_a_tenth(None)
    (0.4298, None)
    """
    return None if km is None else round(km, 4)
