"""HTTP as uvicorn speaks it by httptools, with bounds that it has none of: headers, time, number.

Whoever has no token may connect and send headers all the same. Counted are the bytes of the address
and the headers that are complete, trailers among them, and those that came since anything was: more
than `LARGEST_HEADERS` are answered by 431 and the end of the connection. A request that has not
come to its end after `SECONDS` is answered by 408, unless the service is at work on it, which has
limits of its own; a connection on which none began is closed, and so is one whose client takes
nothing of an answer for as long. uvicorn tells 503 to whoever asks beyond the limit of connections;
of those that only connect `MORE` are taken, others are closed at once.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from voile.service.asking import failure

LARGEST_HEADERS = 32_768
SECONDS = 30.0
MORE = 100


class _TooLong(Exception):
    """Ends the parsing of a request."""


class BoundedConnection(HttpToolsProtocol):  # type: ignore[misc]
    """One connection."""

    _kept = _since = 0
    _moved = _begun = False
    _waits_since = 0.0
    _asking: TimerHandle | None = None
    _taking: TimerHandle | None = None
    """What is called when a request, and when whoever takes an answer, may be too slow."""

    def connection_made(self, transport: Transport) -> None:
        """Begin to wait for a request, if there is room."""
        super().connection_made(transport)
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency + MORE:
            transport.close()
            return
        self._waits_since = self.loop.time()
        self._asking = self.loop.call_later(SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        for timer in (self._asking, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Whether a request takes too long to come."""
        now = self.loop.time()
        if self.cycle is not None and not self.cycle.response_complete:
            self._waits_since = now  # the service is at work
        left = self._waits_since + SECONDS - now
        if left > 0:
            self._asking = self.loop.call_later(left, self._look)
        elif self._begun:
            self._refuse(408, "too-slow", "the request came too slowly")
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        """The next request may take its time."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """More waits to be taken than should."""
        super().pause_writing()
        self._taking = self.loop.call_later(SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It was taken."""
        if self._taking is not None:
            self._taking.cancel()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless too much came that completes nothing."""
        self._moved = False
        super().data_received(data)
        self._since = 0 if self._moved else self._since + len(data)
        if self._since > LARGEST_HEADERS:
            self._too_long()

    def on_message_begin(self) -> None:
        """Count anew."""
        self._moved, self._begun, self._kept = True, True, 0
        self._waits_since = self.loop.time()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """The address, or a part of it."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header that is complete."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """What counts as a body is bounded elsewhere."""
        self._moved = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._begun = False
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._moved = True
        self._kept += size
        if self._kept > LARGEST_HEADERS:
            raise _TooLong

    def send_400_response(self, msg: str) -> None:
        """What uvicorn answers to a request that cannot be parsed to its end."""
        if self._kept > LARGEST_HEADERS:
            self._too_long()
        else:
            super().send_400_response(msg)

    def _too_long(self) -> None:
        message = f"the headers of a request have at most {LARGEST_HEADERS:,} bytes in all"
        self._refuse(431, "headers-too-large", message)

    def _refuse(self, status: int, code: str, message: str) -> None:
        if self.transport.is_closing():
            return
        body = failure(status, code, message).body
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\nconnection: close\r\n"
            b"content-length: %d\r\n\r\n%s"
            % (status, HTTPStatus(status).phrase.encode(), len(body), body)
        )
        self.transport.close()
