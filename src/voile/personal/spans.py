"""Places in a text that hold something personal, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from voile.errors import InvalidInput


class Span(NamedTuple):
    """From where to where, and what stands there: a name of `KINDS`, or one of a user's own."""

    start: int
    end: int
    kind: str


Finder = Callable[[Sequence[str]], list[list[Span]]]
"""What finds them: in each text, those that it knows."""

KINDS: Mapping[str, str] = {
    "PRIVATE_KEY": "a private key in its armour, from BEGIN to END",
    "TOKEN": "a signed token (JWT)",
    "API_KEY": "a key by its issuer's prefix, after a word that says so, or by its look",
    "PASSWORD": "what follows the word password",
    "EMAIL": "an e-mail address",
    "URL": "an address on the web",
    "HANDLE": "an @name",
    "IBAN": "a bank account, by its check digits",
    "ACCOUNT": "a bank account, after a word that says so",
    "CARD": "a payment card, by its issuer's range and Luhn's check",
    "WALLET": "an account of a cryptocurrency",
    "SSN": "a social security number of the United States",
    "NATIONAL_ID": "a national number of a person, by its check digits",
    "TAX_NUMBER": "a tax number",
    "HEALTH_NUMBER": "a number of a patient or a health insurance",
    "PASSPORT": "a passport number, after a word that says so",
    "DRIVER_LICENCE": "a driver's licence number, after a word that says so",
    "VIN": "a vehicle, by the check digit of its number or after a word that says so",
    "MAC": "a network card",
    "IP": "an address on a network",
    "UUID": "a universally unique identifier",
    "COORDINATES": "a place on Earth in degrees",
    "DATE_OF_BIRTH": "a date after a word that says so",
    "DATE": "another date with day, month and year",
    "POSTCODE": "a postal code, by its form or after a word that says so",
    "ADDRESS": "a street, a house, a town with it",
    "PHONE": "a telephone number",
    "NUMBER": "another number of more than six digits",
    "PERSON": "the name of a person",
    "PLACE": "the name of a place",
    "ORGANISATION": "the name of an organisation",
    "GROUP": "a nationality, religion or party",
}
"""Every kind that voile's own finders name, the more telling ones first."""

_RANK = {kind: rank for rank, kind in enumerate(KINDS)}
_LEAST = _RANK["DATE"]
"""From here on a kind says little: what a finder of more telling kinds says goes first."""


def merge(found: Iterable[Span]) -> list[Span]:
    """All of them in order, those that overlap as one that covers them all: nothing is hidden less.

    It is called what the widest of them is, among kinds that say much (a card) before those that
    say little (a number).

    >>> merge([Span(0, 9, "NUMBER"), Span(2, 8, "CARD"), Span(20, 25, "DATE")])
    [Span(start=0, end=9, kind='CARD'), Span(start=20, end=25, kind='DATE')]
    """
    merged: list[Span] = []
    best: tuple[bool, int, int] = (False, 0, 0)
    for span in sorted(found):
        rank = _RANK.get(span.kind, -1)
        telling = (rank < _LEAST, span.end - span.start, -rank)
        if merged and span.start < merged[-1].end:
            start, end, kind = merged[-1]
            if telling > best:
                best, kind = telling, span.kind
            merged[-1] = Span(start, max(end, span.end), kind)
        else:
            best = telling
            merged.append(span)
    return merged


def check_spans(found: Iterable[Any], text: str, finder: str) -> list[Span]:
    """What a finder that is not ours found, if it is what it must be; never with the text."""
    spans = []
    for one in found:
        try:
            start, end, kind = one
            whole = isinstance(start, int) and isinstance(end, int) and 0 <= start < end
            if not (whole and end <= len(text) and isinstance(kind, str) and _is_label(kind)):
                raise ValueError
        except (TypeError, ValueError):
            raise InvalidInput(
                f"the finder {finder} must give (start, end, KIND) within the text, KIND in "
                f"capital letters, digits and _; got another {type(one).__name__}"
            ) from None
        spans.append(Span(start, end, kind))
    return spans


def _is_label(kind: str) -> bool:
    return kind.isascii() and kind.replace("_", "A").isalnum() and kind == kind.upper()
