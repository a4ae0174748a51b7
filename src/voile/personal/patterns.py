"""Identifiers that have a pattern, found in one pass over a text for each rule, with no library.

Every rule reads what the rules before it left: what was found is blanked out, the more telling
first, so that no two finds overlap and what stands beside one is still looked at. A pattern
begins only where a run begins (a look-behind) or is bounded in length, so that a line of megabytes
costs one pass a rule and not its square.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from voile.personal import contexts, numerals, secrets
from voile.personal.checks import IBAN_LENGTHS, is_iban, is_ip, is_vin, is_wallet
from voile.personal.plain import plain
from voile.personal.spans import Span

_AT = r"\s?[\[({]\s?(?:at|@)\s?[\])}]\s?"
_DOT = r"\s?[\[({]\s?(?:dot|punkt|\.)\s?[\])}]\s?"
_BRACKETED = re.compile(_AT, re.IGNORECASE)
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

BLANK = "\x00"
"""What stands for a found sign while later rules read: it is in no pattern."""

Rule = Callable[[str], Iterator[Span]]


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
    return read.spans(sorted(_found(read.text)))


def _found(text: str) -> list[Span]:
    found: list[Span] = []
    digits = sum(map(str.isdigit, text))
    numbers = _WITH_DIGITS if digits or ":" in text else ()
    for rule in (*_ALWAYS, *(rule for fewest, rule in numbers if digits >= fewest)):
        here = list(rule(text))
        if here:
            found += here
            text = _blanked(text, here)
    return found


def _blanked(text: str, spans: list[Span]) -> str:
    parts, last = [], 0
    for start, end, _ in spans:
        parts += [text[last:start], BLANK * (end - start)]
        last = end
    return "".join([*parts, text[last:]])


def rule(kind: str, pattern: re.Pattern[str], *, holding: str = "") -> Rule:
    """Every match is of this kind; nothing is looked for where none of the signs stands."""

    def spans(text: str) -> Iterator[Span]:
        if not holding or any(sign in text for sign in holding):
            yield from (Span(*m.span(), kind) for m in pattern.finditer(text))

    return spans


def _emails(text: str) -> Iterator[Span]:
    if "@" in text or _BRACKETED.search(text):
        yield from (Span(*m.span(), "EMAIL") for m in _EMAIL.finditer(text))


def _urls(text: str) -> Iterator[Span]:
    if "://" in text or "www." in text.lower():
        yield from (Span(*m.span(), "URL") for m in _URL.finditer(text))


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


def _ips(text: str) -> Iterator[Span]:
    if "." in text:
        yield from (Span(*m.span(), "IP") for m in _IPV4.finditer(text) if is_ip(m.group()))


def _long_ips(text: str) -> Iterator[Span]:
    if "::" in text or text.count(":") >= 7:
        yield from (Span(*m.span(), "IP") for m in _IPV6.finditer(text) if is_ip(m.group()))


def _vins(text: str) -> Iterator[Span]:
    for match in _VIN.finditer(text):
        if not match.group().isdigit() and is_vin(match.group()):
            yield Span(*match.span(), "VIN")


def _wallets(text: str) -> Iterator[Span]:
    for match in _WALLET.finditer(text):
        if match.group()[0] in "0b" or is_wallet(match.group()):
            yield Span(*match.span(), "WALLET")


def _coordinates(text: str) -> Iterator[Span]:
    if "." in text:
        for match in _DEGREES.finditer(text):
            if abs(float(match[1])) <= 90 and abs(float(match[2])) <= 180:
                yield Span(*match.span(), "COORDINATES")
    if "°" in text:
        yield from (Span(*m.span(), "COORDINATES") for m in _MINUTES.finditer(text))


_ALWAYS: tuple[Rule, ...] = (
    secrets.private_keys,
    _emails,
    _urls,
    rule("URL", _DOMAIN, holding="."),
    rule("HANDLE", _HANDLE, holding="@"),
    contexts.birthdays,
)
_WITH_DIGITS: tuple[tuple[int, Rule], ...] = (
    (0, secrets.tokens),
    (0, secrets.prefixed_keys),
    (0, rule("UUID", _UUID, holding="-")),
    (0, rule("MAC", _MAC, holding=":-.")),
    (4, _ips),
    (0, _long_ips),
    (4, _coordinates),
    (2, _ibans),
    (0, _wallets),
    (5, contexts.named_numbers),
    (1, secrets.named_secrets),
    (0, _vins),
    (12, numerals.cards),
    (9, numerals.social_security),
    (6, numerals.dates),
    (1, contexts.postcodes),
    (7, numerals.phones_and_numbers),
    (7, numerals.in_words),
    (0, secrets.drawn_keys),
)
"""Each after the fewest digits that a text has in which it finds anything."""
