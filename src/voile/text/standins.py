r"""Stand-ins for names and identifiers: of the same kind and form, and otherwise about nobody.

**What a stand-in says.** Each is drawn uniformly from a public pool that its *form* alone chooses
(the kind; for a name whether lists of first names hold it as a woman's or a man's; for a telephone
number or IBAN its country; for digits how they are set out), among those of the pool that are not
taken yet. So given the forms and which places hold the same thing, the stand-ins are independent of
what they stand for: the log-ratio is 0 for any two names or numbers of one form. What was not found
to be a name or identifier has no stand-in; that is the finders' business, no guarantee covers it.

A name is taken apart, so that Ann Smith is also Ann, and Ms Smith, consistently. Addresses, numbers
and networks come from ranges that are reserved for examples or fiction: none is anybody's. Where a
kind has no such range, or a pool is used up, a numbered placeholder stands in: [PASSPORT 2].
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.metrics import discrete
from voile.personal.plain import plain
from voile.personal.spans import Span
from voile.text.consistent import SharedDraws
from voile.text.name_list import Found
from voile.text.name_pools import NamePools, name_pools
from voile.text.names_again import KIND_WORDS, PART, PARTICLES, Again, is_title, names_again
from voile.text.plan import Plan, Thing
from voile.text.released import Refused
from voile.text.standin_forms import MAKERS, Draws, form_of, key_of, no_maker
from voile.text.tiers import NAME_KINDS, marked

SHOWS = (
    "what stand-ins keep: that a name or identifier of some kind was found, which places hold the "
    "same one, whether a name is usual for women, for men or neither, titles and small words in "
    "names (Dr, von), the country of a telephone number or IBAN and how digits are set out"
)
NOT_FOUND = (
    "names and identifiers that were not found: no stand-in hides them; nor, at the head of a "
    "sentence, a name that is a word as well (Will, Mark) where no finder takes it for a name"
)

ABOUT_NOBODY = Guarantee(0.0, discrete(), "one name or identifier that was found", Basis.PROVED)
"""What a stand-in promises by itself: two things of one form cannot be told apart by it."""

_TRIES = 64


@dataclass(frozen=True, eq=False)
class StandIns:
    """Finds what is to have a stand-in, by a pipeline and by patterns, and takes it apart."""

    pipeline: Any = field(repr=False)
    language: str = "en"

    @property
    def pools(self) -> NamePools:
        """The names of the language."""
        return name_pools(self.language)

    def named(self, texts: Sequence[Any], known: Sequence[frozenset[str]] = ()) -> list[Again]:
        """The names in each text, by the pipeline; and those known in its scope, wherever they are.

        A pipeline finds Ann Smith in one line and misses Ann below another. Who was found once is
        known by every part of the name, where it is written with a capital (`names_again`). What
        an identifier is called, as in *my IBAN*, is no organisation or place. All is read as a
        reader sees it (`plain`), and given as places in the text itself.
        """
        read = [plain(text if isinstance(text, str) else "") for text in texts]
        found = []
        for place, marks in enumerate(marked(self.pipeline, [one.text for one in read])):
            text = read[place].text
            spans = [
                Span(e.start_char, e.end_char, NAME_KINDS[e.label_])
                for e in marks
                if NAME_KINDS[e.label_] != "GROUP" and not _calls(e, text)
            ]
            names = self.parts(text, spans)
            if known:
                names |= known[place]
            again = self._with_known(text, spans, names) if names else Again(spans, [])
            found.append(Again(*map(read[place].spans, again)))
        return found

    def _with_known(self, text: str, spans: list[Span], names: frozenset[str]) -> Again:
        """The spans, those of known names alone taken as persons, and where else these stand."""
        persons = [
            Span(start, end, "PERSON")
            if kind != "PERSON" and self.parts(text, [Span(start, end, "PERSON")]) <= names
            else Span(start, end, kind)
            for start, end, kind in spans
        ]
        again = names_again(text, spans, names, self.language)
        return Again([*persons, *again.found], again.left)

    def parts(self, text: str, spans: Sequence[Span]) -> frozenset[str]:
        """The parts of persons' names at these places, as they are known by."""
        pieces = (
            piece
            for start, end, kind in spans
            if kind == "PERSON"
            for piece in self.pieces(text[start:end], kind)
        )
        return frozenset(piece.key for piece in pieces if isinstance(piece, Thing))

    def pieces(self, written: str, kind: str) -> Iterator[str | Thing]:
        """A found span as things, and what stands between them."""
        read = plain(written)
        if kind not in ("PERSON", "PLACE", "ORGANISATION"):
            form = form_of(kind, read.text, self.language)
            yield Thing(kind, form, key_of(kind, read.text), written)
            return
        last = 0
        named = re.sub(r"['’]s$", "", read.text)
        parts = self._person(named) if kind == "PERSON" else [(Span(0, len(named), kind), kind)]
        for part, role in parts:
            key = key_of(kind, read.text[part.start : part.end])
            start, end = read.place(part.start, part.end)
            if start > last:
                yield written[last:start]
            yield Thing(kind, role, key, written[start:end])
            last = end
        if last < len(written):
            yield written[last:]

    def _person(self, written: str) -> Iterator[tuple[Span, str]]:
        """First names, last name: each a thing of its own, the same wherever it stands."""
        parts = self._names_in(list(PART.finditer(written)))
        for place, part in enumerate(parts):
            role = self.pools.role(key_of("PERSON", part.group().split()[0]))
            if len(parts) > 1:
                at_end = place == len(parts) - 1
                role = "last" if at_end else "first" if role == "last" else role
            yield Span(*part.span(), "PERSON"), role

    def _names_in(self, found: list[re.Match[str]]) -> list[re.Match[str]]:
        """The parts that are names: all but titles in front, small words, and Jr at the end.

        Whatever the lists know as a first name is one; all parts are if nothing else is left.
        """
        capital = any(not part.group().islower() for part in found)
        left, front = [], True
        for place, part in enumerate(found):
            word = key_of("PERSON", part.group())
            title = front and self._is_title(word)
            end = place == len(found) - 1
            small = word in PARTICLES and part.group().islower() and not end
            small = small and (capital or place > 0)
            junior = place > 0 and end and word == "jr"
            front = title
            if not (title or small or junior):
                left.append(part)
        return left or found

    def _is_title(self, word: str) -> bool:
        return is_title(word, self.language) and self.pools.role(word) == "last"


