"""What stand-ins look like: a maker for each kind, and the form of what they stand for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from voile.core.randomness import Generator, uniform_bits
from voile.text.name_pools import NamePools

_AT_ONCE = 18
"""Decimal digits of one draw."""


class Draws:
    """Uniform choices from a generator, exact: a remainder is never preferred."""

    def __init__(self, rng: Generator, pools: NamePools) -> None:
        self._rng, self.pools = rng, pools

    def below(self, size: int) -> int:
        """A uniform whole number below `size`, from whole bits: no remainder is preferred."""
        bits = max(1, (size - 1).bit_length())
        while True:
            found = int(uniform_bits(self._rng, 1, bits=bits)[0])
            if found < size:
                return found

    def one(self, names: Sequence[str]) -> str:
        """One of several, all alike."""
        return names[self.below(len(names))]

    def digits(self, count: int) -> str:
        """So many decimal digits; a draw has 64 bits, so no more than 18 of them at once."""
        sizes = [_AT_ONCE] * ((count - 1) // _AT_ONCE)
        sizes.append(count - sum(sizes))
        return "".join(f"{self.below(10**size):0{size}d}" for size in sizes)

    def name(self, role: str, double: bool) -> str:
        """A name of a role; a double one when single ones run short."""
        pool = self.pools.pool(role)
        return f"{self.one(pool)}-{self.one(pool)}" if double else self.one(pool)


def no_maker(draw: Draws, form: str, double: bool) -> str:
    """For kinds that have no range of their own."""
    return ""


def _email(draw: Draws, form: str, double: bool) -> str:
    local = f"{draw.name('first', double)}.{draw.name('last', double)}".lower()
    plain = local.encode("ascii", "ignore").decode()
    return f"{plain}@example.{draw.one(('com', 'net', 'org'))}"


def _company(draw: Draws, form: str, double: bool) -> str:
    return f"{draw.name('last', double)} {draw.one(draw.pools.companies)}"


def _set_out(form: str, digits: str) -> str:
    """Digits in the places of a form's."""
    left = iter(digits)
    return "".join(next(left, "") if sign.isdigit() else sign for sign in form)


_FICTIONAL = {
    # country: digits of a national number, its beginnings; what is left is free
    "44": (10, ("2079460", "1632960", "7700900", "1134960", "1214960", "1614960")),
    "49": (10, ("3023125", "6990009", "4066969", "8999998")),
    "33": (9, ("19900", "26191", "35301", "46571", "53649", "63998")),
}
"""Numbers set aside for drama by Ofcom, the Bundesnetzagentur and Arcep. America has 555-01xx, and
country code 999 is nobody's."""
_HOME = {"en": "44", "de": "49", "fr": "33"}
"""Whose a number is that begins with a nought, by the language of the text."""


def _country(written: str, language: str) -> str:
    """The country of a telephone number as it is written; nothing if it is none of these."""
    plain = re.sub(r"[^\d+]", "", written)
    abroad = re.match(r"(?:\+|00)(1|44|49|33)", plain)
    if abroad:
        return abroad.group(1)
    if plain.startswith(("+", "00")):
        return "999"
    return _HOME.get(language, "999") if plain.startswith("0") else "1"


def _phone(draw: Draws, form: str, double: bool) -> str:
    """A number that is nobody's, set out as the form if it has as many digits."""
    if not form:
        return ""
    country, prefix, layout = form.split(" ", 2)
    if country == "1":
        area = f"{draw.below(8) + 2}{draw.below(9)}{draw.digits(1)}"  # no 9 in the middle, no x11
        number = f"{area if area[1:] != '11' else '202'}55501{draw.digits(2)}"
    elif country == "999":
        number = draw.digits(9)
    else:
        size, beginnings = _FICTIONAL[country]
        begun = draw.one(beginnings)
        number = begun + draw.digits(size - len(begun))
    whole = {"+": country, "00": f"00{country}", "0": "0", "": ""}[prefix] + number
    if len(whole) == sum(map(str.isdigit, layout)):
        return _set_out(layout, whole)
    return f"+{country} {number[:-7]} {number[-7:-4]} {number[-4:]}"


def _prefix(written: str) -> str:
    """How a telephone number begins: from abroad, from elsewhere in the country, or neither."""
    plain = re.sub(r"[^\d+]", "", written)
    return next(begun for begun in ("+", "00", "0", "") if plain.startswith(begun))


