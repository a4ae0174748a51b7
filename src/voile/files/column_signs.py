"""What a column looks like, from its name and a sample of its values: a warning, not a proof."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_NAMED = {
    "e-mail addresses": {"email", "mail", "emails"},
    "phone numbers": {"phone", "tel", "telephone", "mobile", "cell", "fax", "phones", "telefon"},
    "names": {"name", "names", "surname", "firstname", "lastname", "fullname", "forename",
              "nickname", "username", "login", "author", "reviewer", "vorname", "nachname"},
    "accounts and cards": {"iban", "bic", "account", "card", "pan", "cc", "konto"},
    "official numbers": {"ssn", "passport", "nin", "nhs", "tax", "insurance", "licence", "license",
                         "mrn", "vin", "plate"},
    "addresses": {"address", "addresses", "street", "zip", "zipcode", "postcode", "postal", "plz"},
    "dates of birth": {"birth", "birthday", "birthdate", "dob", "born", "geburtsdatum"},
    "places": {"lat", "lon", "lng", "latitude", "longitude", "gps", "location", "coord", "coords",
               "coordinate", "coordinates", "geometry", "geom", "wkt", "wkb", "geohash", "h3",
               "easting", "northing"},
    "devices": {"ip", "mac", "imei", "device", "cookie", "session"},
    "keys": {"id", "ids", "uuid", "guid", "key", "user", "userid", "customer", "customerid",
             "patient", "person", "client", "member", "employee", "subject"},
}  # fmt: skip
_INSIDE = (
    "email",
    "phone",
    "surname",
    "firstname",
    "lastname",
    "passport",
    "birth",
    "iban",
    "latitude",
    "longitude",
)
"""Words long enough to be looked for inside others, as in `customeremail`."""
_CHECKED = {"EMAIL": "e-mail addresses", "IBAN": "accounts and cards", "CARD": "accounts and cards",
            "WALLET": "accounts and cards", "IP": "devices", "MAC": "devices",
            "VIN": "official numbers", "TOKEN": "passwords and keys",
            "PRIVATE_KEY": "passwords and keys", "COORDINATES": "places"}  # fmt: skip
_DATE = re.compile(r"(?:(\d{4})[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}))\b.*")
_SHAPE = re.compile(
    r"(?:SRID=\d+;\s*)?(?:MULTI)?(?:POINT|LINESTRING|POLYGON)\s*[ZM]*\s*\(.*"
    r"|\{.*['\"]type['\"]: *['\"](?:Multi)?(?:Point|LineString|Polygon)['\"].*",
    re.IGNORECASE | re.DOTALL,
)
_PAIR = re.compile(r"\W?[-+]?\d{1,3}\.\d+[,; ]\s*[-+]?\d{1,3}\.\d+\W?")
_SOCIAL = re.compile(r"\d{3}-\d{2}-\d{4}")

FEW = 20
"""A sample of fewer values says nothing about how many differ."""


def sign_of(name: str, values: Sequence[Any]) -> str:
    """What this column's name or values look like; empty if like nothing that identifies.

    >>> sign_of("contact", ["ada@example.org"]), sign_of("customerEmail", [])
    ('e-mail addresses', 'e-mail addresses')
    >>> sign_of("stars", [5, 4, 1]), sign_of("born", []), sign_of("row", range(100))
    ('', 'dates of birth', 'values that are nearly all different')
    """
    written = [str(value).strip()[:200] for value in values if value is not None]
    shown = [value for value in written if value]
    return _pattern(shown) or _by_name(name) or _spread(shown)


def _by_name(name: str) -> str:
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = set(re.findall(r"[^\W_]+", parted.lower()))
    words |= {word.rstrip("0123456789") for word in words}  # as in lat2
    words |= {inside for inside in _INSIDE if inside in name.lower()}
    return next((sign for sign, known in _NAMED.items() if words & known), "")


def _pattern(values: Sequence[str]) -> str:
    """One address or account is enough; a phone's pattern is loose, so half must have it."""
    from voile.personal.patterns import find_identifiers

    years = [int(m[1] or m[2]) for m in map(_DATE.fullmatch, values) if m]
    if values and 2 * len(years) >= len(values):
        return "dates of birth" if max(years) - min(years) > 30 else ""
    if values and 2 * sum(map(bool, map(_SOCIAL.fullmatch, values))) >= len(values):
        return "official numbers"
    if any(map(_SHAPE.fullmatch, values)):
        return "places"
    if values and 2 * sum(map(bool, map(_PAIR.fullmatch, values))) >= len(values):
        return "places"
    kinds = [{kind for *_, kind in find_identifiers(value)} for value in values]
    found = set().union(*kinds)
    certain = next((sign for kind, sign in _CHECKED.items() if kind in found), "")
    numbers = (
        "PHONE" in kind and not _is_decimal(value)
        for kind, value in zip(kinds, values, strict=True)
    )
    phones = values and 2 * sum(numbers) >= len(values)
    return certain or ("phone numbers" if phones else "")


def _spread(values: Sequence[str]) -> str:
    if values and sorted(value.count(" ") for value in values)[len(values) // 2] >= 4:
        return "free text"
    whole = [value for value in values if not _is_decimal(value)]
    many = len(whole) >= FEW and len(set(whole)) >= 0.9 * len(values)
    return "values that are nearly all different" if many else ""


def _is_decimal(value: str) -> bool:
    """A measured number: that all differ does not make it a key."""
    return re.fullmatch(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?", value) is not None
