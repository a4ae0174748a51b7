"""A program that reads lines and writes lines, as something to audit."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from voile.errors import InvalidInput, require

BATCH = 10_000
"""Texts for which a program has its `timeout`."""


def line_command(command: Sequence[str], *, timeout: float = 3600.0) -> LineCommand:
    """A rewriter that is a program: one text a line in, one release a line out, in order.

    It is started once for all texts, and may take `timeout` seconds for each 10,000 of them.

    >>> import sys
    >>> upper = "import sys; [print(line.strip().upper()) for line in sys.stdin]"
    >>> line_command([sys.executable, "-c", upper])(["to boston", "to denver"])
    ['TO BOSTON', 'TO DENVER']
    """
    require(len(command) >= 1, "command", "a program and its arguments", "nothing")
    return LineCommand(tuple(command), timeout)


@dataclass(frozen=True)
class LineCommand:
    """Runs the program; line breaks inside a text become spaces."""

    command: tuple[str, ...]
    timeout: float

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """One release for each text."""
        return list(self.stream(texts))

    def stream(self, texts: Sequence[str]) -> Iterator[str]:
        """Releases as the program writes them; an error if it fails, is late or loses a line.

        A line counts once its end is written, so that nothing half-written is taken for a
        release when the program is stopped.
        """
        if not texts:
            return
        limit = self.timeout * -(-len(texts) // BATCH)
        process = self._started()
        assert process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            _kill(process)

        watch = threading.Timer(limit, stop)
        feed = threading.Thread(target=_feed, args=(process.stdin, texts), daemon=True)
        count, last = 0, b""
        try:
            watch.start()
            feed.start()
            for line in process.stdout:
                last = b"" if line.endswith(b"\n") else line
                count += 1
                if not last and count <= len(texts):
                    yield self._decoded(line)
            code = process.wait()
        finally:
            watch.cancel()
            if process.poll() is None:
                _kill(process)
                process.wait()
            _RUNNING.discard(process)
            feed.join(timeout=5.0)
            process.stdout.close()
        program = self.command[0]
        if late.is_set():
            raise InvalidInput(
                f"{program} must answer {len(texts)} lines within {limit:g} s; allow more"
            )
        if code:
            # its own error text could quote an input, so only the code is passed on
            raise InvalidInput(f"{program} must exit with 0, got {code}")
        same = count == len(texts)
        require(same, "the lines written", f"as many as read ({len(texts)})", count)
        if last:
            yield self._decoded(last)

    def _started(self) -> subprocess.Popen[bytes]:
        program = self.command[0]
        try:
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=_without_secrets(os.environ),
            )
        except OSError:
            raise InvalidInput(f"command must name a program that exists, got {program}") from None
        _RUNNING.add(process)
        return process

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise InvalidInput(f"{self.command[0]} must write UTF-8, got other bytes") from None


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What a program under audit may know: no key of the judge, no key or password of a ledger."""
    return {
        name: value
        for name, value in environment.items()
        if name == "VOILE_CACHE" or not (name.startswith("VOILE_") or name == "PGPASSWORD")
    }


def _feed(pipe: IO[bytes], texts: Sequence[str]) -> None:
    with suppress(OSError), pipe:  # a program that ends early says so by its code or its lines
        for text in texts:
            line = " ".join(text.split("\n")).replace("\r", " ") + "\n"
            pipe.write(line.encode("utf-8", "replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Stop the program and what it has started, which may hold its output open."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


_RUNNING: set[subprocess.Popen[bytes]] = set()


@atexit.register
def _end_running() -> None:
    """End what a thread that is left behind was still waiting for: it has a session of its own."""
    for process in tuple(_RUNNING):
        _kill(process)
