"""Who may talk to the studio: one browser, that opened the address with the one-time token.

The adversaries are another user of this machine and a web page open in the same browser.

- The server listens on 127.0.0.1. A request must name it so in `Host`: a page that points its own
  name at 127.0.0.1 (DNS rebinding) does not.
- The token in the address is good once. It is exchanged for two keys, and a request for data needs
  both: a cookie (HttpOnly, SameSite=Strict), which no script reads, and a header that the page
  sends from its own tab's storage. A cookie alone would not do: browsers send it to every port of
  127.0.0.1, so another user's server there could collect it. The tab's storage is the port's own.
- A request that changes something must come from this very page (`Origin`).
- Answers forbid the page to load, embed or send to anything else, and are kept in no cache.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEY_HEADER = "x-voile-key"
OPEN_TO_ALL = ("/app/",)
"""Scripts and styles: they are in the package, and hold nobody's data."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
FRAMED_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'; "
    "sandbox allow-scripts allow-downloads"
)
"""Of a report in a frame, whose own policy lets nothing run but scripts of known hashes."""

HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "geolocation=(), camera=(), microphone=()",
}


@dataclass
class Keys:
    """The token of the address, and the keys it is exchanged for; all forgotten at the end."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    header: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    used: bool = False

    @property
    def address(self) -> str:
        """What is opened in the browser, once."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """A name for each port, so that two studios do not overwrite each other's."""
        return f"voile-studio-{self.port}"

    def hosts(self) -> tuple[str, ...]:
        """How this server may be called."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def exchange(self, token: str) -> bool:
        """Whether a token is the right one, and the first time that it is shown."""
        if self.used or not _same(token, self.token):
            return False
        self.used = True
        return True

    def has_cookie(self, headers: Headers) -> bool:
        """Whether a request brings the cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.cookie)

    def set_cookie(self) -> str:
        """The header that gives the cookie to a browser."""
        return f"{self.cookie_name}={self.cookie}; Path=/; HttpOnly; SameSite=Strict"


def _same(given: str, known: str) -> bool:
    """Compared in the same time wherever they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


class Guard:
    """Refuses every request that is not the page's own, before anything else sees it."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why not."""
        if scope.get("type") != "http":
            await self.app(scope, receive, send)
            return
        refused = self.refusal(Headers(scope=scope), scope.get("method", ""), scope.get("path", ""))
        answer = PlainTextResponse(refused, 403) if refused else self.app
        await answer(scope, receive, _with_headers(send))

    def refusal(self, headers: Headers, method: str, path: str) -> str:
        """Why a request is not answered; empty if it is."""
        if headers.get("host", "").lower() not in self.keys.hosts():
            return "this server answers to 127.0.0.1 alone"
        origins = tuple(f"http://{host}" for host in self.keys.hosts())
        origin = headers.get("origin")
        if method not in ("GET", "HEAD") and origin not in origins:
            return "this request must come from the studio's own page"
        if origin is not None and origin not in origins:
            return "another page may not ask"
        if path == "/" or path.startswith(OPEN_TO_ALL):
            return ""
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "another page may not ask"
        if not self.keys.has_cookie(headers):
            return "open the address that `voile studio` printed"
        if path.startswith("/api/") and not _same(headers.get(KEY_HEADER, ""), self.keys.header):
            return "open the address that `voile studio` printed"
        return ""


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sent(message: Message) -> None:
        if message.get("type") == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", POLICY)
        await send(message)

    return sent


def problem(text: str, status: int = 400) -> JSONResponse:
    """What the page shows in the place of an answer."""
    return JSONResponse({"error": text.encode("utf-8", "replace").decode()}, status)