def _card(draw: Draws, form: str, double: bool) -> str:
    count = sum(map(str.isdigit, form))
    return _set_out(form, "9999" + draw.digits(count - 4)) if count > 8 else ""


def _iban(draw: Draws, form: str, double: bool) -> str:
    """Check digits 00, which no account has."""
    if not form:
        return ""
    return form[:2] + "00" + re.sub(r"\w", lambda _: draw.digits(1), form[4:])


def _ip(draw: Draws, form: str, double: bool) -> str:
    if form == "6":
        return f"2001:db8::{draw.below(2**16):x}:{draw.below(2**16):x}"
    return f"{draw.one(('192.0.2', '198.51.100', '203.0.113'))}.{draw.below(256)}"


def _ssn(draw: Draws, form: str, double: bool) -> str:
    """Numbers that begin with 9 and go on with a group below 50 were never given out."""
    number = f"9{draw.digits(2)}{draw.below(49) + 1:02d}{draw.digits(4)}"
    return _set_out(form, number) if sum(map(str.isdigit, form)) == 9 else ""


def _date(draw: Draws, form: str, double: bool) -> str:
    """A date that exists whichever of day and month comes first; 10,080 of them."""

    def part(found: re.Match[str]) -> str:
        size = len(found.group())
        if size == 4:
            return str(1940 + draw.below(70))
        return f"{draw.below(12) + 1:0{size}d}" if size <= 2 else draw.digits(size)

    return re.sub(r"\d+", part, form)


MAKERS: Mapping[str, Callable[[Draws, str, bool], str]] = {
    "PERSON": lambda draw, form, double: draw.name(form, double),
    "PLACE": lambda draw, form, double: draw.name("last", double) + draw.one(draw.pools.towns),
    "ORGANISATION": _company,
    "EMAIL": _email,
    "PHONE": _phone,
    "CARD": _card,
    "IBAN": _iban,
    "IP": _ip,
    "SSN": _ssn,
    "DATE": _date,
    "DATE_OF_BIRTH": _date,
    "URL": lambda draw, form, double: f"https://www.example.com/{draw.digits(8)}",
    "HANDLE": lambda draw, form, double: f"@user_{draw.digits(8)}",
    "MAC": lambda draw, form, double: f"00:00:5e:00:53:{draw.below(256):02x}",
}
_DIGIT_KINDS = ("PHONE", "CARD", "IBAN", "SSN")
"""Kinds that are their digits, however they are set out."""


def key_of(kind: str, written: str) -> str:
    """What is equal for two spellings of one thing."""
    if kind in _DIGIT_KINDS:
        return re.sub(r"[^\w+]", "", written).casefold()
    return unicodedata.normalize("NFC", " ".join(written.split())).casefold()


_TIME = r"(?: \d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(rf"\d{{1,4}}[-/.]\s?\d{{1,2}}[-/.]\s?\d{{1,4}}{_TIME}")
_FITS = {
    "PHONE": re.compile(
        r"\+?\(?\d(?:[\s().\-/–—·]{0,3}\d){3,20}( ?(?:x|ext\.?|extension) ?\d{1,6})?",
        re.IGNORECASE,
    ),
    "CARD": re.compile(r"\d(?:[\s.-]?\d){8,18}"),
    "IBAN": re.compile(r"[A-Za-z]{2}\d{2}(?:[\s-]?[A-Za-z0-9]){11,30}"),
    "SSN": re.compile(r"\d{3}[ ./–-]?\d{2}[ ./–-]?\d{4}"),
    "DATE": _DATE,
    "DATE_OF_BIRTH": _DATE,
}
"""How kinds are written whose stand-ins keep something of that. Finds that overlap are one, called
what one of them is: what is written otherwise may hold anything, and nothing of it may stay."""


def form_of(kind: str, written: str, language: str) -> str:
    """What of an identifier its stand-in keeps: how digits are set out, a country, or nothing."""
    if kind not in _FITS:
        return "6" if kind == "IP" and ":" in written else ""
    fits = _FITS[kind].fullmatch(written)
    if fits is None:
        return ""
    layout = re.sub(r"\d", "9", written)
    if kind == "PHONE":
        own = "" if fits.group(1) else layout
        return f"{_country(written, language)} {_prefix(written)} {own}"
    if kind == "IBAN":
        return written[:2] + re.sub(r"\w", "9", written[2:])
    return layout
