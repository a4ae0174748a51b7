"""A chat endpoint that a judge asks: one origin, no redirects, bounded in bytes and in time."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from voile.errors import InvalidInput, VoileError, require

Ask = Callable[[Sequence[str]], Iterable[str]]
"""Prompts in, replies out, in order and as they come."""

LARGEST_ANSWER = 2**20
"""Bytes of an answer that are read; an answer to this question is a line."""
PARAMETERS = {"temperature": 0, "max_tokens": 2048}
"""How a model is asked: its likeliest words, the line asked for and some thinking before it."""
_AGAIN = (408, 429)


class EndpointFailed(VoileError):
    """An endpoint did not answer, after all retries."""


def endpoint(
    url: str,
    *,
    model: str,
    key: str | None = None,
    originals_leave_this_machine: bool = False,
    deadline: float = 60.0,
    retries: int = 4,
    parallel: int = 4,
    wait: float = 1.0,
) -> Ask:
    """Ask any OpenAI-compatible chat endpoint; `url` ends where /chat/completions begins.

    A prompt holds original texts, so an address that is not this machine's own needs a word,
    `originals_leave_this_machine`, and https. The key goes to the origin of the URL and nowhere
    else: a redirect is not followed, and no proxy is asked. One try may take `deadline` seconds in
    all, from the first byte sent to the last one read, and answer a mebibyte.

    Temperature 0. A failed or overdue request is tried again after growing waits; when none of the
    retries works the audit stops with one clear error. A redirect, or an answer of 4xx other than
    408 and 429, will not change, so it stops at once.
    """
    address = _address(url)
    own = _is_this_machine(address.host)
    require(own or address.secure, "url", "https:// unless its host is this machine", "http://")
    if not (own or originals_leave_this_machine):
        raise InvalidInput(
            f"asking {address.host} sends original texts to it: they leave this machine; if they "
            "may, say so with --originals-leave-this-machine (in Python "
            "originals_leave_this_machine=True), or ask a model on this machine"
        )
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    headers |= {"Authorization": f"Bearer {_header_safe(key)}"} if key else {}

    def one(text: str) -> str:
        messages = [{"role": "user", "content": text}]
        body = json.dumps({"model": model, "messages": messages, **PARAMETERS}).encode()
        for attempt in range(retries + 1):
            if attempt:
                time.sleep(wait * 2 ** (attempt - 1))
            try:
                return _asked_once(address, body, headers, deadline)
            except _Refused as problem:
                reason = problem.reason
                if problem.final:
                    break
        raise EndpointFailed(
            f"the endpoint {address} must answer, got {reason} after {attempt + 1} tries; "
            "replies so far are kept, run again to continue"
        )

    def ask(prompts: Sequence[str]) -> Iterator[str]:
        with ThreadPoolExecutor(max_workers=parallel) as workers:
            for start in range(0, len(prompts), parallel):
                yield from workers.map(one, prompts[start : start + parallel])

    return ask


@dataclass(frozen=True)
class _Address:
    """Where to ask; shown without its path, which could hold a secret."""

    secure: bool
    host: str
    port: int
    path: str = field(repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"


class _Refused(Exception):
    """One try that failed; `final` if another would fail alike."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.final = reason, final


def _address(url: str) -> _Address:
    """The parts of a URL, checked; no message repeats it, since it may hold a secret."""
    require(url.startswith(("http://", "https://")), "url", "http:// or https://", "another")
    require(url.isascii() and url.isprintable() and " " not in url, "url", "plain ASCII", "other")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("url must have a host and port that can be read") from None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "url must hold no user name or password; give a key in the variable VOILE_JUDGE_KEY"
        )
    require(not (parts.query or parts.fragment), "url", "without ? and #", "one with them")
    require(bool(parts.hostname), "url", "one with a host", "none")
    secure = parts.scheme == "https"
    path = parts.path.rstrip("/") + "/chat/completions"
    return _Address(secure, str(parts.hostname), port or (443 if secure else 80), path)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _header_safe(key: str) -> str:
    key = key.strip()
    plain = key.isascii() and key.isprintable() and " " not in key
    require(plain, "the judge's key", "printable ASCII without spaces", "other characters")
    return key


def _asked_once(address: _Address, body: bytes, headers: dict[str, str], deadline: float) -> str:
    """One request on a connection of its own; every fault of the other side is a `_Refused`."""
    late = threading.Event()
    try:
        with _connected(address, deadline, late) as connection:
            connection.request("POST", address.path, body, headers)
            answer = connection.getresponse()
            _check_status(answer.status)
            if (answer.getheader("Content-Encoding") or "identity").lower() != "identity":
                raise _Refused("an encoded answer, though none was asked for")
            content = answer.read(LARGEST_ANSWER + 1)
            missing = answer.length
    except (OSError, http.client.HTTPException) as problem:
        raise _Refused(_named(problem, late.is_set())) from None
    if late.is_set():  # the guard's stop may also look like the end of the answer
        raise _Refused("no whole answer in time")
    if len(content) > LARGEST_ANSWER:
        raise _Refused(f"an answer of more than {LARGEST_ANSWER:,} bytes")
    if missing:
        raise _Refused("an answer shorter than it says")
    return _message(content)


@contextmanager
def _connected(
    address: _Address, deadline: float, late: threading.Event
) -> Iterator[http.client.HTTPConnection]:
    """A connection that is shut down at the deadline, whatever it is waiting for then.

    A socket's own timeout starts anew with each byte, so a server that drips would outlast it.
    """
    bare = socket.create_connection((address.host, address.port), timeout=deadline)
    guard = socket.socket(fileno=os.dup(bare.fileno()))  # survives TLS, which takes over the other

    def stop() -> None:
        late.set()
        with suppress(OSError):
            guard.shutdown(socket.SHUT_RDWR)

    watch = threading.Timer(deadline, stop)
    watch.daemon = True
    watch.start()
    connection = http.client.HTTPConnection(address.host, address.port, timeout=deadline)
    try:
        connection.sock = bare
        if address.secure:
            trusted = ssl.create_default_context()
            connection.sock = trusted.wrap_socket(bare, server_hostname=address.host)
        yield connection
    finally:
        watch.cancel()
        connection.close()
        bare.close()
        guard.close()


def _check_status(status: int) -> None:
    if 300 <= status < 400:
        raise _Refused(f"status {status}, a redirect, which is not followed", final=True)
    if status != 200:
        again = status in _AGAIN or status >= 500
        raise _Refused(f"status {status}", final=not again)


def _named(problem: Exception, late: bool) -> str:
    """What happened, by its kind: a message of the other side could hold anything."""
    if late or isinstance(problem, TimeoutError):
        return "no whole answer in time"
    return type(problem).__name__


def _message(content: bytes) -> str:
    """The text of a chat completion."""
    try:
        text = json.loads(content.decode("utf-8"))["choices"][0]["message"]["content"]
    except (LookupError, TypeError, ValueError, RecursionError):
        raise _Refused("a reply that is not a chat completion") from None
    if not isinstance(text, str):
        raise _Refused("a reply that is not a chat completion")
    return text
