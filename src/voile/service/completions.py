"""What a language model answers, as far as it is understood: texts, numbers, short words."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from voile.service.asking import Refused, as_json, failure

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Choice:
    """One of the texts of an answer, or a piece of it."""

    index: int
    text: str
    finish: str | None


def event(head: Mapping[str, Any], made: Choice) -> bytes:
    """A piece of an answer, as a server-sent event."""
    delta = {"content": made.text}
    choice = {"index": made.index, "delta": delta, "finish_reason": made.finish}
    return b"data: " + as_json({**head, "choices": [choice]}) + b"\n\n"


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of server-sent events, until [DONE]; refused if that does not come.

    As the HTML standard reads them (section 9.2.6): lines end with CR, LF or both, an empty one
    ends an event, several lines of data are one, and a mark of byte order may stand in front.
    """
    data: list[bytes] = []
    kind = b""
    async for line in _lines(pieces):
        name, _, value = line.partition(b":")
        if line and name == b"data":
            data.append(value.removeprefix(b" "))
        elif line and name == b"event":
            kind = value.strip()
        elif not line and data:
            whole = b"\n".join(data)
            if whole.strip() == b"[DONE]":
                return
            if kind == b"error":
                raise _broken()
            yield whole
        if not line:
            data, kind = [], b""
    raise _broken()


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines as they are complete; what is left at the end is one, with an empty one after it."""
    held: list[bytes] = []
    first, after_return = True, False
    async for piece in pieces:
        came = piece[1:] if after_return and piece.startswith(b"\n") else piece
        after_return = came.endswith(b"\r") if came else after_return and not piece
        *whole, rest = _LINE_END.split(came)
        for line in whole:
            full = b"".join([*held, line])
            yield full.removeprefix(_BYTE_ORDER) if first else full
            held, first = [], False
        held.append(rest)
    last = b"".join(held)
    yield last.removeprefix(_BYTE_ORDER) if first else last
    yield b""


def _broken() -> Refused:
    message = "the language model's answer broke off: it is not whole"
    return Refused(failure(502, "upstream", message))


def completion(content: bytes) -> Mapping[str, Any]:
    """The object that an answer, or a piece of one, is; an error in its place is not quoted."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(failure(502, "upstream", "the language model's answer is not understood"))
    if found.get("error") is not None:
        raise Refused(failure(502, "upstream", "the language model answered with an error"))
    return found


def head_of(found: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What is handed back beside the texts: numbers, and short words."""
    words = {name: found[name] for name in ("id", "model") if isinstance(found.get(name), str)}
    usage = found.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    numbers = {name: value for name, value in counts.items() if isinstance(value, int)}
    created = found.get("created")
    return {
        "object": kind,
        **{name: word[:200] for name, word in words.items()},
        **({"created": created} if isinstance(created, int) else {}),
        **({"usage": numbers} if numbers else {}),
    }


def choices_of(found: Mapping[str, Any], part: str, *, most: int) -> list[Choice]:
    """The texts of an answer, by index; what is no text, or was not asked for, is left out."""
    choices = found.get("choices")
    listed = choices if isinstance(choices, list) else []
    made = []
    for place, choice in enumerate(c for c in listed if isinstance(c, dict)):
        inner = choice.get(part)
        text = inner.get("content") if isinstance(inner, dict) else None
        given, finish = choice.get("index"), choice.get("finish_reason")
        index = given if isinstance(given, int) else place
        if 0 <= index < most:
            made.append(
                Choice(
                    index,
                    text if isinstance(text, str) else "",
                    finish[:40] if isinstance(finish, str) else None,
                )
            )
    return made
