"""Prompts that go on to a language model without their names, which are put back in the answer.

Only what is understood goes on (`prompts.py`): texts of messages, with stand-ins, a model's name
and settings that are numbers, none with room for a telephone number.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from voile.errors import VoileError
from voile.service.asking import Answered, Refused, as_json, failure
from voile.service.completions import Choice, choices_of, completion, event, events, head_of
from voile.service.config import Gateway, Token
from voile.service.domains import name_of
from voile.service.groups import BRIEF
from voile.service.prompts import MESSAGE_SIGNS, Prompt, bad_prompt
from voile.service.upstream import Upstream
from voile.text.conversation import Conversation, NameBlur, Revealing
from voile.text.tiers import identified
from voile.version import __version__

Found = TypeVar("Found")


class Finding:
    """A thread that finds names, with a pipeline of its own."""

    def __init__(self, settings: Gateway, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"voile chat {name}")
        load = partial(
            NameBlur.load, language=settings.language, pipeline=settings.pipeline,
            find=settings.find,
        )  # fmt: skip
        self.blur = self._thread.submit(load).result()

    async def hide(self, conversation: Conversation, texts: Sequence[str]) -> list[str]:
        """The texts with stand-ins, found there."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, conversation.hide, texts, self.blur)


@dataclass(frozen=True, eq=False)
class Known:
    """A conversation, since when it is known, and whose turn it is: one prompt after the other."""

    since: float
    conversation: Conversation
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class PromptGateway:
    """Hides names in prompts, asks, and puts them back; remembers conversations for a while.

    Long prompts go another lane than brief ones, so that nobody else waits until they are read.
    """

    def __init__(self, settings: Gateway, secret: bytes) -> None:
        self._settings, self._secret = settings, secret
        self.messages = settings.messages
        self.brief, self.long = Finding(settings, "brief"), Finding(settings, "long")
        self.blur = self.brief.blur
        self.upstream = Upstream(settings)
        self._known: dict[str, OrderedDict[bytes, Known]] = {}
        self._waiting = 0

    @property
    def guarantee(self) -> str:
        """One name for what decides the stand-ins and what is promised for them."""
        return name_of(self._decided(), self.blur.guarantee.to_dict())

    def _decided(self) -> dict[str, Any]:
        return {
            "language": self._settings.language,
            "pipeline": identified(self.blur.finders.pipeline),
            "find": list(self.blur.finders.names),
        }

    def facts(self) -> dict[str, Any]:
        """What anybody with a token may know of it."""
        promised = self.blur.guarantee
        return {
            "id": self.guarantee,
            "mechanism": "stand-ins for names and identifiers",
            "guarantee": promised.to_dict(),
            "explanation": promised.explain().splitlines(),
            "in_clear": ["all other words"],
            "decided_by": self._decided(),
            "ledger": None,
            "voile": __version__,
        }

    def _conversation(self, token: Token, named: bytes) -> Known:
        """The conversation of a header, or one for this request alone."""
        now = time.monotonic()
        for theirs in self._known.values():
            while theirs:
                first, oldest = next(iter(theirs.items()))
                if now - oldest.since < self._settings.conversation_seconds:
                    break
                del theirs[first]
        begin = partial(Conversation, self.blur, self._secret, most=self._settings.things)
        if not named:
            return Known(now, begin(secrets.token_bytes(16)))
        name = hashlib.sha256(token.name.encode() + b"\0" + named).digest()
        own = self._known.setdefault(token.name, OrderedDict())
        found = own.pop(name, None)
        own[name] = Known(now, begin(name)) if found is None else replace(found, since=now)
        if len(own) > self._settings.conversations:
            own.popitem(last=False)
        return own[name]

    async def hidden(
        self, prompt: Prompt, token: Token, named: bytes
    ) -> tuple[dict[str, Any], Revealing]:
        """What goes on, and what puts names back."""
        models = self._settings.models
        if models and prompt.model not in models:
            raise bad_prompt(f"the model must be one of {', '.join(models)}")
        signs, most = prompt.signs, self._settings.waiting_signs
        if signs > most:
            message = (
                f"a prompt has at most {most:,} signs, each message counts {MESSAGE_SIGNS} more"
            )
            raise Refused(failure(413, "too-large", message))
        if self._waiting + signs > most:
            message = "too many prompts wait; come again"
            raise Refused(failure(503, "busy", message, retry=1))
        known = self._conversation(token, named)
        lane = self.brief if signs <= BRIEF else self.long
        self._waiting += signs
        try:
            async with known.turn:
                texts = await lane.hide(known.conversation, prompt.texts)
                revealing = known.conversation.revealing()
        except VoileError as problem:
            raise Refused(failure(422, "bad-prompt", str(problem))) from None
        finally:
            self._waiting -= signs
        return prompt.body(texts), revealing

    async def answer(self, body: Mapping[str, Any], revealing: Revealing) -> Answered:
        """A whole answer."""
        async with self.upstream.asked(body) as pieces:
            content = b"".join([piece async for piece in pieces])
        return Answered(200, await _aside(len(content), _whole, content, body, revealing))

    async def streamed(
        self, body: Mapping[str, Any], revealing: Revealing
    ) -> AsyncGenerator[bytes, None]:
        """An answer in pieces, as server-sent events; names are put back across their borders."""
        ends: dict[int, Revealing] = {}
        head: dict[str, Any] = {}
        async with self.upstream.asked(body) as pieces:
            async for content in events(pieces):
                found = completion(content)
                head = head_of(found, "chat.completion.chunk")
                for choice in choices_of(found, "delta", most=_asked_for(body)):
                    own = ends.setdefault(choice.index, revealing.another())
                    signs = own.held + len(choice.text)
                    text = await _aside(signs, _added, own, choice)
                    if text or choice.finish is not None:
                        yield event(head, Choice(choice.index, text, choice.finish))
        for index, own in ends.items():
            rest = await _aside(own.held, own.end)
            if rest:
                yield event(head, Choice(index, rest, None))
        yield b"data: [DONE]\n\n"


def _asked_for(body: Mapping[str, Any]) -> int:
    """How many answers a model was asked for; more are not handed back."""
    return int(body.get("n", 1))


def _whole(content: bytes, body: Mapping[str, Any], revealing: Revealing) -> bytes:
    """An answer as it is handed back."""
    found = completion(content)
    choices = [
        {
            "index": choice.index,
            "message": {"role": "assistant", "content": revealing.whole(choice.text)},
            "finish_reason": choice.finish,
        }
        for choice in choices_of(found, "message", most=_asked_for(body))
    ]
    return as_json({**head_of(found, "chat.completion"), "choices": choices})


def _added(own: Revealing, choice: Choice) -> str:
    """What can be given back after one more piece."""
    text = own.add(choice.text)
    return text if choice.finish is None else text + own.end()


async def _aside(signs: int, work: Callable[..., Found], *given: Any) -> Found:
    """Done here if there is little to do, else in a thread: nobody waits for a long answer."""
    if signs <= BRIEF:
        return work(*given)
    return await asyncio.get_running_loop().run_in_executor(None, work, *given)
