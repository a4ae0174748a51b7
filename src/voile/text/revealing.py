"""Stand-ins found again in a text that somebody else wrote, and replaced by what they stand for.

One pass for each family of stand-ins, by a pattern of the family and a look-up, so that a text of
any length takes time in proportion to itself, whatever the mapping's size. What a language model
changes is put up with: capitals, a possessive or plural s, how digits are set out. The more telling
families go first and what they found is not looked at again, so that no name is found inside an
address, and of two names that begin alike the longer is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from voile.text.mapping import Entry
from voile.text.standins import in_case_of

_NUMBERED = re.compile(r"\[([A-Z][A-Z_]{1,30})[ _](\d{1,9})\]", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,200}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(r"https?://[^\s<>\"'()\[\]]{1,300}", re.IGNORECASE)
_HANDLE = re.compile(r"(?<![\w@.])@\w{1,40}")
_NETWORK = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{1,4}(?:[:.][0-9A-Fa-f]{0,4}){3,7}(?![\w:])")
_ACCOUNT = re.compile(r"(?<!\w)[A-Za-z]{2}00(?:[ -]?\d){8,30}(?!\w)")
_DIGITS = re.compile(r"(?<!\w)\+?\(?\d(?:[ ().\-/–]{0,3}\d){5,25}(?!\w)")
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
        found: dict[str, Entry] = {}
        for entry in self.entries:
            if entry.kind in _NAMES and not entry.stand_in.startswith("["):
                found.setdefault(entry.stand_in.casefold(), entry)
                if entry.kind == "ORGANISATION":  # a company is often called by its first word
                    found.setdefault(entry.stand_in.split()[0].casefold(), entry)
        return found

    @cached_property
    def _others(self) -> dict[str, Entry]:
        rest = (e for e in self.entries if e.stand_in.casefold() not in self._names)
        return {_plain(entry.stand_in): entry for entry in rest}

    def reveal(self, text: str) -> tuple[str, set[str]]:
        """The text with originals in it, and which stand-ins they took the place of."""
        pieces, seen = [(text, False)], set[str]()
        for pattern in (_NUMBERED, _ADDRESS, _URL, _HANDLE, _ACCOUNT, _NETWORK, _DIGITS):
            pieces = list(_replaced(pieces, pattern, self._other, seen))
        pieces = [piece for part in pieces for piece in self._named(*part, seen)]
        return "".join(piece for piece, _ in pieces), seen

    def _other(self, written: str) -> tuple[Entry, str, str] | None:
        """The entry of something that is no name, with what stands after it by mistake."""
        bare = written.rstrip(".,;:!?")
        entry = self._others.get(_plain(bare))
        return None if entry is None else (entry, entry.written, written[len(bare) :])

    def _named(self, text: str, done: bool, seen: set[str]) -> Iterable[tuple[str, bool]]:
        """Names in what is left, the longest run of words first."""
        if done or not self._names:
            yield text, done
            return
        words = list(_WORD.finditer(text))
        last = place = 0
        while place < len(words):
            count, entry, ending = self._run(text, words, place)
            if entry is None:
                place += 1
                continue
            start, end = words[place].start(), words[place + count - 1].end()
            written = text[start : end - len(ending)]
            seen.add(entry.stand_in)
            yield text[last:start], False
            yield in_case_of(written, entry.written) + ending, True
            last, place = end, place + count
        yield text[last:], False

    def _run(
        self, text: str, words: list[re.Match[str]], place: int
    ) -> tuple[int, Entry | None, str]:
        """How many words from here are a stand-in, which, and what inflects it."""
        for count in range(min(_LONGEST, len(words) - place), 0, -1):
            run = text[words[place].start() : words[place + count - 1].end()].casefold()
            entry = self._names.get(" ".join(run.split()))
            if entry is not None:
                return count, entry, ""
            if run.endswith("s"):
                entry = self._names.get(" ".join(run[:-1].split()))
                if entry is not None:
                    end = words[place + count - 1].end()
                    return count, entry, text[end - 1 : end]
        return 1, None, ""


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
        last = 0
        for match in pattern.finditer(text):
            found = find(match.group())
            if found is None:
                continue
            entry, written, rest = found
            seen.add(entry.stand_in)
            yield text[last : match.start()], False
            yield written + rest, True
            last = match.end()
        yield text[last:], False


def _plain(stand_in: str) -> str:
    """What is equal for two ways of writing one stand-in that is no name."""
    if stand_in.startswith("["):
        return stand_in.casefold().replace("_", " ")
    digits = re.sub(r"[ ().\-/–]", "", stand_in)
    whole = digits.lstrip("+").isdigit() or re.fullmatch(r"[A-Za-z]{2}00\d+", digits)
    return digits.casefold() if whole else stand_in.casefold()
