"""The studio answers its own page in one browser, and nobody else."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

OTHER = "http://evil.example"


def answered(client, **changed):
    return client.send("POST", "/api/desk", "{}", **changed)[0].status


def test_the_page_itself_is_answered(client):
    assert answered(client) == 200
    assert answered(client, sec_fetch_site="same-origin") == 200
    assert answered(client, host=f"localhost:{client.keys.port}") == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"cookie": None},
        {"x_voile_key": None},
        {"x_voile_key": "x" * 43},
        {"x_voile_key": "é"},
        {"origin": None},
        {"origin": OTHER},
        {"origin": "null"},
        {"host": "evil.example"},
        {"host": "127.0.0.1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_whoever_lacks_one_thing_is_refused(client, changed):
    assert answered(client, **changed) == 403


def test_another_user_who_collects_the_cookie_has_not_enough(client):
    """A browser sends a cookie to every port of 127.0.0.1; the header's key stays with the tab."""
    answer, content = client.send("GET", "/", x_voile_key=None)
    assert answer.status == 200
    assert client.keys.header.encode() not in content, "the key is handed over once, for the token"
    assert answered(client, x_voile_key=None) == 403


def test_a_wrong_token_opens_nothing(client):
    for token in ("", "x", client.keys.token[:-1], client.keys.token + "x"):
        answer, content = client.send("GET", f"/?token={token}", cookie=None)
        assert answer.status == 403
        assert "set-cookie" not in answer.headers
        assert b"closed" in content


def test_the_token_is_good_once(client):
    answer, content = client.send("GET", f"/?token={client.keys.token}", cookie=None)
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.keys.header.encode() in content
    again, content = client.send("GET", f"/?token={client.keys.token}", cookie=None)
    assert again.status == 403
    assert client.keys.header.encode() not in content


def test_a_look_at_the_headers_leaves_the_token_good(client):
    answer, _ = client.send("HEAD", f"/?token={client.keys.token}", cookie=None)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert not client.keys.used
    assert client.send("GET", f"/?token={client.keys.token}", cookie=None)[0].status == 200


def test_a_page_of_another_name_gets_nothing(client):
    """DNS rebinding: the name is the attacker's, the address is ours."""
    answer, content = client.send("GET", f"/?token={client.keys.token}", host="evil.example:80")
    assert answer.status == 403
    assert client.keys.header.encode() not in content
    assert not client.keys.used


@pytest.mark.parametrize("path", ["/", "/app/app.js", "/api/nothing", "/report/none", "/nowhere"])
def test_every_answer_forbids_what_is_beyond(client, path):
    answer, _ = client.send("GET", path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("name", ["../server.py", "..%2fserver.py", "%2e%2e/desk.py", "none.js"])
def test_only_the_files_of_the_page_are_served(client, name):
    answer, content = client.send("GET", f"/app/{name}")
    assert answer.status in (403, 404)
    assert b"import" not in content


@pytest.mark.parametrize(
    "body", ["", "[]", "nonsense", '{"path": 3}', '{"pith": "a"}', "x" * 2**21, "[" * 100_000]
)
def test_a_wrong_question_is_refused_in_a_sentence(client, body):
    answer, content = client.send("POST", "/api/open", body)
    assert answer.status == 400
    assert "error" in json.loads(content)
    assert b"Traceback" not in content


def test_an_error_says_no_more_than_its_kind(client, monkeypatch):
    from voile.studio import server

    def broken(studio):
        raise RuntimeError("a secret of Alice")

    monkeypatch.setattr(server, "_desk", broken)
    answer, content = client.send("POST", "/api/desk", "{}")
    assert answer.status == 500
    assert json.loads(content) == {"error": "internal error: RuntimeError"}


def _listens_to_signals():
    """A suite started in the background ignores some signals, and so would all that it starts."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def test_the_command_prints_its_address_closes_on_a_signal_and_leaves_nothing(tmp_path):
    """As a user starts it: signals, a closed terminal's too, and Ctrl-C end it in order."""
    ends = ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131), (signal.SIGINT, 0))
    for number, code in ends:
        process = subprocess.Popen(
            [sys.executable, "-m", "voile", "studio", "--no-browser"],
            env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=_listens_to_signals,
        )  # fmt: skip
        line = ""
        while "token=" not in line:
            line = process.stderr.readline()
            assert line or process.poll() is None, "it ended before it was open"
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        time.sleep(0.5)  # until it listens to signals
        process.send_signal(number)
        said, _ = process.communicate(timeout=120)
        assert process.returncode == code
        assert not list(tmp_path.iterdir())
        assert code or "no jobs were run" in said


def test_it_listens_on_the_loopback_alone(house):
    tables = Path("/proc/net/tcp")
    if not tables.exists():
        pytest.skip("needs /proc")
    port = f":{house.keys.port:04X}"
    found = [line.split()[1] for line in tables.read_text().splitlines() if port in line]
    assert f"0100007F{port}" in found
    assert f"00000000{port}" not in found
