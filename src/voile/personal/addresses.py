"""Streets, houses and what follows them: found by their form, measured by usaddress.

usaddress labels the parts of something that is an address; it cannot say that a text holds none.
So a number beside a word for a street (of English, German, French or Spanish), a post box or a flat
tells that there is one, and the tagger tells how far it reaches, within a bounded window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.errors import needs
from voile.personal.spans import Finder, Span

LONGEST = 160
"""No address goes on for more signs than this after it began."""

_TYPES = (
    r"street|st|avenue|ave|av|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq"
    r"|terrace|ter|way|parkway|pkwy|circle|cir|highway|hwy|trail|trl|close|crescent|gardens|grove"
    r"|hill|mews|row|walk|alley|plaza|loop|pike|turnpike|expressway|freeway|rapids|union|pass"
)
_NAME = r"[^\W\d_][\w'’.-]{0,30}"
_NUMBERED = rf"\d{{1,6}}[A-Za-z]?(?:[-/]\d{{1,4}})?,?[ \t]+(?:{_NAME}[ \t]+){{0,4}}?"
_STARTS = re.compile(
    rf"(?<![\w.,:$€£%-])(?:{_NUMBERED}(?:{_TYPES})\b\.?"  # 12 Mill Lane
    rf"|{_NUMBERED}{_NAME}[ \t]+\d{{1,5}}\b"  # 6750 Koskikatu 25
    rf"|{_NUMBERED}{_NAME}\.?,?\s{{1,3}}(?:apt|apartment|suite|ste|unit|flat)\b\.?"
    rf"|\d{{1,5}}(?:[ \t]?bis)?,?[ \t]+(?:rue|avenue|boulevard|place|chemin|impasse|quai)"
    rf"(?:[ \t](?:de|du|des|la|le|les)){{0,2}}[ \t]{_NAME}"
    rf"|(?:rue|avenue|boulevard|calle|avenida|avda\.?|plaza|paseo|carrera|via|viale|piazza)[ \t]+"
    rf"(?:{_NAME}[ \t]+){{1,5}}?(?:n[º°o]\.?[ \t]?)?\d{{1,5}}\b"
    r"|[^\W\d_][\w'’.-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ufer|gade|vej|straat|gatan|vägen"
    r"|katu|tie|utca|ulica)[ \t]+\d{1,5}\b"
    r"|p\.?[ \t]?o\.?[ \t]?box[ \t]\d{1,6}|post(?:fach|box)[ \t]\d{1,6}"
    r"|psc[ \t]\d{1,5},?[ \t]box[ \t]\d{1,6})",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[,.]?\s{1,3}(?:apt|apartment|suite|ste|unit|flat)\b\.?\s{0,2}\w{1,6}\b){1,3}"
    r"(?:[,\s]{1,4}[^\W\d_][\w'’.()-]{0,30}(?: [^\W\d_][\w'’.()-]{0,30}){0,3}){0,2}"
    r"(?:[,\s]{1,4}\d{4,6}\b)",
    re.IGNORECASE,
)
"""A flat, a town, a country and a code after a street: four lines of an envelope."""
_CODE_AT_END = re.compile(r"(?<![A-Z]{2}) \d{4,5}\Z")
_TOWN = re.compile(r"(?P<code>,?[ \t]\d{4,5})?[ \t][^\W\d_a-z][\w'’-]{1,30}")
"""A town follows the code, except after the letters of an American state."""
_SENTENCE_ENDED = re.compile(r"[^\W\d_]{5,}[.!?]\s+$")
_YEAR = re.compile(r"(?:19|20)\d\d\b")
_BEFORE_A_YEAR = re.compile(
    r"\b(?:in|since|of|by|from|until|till|during|after|before)\s$", re.IGNORECASE
)
_JOINING = frozenset(
    ["de", "la", "le", "les", "du", "des", "del", "der", "den", "van", "von", "na", "et", "y"]
)
_END = frozenset({"ZipCode", "ZipPlus4"})
_NONE = frozenset({"Recipient", "NotAddress", "CountryName"})


def _addresses(text: str) -> Iterator[Span]:
    place = 0
    while match := _STARTS.search(text, place):
        start = match.start()
        year = _YEAR.match(match.group()) and _BEFORE_A_YEAR.search(text[max(0, start - 8) : start])
        if year or not _is_telling(match.group()):
            place = start + 1
            continue
        end = max(match.end(), start + _reach(text[start : start + LONGEST]))
        tail = _TAIL.match(text, end, end + LONGEST)
        end = end if tail is None else tail.end()
        town = _TOWN.match(text, end)
        if town and (town["code"] or _CODE_AT_END.search(text, start, end)):
            end = town.end()
        yield Span(start, end, "ADDRESS")
        place = end


def _is_telling(written: str) -> bool:
    """Whether a street is named: a capital after the number (or nothing but small letters)."""
    words = re.findall(r"[^\W\d_]+", written)
    capital = any(word[0].isupper() for word in words)
    small = [word for word in words if word.lower() in _SMALL]
    return (capital or written.islower()) and not small


_SMALL = frozenset(
    ["and", "or", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "was", "were",
     "is", "are", "a", "an", "as", "than", "that", "it", "i", "you", "he", "she", "we", "they",
     "who", "but", "not", "had", "has", "have", "percent", "million", "years", "year", "people"]
)  # fmt: skip
"""No part of a street's name, and often after a number."""


def _reach(window: str) -> int:
    """How far an address goes that begins here: up to the code that ends it, or the first word."""
    import usaddress

    place, end = 0, 0
    lower = window.islower()
    for token, label in usaddress.parse(window):
        bare = token.strip().strip(",;.")
        found = window.find(token.strip(), place)
        if found < 0 or label in _NONE or not bare:
            break
        if not (bare[0].isdigit() or bare[0].isupper() or lower or end == 0 or bare in _JOINING):
            break
        if "\n\n" in window[place:found] or _SENTENCE_ENDED.search(window[:found]):
            break
        place = found + len(token.strip())
        end = found + len(token.strip().rstrip(",;."))
        if label in _END:
            break
    return end


def address_finder(language: str) -> Finder:
    """Streets and post boxes, in any language: words for streets of four are known at once."""
    with needs("usaddress", extra="personal"):
        import usaddress  # noqa: F401
    return lambda texts: [list(_addresses(text)) for text in texts]
