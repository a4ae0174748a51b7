"""A prompt as it may go on: texts by role, a model's name, and settings that are numbers.

Only what is understood is read. Any other field (tools, images, a user's id) is refused, since it
could hold a name that nothing looked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.service.asking import Refused, failure
from voile.service.config import Token

NUMBERS: Mapping[str, tuple[int, int]] = {
    "temperature": (0, 2), "top_p": (0, 1), "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2), "n": (1, 128), "max_tokens": (1, 999_999),
    "max_completion_tokens": (1, 999_999), "seed": (0, 999_999),
}  # fmt: skip
"""Settings, with the least and the most that they may be."""
FRACTIONS = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
MODEL = r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,99}"
ROLES = ("system", "developer", "user", "assistant")
MESSAGE_SIGNS, _MESSAGES_A_RECORD = 100, 10
"""What a message costs beside its own signs, however brief it is; and how many of them count as
one record against a token's rate."""


@dataclass(frozen=True)
class Prompt:
    """What is understood of a request."""

    model: str
    settings: Mapping[str, float]
    roles: Sequence[str]
    texts: Sequence[str]
    stream: bool

    @property
    def signs(self) -> int:
        """What it costs to look for names in it, in signs."""
        return sum(map(len, self.texts)) + MESSAGE_SIGNS * (len(self.texts) - 1)

    def records(self, token: Token) -> int:
        """What it takes of a token's rate; never more than there can be."""
        return min(-(-len(self.texts) // _MESSAGES_A_RECORD), token.burst)

    def body(self, texts: Sequence[str]) -> dict[str, Any]:
        """What goes on, with other texts."""
        pairs = zip(self.roles, texts, strict=True)
        messages = [{"role": role, "content": text} for role, text in pairs]
        streamed = {"stream": True} if self.stream else {}
        return {"model": self.model, "messages": messages, **self.settings, **streamed}


def read_prompt(found: Mapping[str, Any], *, most: int) -> Prompt:
    """The prompt of a body; refused, by the field's name, if there is anything else in it."""
    known = {"model", "messages", "stream", *NUMBERS}
    for number, name in enumerate(found, 1):
        if name not in known:
            named = repr(name) if name.isidentifier() and len(name) < 40 else f"number {number}"
            raise bad_prompt(f"the field {named} is not handed on: nothing looks for names in it")
    model, messages, stream = found.get("model"), found.get("messages"), found.get("stream", False)
    if not isinstance(model, str) or not isinstance(messages, list) or not messages:
        raise bad_prompt("a prompt must have a model and messages")
    if len(messages) > most:
        raise Refused(failure(413, "too-large", f"a prompt has at most {most:,} messages"))
    settings = {name: found[name] for name in NUMBERS if found.get(name) is not None}
    if not re.fullmatch(MODEL, model):
        raise bad_prompt("a model must be a name of at most 100 letters, digits and . _ / : @ -")
    for name, value in settings.items():
        low, high = NUMBERS[name]
        kinds = int | float if name in FRACTIONS else int
        if not isinstance(value, kinds) or isinstance(value, bool) or not low <= value <= high:
            raise bad_prompt(f"{name} must be a number from {low} to {high:,}")
        settings[name] = round(value, 4)
    if not isinstance(stream, bool):
        raise bad_prompt("stream must be true or false")
    pairs = [_message(message) for message in messages]
    return Prompt(model, settings, [r for r, _ in pairs], [t for _, t in pairs], stream)


def _message(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict) or message.keys() != {"role", "content"}:
        raise bad_prompt("a message must have a role and a content, and nothing else")
    role, content = message["role"], message["content"]
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        alone = all(
            isinstance(part, dict) and part.keys() == {"type", "text"} and part["type"] == "text"
            for part in content
        )
        content = "\n".join(texts) if alone and len(texts) == len(parts) else None
    if role not in ROLES or not isinstance(content, str):
        raise bad_prompt("a message must be text: no images, sounds, files or calls of tools")
    if any("\ud800" <= sign <= "\udfff" for sign in content):
        raise bad_prompt(
            "a message must be Unicode: half of a pair of surrogates stands in it alone"
        )
    return role, content


def bad_prompt(message: str) -> Refused:
    """What is wrong with a prompt, without its words."""
    return Refused(failure(422, "bad-prompt", message))
