"""Connections on which too little comes, or of which too little is taken, do not stay."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager

import pytest
import uvicorn

from voile.service import headers

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(headers, "SECONDS", 0.2)


async def brief(scope, receive, send):
    """An answer at once, whatever is still to come of the request."""
    length = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def serving(app, **limits):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        options = uvicorn.Config(
            app, http=headers.BoundedConnection, ws="none", lifespan="off", log_config=None,
            access_log=False, timeout_keep_alive=600, **limits,
        )  # fmt: skip
        server = uvicorn.Server(options)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def until_closed(line):
    """What is said until the end."""
    said = b""
    while True:
        try:
            more = line.recv(65536)
        except ConnectionResetError:
            return said
        if not more:
            return said
        said += more


def test_a_connection_on_which_nothing_comes_is_closed():
    with serving(brief) as port, connected(port) as line:
        assert until_closed(line) == b""


@pytest.mark.parametrize("begun", [GET[:-2], GET[:9], POST[:-4]])
def test_half_a_request_is_told_that_it_was_too_slow(begun):
    with serving(brief) as port, connected(port) as line:
        line.sendall(begun)
        assert until_closed(line).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


@pytest.mark.parametrize(("asked", "drop"), [(POST, b"x"), (GET, b"\r\n")])
def test_a_connection_is_not_kept_open_drop_by_drop(asked, drop):
    """By a body that nobody waits for, or by what is no request."""
    with serving(brief) as port, connected(port) as line:
        line.sendall(asked)
        assert line.recv(65536).startswith(b"HTTP/1.1 200 ")
        line.settimeout(0.02)
        for _ in range(3000):  # a minute
            try:
                line.sendall(drop)
                if not line.recv(65536):
                    return
            except TimeoutError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                return
        pytest.fail("it is open still")


def test_a_service_at_work_may_take_its_time_and_the_next_request_too():
    async def slow(scope, receive, send):
        await asyncio.sleep(3 * headers.SECONDS)
        await brief(scope, receive, send)

    with serving(slow) as port, connected(port) as line:
        for _ in range(2):
            line.sendall(GET)
            assert line.recv(65536).endswith(b"ok")


def test_who_takes_nothing_of_an_answer_is_left():
    done = threading.Event()

    async def large(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64):
            body = {"type": "http.response.body", "body": b"x" * 2**20, "more_body": True}
            await send(body)
        done.set()

    with serving(large) as port, connected(port) as line:
        line.sendall(GET)
        assert done.wait(60)


def test_of_too_many_that_only_connect_the_last_are_closed(monkeypatch):
    monkeypatch.setattr(headers, "SECONDS", 600.0)
    monkeypatch.setattr(headers, "MORE", 1)
    with serving(brief, limit_concurrency=2) as port:
        *lines, last = (connected(port) for _ in range(4))
        assert until_closed(last) == b""
        lines[0].sendall(GET)
        assert until_closed(lines[0]).startswith(b"HTTP/1.1 503 "), "beyond the limit"
        for line in (*lines, last):
            line.close()
