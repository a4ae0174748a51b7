"""A language model's server, asked for a gateway: one origin, bounded, and never quoted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from voile.errors import BadFile, InvalidInput, needs
from voile.service.asking import Refused, as_json, failure
from voile.service.config import Gateway

LARGEST_ANSWER = 8 * 2**20
_HERE = ("localhost", "127.0.0.1", "::1")


class Upstream:
    """Asks the chat completions of one address. No redirect is followed, no proxy is asked."""

    def __init__(self, gateway: Gateway) -> None:
        with needs("httpx", extra="web"):
            import httpx
        address = urlsplit(gateway.upstream)
        if not address.hostname or address.query or address.fragment:
            raise InvalidInput("[gateway] upstream must be a host and a path, with no ? or # in it")
        if address.scheme != "https" and address.hostname not in _HERE:
            raise InvalidInput("[gateway] upstream must be https:// unless it is this machine")
        self._httpx, self._gateway = httpx, gateway
        self._url = gateway.upstream.rstrip("/") + "/chat/completions"
        self._headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if gateway.key_file is not None:
            self._headers["authorization"] = f"Bearer {_key(gateway.key_file)}"
        self._client: Any = None
        self.transport: Any = None
        """Another way to the server, for tests."""

    def start(self) -> None:
        """Open in the loop that is running."""
        self._client = self._httpx.AsyncClient(
            timeout=self._gateway.upstream_seconds, trust_env=False, follow_redirects=False,
            limits=self._httpx.Limits(max_connections=None),  # the service has a limit of its own
            transport=self.transport,
        )  # fmt: skip

    async def stop(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()

    @asynccontextmanager
    async def asked(self, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body of the answer in pieces; whatever is wrong with it is told without its words."""
        try:
            async with self._client.stream(
                "POST", self._url, content=as_json(body), headers=self._headers
            ) as answer:
                if answer.status_code != 200:
                    raise Refused(_failed(answer.status_code))
                if answer.headers.get("content-encoding", "identity") != "identity":
                    raise Refused(_packed())  # a little of it may be a great deal unpacked
                yield self._bounded(answer.aiter_bytes())
        except self._httpx.HTTPError as problem:
            reason = type(problem).__name__
            raise Refused(
                failure(502, "upstream", f"the language model did not answer ({reason})")
            ) from None

    async def _bounded(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        size = 0
        async for piece in pieces:
            size += len(piece)
            if size > LARGEST_ANSWER:
                raise Refused(failure(502, "upstream", "the language model's answer is too long"))
            yield piece


def _failed(status: int) -> Any:
    if status == 429:
        message = "the language model is asked too often"
        return failure(429, "upstream-rate", message, retry=10)
    return failure(502, "upstream", f"the language model answered with status {status}")


def _packed() -> Any:
    message = "the language model's answer is compressed, which was not asked for"
    return failure(502, "upstream", message)


def _key(file: str) -> str:
    try:
        found = Path(file).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise BadFile("[gateway] key_file must be a text file that can be read") from None
    if not found.isprintable() or not found or " " in found:
        raise BadFile("[gateway] key_file must hold one token")
    return found
