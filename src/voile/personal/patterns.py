"""Identifiers that have a pattern, found in one pass over a text for each rule, with no library.

A pattern begins only where a run begins (a look-behind) or is bounded in length, so that a line of
megabytes costs one pass a rule and not its square.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.personal import contexts, numerals, secrets
from voile.personal.checks import IBAN_LENGTHS, is_iban, is_ip, is_vin, is_wallet, looks_drawn
from voile.personal.plain import plain
from voile.personal.rules import Rule, found_by, matching
from voile.personal.spans import Span

_AT = r"\s?[\[({]\s?(?:at|@)\s?[\])}]\s?"
_DOT = r"\s?[\[({]\s?(?:dot|punkt|\.)\s?[\])}]\s?"
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]+(?:['’&%!#][\w.+-]{1,64}){0,3}"
    rf"(?:@|{_AT})[\w-]+(?:(?:\.|{_DOT})[\w-]+)+",
    re.IGNORECASE,
)
"""Also with (at) and [dot], as people write who fear machines."""
_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"']+[^\s<>\"'.,;:!?)\]}]", re.IGNORECASE)
_SUFFIXES = (
    "com|org|net|edu|gov|mil|info|biz|io|ai|app|dev|co|uk|de|fr|es|nl|eu|us|ca|au|ch|pl|ru|cn|jp|br|"
    "mx|se|dk|fi|cz|pt|gr|ie|nz|za|kr|tr|hu|ro|sk|si|lt|lv|ee|cloud|online|site|shop|xyz|tech|blog"
)  # fmt: skip
_DOMAIN = re.compile(
    rf"(?<![\w.@/-])(?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,5}}(?:{_SUFFIXES})(?![\w-]|\.\w)(?:/[^\s<>\"']*[^\s<>\"'.,;:!?)\]}}])?",
    re.IGNORECASE,
)
_HANDLE = re.compile(r"(?<![\w@./+-])@[^\W\d][\w.-]{0,60}\w")
_MAC = re.compile(
    r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w:]|[.-]\w)"
)
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\d)")
_IBAN = re.compile(
    r"\b[A-Z]{2}\d{2}(?:[\s-]?[A-Z0-9]){11,30}\b|\b[a-z]{2}\d{2}(?:[\s-]?[a-z0-9]){11,30}\b"
)
_VIN = re.compile(r"(?<![A-Za-z0-9])[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}(?![A-Za-z0-9])")
_WALLET = re.compile(
    r"(?<![A-Za-z0-9])(?:0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34})"
    r"(?![A-Za-z0-9])"
)
_UUID = re.compile(r"(?<![\w-])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w-])")
_DEGREES = re.compile(
    r"(?<![\w.,-])([-+]?\d{1,2}\.\d{3,12})°?\s?[NS]?\s?[,;/ ]\s?"
    r"([-+]?\d{1,3}\.\d{3,12})(?![\w.]*\d)"
    r"(?:°?\s?[EWO]\b)?"
)
_MINUTES = re.compile(
    r"(?<!\w)\d{1,2}°\s?\d{1,2}(?:\.\d{1,6})?['′’]\s?(?:\d{1,2}(?:\.\d{1,6})?[\"″”]\s?)?[NS]"
    r"[,; ]{0,3}\d{1,3}°\s?\d{1,2}(?:\.\d{1,6})?['′’]\s?(?:\d{1,2}(?:\.\d{1,6})?[\"″”]\s?)?[EWO]"
)


def find_identifiers(text: str) -> list[Span]:
    """Spans of everything that follows a pattern: addresses on networks, accounts, keys, numbers.

    Returned in order as (start, end, kind), never overlapping; found in the text as a reader sees
    it (`plain`). Accounts and cards must pass their
    checks; a number that fails one is still taken as a phone or long number, so a wrong check digit
    hides nothing less. Patterns find what follows a pattern: names are the business of the
    mechanism, of tiers and of other finders.

    >>> [kind for *_, kind in find_identifiers("write to a.b@example.org or +44 20 7946 0958")]
    ['EMAIL', 'PHONE']
    >>> [kind for *_, kind in find_identifiers("born 12.03.1985, call 00491712345678")]
    ['DATE_OF_BIRTH', 'PHONE']
    """
    read = plain(text)
    return read.spans(found_by(RULES, read.text))


def _ibans(text: str) -> Iterator[Span]:
    """IBANs, also where capitals follow: as many signs as one of the country has, if they check."""
    for match in _IBAN.finditer(text):
        start, wanted = match.start(), IBAN_LENGTHS.get(match.group()[:2].upper(), 0)
        places = [i for i in range(start, match.end()) if text[i].isalnum()]
        if not 0 < wanted <= len(places):
            continue
        end = places[wanted - 1] + 1
        whole_word = end == len(text) or not text[end].isalnum()
        if whole_word and is_iban(text[start:end]):
            yield Span(start, end, "IBAN")


def _coordinates(text: str) -> Iterator[Span]:
    for match in _DEGREES.finditer(text):
        if abs(float(match[1])) <= 90 and abs(float(match[2])) <= 180:
            yield Span(*match.span(), "COORDINATES")
    yield from (Span(*m.span(), "COORDINATES") for m in _MINUTES.finditer(text))


RULES = (
    Rule(matching("PRIVATE_KEY", secrets.ARMOUR), holding=("PRIVATE KEY",)),
    Rule(matching("EMAIL", _EMAIL), holding=("@", "(", "[", "{")),
    Rule(matching("URL", _URL), holding=("://", "w.", "W.")),
    Rule(matching("URL", _DOMAIN), holding=(".",)),
    Rule(matching("HANDLE", _HANDLE), holding=("@",)),
    Rule(matching("DATE_OF_BIRTH", contexts.BIRTH)),
    Rule(matching("TOKEN", secrets.JWT), holding=("eyJ",), run=23),
    Rule(matching("API_KEY", secrets.PREFIXED), run=15),
    Rule(matching("UUID", _UUID), run=36),
    Rule(matching("MAC", _MAC), run=14),
    Rule(matching("IP", _IPV4, is_ip), holding=(".",), digits=4),
    Rule(matching("IP", _IPV6, is_ip), holding=(":",)),
    Rule(_coordinates, holding=(".", "°"), digits=4),
    Rule(_ibans, digits=2),
    Rule(matching("WALLET", _WALLET, is_wallet), run=26),
    Rule(contexts.named_numbers, digits=5),
    Rule(secrets.named_secrets, digits=1),
    Rule(matching("VIN", _VIN, is_vin), run=17),
    Rule(numerals.cards, digits=12),
    Rule(matching("SSN", numerals.SOCIAL), digits=9),
    Rule(numerals.dates, digits=6),
    Rule(contexts.postcodes, digits=1),
    Rule(numerals.phones_and_numbers, digits=7),
    Rule(numerals.in_words, digits=7),
    Rule(matching("API_KEY", secrets.RUN, looks_drawn), run=20),
)
"""The more telling first: each reads what those before it left."""
