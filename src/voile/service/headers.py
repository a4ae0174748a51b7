"""HTTP as uvicorn speaks it by httptools, with a bound on headers, which has none of its own.

Whoever has no token may send headers all the same. Counted are the bytes of the address and the
headers that are complete, trailers among them, and those that came since anything was: more than
`LARGEST_HEADERS` are answered by 431 and the end of the connection.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from voile.service.asking import failure

LARGEST_HEADERS = 32_768


class _TooLong(Exception):
    """Ends the parsing of a request."""


class BoundedHeaders(HttpToolsProtocol):  # type: ignore[misc]
    """One connection."""

    _kept = _since = 0
    _moved = False

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless too much came that completes nothing."""
        self._moved = False
        super().data_received(data)
        self._since = 0 if self._moved else self._since + len(data)
        if self._since > LARGEST_HEADERS and not self.transport.is_closing():
            self._refuse()

    def on_message_begin(self) -> None:
        """Count anew."""
        self._moved, self._kept = True, 0
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

    def _count(self, size: int) -> None:
        self._moved = True
        self._kept += size
        if self._kept > LARGEST_HEADERS:
            raise _TooLong

    def send_400_response(self, msg: str) -> None:
        """What uvicorn answers to a request that cannot be parsed to its end."""
        if self._kept > LARGEST_HEADERS:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _refuse(self) -> None:
        message = f"the headers of a request have at most {LARGEST_HEADERS:,} bytes in all"
        body = failure(431, "headers-too-large", message).body
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
            b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        )
        self.transport.close()
