r"""Stand-ins for names and identifiers: of the same kind and form, and otherwise about nobody.

**What a stand-in says.** Each is drawn uniformly from a public pool that its *form* alone chooses
(the kind; for a name whether lists of first names hold it as a woman's or a man's; for a telephone
number its country; for digits how they are set out), among those of the pool that are not yet taken. So
given the forms and which places hold the same thing, the stand-ins are independent of what they
stand for: the log-ratio is 0 for any two names or numbers of one form. What was not found to be a
name or identifier has no stand-in; that is the finders' business and no guarantee covers it.

A name is taken apart, so that whoever is called Ann Smith is Ann, Ms Smith and Smith's consistently.
Addresses, numbers and networks come from ranges that are reserved for examples or fiction, so that
none belongs to anybody. Where a kind has no such range, or a pool is used up, a numbered
placeholder stands in: [PASSPORT 2].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voile.core.randomness import Generator, uniform_bits
from voile.personal.spans import Span
from voile.text.name_pools import COMPANY_ENDINGS, TOWN_ENDINGS, NamePools, name_pools

LABELS = {
    "PERSON": "PERSON", "PER": "PERSON", "GPE": "PLACE", "LOC": "PLACE", "FAC": "PLACE",
    "ORG": "ORGANISATION",
}  # fmt: skip
"""What a pipeline calls names, and what voile does."""

SHOWS = (
    "what stand-ins keep: that a name or identifier of some kind was found, which places hold the "
    "same one, whether a name is usual for women, for men or neither, a telephone number's country "
    "and how digits are set out"
)
NOT_FOUND = "names and identifiers that were not found: no stand-in hides them"

_PART = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]{2,})*(?:\s[A-Z]\.)*")
_TRIES = 64


@dataclass(frozen=True)
class Thing:
    """A name or identifier in a text: its kind, its form, and what it is to be known again by."""

    kind: str
    form: str
    key: str = field(repr=False)
    written: str = field(repr=False)

    @property
    def same(self) -> tuple[str, str]:
        """Equal for what is the same thing, however it is written."""
        return self.kind, self.key


@dataclass(frozen=True, eq=False)
class StandIns:
    """Finds what is to have a stand-in, by a pipeline and by patterns, and takes it apart."""

    pipeline: Any = field(repr=False)
    language: str = "en"

    @property
    def pools(self) -> NamePools:
        """The names of the language."""
        return name_pools(self.language)

    def named(self, texts: Sequence[Any]) -> list[list[Span]]:
        """The names in each text, by the pipeline."""
        plain = [text if isinstance(text, str) else "" for text in texts]
        limit = int(getattr(self.pipeline, "max_length", 10**6))
        return [
            [
                Span(e.start_char, e.end_char, LABELS[e.label_])
                for e in document.ents
                if e.label_ in LABELS
            ]
            for document in self.pipeline.pipe(text[:limit] for text in plain)
        ]

    def pieces(self, written: str, kind: str) -> Iterator[str | Thing]:
        """A found span as things, and what stands between them."""
        if kind not in ("PERSON", "PLACE", "ORGANISATION"):
            yield Thing(kind, _form(kind, written), _key(kind, written), written)
            return
        bare = re.sub(r"['’]s$", "", written)
        if kind == "PERSON":
            yield from self._person(bare)
        else:
            yield Thing(kind, kind, _key(kind, bare), bare)
        if bare != written:
            yield written[len(bare) :]

    def _person(self, written: str) -> Iterator[str | Thing]:
        """First names, last name: each a thing of its own, the same wherever it stands."""
        parts, last = list(_PART.finditer(written)), 0
        for place, part in enumerate(parts):
            if part.start() > last:
                yield written[last : part.start()]
            name = part.group()
            role = self.pools.role(name.split()[0])
            if len(parts) > 1:
                at_end = place == len(parts) - 1
                role = "last" if at_end else "first" if role == "last" else role
            yield Thing("PERSON", role, _key("PERSON", name), name)
            last = part.end()
        if last < len(written):
            yield written[last:]


def _key(kind: str, written: str) -> str:
    """What is equal for two spellings of one thing."""
    if kind in _DIGIT_KINDS:
        return re.sub(r"[^\w+]", "", written).casefold()
    return " ".join(written.split()).casefold()


def _form(kind: str, written: str) -> str:
    """What of an identifier its stand-in keeps: how digits are set out, or nothing."""
    if kind in _DIGIT_KINDS:
        return re.sub(r"\d", "0", written)
    if kind in ("DATE", "DATE_OF_BIRTH"):
        return re.sub(r"\d", "0", written) if not re.search(r"[^\W\d_]", written) else ""
    return "6" if kind == "IP" and ":" in written else ""


# ── drawing ────────────────────────────────────────────────────────────────────────────────────


class Allotment:
    """Stand-ins for the things of some scopes; none is given to two things."""

    def __init__(self, rng: Generator, language: str = "en") -> None:
        self._rng, self._pools = rng, name_pools(language)
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        self.table: dict[tuple[str, tuple[str, str]], str] = {}

    def stand_in(self, scope: str, thing: Thing) -> str:
        """The thing's stand-in in a scope, the same each time it is asked for."""
        found = self.table.get((scope, thing.same))
        if found is None:
            found = self.table[scope, thing.same] = self._drawn(thing)
        return found

    def _drawn(self, thing: Thing) -> str:
        make = _MAKERS.get(thing.kind)
        for attempt in range(_TRIES if make is not None else 0):
            assert make is not None
            found = make(self, thing.form, attempt >= _TRIES // 2)
            if not found:
                break
            if found.casefold() not in self._taken:
                self._taken.add(found.casefold())
                return found
        number = self._numbers[thing.kind] = self._numbers.get(thing.kind, 0) + 1
        return f"[{thing.kind} {number}]"

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
        """So many decimal digits."""
        return f"{self.below(10**count):0{count}d}"

    def name(self, role: str, double: bool) -> str:
        """A name of a role; a double one when single ones run short."""
        pool = self._pools.pool(role)
        return f"{self.one(pool)}-{self.one(pool)}" if double else self.one(pool)


def _email(draw: Allotment, form: str, double: bool) -> str:
    local = f"{draw.name('first', double)}.{draw.name('last', double)}".lower()
    plain = local.encode("ascii", "ignore").decode()
    return f"{plain}@example.{draw.one(('com', 'net', 'org'))}"


def _company(draw: Allotment, form: str, double: bool) -> str:
    return f"{draw.name('last', double)} {draw.one(COMPANY_ENDINGS)}"


def _set_out(form: str, digits: str) -> str:
    """Digits in the places of a form's."""
    left = iter(digits)
    return "".join(next(left, "") if sign.isdigit() else sign for sign in form)


_FICTIONAL = (
    # country code, digits of a national number, its beginnings, how many digits follow
    ("44", 10, ("2079460", "1632960", "7700900", "1134960", "1214960", "1614960"), 3),
    ("49", 10, ("3023125", "6990009", "4066969", "8999998"), 3),
    ("33", 9, ("19900", "26191", "35301", "46571", "53649", "63998"), 4),
)
"""Numbers set aside for drama by Ofcom, the Bundesnetzagentur and Arcep; America's is 555-01xx."""


def _phone(draw: Allotment, form: str, double: bool) -> str:
    """A number that is nobody's, set out as the form if it has as many digits."""
    plain = re.sub(r"\D", "", form)
    return _american(draw, form, len(plain))


def _american(draw: Allotment, form: str, length: int) -> str:
    area = str(200 + draw.below(800))
    while area[1:] == "11":
        area = str(200 + draw.below(800))
    number = f"{area}55501{draw.digits(2)}"
    if length == 10:
        return _set_out(form, number)
    return f"+1 {area}-555-01{number[-2:]}"


def _card(draw: Allotment, form: str, double: bool) -> str:
    count = sum(map(str.isdigit, form))
    return _set_out(form, "9999" + draw.digits(count - 4)) if count > 8 else ""


def _iban(draw: Allotment, form: str, double: bool) -> str:
    """Check digits 00, which no account has."""
    return form[:2] + "00" + re.sub(r"\w", lambda _: draw.digits(1), form[4:])


def _ip(draw: Allotment, form: str, double: bool) -> str:
    if form == "6":
        return f"2001:db8::{draw.below(2**16):x}:{draw.below(2**16):x}"
    return f"{draw.one(('192.0.2', '198.51.100', '203.0.113'))}.{draw.below(256)}"


def _ssn(draw: Allotment, form: str, double: bool) -> str:
    """Numbers that begin with 9 and go on with a group below 50 were never given out."""
    number = f"9{draw.digits(2)}{draw.below(49) + 1:02d}{draw.digits(4)}"
    return _set_out(form, number) if sum(map(str.isdigit, form)) == 9 else ""


def _date(draw: Allotment, form: str, double: bool) -> str:
    """A date that exists whichever of day and month comes first."""

    def part(found: re.Match[str]) -> str:
        size = len(found.group())
        if size == 4:
            return str(1940 + draw.below(70))
        return f"{draw.below(12) + 1:0{size}d}" if size <= 2 else draw.digits(size)

    return re.sub(r"\d+", part, form)


_MAKERS: Mapping[str, Callable[[Allotment, str, bool], str]] = {
    "PERSON": lambda draw, form, double: draw.name(form, double),
    "PLACE": lambda draw, form, double: draw.name("last", double) + draw.one(TOWN_ENDINGS),
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


def in_case_of(written: str, found: str) -> str:
    """A stand-in, or an original, in capitals or small letters as what it takes the place of."""
    if found.startswith("["):
        return found
    letters = [sign for sign in written if sign.isalpha()]
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return found.upper()
    return found.lower() if letters and all(map(str.islower, letters)) else found


def uniform_check(counts: Any, size: int) -> float:
    """The largest distance of relative frequencies from 1/size; for tests and audits."""
    found = np.asarray(counts, dtype=np.float64)
    return float(np.abs(found / found.sum() - 1 / size).max())
