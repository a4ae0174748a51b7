"""A studio at work in this process, and questions to it as a browser would put them."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import contextmanager

import uvicorn

from voile.studio.security import KEY_HEADER, Keys
from voile.studio.server import Studio, application


@contextmanager
def studio_open(first=None):
    """A studio on a free port, in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        studio = Studio(Keys(listening.getsockname()[1]), first=first and str(first))
        config = uvicorn.Config(
            application(studio), log_level="critical", access_log=False, lifespan="off",
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield studio
        finally:
            server.should_exit = True
            thread.join(10)
            studio.close()


class Client:
    """Whoever has the keys; single headers can be changed or left out."""

    def __init__(self, studio):
        self.keys = studio.keys
        self.headers = {
            "host": f"127.0.0.1:{self.keys.port}",
            "origin": f"http://127.0.0.1:{self.keys.port}",
            "cookie": f"{self.keys.cookie_name}={self.keys.cookie}",
            KEY_HEADER: self.keys.header,
            "content-type": "application/json",
        }

    def send(self, method, path, body=None, **changed):
        headers = self.headers | {k.replace("_", "-"): v for k, v in changed.items()}
        headers = {name: value for name, value in headers.items() if value is not None}
        line = http.client.HTTPConnection("127.0.0.1", self.keys.port, timeout=60)
        line.request(method, path, body=body, headers=headers)
        answer = line.getresponse()
        content = answer.read()
        line.close()
        return answer, content

    def ask(self, name, body=None, status=200):
        answer, content = self.send("POST", f"/api/{name}", json.dumps(body or {}))
        assert answer.status == status, content
        return json.loads(content)


def to(page, screen):
    """Go to a screen of the page, and wait until it is there."""
    page.click(f'nav a[data-screen="{screen}"]')
    page.until(
        f"!!document.querySelector('nav a[data-screen={screen}][aria-current]') "
        "&& document.documentElement.dataset.ready === 'yes'"
    )
