"""Addresses in an answer, which a reader's browser may fetch: what stands there reaches a stranger.

Whoever wrote the answer chose them, so `![](https://theirs.example/?a=Maria)` would bring home the
name that Maria stands for. Found is what Markdown or HTML may make an address of, rather too much.
"""

from __future__ import annotations

import re

_BEGUN = r"(?=(?:[a-z]{1,9}:)?[/\\]{2}|https?:)"
_OPEN = re.compile(
    r"(?P<tag><[a-z][\w:-]{0,30}[\s/])|(?P<round>\]\()(?!<)"
    rf"|(?P<angle>\]\(<|<{_BEGUN})|(?P<double>\"{_BEGUN})|(?P<single>'{_BEGUN})"
    r"|(?:https?|ftp|wss?):\S*|[/\\]{2}[^\s/\\]\S*|\bwww\.\S*"
    r"|(?<![\w.@/-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,7}\.[a-z][\w-]{1,62}/\S*",
    re.IGNORECASE,
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
    start = at = 0
    while True:
        if until:
            closed = text.find(until, at)
            if closed < 0:
                return [*pieces, (text[start:], True)], until
            at = _rest(text, closed + 1) if until == ")" else closed + 1
            pieces.append((text[start:at], True))
        found = _OPEN.search(text, at)
        if found is None:
            return [*pieces, (text[at:], False)], ""
        pieces.append((text[at : found.start()], False))
        start, at = found.span()
        until = _CLOSING[found.lastgroup] if found.lastgroup else ""
        if not until:
            pieces.append((found.group(), True))


def _rest(text: str, start: int) -> int:
    """Where the word ends that goes on from here: an address may hold brackets."""
    found = _REST.match(text, start)
    return found.end() if found else start
