"""Lengths with their unit, as users write them."""

from __future__ import annotations

import re

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
