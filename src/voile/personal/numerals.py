"""Digits by themselves: cards, social security numbers, dates, telephones, other long numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.personal.checks import has_issuer, is_card
from voile.personal.contexts import MONTHS
from voile.personal.spans import Span

LONGEST_NUMBER = 6
"""A number of more digits than this is an identifier, whatever it stands for."""

_CARD = re.compile(
    r"(?<![\w+])(?:\d{4}(?:[ \n.-]\d{4}){3}(?:[ \n.-]\d{3})?"
    r"|\d{4}[ \n.-]\d{6}[ \n.-]\d{4,5}|\d{12,19})(?!\w)"
)
SOCIAL = re.compile(r"(?<![\w.-])\d{3}([-–])\d{2}\1\d{4}(?![\w-])")
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(
    r"(?<![\w.,/-])(?:(?P<year>[12]\d{3})(?P<a>[-/.])(?P<month>\d{1,2})(?P=a)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<b>[-/.])(?P<second>\d{1,2})(?P=b)(?P<last>[12]\d{3}))"
    rf"{_TIME}(?![\w/-]|[.,]\d)"
)
_SHORT_DATE = re.compile(r"(?<![\w.,/-])(\d{2})([-/.])(\d{2})\2\d{2}(?![\w/-]|[.,]\d)")
_DATE_IN_LETTERS = re.compile(
    rf"(?<![\w.,/-])(?i:\d{{1,2}}(?:st|nd|rd|th|\.|er|º)?[ -](?:of |de )?{MONTHS}\.?,?[ -](?:de )?"
    rf"[12]\d{{3}}|{MONTHS}\.? \d{{1,2}}(?:st|nd|rd|th)?,? [12]\d{{3}})(?!\w)"
)
_RUN = re.compile(
    r"(?<!\w)\+?\(?\d(?:[\d ().\-/–—·\t\r\n]*\d)?"
    r"(?:(?: ?(?:x|ext\.?|extension) ?)\d{1,6})?(?!\w)",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\t\r\n]+")
_LONGEST_PHONE = 15
_IN_WORD = re.compile(rf"(?<![\w\x00])\w*?\d{{{LONGEST_NUMBER + 1}}}\w*")


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
    """Day, month and year, in any usual order; in digits with the time if it follows."""
    yield from (Span(*m.span(), "DATE") for m in _DATE_IN_LETTERS.finditer(text))
    for match in _SHORT_DATE.finditer(text):
        if _is_day(int(match[1]), int(match[3])):
            yield Span(*match.span(), "DATE")
    for match in _DATE.finditer(text):
        if match["year"]:
            one, two = int(match["month"]), int(match["day"])
        else:
            one, two = int(match["first"]), int(match["second"])
        if _is_day(one, two):
            yield Span(*match.span(), "DATE")


def _is_day(one: int, two: int) -> bool:
    """Whether these are a day and a month, whichever comes first."""
    return 1 <= min(one, two) <= 12 and 1 <= max(one, two) <= 31


def phones_and_numbers(text: str) -> Iterator[Span]:
    """Telephones by how they are written, and whatever else has many digits.

    A telephone may go on in the next line; other numbers in lines or columns are one each.
    """
    for match in _RUN.finditer(text):
        written = match.group()
        digits = sum(map(str.isdigit, written))
        one = written[0] in "+(0" and digits <= _LONGEST_PHONE
        lines = [match] if one else _LINE.finditer(text, *match.span())
        for line in lines:
            kind = _number(line.group())
            if kind:
                yield Span(*line.span(), kind)


def in_words(text: str) -> Iterator[Span]:
    """Words with a long number in them: K12345678, order_20417733."""
    yield from (Span(*m.span(), "NUMBER") for m in _IN_WORD.finditer(text))


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
