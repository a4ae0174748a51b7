"""Stand-ins found again in a text that somebody else wrote, and replaced by what they stand for.

One pass for each family of stand-ins, by a pattern of the family and a look-up, so that a text of
any length takes time in proportion to itself, whatever the mapping's size. What a language model
changes is put up with: capitals, a possessive or plural s, how digits are set out, spaces that do
not break, escapes of JSON (the text is read as a reader sees it, `plain`). The more telling
families go first and what they found is not looked at again, so that no name is found inside an
address. Of names, and of groups of digits, that begin alike the longest run is taken: a number is
found though a year or a count stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from voile.personal.plain import plain
from voile.text.links import ADDRESS, PROSE, parted
from voile.text.mapping import Entry
from voile.text.standins import first_word, in_case_of

_NUMBERED = re.compile(r"\\?\[([A-Z][A-Z_]{1,30})[\s_](\d{1,9})\\?\]", re.IGNORECASE)
"""Also with the backslashes that Markdown puts before brackets."""
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,200}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(r"https?://[^\s<>\"'()\[\]]{1,300}", re.IGNORECASE)
_ONLY = re.compile(
    r"(\W{0,4}(?:mailto:)?)"
    r"(https?://[^\s<>\"'()\[\]]{1,300}|[\w.+-]{1,200}@[\w.-]{1,200})"
    r"([)\]>.,;:!?\"'*_]{0,9})",
    re.IGNORECASE,
)
"""A link to one address and to nothing else."""
_HANDLE = re.compile(r"(?<![\w@.])@\w{1,40}")
_NETWORK = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{1,4}(?:[:.][0-9A-Fa-f]{0,4}){3,7}(?![\w:])")
_PORT = re.compile(r":\d{1,5}$")
_GROUP = re.compile(r"(?<!\w)(?:[A-Za-z]{2}00\d{0,30}|\d{1,30})(?!\w)")
_GAP = re.compile(r"[\s().\-/–—·]{0,3}")
_MOST_GROUPS = 26
"""A number has so many groups of digits at most."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LONGEST = 3
"""Words of a stand-in, at most: a company's name with its ending."""
_NAMES = ("PERSON", "PLACE", "ORGANISATION")


@dataclass(frozen=True)
class Revealer:
    """Puts back what some entries of a mapping stand for."""

    entries: tuple[Entry, ...]

    @cached_property
    def _names(self) -> dict[str, Entry]:
        """By whole stand-ins first, then companies by what they are called for short."""
        named = [e for e in self.entries if e.kind in _NAMES and not e.stand_in.startswith("[")]
        found: dict[str, Entry] = {}
        for entry in named:
            found.setdefault(entry.stand_in.casefold(), entry)
        for entry in named:
            if entry.kind == "ORGANISATION":
                found.setdefault(first_word(entry.stand_in), entry)
        return found

    @cached_property
    def _others(self) -> dict[str, Entry]:
        rest = (e for e in self.entries if e.stand_in.casefold() not in self._names)
        return {_plain(entry.stand_in): entry for entry in rest}

    @cached_property
    def _sizes(self) -> frozenset[int]:
        """How many digits stand-ins have that are digits alone, or an account's."""
        plain = (re.fullmatch(r"\+?(?:[a-z]{2})?(\d+)", key) for key in self._others)
        return frozenset(len(match.group(1)) for match in plain if match)

    def reveal(self, text: str) -> tuple[str, set[str]]:
        """The text with originals in it, and which stand-ins they took the place of."""
        return self._revealed([(text, False)])

    def reveal_outside_links(
        self, text: str, open_: str = "", *, ended: bool = True
    ) -> tuple[str, int, str]:
        """The same, but of an address only if all of it is a stand-in; see `parted`."""
        pieces, known, open_ = parted(text, open_, ended=ended)
        kept = [
            (self._link(piece) if kind == ADDRESS else piece, kind != PROSE)
            for piece, kind in pieces
        ]
        return self._revealed(kept)[0], known, open_

    def _link(self, piece: str) -> str:
        """An address that is a stand-in as a whole by what it stands for, any other as it is."""
        only = _ONLY.fullmatch(piece)
        if only is None:
            return piece
        before, address, after = only.groups()
        found = self._other(address)
        return f"{before}{found[1]}{found[2]}{after}" if found else piece

    def _revealed(self, pieces: list[tuple[str, bool]]) -> tuple[str, set[str]]:
        seen = set[str]()
        for pattern in (_NUMBERED, _ADDRESS, _URL, _HANDLE, _NETWORK):
            pieces = list(_replaced(pieces, pattern, self._other, seen))
        for pattern, run in ((_GROUP, self._number), (_WORD, self._name)):
            pieces = [piece for part in pieces for piece in _walked(*part, pattern, run, seen)]
        return "".join(piece for piece, _ in pieces), seen

    def _other(self, written: str) -> tuple[Entry, str, str] | None:
        """The entry of something that is no name, with what stands after it by mistake."""
        bare = written.rstrip(".,;:!?")
        for found in (bare, _PORT.sub("", bare)):
            entry = self._others.get(_plain(found))
            if entry is not None:
                return entry, entry.written, written[len(found) :]
        return None

    def _number(self, text: str, groups: list[re.Match[str]], place: int) -> Run | None:
        """The longest run of groups of digits from here that is a stand-in, signs around it too."""
        first, digits = groups[place].start(), 0
        found: Run | None = None
        for count, group in enumerate(groups[place : place + _MOST_GROUPS], 1):
            before = groups[place + count - 2].end() if count > 1 else group.start()
            if not _GAP.fullmatch(text, before, group.start()):
                break
            digits += sum(map(str.isdigit, group.group()))
            if digits in self._sizes:
                begun = _signs_before(text, first, group.end())
                entry = self._others.get(_plain(text[begun : group.end()]))
                if entry is not None:
                    found = Run(begun, group.end(), count, entry, entry.written)
        return found

    def _name(self, text: str, words: list[re.Match[str]], place: int) -> Run | None:
        """The longest run of words from here that is a stand-in, inflected or not."""
        start = words[place].start()
        for count in range(min(_LONGEST, len(words) - place), 0, -1):
            end = words[place + count - 1].end()
            for ending in ("", text[end - 1 : end] if text[end - 1] in "sS" else ""):
                run = text[start : end - len(ending)]
                entry = self._names.get(" ".join(run.casefold().split()))
                if entry is not None:
                    return Run(start, end, count, entry, in_case_of(run, entry.written) + ending)
        return None


