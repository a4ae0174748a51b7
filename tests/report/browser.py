"""A headless Chromium at the end of two pipes: what it logs, loads and draws.

The DevTools protocol over `--remote-debugging-pipe` is JSON with a zero byte between messages, so
no driver is needed beside the browser itself.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


_KEYS = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}


def executable() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


class Browser:
    """One browser, one tab; `problems` and `requests` are of the page opened last."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="voile-browser-")
        here_reads, it_writes = os.pipe()
        it_reads, here_writes = os.pipe()

        def as_three_and_four() -> None:
            first, second = os.dup(it_reads), os.dup(it_writes)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [executable(), *FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=as_three_and_four,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(it_reads)
        os.close(it_writes)
        self.reads, self.writes = here_reads, here_writes
        self.buffer = b""
        self.numbers = itertools.count(1)
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.session: str | None = None
        target = next(
            t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"
        )
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message(60.0)
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def _message(self, seconds: float) -> dict:
        limit = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reads], [], [], max(0.0, limit - time.monotonic()))
            assert ready, "the browser does not answer"
            block = os.read(self.reads, 2**16)
            assert block, "the browser has gone"
            self.buffer += block
        first, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(first)

    def _note(self, event: dict) -> None:
        params, method = event.get("params", {}), event.get("method")
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(json.dumps(params["args"])[:2000])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, page: Path, *, width: int = 1000, height: int = 900, dark: bool = False) -> None:
        """Load a file and wait until its charts are drawn."""
        self.visit(page.resolve().as_uri(), width=width, height=height, dark=dark)

    def visit(self, url: str, *, width: int = 1000, height: int = 900, dark: bool = False) -> None:
        """Go to an address and wait until the page there says that it is ready."""
        self.problems.clear()
        self.requests.clear()
        self.look(width=width, height=height, dark=dark)
        self.call("Page.navigate", url=url)
        self.until("document.documentElement?.dataset.ready === 'yes'")

    def until(self, expression: str) -> None:
        """Wait until something holds in the page."""
        for _ in range(3000):
            if self.ask(expression):
                return
            time.sleep(0.05)
        raise AssertionError(f"it never holds: {expression}; {self.problems}")

    def press(self, key: str) -> None:
        """A key of the keyboard, pressed and let go."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=_KEYS.get(key, 0))  # fmt: skip

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of an element."""
        self.ask(
            f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block:'center'}})"
        )
        box = self.ask(
            f"(() => {{const b = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                      clickCount=1)  # fmt: skip

    def look(self, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Another window width or colour scheme for the page that is open."""
        scheme = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def ask(self, expression: str):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)  # fmt: skip
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path: Path) -> None:
        """The whole page as PNG, for a person to look at."""
        width, height = (
            self.ask(f"document.documentElement.{side}") for side in ("clientWidth", "scrollHeight")
        )
        clip = {"x": 0, "y": 0, "scale": 1, "width": width, "height": height}
        made = self.call(
            "Page.captureScreenshot", captureBeyondViewport=True, format="png", clip=clip
        )
        path.write_bytes(base64.b64decode(made["data"]))

    def paper(self, path: Path) -> None:
        """The page as it prints."""
        made = self.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27,
                         paperHeight=11.69)  # fmt: skip
        path.write_bytes(base64.b64decode(made["data"]))

    def close(self) -> None:
        os.close(self.writes)
        os.close(self.reads)
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