def _calls(found: Found, text: str) -> bool:
    """Whether it is what an identifier is called: no organisation, whatever the pipeline says."""
    written = text[found.start_char : found.end_char]
    return found.label_ in ("ORG", "LOC") and KIND_WORDS.issuperset(written.split())


# ── drawing ────────────────────────────────────────────────────────────────────────────────────


class Allotment:
    """Stand-ins for the things of some scopes; none is given to two things.

    A company is often called by its first word, so that is taken as well: where Koch Works stands
    in for a company, nobody is called Koch, and no other company.
    """

    def __init__(self, rng: Generator, language: str = "en") -> None:
        self._draws = Draws(rng, name_pools(language))
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
        make = MAKERS.get(thing.kind, no_maker)
        for attempt in range(_TRIES):
            found = make(self._draws, thing.form, attempt >= _TRIES // 2)
            if not found:
                break
            names = {found.casefold()}
            if thing.kind == "ORGANISATION":
                names.add(first_word(found))
            if names.isdisjoint(self._taken):
                self._taken |= names
                return found
        number = self._numbers[thing.kind] = self._numbers.get(thing.kind, 0) + 1
        return f"[{thing.kind} {number}]"


def first_word(company: str) -> str:
    """What a company is called by for short."""
    return company.split()[0].casefold()


def in_case_of(written: str, found: str) -> str:
    """A stand-in, or an original, in capitals or small letters as what it takes the place of."""
    if found.startswith("["):
        return found
    letters = [sign for sign in written if sign.isalpha()]
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return found.upper()
    return found.lower() if letters and all(map(str.islower, letters)) else found


def put_in(
    plans: Sequence[Plan | Refused], language: str, rng: Generator, shared: SharedDraws | None
) -> list[Any]:
    """The plans with a stand-in wherever a thing stands: those allotted beforehand, or new ones.

    New ones are a document's own: none stands for two things there.
    """
    done: list[Plan | Refused] = []
    for place, plan in enumerate(plans):
        if isinstance(plan, Refused):
            done.append(plan)
            continue
        if shared is not None and shared.stand_ins is not None:
            table, scope = shared.stand_ins, shared.scopes[place]
            given = partial(_given, table, scope)
        else:
            given = partial(Allotment(rng, language).stand_in, "")
        pieces: list[str | int | Thing] = [
            in_case_of(piece.written, given(piece)) if isinstance(piece, Thing) else piece
            for piece in plan.pieces
        ]
        counted = Counter(piece.kind for piece in plan.pieces if isinstance(piece, Thing))
        done.append(replace(plan, pieces=pieces, stand_ins=counted))
    return done


def _given(table: Mapping[tuple[str, tuple[str, str]], str], scope: str, thing: Thing) -> str:
    return table.get((scope, thing.same), f"[{thing.kind}]")  # never what stood there
