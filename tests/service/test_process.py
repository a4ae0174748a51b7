"""Real processes: killed at any moment, stopped in order, several workers."""

from __future__ import annotations

import http.client
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import voile
from voile.ledger import Ledger, read_key
from voile.service.tokens import token_hash

from .servers import Server, free_port

TOKEN = "a token of this test"
PEOPLE = 200


class Service(Server):
    """One that charges for places."""

    def __init__(self, folder, *, workers=1):
        port = free_port()
        (folder / "service.toml").write_text(
            f"""voile = 1
[server]
port = {port}
workers = {workers}
[places]
epsilon = 2.0
person = "who"
ledger = "ledger.db"
ledger_key = "ledger.db.key"
[[tokens]]
name = "test"
sha256 = "{token_hash(TOKEN)}"
rights = ["places", "metrics"]
records_per_second = 1e6
burst = 1000000
"""
        )
        super().__init__(folder, port)

    def ask(self, who):
        body = json.dumps({"record": {"lat": 48.8, "lon": 2.3, "who": who}}).encode()
        keyed = {"authorization": f"Bearer {TOKEN}", "idempotency_key": f"key of {who}"}
        return self.get("/v1/places", data=body, **keyed)


def storm(server, people, answered, count):
    """Ask for everybody from several threads, and kill the server when so many are answered."""

    def one(mine):
        for who in mine:
            try:
                answered.setdefault(who, server.ask(who))
            except (OSError, http.client.HTTPException):  # cut short: no answer
                return

    threads = [threading.Thread(target=one, args=(people[n::6],)) for n in range(6)]
    for thread in threads:
        thread.start()
    while len(answered) < count and any(thread.is_alive() for thread in threads):
        time.sleep(0.001)
    server.end(signal.SIGKILL)
    for thread in threads:
        thread.join()


def by_the_example(server, root):
    """The client of the documentation, as a program and as a class."""
    file, url = root / "examples/service/client.py", server.url
    assert len(file.read_text().splitlines()) <= 60
    record = {"lat": 48.8, "lon": 2.3, "who": "by the example"}
    done = subprocess.run(
        [sys.executable, str(file), url, "places", json.dumps(record)],
        env={**os.environ, "VOILE_TOKEN": TOKEN}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout).keys() == {"lat", "lon"}
    example = runpy.run_path(str(file))
    client = example["Client"](url, TOKEN)
    first, second = client.releases("places", [{**record, "who": "b"}, {**record, "who": ""}])
    assert first.keys() == {"lat", "lon"}
    assert second["error"]["code"] == "bad-record"
    with pytest.raises(example["Refused"], match="over-budget"):
        client.release("places", record)
    with pytest.raises(example["Refused"], match="no-token"):
        example["Client"](url, "wrong").release("places", record)


def raw(server, *parts, reads=True):
    """What is said to bytes that are sent as they are; the connection, if nothing is read."""
    line = socket.create_connection(("127.0.0.1", server.port), 30)
    for part in parts:
        line.sendall(part)
    if not reads:
        return line
    with line:
        return line.recv(65536)


def by_whoever_means_harm(server):
    """Over real connections: huge, slow, half and no HTTP; nobody else notices."""
    head = f"POST /v1/places HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    body = json.dumps({"record": {"lat": 48.8, "lon": 2.3, "who": "secretperson"}}).encode()
    huge = raw(server, head, b"Content-Length: 1000000000\r\n\r\n")
    assert huge.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in huge.lower()
    chunks = [b"%x\r\n%s\r\n" % (size, b" " * size) for size in (*[60_000] * 16, 40_001)]
    endless = raw(server, head, b"Transfer-Encoding: chunked\r\n\r\n", *chunks)
    assert endless.startswith(b"HTTP/1.1 413")
    sized = b"Content-Length: %d\r\n\r\n" % len(body)
    slow = [raw(server, head, sized, body[:-1], reads=False) for _ in range(20)]
    assert json.loads(server.ask("somebody else"))["release"]
    for line in slow:
        line.close()  # they never said all of it
    assert raw(server, b"\x16\x03\x01secretperson\r\n\r\n").startswith(b"HTTP/1.1 400")
    wrong = head.replace(TOKEN.encode(), b"secretperson")
    assert raw(server, wrong, sized, body).startswith(b"HTTP/1.1 401")


