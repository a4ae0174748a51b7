"""Requests for `benchmarks/service.py`, made in a process of its own.

    python benchmarks/service_load.py < WHAT.json

Each stream of the JSON names what it asks (`places`, `charged`, `keyed`, `text`, …), and how:
*closed*, as fast as answers come over so many connections; or *open*, at a fixed rate whatever the
server does, over as many connections as that takes. An open stream's times count from the moment at
which a request was due, so that whoever waits behind a slow answer is counted with it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TOKEN = "voile_benchmark"
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def request(route: str, body: Any, key: str = "") -> bytes:
    """A whole request."""
    content = json.dumps(body).encode()
    keyed = f"Idempotency-Key: {key}\r\n" if key else ""
    head = (
        f"POST {route} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {TOKEN}\r\n{keyed}"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def place(number: int, who: str = "") -> dict[str, Any]:
    """Somewhere in a city; of somebody, if a ledger is charged."""
    made = {"lat": 48.80 + number % 97 / 1000, "lon": 2.25 + number % 89 / 1000}
    return {**made, "who": who} if who else made


def maker(kind: str, texts: list[str], start: int) -> Callable[[int], bytes]:
    """From a number to a request."""

    def text(n: int) -> bytes:
        return request("/v1/text", {"record": {"text": texts[n % len(texts)]}})

    def analyzed(n: int) -> bytes:
        return request("/analyze", {"text": texts[n % len(texts)], "language": "en"})

    kinds: dict[str, Callable[[int], bytes]] = {
        "places": lambda n: request("/v1/places", {"record": place(n)}),
        "charged": lambda n: request("/v1/places", {"record": place(n, f"user {n % 10_000}")}),
        "keyed": lambda n: request(
            "/v1/places", {"record": place(start + n, f"person {start + n}")}, f"key {start + n}"
        ),
        "batches": lambda n: request(
            "/v1/places", {"records": [place(100 * n + k) for k in range(100)]}
        ),
        "text": text,
        "analyze": analyzed,
        "raw": lambda n: texts[n].encode(),  # whole requests
    }
    return kinds[kind]


@dataclass
class Stream:
    """What one stream asked and got."""

    make: Callable[[int], bytes]
    port: int
    count: int
    connections: int = 32
    rate: float | None = None
    keep: bool = False
    seconds: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    bodies: dict[int, str] = field(default_factory=dict)
    lost: int = 0

    def told(self, took: float) -> dict[str, Any]:
        """What is said of it."""
        shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "all": 1.0}
        return {
            **{name: quantile(self.seconds, share) for name, share in shares.items()},
            "late": quantile(self.late, 0.99),
            "answered": len(self.seconds),
            "lost": self.lost,
            "statuses": {str(status): n for status, n in self.statuses.items()},
            "took": took,
            "bodies": self.bodies,
        }


def quantile(seconds: list[float], share: float) -> float:
    """Milliseconds that a share of them did not exceed."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class Connection(asyncio.Protocol):
    """One request after the other; told when an answer is whole."""

    def __init__(self, stream: Stream, free: Callable[[Connection], None]) -> None:
        self._stream, self._free = stream, free
        self._left, self._head, self._transport = b"", -1, None
        self._number, self._due, self.gone, self.ends = -1, 0.0, False, False

    def connection_made(self, transport: Any) -> None:
        """As asyncio tells it."""
        self._transport = transport

    def ask(self, number: int, due: float) -> None:
        """Send a request that is due."""
        self._number, self._due = number, due
        assert self._transport is not None
        self._stream.late.append(time.perf_counter() - due)
        self._transport.write(self._stream.make(number))

    def data_received(self, data: bytes) -> None:
        """As asyncio tells it."""
        self._left += data
        end = self._left.find(b"\r\n\r\n")
        if end < 0:
            return
        found = _LENGTH.search(self._left, 0, end)
        whole = end + 4 + (int(found[1]) if found else 0)
        if len(self._left) < whole:
            return
        self.ends = b"connection: close" in self._left[:end].lower()
        stream = self._stream
        stream.seconds.append(time.perf_counter() - self._due)
        stream.statuses[int(self._left[9:12])] += 1
        if stream.keep:
            stream.bodies[self._number] = self._left[end + 4 : whole].decode()
        self._left, self._number = self._left[whole:], -1
        self._free(self)

    def connection_lost(self, problem: Exception | None) -> None:
        """As asyncio tells it."""
        self.gone = True
        if self._number >= 0:
            self._stream.lost += 1
            self._number = -1
            self._free(self)

    def close(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.close()


async def closed(stream: Stream) -> None:
    """As fast as answers come."""
    loop, numbers, done = asyncio.get_running_loop(), iter(range(stream.count)), asyncio.Event()
    open_ones = stream.connections
    waiting: list[asyncio.Task[None]] = []

    async def connected() -> Connection:
        made = await loop.create_connection(
            lambda: Connection(stream, free), "127.0.0.1", stream.port
        )
        return made[1]

    async def another() -> None:
        free(await connected())

    def free(one: Connection) -> None:
        nonlocal open_ones
        if one.ends:  # some servers take one request a connection
            one.close()
            waiting.append(asyncio.create_task(another()))
            return
        number = None if one.gone else next(numbers, None)
        if number is None:
            open_ones -= 1
            one.close()
            if not open_ones:
                done.set()
        else:
            one.ask(number, time.perf_counter())

    made = [await connected() for _ in range(stream.connections)]
    for one in made:
        free(one)
    await done.wait()


async def opened(stream: Stream) -> None:
    """At a fixed rate, whatever the server does."""
    loop, idle = asyncio.get_running_loop(), list[Connection]()
    assert stream.rate is not None
    for _ in range(stream.connections):
        made = await loop.create_connection(
            lambda: Connection(stream, idle.append), "127.0.0.1", stream.port
        )
        idle.append(made[1])
    began = time.perf_counter() + 0.05

    async def one_more(number: int, due: float) -> None:
        try:
            made = await loop.create_connection(
                lambda: Connection(stream, idle.append), "127.0.0.1", stream.port
            )
            made[1].ask(number, due)
        except OSError:
            stream.lost += 1

    more = []
    for number in range(stream.count):
        due = began + number / stream.rate
        wait = due - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        while idle and idle[-1].gone:
            idle.pop()
        if idle:
            idle.pop().ask(number, due)
        else:
            more.append(asyncio.create_task(one_more(number, due)))
    until = time.perf_counter() + 60
    while len(stream.seconds) + stream.lost < stream.count and time.perf_counter() < until:
        await asyncio.sleep(0.01)
    for one in idle:
        one.close()


async def run(streams: list[Stream]) -> list[float]:
    """All streams side by side; how long each took."""

    async def one(stream: Stream) -> float:
        began = time.perf_counter()
        await (closed(stream) if stream.rate is None else opened(stream))
        return time.perf_counter() - began

    return await asyncio.gather(*map(one, streams))


def main() -> None:
    import uvloop

    given = json.load(sys.stdin)
    streams = [
        Stream(maker(one.pop("kind"), one.pop("texts", []), one.pop("start", 0)), **one)
        for one in given
    ]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        took = runner.run(run(streams))
    told = [stream.told(seconds) for stream, seconds in zip(streams, took, strict=True)]
    json.dump({"streams": told, "processor": time.process_time()}, sys.stdout)


if __name__ == "__main__":
    main()
