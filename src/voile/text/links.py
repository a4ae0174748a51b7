r"""Addresses in an answer, which a reader's browser may fetch: what stands there reaches others.

Whoever wrote the answer chose them, so `![](https://theirs.example/?a=Maria)` would bring home the
name that Maria stands for. Who shows the answer is not known, and readers of Markdown and HTML do
not agree on where an address ends. So an address is taken to end only where it ends for all of
them: at a space, for one that is a word; at a closing sign, where nothing before it (an escape, a
quote, a bracket within brackets) might make that a part of the address. Anything else is *in doubt*
and goes on to the end of its paragraph; what begins like a tag, which may hold empty lines, to the
end of the answer. Rather too much is an address, never too little.
"""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

MOST = 2000
"""Signs of an address that is not in doubt: nothing waits for more to know where one ends."""
PROSE, ADDRESS, DOUBT = "prose", "address", "doubt"
"""What a piece is; in doubt is also what goes on from a piece before."""
_PARAGRAPH, _ANSWER = "paragraph", "rest of the answer"
"""How far a doubt reaches; the greater one, as words are ordered, reaches farther."""

_BEGUN = (
    r"(?:(?:[a-z][a-z0-9+.-]{0,30}:)?[/\\]{2}(?=[^\s/\\])"
    r"|(?:https?|ftps?|wss?|mailto|xmpp|javascript):(?=\S)|www\.)"
)
_HOST = r"(?<![\w.@/-])[\w-]{1,63}(?:\.[\w-]{1,63}){%s}\.[a-z][\w-]{1,62}"
_WRITTEN = rf"{_BEGUN}|{_HOST % '0,7'}(?=[/?#]|:\d)|{_HOST % '1,7'}"
_OPENS = (
    r"(?P<tag><(?=[^\s\d=<>,-]))|(?P<round>\]\(|\burl\()"
    r"|(?P<defined>\]:(?=\s|$))"
    rf"|(?P<within>[\"'{{\[\]](?={_BEGUN}))"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]{1,200}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
    rf"|(?P<word>{_WRITTEN})"
)
_SIGNS = r"\s<>()\[\]\"'"
_CODED = rf"(?P<coded>(?<![^{_SIGNS}])[^&{_SIGNS}]{{0,99}}&(?:#\w{{1,8}}|\w{{2,31}});)"
"""As far as the first entity of HTML."""
_OPEN, _OPENER, _TAG, _ADDRESS = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (f"{_OPENS}|{_CODED}", _OPENS, r"(?P<tag><(?=[^\s\d=<>,-]))", _WRITTEN)
)

_WORD = re.compile(r"(?:[^ \t\r\n\\]|\\[\s\S]|\\$)*+")
"""The rest of a word, with spaces that are escaped; it is no space that a browser may print."""
_RAW = re.compile(r"<(?:style|script|svg|math|form|template|xmp|textarea|plaintext)\b", re.I)
"""Elements whose content may be an address."""
_NAMED, _GAP = r"[^\s<>\"'=\\/]++", r"[ \t]*+(?:\r?\n)?[ \t]*+"
_WHOLE_TAG = re.compile(
    r"<[^<>\"'\\]*+>"
    rf"|<{_NAMED}(?:[\s/]++{_NAMED}(?:\s*+=\s*+"
    r"(?:\"[^\"<>\\]*+\"|'[^'<>\\]*+'|[^\s<>\"'\\`]++))?+)*+[\s/]*+>"
)
"""A tag in which no sign closes it for one reader and not for another."""
_WHOLE_ROUND = re.compile(
    rf"(?:\]|url)\({_GAP}(?:<[^<>\"'\\\n]*+>|[^\s<>()\\]*+(?:\([^\s<>()\\]*+\)[^\s<>()\\]*+)*+)"
    rf"(?:{_GAP}(?:\"[^\"<>\\\n]*+\"|'[^'<>\\\n]*+'))?+{_GAP}\)"
    r"|(?:\]|url)\([^<>()\"'\\\n]*+\)",
    re.IGNORECASE,
)
_DEFINED = re.compile(rf"\]:{_GAP}")
_WHOLE_WITHIN = {
    first: re.compile(rf"[{re.escape(first)}][^{re.escape(first + last)}\\\n]*+{re.escape(last)}")
    for first, last in ('""', "''", "{}", "[]", "][")
}
_EMPTY_LINE = re.compile(r"\n[ \t\r]*\n")
_LAST_LINE = re.compile(r"\n[ \t\r]*$")


class Parted(NamedTuple):
    """Pieces of a text, each with what it is; how far that is known; and what is open there."""

    pieces: list[tuple[str, str]]
    known: int
    open: str


class _Reach(NamedTuple):
    """Where an address ends, or as far as it was followed and how far it is in doubt."""

    end: int
    doubt: str
    known: bool


