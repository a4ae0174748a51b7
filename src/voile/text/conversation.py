"""A conversation with somebody who is to know no names: stand-ins go out, originals come back.

What `--pseudonyms` does to a text and `voile text reveal` to an answer, for texts that come one
after the other: whoever was named once has the same stand-in in all that follows. Who is who is
known by this value alone, in memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property

from voile.core.guarantee import Guarantee
from voile.core.keyed_streams import KeyedStreams
from voile.errors import InvalidInput
from voile.personal.spans import Span, merge
from voile.text.finders import FINDERS, Finders
from voile.text.languages import pipeline_of
from voile.text.mapping import Entry
from voile.text.plan import Thing
from voile.text.revealing import Revealer
from voile.text.standins import (
    ABOUT_NOBODY,
    NOT_FOUND,
    SHOWS,
    Allotment,
    StandIns,
    in_case_of,
)
from voile.text.tiers import load_pipeline

IN_CLEAR = "ALL OTHER WORDS, WHICH STAND IN CLEAR: what is said, and whoever can be told by it"
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
"""As names are looked for in an answer."""
_SPACE = re.compile(r"[ \t\r\n]")
"""What ends a word also where it is an address."""
_MOST_HELD, _REACH, _TRIES = 4000, 400, 30
"""Signs that are held back before a place is looked for that no stand-in reaches over, how many a
stand-in has at most, and how many places are tried."""


@dataclass(frozen=True, eq=False)
class NameBlur:
    """What finds names and identifiers in texts of one language."""

    finders: Finders
    stand_ins: StandIns

    @classmethod
    def load(cls, *, language: str, pipeline: str | None, find: Sequence[str]) -> NameBlur:
        """With everything that it needs loaded, or refused if it is not installed."""
        named = pipeline_of(language, pipeline)
        finders = Finders(FINDERS.find_all(find), language, named).load()
        return cls(finders, StandIns(load_pipeline(named), language))

    @property
    def guarantee(self) -> Guarantee:
        """Two things of one form cannot be told apart by their stand-ins; the rest is in clear."""
        return replace(ABOUT_NOBODY, outside=(IN_CLEAR, NOT_FOUND, SHOWS))

    def parts(self, texts: Sequence[str], known: frozenset[str]) -> list[list[str | Thing]]:
        """Each text as what stays and what has stand-ins; joined as it is written it is the text.

        All are shown to the finders together, which costs far less than one by one.
        """
        named = self.stand_ins.named(texts, [known] * len(texts))
        found = self.finders.find(texts)
        return [
            self._apart(text, merge([*spans, *more.found]))
            for text, spans, more in zip(texts, found, named, strict=True)
        ]

    def _apart(self, text: str, spans: Sequence[Span]) -> list[str | Thing]:
        pieces: list[str | Thing] = []
        last = 0
        for start, end, kind in spans:
            pieces.append(text[last:start])
            pieces.extend(self.stand_ins.pieces(text[start:end], kind))
            last = end
        return [*pieces, text[last:]]


@dataclass(eq=False)
class Conversation:
    """Who is who: the stand-ins of one conversation, drawn under a key and a name of its own.

    Two that have the same key and name, and are told the same texts, draw the same stand-ins.
    """

    blur: NameBlur
    key: bytes = field(repr=False)
    name: bytes = field(repr=False)
    most: int = 1000
    _entries: dict[tuple[str, str], Entry] = field(default_factory=dict, repr=False)

    @cached_property
    def _allotment(self) -> Allotment:
        rng = KeyedStreams(self.key).rng(b"conversation " + self.name)
        return Allotment(rng, self.blur.stand_ins.language)

    def hide(self, texts: Sequence[str], blur: NameBlur | None = None) -> list[str]:
        """The texts with stand-ins; who is named in one is known in all.

        `blur` is one like the conversation's own, in a thread that must not use that.
        """
        finds = self.blur if blur is None else blur
        different, known = list(dict.fromkeys(texts)), self._known()
        found = finds.parts(different, known)
        self._meet(found)
        if len(different) > 1 and self._known() != known:
            found = finds.parts(different, self._known())  # a later one may name who was earlier
            self._meet(found)
        written = ("".join(map(self._written, parts)) for parts in found)
        hidden = dict(zip(different, written, strict=True))
        return [hidden[text] for text in texts]

    def _known(self) -> frozenset[str]:
        return frozenset(key for kind, key in self._entries if kind == "PERSON")

    def _meet(self, texts: Sequence[Sequence[str | Thing]]) -> None:
        for thing in (piece for parts in texts for piece in parts if isinstance(piece, Thing)):
            if thing.same not in self._entries:
                if len(self._entries) >= self.most:
                    raise InvalidInput(
                        f"a conversation must have at most {self.most:,} names and identifiers"
                    )
                stand_in = self._allotment.stand_in("", thing)
                self._entries[thing.same] = Entry("", thing.kind, thing.written, stand_in)

    def _written(self, piece: str | Thing) -> str:
        if isinstance(piece, str):
            return piece
        return in_case_of(piece.written, self._entries[piece.same].stand_in)

    def revealing(self) -> Revealing:
        """What puts originals back into one answer."""
        return Revealing(tuple(self._entries.values()))


class Revealing:
    """An answer that comes in pieces: what is given back, joined, is the whole one revealed.

    A piece is held back as long as a stand-in may go on behind it. It is cut after a space if the
    word before holds a letter and no digit (numbers are set out with spaces and signs), no bracket
    (`[PASSPORT 2]`, `[x]: <`), and no stand-in of several words goes on after that word. Nothing
    that `Revealer` looks for reaches over such a place. In an address nothing is put back: who
    wrote the answer chose whose it is.
    """

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._revealer = Revealer(entries)
        words = (_WORD.findall(entry.stand_in.casefold()) for entry in entries)
        self._go_on = frozenset(word for several in words for word in several[:-1])
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[str] = []
        """What is held back, and how many signs; joined where something can be given back."""
        self.held, self._most = 0, _MOST_HELD
        self._word: list[str] = []
        """Of these the last word, which may go on."""
        self._link = ""

    def another(self) -> Revealing:
        """For another answer that comes beside this one."""
        made = copy(self)
        made._begin()
        return made

    def whole(self, text: str) -> str:
        """A whole answer with originals in it."""
        return self._revealer.reveal_outside_links(text)[0]

    def add(self, piece: str) -> str:
        """What can be given back now."""
        self._pieces.append(piece)
        self.held += len(piece)
        *words, rest = _SPACE.split(piece)
        if words:
            words[0] = "".join([*self._word, words[0]])
            self._word = []
        self._word.append(rest)
        cut = self.held - len(rest)  # spaces that came before were looked at then
        for word in reversed(words):
            if self._closed(word):
                return self._given(cut)
            cut -= len(word) + 1
        return self._overfull() if self.held > self._most else ""

    def end(self) -> str:
        """What was held back."""
        self._word = []
        return self._given(self.held, ended=True)

    def _given(self, cut: int, *, ended: bool = False) -> str:
        held = "".join(self._pieces)
        done, known, self._link = self._revealer.reveal_outside_links(
            held[:cut], self._link, ended=ended
        )
        self._pieces, self.held, self._most = [held[known:]], len(held) - known, _MOST_HELD
        return done

    def _overfull(self) -> str:
        """Of numbers without end, those before a space that no stand-in reaches over."""
        held = "".join(self._pieces)
        spaces = [m.end() for m in _SPACE.finditer(held[: -2 * _REACH])][-_TRIES:]
        for cut in reversed(spaces):
            around = held[max(0, cut - _REACH) : cut], held[cut : cut + _REACH]
            if "".join(map(self.whole, around)) == self.whole("".join(around)):
                return self._given(cut)
        self._most *= 2
        return ""

    def _closed(self, token: str) -> bool:
        if not re.search(r"[^\W\d_]", token) or re.search(r"[\d\[(]|\]:$", token):
            return False
        last = _WORD.findall(token.casefold())
        return bool(last) and last[-1] not in self._go_on
