"""Identifiers that have a pattern, replaced by a placeholder before anything else happens."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator

# A look-behind where a run may be long: a match starts at its beginning only, so that a line of
# megabytes costs one pass and not its square.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"']+[^\s<>\"'.,;:!?)\]}]", re.IGNORECASE)
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b")
_DIGITS = re.compile(r"(?<![\w])\+?\(?\d(?:[\d ().\-/–]*\d)?(?![\w])")

LONGEST_NUMBER = 6
"""A number of more digits than this is an identifier, whatever it stands for."""


def find_identifiers(text: str) -> list[tuple[int, int, str]]:
    """Spans of e-mail addresses, URLs, IPs, IBANs, card, phone and other long numbers.

    Returned in order as (start, end, type), never overlapping. IBANs must pass their mod-97
    check and cards Luhn's; a number that fails is still taken as a phone or long number, so a
    wrong check digit hides nothing less. Patterns find what follows a pattern: names are the
    business of the mechanism and of tiers.

    >>> [kind for *_, kind in find_identifiers("write to a.b@example.org or +44 20 7946 0958")]
    ['EMAIL', 'PHONE']
    """
    found: list[tuple[int, int, str]] = []
    for start, end, kind in _candidates(text):
        place = bisect(found, (start,))
        clear_before = place == 0 or found[place - 1][1] <= start
        clear_after = place == len(found) or end <= found[place][0]
        if clear_before and clear_after:
            found.insert(place, (start, end, kind))
    return found


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """All matches, the more telling patterns first."""
    lowered = text.lower()
    if "@" in text:
        yield from ((*m.span(), "EMAIL") for m in _EMAIL.finditer(text))
    if "://" in text or "www." in lowered:
        yield from ((*m.span(), "URL") for m in _URL.finditer(text))
    if not any(map(str.isdigit, text)) and ":" not in text:
        return
    yield from _ibans(text)
    yield from ((*m.span(), "IP") for m in _IPV4.finditer(text) if _is_ip(m.group()))
    if "::" in text or text.count(":") >= 7:
        yield from ((*m.span(), "IP") for m in _IPV6.finditer(text) if _is_ip(m.group()))
    for match in _DIGITS.finditer(text):
        kind = _number(match.group())
        if kind:
            yield (*match.span(), kind)


def _ibans(text: str) -> Iterator[tuple[int, int, str]]:
    """IBANs, also where capitals follow: the longest beginning of a match that passes its check."""
    for match in _IBAN.finditer(text):
        for end in range(match.end(), match.start() + 14, -1):
            whole_word = end == len(text) or not text[end].isalnum()
            if whole_word and is_iban(text[match.start() : end]):
                yield match.start(), end, "IBAN"
                break


def _number(written: str) -> str:
    digits = "".join(filter(str.isdigit, written))
    if len(digits) <= LONGEST_NUMBER or _is_years_or_scores(written):
        return ""
    if 13 <= len(digits) <= 19 and is_card(digits):
        return "CARD"
    if 7 <= len(digits) <= 15 and (written[0] in "+(" or not written.isdigit()):
        return "PHONE"
    return "NUMBER"


def _is_years_or_scores(written: str) -> bool:
    """Short numbers in a row, such as 1939-1945 or 10/10 9/10: no part is long, few are there."""
    parts = re.findall(r"\d+", written)
    return bool(re.fullmatch(r"\d{4}\s?[-–/]\s?\d{4}", written)) or (
        max(map(len, parts)) <= 2 and "/" in written and len(parts) <= 4
    )


def is_card(digits: str) -> bool:
    """Luhn's check of a payment card number.

    >>> is_card("4111111111111111"), is_card("4111111111111112")
    (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_iban(written: str) -> bool:
    """The mod-97 check of an IBAN (ISO 13616), spaces and hyphens allowed.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    compact = re.sub(r"[ -]", "", written)
    moved = compact[4:] + compact[:4]
    return 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _is_ip(written: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(written)
    except ValueError:
        return False
    return True
