"""Endpoints that misbehave: every one ends in one clean error, soon, and nothing is sent on."""

import gzip
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from voile.attackers import endpoint as room
from voile.attackers.endpoint import EndpointFailed, endpoint
from voile.audit.black_box import line_command
from voile.errors import InvalidInput

KEY = "k-e-y-of-the-judge"


def completion(content="answer: [[1]]"):
    return json.dumps({"choices": [{"message": {"content": content}}]}).encode()


def http(body, *, status="200 OK", headers=(), length=None):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


@contextmanager
def served(answer, *, reads=True):
    """A server on this machine that reads a request and then does what `answer` does."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(10.0)
    done, requests, threads = threading.Event(), [], []

    def one(connection):
        with connection, suppress(OSError):
            connection.settimeout(5.0)
            if reads:
                requests.append(_request(connection))
            answer(connection, done)
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):  # closing with bytes unread would reset the answer
                    pass

    def loop():
        with suppress(OSError):
            while not done.is_set():
                connection, _ = listening.accept()
                threads.append(threading.Thread(target=one, args=(connection,), daemon=True))
                threads[-1].start()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", requests
    finally:
        done.set()
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for running in [thread, *threads]:
            running.join(10.0)


def _request(connection):
    seen = b""
    while b"\r\n\r\n" not in seen:
        seen += connection.recv(65536) or _gone()
    head, _, body = seen.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536) or _gone()
    return head + b"\r\n\r\n" + body


def _gone():
    raise ConnectionError


def sends(content):
    return lambda connection, done: connection.sendall(content)


def drips(first=b""):
    """A byte every hundredth of a second: each read is in time, the whole never is."""

    def answer(connection, done):
        connection.sendall(first)
        while not done.wait(0.01):
            connection.sendall(b"x")

    return answer


def floods(connection, done):
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while not done.is_set():
        connection.sendall(b" " * 65536)


BOMB = gzip.compress(b" " * 10_000_000)
HOSTILE = {
    "empty": (sends(http(b"")), "not a chat completion"),
    "huge": (floods, "an answer of more than 1,048,576 bytes"),
    "dripping body": (drips(http(b"", length=9999)), "no whole answer in time"),
    "dripping headers": (drips(b"HTTP/1.1 200 OK\r\nX: "), "no whole answer in time"),
    "dripping status": (drips(), "no whole answer in time"),
    "continues for ever": (
        lambda c, done: [c.sendall(b"HTTP/1.1 100 Continue\r\n\r\n") for _ in iter(done.is_set, 1)],
        "no whole answer in time",
    ),
    "wrong JSON": (sends(http(b'{"choices": [')), "not a chat completion"),
    "deep JSON": (sends(http(b"[" * 200_000)), "not a chat completion"),
    "long number": (sends(http(b"1" * 20_000)), "not a chat completion"),
    "a list": (sends(http(b"[]")), "not a chat completion"),
    "no choices": (sends(http(b'{"choices": []}')), "not a chat completion"),
    "content null": (sends(http(completion(None))), "not a chat completion"),
    "content a number": (sends(http(completion(1))), "not a chat completion"),
    "status 500": (sends(http(completion(), status="500 No")), "status 500"),
    "redirect": (
        sends(http(completion(), status="302 Found", headers=["Location: http://127.0.0.1:9/"])),
        "status 302, a redirect, which is not followed",
    ),
    "closed": (lambda c, done: None, "RemoteDisconnected"),
    "gzip bomb": (sends(http(BOMB, headers=["Content-Encoding: gzip"])), "an encoded answer"),
    "gzip unsaid": (sends(http(BOMB)), "not a chat completion"),
    "not UTF-8": (sends(http(b"\xff\xfe\xfa" + completion())), "not a chat completion"),
    "UTF-16": (sends(http(completion().decode().encode("utf-16"))), "not a chat completion"),
    "never answers": (lambda c, done: done.wait(10), "no whole answer in time"),
    "too short": (sends(http(completion(), length=9999)), "an answer shorter than it says"),
    "length a word": (sends(http(completion(), length="many")[:-1]), "not a chat completion"),
    "chunked garbage": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + completion()),
        "IncompleteRead",
    ),
    "no HTTP": (sends(b"SSH-2.0-x\r\n\r\n"), "BadStatusLine"),
    "too many headers": (
        sends(http(completion(), headers=[f"X-{n}: y" for n in range(300)])),
        "HTTPException",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_bad_server_is_one_clean_error(kind):
    answer, reason = HOSTILE[kind]
    deadline = (
        0.3 if "in time" in reason else 60.0
    )  # a busy machine must not look like a slow server
    with served(answer) as (url, _):
        ask = endpoint(f"{url}/v1", model="m", key=KEY, deadline=deadline, retries=1, wait=0.0)
        with pytest.raises(EndpointFailed, match=f"must answer, got .*({reason})") as caught:
            list(ask(["the original of a patient"]))
    assert "patient" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_good_answer_by_the_same_road_is_read():
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(completion()), completion())
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for content in (http(completion()), head + chunked):
        with served(sends(content)) as (url, requests):
            found = list(endpoint(url, model="m", key=f"{KEY}\n", deadline=60)(["q"]))
        assert found == ["answer: [[1]]"]
        assert f"Authorization: Bearer {KEY}\r\n".encode() in requests[0]


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_neither_key_nor_text_follows_a_redirect(status):
    with served(sends(http(completion("answer: [[2]]")))) as (elsewhere, heard):
        moved = http(b"", status=f"{status} Moved", headers=[f"Location: {elsewhere}/v1"])
        with served(sends(moved)) as (url, asked):
            ask = endpoint(url, model="m", key=KEY, retries=3, wait=0.0, deadline=60)
            with pytest.raises(
                EndpointFailed, match=f"status {status}, a redirect.* after 1 tries"
            ):
                list(ask(["q"]))
        assert len(asked) == 1
    assert heard == []


def test_originals_leave_only_by_word_and_only_under_tls():
    with pytest.raises(InvalidInput, match="--originals-leave-this-machine"):
        endpoint("https://judge.example/v1", model="m")
    with pytest.raises(InvalidInput, match="https:// unless its host is this machine"):
        endpoint("http://judge.example/v1", model="m", originals_leave_this_machine=True)
    assert endpoint("https://judge.example/v1", model="m", originals_leave_this_machine=True)
    for host in ("127.0.0.1", "localhost", "[::1]", "127.8.9.1:8080"):
        assert endpoint(f"http://{host}/v1", model="m")
    for host in ("127.0.0.1.example", "localhost.example", "2130706433", "0.0.0.0"):
        with pytest.raises(InvalidInput):
            endpoint(f"http://{host}/v1", model="m", originals_leave_this_machine=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:pass-wort@judge.example/v1",
        "https://pass-wort@judge.example/v1",
        "https://judge.example/v1?key=pass-wort",
        "https://judge.example/v1#pass-wort",
        "https://judge.example:pass-wort/v1",
        "https://judge.example:99999/pass-wort",
        "https://[pass-wort/v1",
        "https://judge.example/pass-wort\r\nX: y",
        "https://judge.example/ pass-wort",
        "https:///pass-wort",
        "ftp://pass-wort",
        "pass-wort",
    ],
)
def test_no_error_repeats_a_url(url):
    with pytest.raises(InvalidInput) as caught:
        endpoint(url, model="m", originals_leave_this_machine=True)
    assert "pass-wort" not in str(caught.value)


def test_a_failing_endpoint_is_named_by_its_origin_alone():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ask = endpoint(f"http://127.0.0.1:{port}/pass-wort/v1", model="m", retries=0, deadline=60)
    with pytest.raises(EndpointFailed, match=f"http://127.0.0.1:{port} must answer") as caught:
        list(ask(["q"]))
    assert "pass-wort" not in str(caught.value)


def test_a_key_that_cannot_be_a_header_is_refused_unsaid():
    for key in ("pass\nwort", "pass wört", "pass wort"):
        with pytest.raises(InvalidInput, match="the judge's key must be printable") as caught:
            endpoint("http://127.0.0.1/v1", model="m", key=key)
        assert key not in str(caught.value)


def test_tls_is_checked_and_has_the_same_deadline(monkeypatch):
    monkeypatch.setattr(room, "_is_this_machine", lambda host: False)
    for answer in (drips(), lambda connection, done: done.wait(10)):
        with served(answer, reads=False) as (url, _):
            secure = url.replace("http://", "https://")
            ask = endpoint(
                secure, model="m", originals_leave_this_machine=True, deadline=0.3, retries=0
            )
            with pytest.raises(EndpointFailed, match=r"in time|SSL"):
                list(ask(["q"]))


def test_a_program_under_audit_inherits_no_secret(monkeypatch):
    for name in ("VOILE_JUDGE_KEY", "VOILE_LEDGER_KEY", "VOILE_ANYTHING", "PGPASSWORD"):
        monkeypatch.setenv(name, "pass-wort")
    monkeypatch.setenv("VOILE_CACHE", "a-folder")
    shows = "import os, sys; [print(sorted(os.environ.items())) for line in sys.stdin]"
    seen = line_command([sys.executable, "-c", shows])(["a text"])[0]
    assert "pass-wort" not in seen
    assert "a-folder" in seen
    assert "'PATH'" in seen


def test_the_command_asks_for_the_word(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("text,released\n" + "".join(f"a text {n},another\n" for n in range(4)))
    words = [sys.executable, "-m", "voile", "text", "calibrate", str(file), "--released"]
    words += ["released", "--attacks", "overlap", "--temperature", "0"]
    words += ["--judge-url", "https://judge.example/v1", "--judge-model", "m"]
    found = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ), timeout=120)
    assert found.returncode == 2
    assert "they leave this machine" in found.stderr
    assert "--originals-leave-this-machine" in found.stderr


def test_the_threat_model_states_the_limits_that_hold():
    page = (Path(__file__).parents[2] / "docs/explanation/threat-model.md").read_text("utf-8")
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(endpoint).parameters.items()
    }
    assert room.LARGEST_ANSWER == 2**20
    assert (defaults["deadline"], defaults["retries"]) == (60.0, 4)
    assert "1 MiB, uncompressed; 60 s for one try, connection to last byte; five tries" in page


def test_the_threat_model_states_the_limit_of_a_record():
    from voile.files.lines import LONGEST_RECORD, VARIABLE

    page = (Path(__file__).parents[2] / "docs/explanation/threat-model.md").read_text("utf-8")
    assert LONGEST_RECORD == 16 * 2**20
    assert f"16 MiB; `{VARIABLE}` sets another limit" in page
