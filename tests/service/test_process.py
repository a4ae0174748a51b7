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
import urllib.request

import pytest

import voile
from voile.ledger import Ledger, read_key
from voile.service.tokens import token_hash

TOKEN = "a token of this test"
PEOPLE = 200


class Server:
    """`voile serve` in a session of its own."""

    def __init__(self, folder, *, workers=1, loaded=""):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        file = folder / "service.toml"
        file.write_text(
            f"""voile = 1
[server]
port = {self.port}
workers = {workers}
[places]
epsilon = 2.0
person = "who"
ledger = "{folder}/ledger.db"
ledger_key = "{folder}/ledger.db.key"
{loaded}
[[tokens]]
name = "test"
sha256 = "{token_hash(TOKEN)}"
rights = ["places", "metrics"]
records_per_second = 1e6
burst = 1000000
"""
        )
        self.log = (folder / "log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "voile", "serve", str(file)],
            stderr=self.log, stdout=self.log, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.get("/readyz")
                return
            except OSError:
                time.sleep(0.05)
        pytest.fail("the service did not start: " + (folder / "log").read_text()[-2000:])

    def get(self, route):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{route}", headers={"authorization": f"Bearer {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def ask(self, who):
        body = json.dumps({"record": {"lat": 48.8, "lon": 2.3, "who": who}}).encode()
        headers = {"authorization": f"Bearer {TOKEN}", "idempotency-key": f"key of {who}"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/places", data=body, headers=headers
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def end(self, how):
        os.killpg(self.process.pid, how)
        code = self.process.wait(60)
        self.log.close()
        return code


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
    file, url = root / "examples/service/client.py", f"http://127.0.0.1:{server.port}"
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


def test_killed_at_any_moment_answered_is_charged_once_and_answered_again(tmp_path, root):
    voile.ledger.init(tmp_path / "ledger.db", budget=3)  # pays for one release of each, not two
    answered: dict[str, bytes] = {}
    people = [f"person {n}" for n in range(PEOPLE)]
    for count in (3, 70):
        server = Server(tmp_path)
        storm(server, [who for who in people if who not in answered], answered, count)
        with Ledger(str(tmp_path / "ledger.db"), read_key(tmp_path / "ledger.db.key")) as book:
            unpaid = [who for who in answered if book.spent(who) != 2 * 10**9]
            assert not unpaid, "answered without a charge"
    assert 70 <= len(answered) < PEOPLE
    server = Server(tmp_path, workers=2)
    for who in people:
        again = server.ask(who)  # a second charge would be over the budget, and refused
        assert answered.setdefault(who, again) == again
    counted = server.get("/metrics").decode()
    assert f'voile_requests_total{{route="places",status="2xx"}} {PEOPLE}' in counted
    by_the_example(server, root)
    assert server.end(signal.SIGTERM) == 0
    with Ledger(str(tmp_path / "ledger.db"), read_key(tmp_path / "ledger.db.key")) as book:
        assert {book.spent(who) for who in people} == {2 * 10**9}
        assert not voile.ledger.verify(
            tmp_path / "ledger.db", ledger_key=str(tmp_path / "ledger.db.key")
        ).violated
    log = (tmp_path / "log").read_text()
    assert "person" not in log
    assert TOKEN not in log
    assert "Traceback" not in log
    assert "leaked" not in log
    assert "The service has stopped." in log
