"""What a language model answers, as far as it is understood: texts, numbers, short words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from voile.service.asking import Refused, as_json, failure


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
    """The data of server-sent events, until [DONE]."""
    left = b""
    async for piece in pieces:
        left += piece.replace(b"\r\n", b"\n")
        *whole, left = left.split(b"\n")
        for line in whole:
            if line.startswith(b"data:"):
                data = line[5:].strip()
                if data == b"[DONE]":
                    return
                yield data


def completion(content: bytes) -> Mapping[str, Any]:
    """The object that an answer, or a piece of one, is."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(failure(502, "upstream", "the language model's answer is not understood"))
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


def choices_of(found: Mapping[str, Any], part: str) -> list[Choice]:
    """The texts of an answer, by index; what is no text is not handed back."""
    choices = found.get("choices")
    listed = choices if isinstance(choices, list) else []
    made = []
    for place, choice in enumerate(c for c in listed if isinstance(c, dict)):
        inner = choice.get(part)
        text = inner.get("content") if isinstance(inner, dict) else None
        index, finish = choice.get("index"), choice.get("finish_reason")
        made.append(
            Choice(
                index if isinstance(index, int) else place,
                text if isinstance(text, str) else "",
                finish[:40] if isinstance(finish, str) else None,
            )
        )
    return made