def test_killed_at_any_moment_answered_is_charged_once_and_answered_again(tmp_path, root):
    voile.ledger.init(tmp_path / "ledger.db", budget=3)  # pays for one release of each, not two
    answered: dict[str, bytes] = {}
    people = [f"person {n}" for n in range(PEOPLE)]
    for count in (3, 70):
        server = Service(tmp_path)
        storm(server, [who for who in people if who not in answered], answered, count)
        with Ledger(str(tmp_path / "ledger.db"), read_key(tmp_path / "ledger.db.key")) as book:
            unpaid = [who for who in answered if book.spent(who) != 2 * 10**9]
            assert not unpaid, "answered without a charge"
    assert 70 <= len(answered) < PEOPLE
    server = Service(tmp_path, workers=2)
    for who in people:
        again = server.ask(who)  # a second charge would be over the budget, and refused
        assert answered.setdefault(who, again) == again
    counted = server.get("/metrics", authorization=f"Bearer {TOKEN}").decode()
    assert f'voile_requests_total{{route="places",status="2xx"}} {PEOPLE}' in counted
    by_the_example(server, root)
    by_whoever_means_harm(server)
    assert server.end(signal.SIGTERM) == 0
    with Ledger(str(tmp_path / "ledger.db"), read_key(tmp_path / "ledger.db.key")) as book:
        assert {book.spent(who) for who in people} == {2 * 10**9}
        assert book.spent("secretperson") == 0
        assert not voile.ledger.verify(
            tmp_path / "ledger.db", ledger_key=str(tmp_path / "ledger.db.key")
        ).violated
    log = (tmp_path / "log").read_text()
    assert "person" not in log
    assert "Invalid HTTP request" in log
    assert TOKEN not in log
    assert "Traceback" not in log
    assert "leaked" not in log
    assert "The service has stopped." in log


HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
LONG = b"a" * 200_000
ENDLESS = {
    "one header": HEAD + b"X: " + LONG + b"\r\n\r\n",
    "one that does not end": HEAD + b"X: " + LONG * 5,
    "its name": HEAD + LONG * 5,
    "many": HEAD + b"".join(b"x%d: abc\r\n" % n for n in range(20_000)) + b"\r\n",
    "the address": b"GET /" + LONG + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "trailers": b"POST /v1/places HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
    + LONG * 5,
}


def sent(server, content):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
        try:
            for at in range(0, len(content), 10_000):
                line.sendall(content[at : at + 10_000])
        except OSError:
            pass  # it does not listen any more
        try:
            return line.recv(4000)
        except ConnectionResetError:
            return b"closed"


def test_headers_without_end_are_not_kept(tmp_path):
    """Nobody needs a token to send them."""
    voile.ledger.init(tmp_path / "ledger.db", budget=1e6)
    server = Service(tmp_path)
    try:
        for content in ENDLESS.values():
            answer = sent(server, content)
            assert answer == b"closed" or answer.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 401 "))
        fits = HEAD + b"".join(b"x%d: abc\r\n" % n for n in range(2000)) + b"\r\n"
        assert sent(server, fits + fits).startswith(b"HTTP/1.1 200 ")
        assert server.get("/healthz") == b'{"status":"alive"}'
        large = b'{"records":[' + b" " * 500_000 + b"]}"  # no header, and as large as it may be
        keyed = {"authorization": f"Bearer {TOKEN}"}
        assert b"releases" in server.get("/v1/places", data=large, **keyed)
    finally:
        server.end(signal.SIGTERM)