def parted(text: str, open_: str = "", *, ended: bool = True) -> Parted:
    """A text as pieces that are addresses, or prose; `open_` is what the text before left open.

    A text that has not ended is cut after a space: what is behind `known` must be given once more,
    with what follows it. That is never more than `MOST` signs.

    >>> parted("Ask ![x](https://a.example/?b=Ann Lee) again").pieces
    [('Ask ![x', 'prose'), ('](https://a.example/?b=Ann Lee)', 'address'), (' again', 'prose')]
    >>> parted("<img src='x Ann").pieces
    [("<img src='x Ann", 'doubt')]
    """
    pieces: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        if open_ == _ANSWER:
            pieces.append((text[at:], DOUBT))
            at = len(text)
        elif open_ == _PARAGRAPH:
            stop, still, known = _doubted(text, at, ended)
            pieces.append((text[at:stop], DOUBT))
            at, open_ = stop, still
            if not known:
                break
        else:
            found = _next(text, at, len(text))
            start = len(text) if found is None else found.start()
            pieces.append((text[at:start], PROSE))
            at = start
            if found is None:
                break
            reach = _reach(text, found, ended)
            if not reach.known:
                break
            if not reach.doubt:
                pieces.append((text[at : reach.end], ADDRESS))
                at = reach.end
            open_ = reach.doubt
    return Parted([piece for piece in pieces if piece[0]], at, open_)


def _doubted(text: str, at: int, ended: bool) -> tuple[int, str, bool]:
    """As far as a paragraph in doubt goes, or a tag in it; what is open there; whether known."""
    line = _EMPTY_LINE.search(text, at)
    stop = len(text) if line is None else line.end()
    while (tag := _TAG.search(text, at)) is not None and tag.start() < stop:
        reach = _reach(text, tag, ended)
        if not reach.known:
            return tag.start(), _PARAGRAPH, False
        if reach.doubt == _ANSWER:
            return tag.start(), _ANSWER, True
        at = max(reach.end, tag.end())
    if line is not None:
        return max(at, stop), "", True
    last = None if ended else _LAST_LINE.search(text, at)
    if last is not None:
        return last.start(), _PARAGRAPH, False  # an empty line may follow
    return max(at, stop), _PARAGRAPH, True


def _next(text: str, at: int, view: int) -> re.Match[str] | None:
    """The next sign of an address; a word with entities is read as who shows it would read it."""
    while found := _OPEN.search(text, at, view):
        if found.lastgroup != "coded":
            return found
        stop = _word(text, found.start(), found.start() + MOST)
        if stop - found.start() >= MOST or _ADDRESS.search(unescape(text[found.start() : stop])):
            return found
        other = _OPENER.search(text, found.end(), stop)
        if other is not None:
            return other
        at = max(stop, found.end())
    return None


def _reach(text: str, found: re.Match[str], ended: bool) -> _Reach:
    """How far an address goes, and with it all that begin before it ends."""
    start = at = found.start()
    view = min(len(text), start + MOST)
    going_on = view == len(text) and not ended
    end, doubt, word = start, "", start
    following: re.Match[str] | None = found
    while following is not None and (at == start or at < end):
        if following.lastgroup not in ("word", "coded") or at >= word:
            own, own_doubt = _own(text, following, view)
            end, doubt = max(end, own), max(doubt, own_doubt)
            word = own if following.lastgroup in ("word", "coded") else word
        following = _next(text, max(following.end(), at + 1), view)
        at = view if following is None else following.start()
    if end >= view and (going_on or view < len(text)):
        doubt = max(doubt, _PARAGRAPH)
    return _Reach(end, doubt, not (going_on and doubt))


def _own(text: str, found: re.Match[str], view: int) -> tuple[int, str]:
    """Where an address that begins here ends; or what is in doubt."""
    start, kind = found.start(), found.lastgroup
    if kind == "tag":
        whole = None if _RAW.match(text, start) else _WHOLE_TAG.match(text, start, view)
        if whole is not None:
            return whole.end(), ""
        return found.end(), _ANSWER if re.match(r"[a-z!/?]", text[start + 1], re.I) else _PARAGRAPH
    if kind in ("round", "within"):
        pattern = _WHOLE_ROUND if kind == "round" else _WHOLE_WITHIN[found.group()]
        whole = pattern.match(text, start, view)
        return (found.end(), _PARAGRAPH) if whole is None else (_word(text, whole.end(), view), "")
    if kind == "defined":
        before = _DEFINED.match(text, start, view)
        return _word(text, found.end() if before is None else before.end(), view), ""
    if kind == "mail" and text[found.end() : found.end() + 1] not in ("/", "?", "#"):
        return found.end(), ""
    return _word(text, start, view), ""


def _word(text: str, start: int, stop: int) -> int:
    """Where the word ends that goes on from here: an address may hold brackets."""
    found = _WORD.match(text, start, stop)
    return found.end() if found else start
