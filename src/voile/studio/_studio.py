"""`voile studio`: the server of the page, from its start to Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Annotated, Any

from voile.errors import BadFile, needs, require
from voile.options import Option, use_case
from voile.progress import tell_nothing
from voile.report.model import Report
from voile.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class StudioClosed(Result):
    """That the studio was open, and for how long; what was released has reports of its own."""

    seconds: float
    jobs: int

    def _report(self) -> Report:
        whole = round(self.seconds)
        time_open = f"{whole} s" if whole < 90 else f"about {round(whole / 60)} min"
        return Report(
            title="The studio",
            answer=(
                f"The studio is closed: it was open for {time_open}, and "
                f"{self.jobs or 'no'} {'job was' if self.jobs == 1 else 'jobs were'} run in it."
            ),
        )


@use_case("studio")
def studio(
    data: Annotated[
        Path | None, Option("A file to open: CSV, JSONL, Parquet or text.", reads="private")
    ] = None,
    *,
    port: Annotated[int, Option("Of 127.0.0.1; 0 takes a free one.", "Running")] = 0,
    browser: Annotated[bool, Option("Open the page in the browser.", "Running")] = True,
) -> StudioClosed:
    """Choose by eye on a page of your own, which speaks to 127.0.0.1 alone.

    Example: `voile studio reviews.csv`

    The address holds a token that is good once. Previews are drawn with seeds and written
    nowhere; a release is written where you say. Ctrl-C closes it.
    """
    require(0 <= port < 65536, "--port", "between 0 and 65535", port)
    with needs("starlette", extra="web"):
        import uvicorn

        from voile.studio.security import Keys
        from voile.studio.server import Studio, application
    if data is not None:
        _require_there(data)
    begun = time.monotonic()
    ended = _end_in_order()
    with socket.create_server(("127.0.0.1", port)) as listening:
        keys = Keys(listening.getsockname()[1])
        here = Studio(keys, first=None if data is None else str(data))
        config = uvicorn.Config(
            application(here), log_level="critical", access_log=False, server_header=False,
            timeout_graceful_shutdown=2, lifespan="off", timeout_notify=1,
        )  # fmt: skip
        server = uvicorn.Server(config)

        async def look_for_signals() -> None:
            server.should_exit = server.should_exit or bool(ended)

        config.callback_notify = look_for_signals
        tell_nothing()
        sys.stderr.write(f"The studio is open, Ctrl-C closes it:\n\n    {keys.address}\n\n")
        sys.stderr.flush()
        try:
            if browser:
                _show(here.desk.folder, keys.address)
            server.run(sockets=[listening])
            if ended:
                sys.exit(128 + ended[0])
        except KeyboardInterrupt:  # how it is meant to end
            pass
        finally:
            jobs = here.close()
    return StudioClosed(time.monotonic() - begun, jobs)


def _require_there(data: Path) -> None:
    """Say in the terminal, before anything opens, that a file is not there."""
    elsewhere = ":/" in str(data)  # a path has one stroke of a URL's two
    if not elsewhere and not data.exists():
        raise BadFile(f"the file to open must exist, got {data.name!r}; or begin without one")


def _show(folder: Path, address: str) -> None:
    """Open the address by a private file: the words of a command are every local user's to read."""
    from voile.files import write_private

    page = folder / "open.html"
    write_private(
        page,
        f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0;url={escape(address)}"><title>voile studio</title>',
    )
    shown = ("DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in shown):
        webbrowser.open(page.as_uri())


def _end_in_order() -> list[int]:
    """Let signals unwind the stack, so that what was dropped on the page is deleted.

    SIGHUP comes when a terminal closes; where it is ignored (nohup) it stays ignored. What came
    is noted too: while the server starts, an exception may be lost in a callback.
    """
    ended: list[int] = []

    def end(number: int, frame: Any) -> None:
        ended.append(number)
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        return ended
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)  # Windows has fewer
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    return ended
