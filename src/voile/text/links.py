"""Addresses in an answer, which a reader's browser may fetch: what stands there reaches a stranger.

Whoever wrote the answer chose them, so `![](https://theirs.example/?a=Maria)` would bring home the
name that Maria stands for. Found is what Markdown or HTML may make an address of, rather too much,
also where it is written with entities, as in `[x]: &#104;ttps&colon;&sol;&sol;theirs.example`.
"""

from __future__ import annotations

import re
from html import unescape

_BEGUN = r"(?=(?:[a-z]{1,9}:)?[/\\]{2}|https?:)"
_OPENS = (
    r"(?P<tag><[a-z][\w:-]{0,30}[\s/])|(?P<round>\]\()(?!<)"
    rf"|(?P<angle>\]\(<|\]:\s{{0,9}}<|<{_BEGUN})|(?P<double>\"{_BEGUN})|(?P<single>'{_BEGUN})"
)
"""What begins an address that may hold spaces, by what ends it."""
_WRITTEN = (
    r"(?:https?|ftp|wss?):\S*|[/\\]{2}[^\s/\\]\S*|\bwww\.\S*"
    r"|(?<![\w.@/-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,7}\.[a-z][\w-]{1,62}/\S*"
)
_SIGNS = r"\s<>()\[\]\"'"
_CODED = rf"(?P<coded>(?<![^{_SIGNS}])[^&{_SIGNS}]*&(?:#\w{{1,8}}|\w{{2,31}});)"
"""As far as the first entity of HTML."""
_OPEN, _OPENER, _ADDRESS = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (f"{_OPENS}|{_CODED}|{_WRITTEN}", _OPENS, _WRITTEN)
)
_CLOSING = {"tag": ">", "round": ")", "angle": ">", "double": '"', "single": "'"}
_REST = re.compile(r"\S*")


def parted(text: str, until: str = "") -> tuple[list[tuple[str, bool]], str]:
    """A text as pieces that are no address, or one; and what ends the one that is open at its end.

    An address may hold spaces, in a tag or brackets: a text that goes on from another begins inside
    the one that was open there, `until` its closing sign.

    >>> parted("Ask ![x](https://a.example/?b=Ann Lee) again")
    ([('Ask ![x', False), ('](https://a.example/?b=Ann Lee)', True), (' again', False)], '')
    >>> parted("<img src='x Ann")
    ([('', False), ("<img src='x Ann", True)], '>')
    """
    pieces: list[tuple[str, bool]] = []
    start = at = decoded = 0
    while True:
        if until:
            closed = text.find(until, at)
            if closed < 0:
                return [*pieces, (text[start:], True)], until
            at = _rest(text, closed + 1) if until == ")" else closed + 1
            pieces.append((text[start:at], True))
            until = ""
        start = plain = at
        while found := _OPEN.search(text, at):
            start, at = found.span()
            if found.lastgroup in _CLOSING:
                until = _CLOSING[found.lastgroup]
                break
            if found.lastgroup is None:
                until = _left_open(text, start, at)
                break
            if start >= decoded:  # it has entities: read as who shows it would read it
                decoded = _rest(text, start)
                if _ADDRESS.search(unescape(text[start:decoded])):
                    until, at = _left_open(text, start, decoded), decoded
                    break
        if found is None:
            return [*pieces, (text[plain:], False)], ""
        pieces.append((text[plain:start], False))
        if not until:
            pieces.append((text[start:at], True))


def _left_open(text: str, start: int, end: int) -> str:
    """What closes an address that begins within this word and may go on behind it."""
    while found := _OPENER.search(text, start, end):
        until = _CLOSING[str(found.lastgroup)]
        start = text.find(until, found.end(), end) + 1
        if not start:
            return until
    return ""


def _rest(text: str, start: int) -> int:
    """Where the word ends that goes on from here: an address may hold brackets."""
    found = _REST.match(text, start)
    return found.end() if found else start
