"""Digits by themselves: cards, social security numbers, dates, telephones, other long numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.personal.checks import has_issuer, is_card
from voile.personal.spans import Span

LONGEST_NUMBER = 6
"""A number of more digits than this is an identifier, whatever it stands for."""

_CARD = re.compile(
    r"(?<![\w+])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?"
    r"|\d{4}([ -])\d{6}\2\d{4,5}|\d{12,19})(?!\w)"
)
SOCIAL = re.compile(r"(?<![\w.-])\d{3}([-–])\d{2}\1\d{4}(?![\w-])")
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(
    r"(?<![\w.,/-])(?:(?P<year>[12]\d{3})(?P<a>[-/.])(?P<month>\d{1,2})(?P=a)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<b>[-/.])(?P<second>\d{1,2})(?P=b)(?P<last>[12]\d{3}))"
    rf"{_TIME}(?![\w/-]|[.,]\d)"
)
_RUN = re.compile(
    r"(?<!\w)\+?\(?\d(?:[\d ().\-/–]*\d)?(?:(?: ?(?:x|ext\.?|extension) ?)\d{1,6})?(?!\w)",
    re.IGNORECASE,
)


def cards(text: str) -> Iterator[Span]:
    """Numbers in an issuer's range that pass Luhn's check, in one piece or in groups of a card."""
    place = 0
    while match := _CARD.search(text, place):
        digits = re.sub(r"\D", "", match.group())
        if has_issuer(digits) and is_card(digits):
            yield Span(*match.span(), "CARD")
            place = match.end()
        else:
            place = match.start() + 1  # the next group may begin one


def dates(text: str) -> Iterator[Span]:
    """Day, month and year in digits, in any usual order, with the time if it follows."""
    for match in _DATE.finditer(text):
        if match["year"]:
            one, two = int(match["month"]), int(match["day"])
        else:
            one, two = int(match["first"]), int(match["second"])
        if 1 <= min(one, two) <= 12 and 1 <= max(one, two) <= 31:
            yield Span(*match.span(), "DATE")


def phones_and_numbers(text: str) -> Iterator[Span]:
    """Telephones by how they are written, and whatever else has many digits."""
    for match in _RUN.finditer(text):
        kind = _number(match.group())
        if kind:
            yield Span(*match.span(), kind)


def _number(written: str) -> str:
    main = re.split(r"(?i) ?[xe]", written, maxsplit=1)[0]
    digits = sum(map(str.isdigit, main))
    if digits <= LONGEST_NUMBER or _is_years_or_scores(main):
        return ""
    abroad = main.isdigit() and main.startswith("00") and digits >= 10
    if 7 <= digits <= 15 and (abroad or main != written or not main.isdigit()):
        return "PHONE"
    return "NUMBER"


def _is_years_or_scores(written: str) -> bool:
    """Short numbers in a row, such as 1939-1945 or 10/10 9/10: no part is long, few are there."""
    parts = re.findall(r"\d+", written[:60])
    return bool(re.fullmatch(r"\d{4}\s?[-–/]\s?\d{4}", written)) or (
        max(map(len, parts)) <= 2 and "/" in written and len(parts) <= 4
    )