def _signs_before(text: str, first: int, end: int) -> int:
    """Where a number begins whose first digit stands at `first`: with a plus, a bracket, both."""
    for sign in "+(+":
        if text[first - 1 : first] == sign and (sign == "+" or ")" in text[first:end]):
            first -= 1
    return first


class Run(NamedTuple):
    """Words or groups of digits that are a stand-in: from where to where, and what is put back."""

    start: int
    end: int
    length: int
    entry: Entry
    written: str


def _walked(
    text: str,
    done: bool,
    pattern: re.Pattern[str],
    find: Callable[[str, list[re.Match[str]], int], Run | None],
    seen: set[str],
) -> Iterable[tuple[str, bool]]:
    """A piece with runs of what a pattern finds replaced, from left to right."""
    if done:
        yield text, True
        return
    read = plain(text)
    found = list(pattern.finditer(read.text))
    last = place = 0
    while place < len(found):
        run = find(read.text, found, place)
        if run is None:
            place += 1
            continue
        seen.add(run.entry.stand_in)
        start, end = read.place(run.start, run.end)
        yield text[last:start], False
        yield run.written, True
        last, place = end, place + run.length
    yield text[last:], False


def _replaced(
    pieces: Iterable[tuple[str, bool]],
    pattern: re.Pattern[str],
    find: Callable[[str], tuple[Entry, str, str] | None],
    seen: set[str],
) -> Iterable[tuple[str, bool]]:
    """The pieces with what a pattern and a look-up find replaced, and not looked at again."""
    for text, done in pieces:
        if done:
            yield text, True
            continue
        read, last = plain(text), 0
        for match in pattern.finditer(read.text):
            found = find(match.group())
            if found is None:
                continue
            entry, written, rest = found
            seen.add(entry.stand_in)
            start, end = read.place(*match.span())
            yield text[last:start], False
            yield written + rest, True
            last = end
        yield text[last:], False


def _plain(stand_in: str) -> str:
    """What is equal for two ways of writing one stand-in that is no name."""
    if stand_in.lstrip("\\").startswith("["):
        return " ".join(re.findall(r"[^\W_]+", stand_in.casefold()))
    digits = re.sub(r"[\s().\-/–—·]", "", stand_in)
    whole = digits.lstrip("+").isdigit() or re.fullmatch(r"[A-Za-z]{2}00\d+", digits)
    return digits.casefold() if whole else stand_in.casefold()
