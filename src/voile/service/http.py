"""A request's headers and body within their limits, and an answer on its way out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from voile.service.asking import Answered, Refused, failure
from voile.service.config import Server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Gone(Exception):
    """The client left while it was sending, or waited for what another is asked."""


class Request:
    """The headers of a request, and its body within its limits."""

    def __init__(self, scope: Scope, receive: Receive, limits: Server) -> None:
        self.path: str = scope["path"]
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._receive, self._limits = receive, limits

    def header(self, name: bytes) -> bytes:
        """A header's value; empty if there is none."""
        for found, value in self._headers:
            if found == name:
                return value
        return b""

    def has(self, name: bytes) -> bool:
        """Whether a header was sent, be it empty."""
        return any(found == name for found, _ in self._headers)

    async def body(self) -> bytes:
        """The whole body; refused if it is too large, or comes too slowly."""
        most = self._limits.body_bytes
        large = failure(413, "body-too-large", f"a body has at most {most:,} bytes")
        length = self.header(b"content-length")
        if length.isdigit() and int(length[:20]) > most:
            raise Refused(large)
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                parts, size = [], 0
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise Refused(large)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise Refused(failure(408, "too-slow", "the body came too slowly")) from None

    @asynccontextmanager
    async def awaited(self) -> AsyncIterator[None]:
        """Work, once the body is read, that is called off as soon as the client has left."""
        work = asyncio.timeout(None)
        try:
            async with work:
                watching = asyncio.create_task(self._end_when_gone(work))
                try:
                    yield
                finally:
                    watching.cancel()
        except TimeoutError:
            if work.expired():
                raise Gone from None
            raise

    async def _end_when_gone(self, work: asyncio.Timeout) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        work.reschedule(asyncio.get_running_loop().time())


async def send_answer(send: Send, answered: Answered, number: str, request: Request) -> None:
    """Headers and body; an answer that comes in pieces is sent as it comes."""
    headers = [
        (b"content-type", answered.kind),
        (b"x-request-id", number.encode()),
        (b"cache-control", b"no-store"),
    ]
    if answered.rest is None:
        headers.append((b"content-length", str(len(answered.body)).encode()))
    if answered.retry is not None:
        headers.append((b"retry-after", str(max(1, round(answered.retry))).encode()))
    if answered.replayed:
        headers.append((b"idempotent-replayed", b"true"))
    if answered.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if answered.status in (408, 413):
        headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": answered.status, "headers": headers})
    more = answered.rest is not None
    await send({"type": "http.response.body", "body": answered.body, "more_body": more})
    if answered.rest is None:
        return
    try:
        async with request.awaited(), aclosing(answered.rest) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    except Refused as refused:  # the answer had begun: its end says why it is one
        last = b"data: " + refused.answered.body + b"\n\n"
        await send({"type": "http.response.body", "body": last, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
