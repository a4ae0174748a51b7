"""`voile serve` as a process, for the tests that start one."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import time
import urllib.request

import pytest


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """A service in a session of its own, by the file service.toml in a folder."""

    def __init__(self, folder, port, *, certificate=None):
        self.folder, self.port = folder, port
        self.url = f"{'https' if certificate else 'http'}://localhost:{port}"
        self.trusted = ssl.create_default_context(cafile=certificate) if certificate else None
        self.log = (folder / "log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "voile", "serve", "service.toml"],
            cwd=folder, stderr=self.log, stdout=self.log, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + 240  # a vocabulary may be new to this machine
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.get("/readyz")
                return
            except OSError:
                time.sleep(0.05)
        pytest.fail("the service did not start: " + self.logged()[-2000:])

    def get(self, route, *, data=None, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + route, data=data, headers=named)
        with urllib.request.urlopen(request, timeout=30, context=self.trusted) as answer:
            return answer.read()

    def logged(self):
        return (self.folder / "log").read_text()

    def end(self, how):
        os.killpg(self.process.pid, how)
        code = self.process.wait(60)
        self.log.close()
        return code
