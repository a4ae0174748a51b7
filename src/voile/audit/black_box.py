"""A program that reads lines and writes lines, as something to audit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from voile.errors import InvalidInput, require


def line_command(
    command: Sequence[str], *, timeout: float = 3600.0, batch: int = 10_000
) -> LineCommand:
    """A rewriter that is a program: one text a line in, one release a line out, in order.

    >>> import sys
    >>> upper = "import sys; [print(line.strip().upper()) for line in sys.stdin]"
    >>> line_command([sys.executable, "-c", upper])(["to boston", "to denver"])
    ['TO BOSTON', 'TO DENVER']
    """
    require(len(command) >= 1, "command", "a program and its arguments", "nothing")
    return LineCommand(tuple(command), timeout, batch)


class LineCommand:
    """Runs the program once for each batch; line breaks inside a text become spaces."""

    def __init__(self, command: tuple[str, ...], timeout: float, batch: int) -> None:
        self.command, self.timeout, self.batch = command, timeout, batch

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """One release for each text; an error if the program fails or loses a line."""
        released: list[str] = []
        for start in range(0, len(texts), self.batch):
            released += self._run(texts[start : start + self.batch])
        return released

    def _run(self, texts: Sequence[str]) -> list[str]:
        lines = "".join(" ".join(text.split("\n")).replace("\r", " ") + "\n" for text in texts)
        program = self.command[0]
        try:
            done = subprocess.run(
                self.command,
                input=lines,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=self.timeout,
            )
        except FileNotFoundError:
            raise InvalidInput(f"command must name a program that exists, got {program}") from None
        except subprocess.TimeoutExpired:
            raise InvalidInput(
                f"{program} must answer {len(texts)} lines within {self.timeout:g} s; allow more"
            ) from None
        if done.returncode:
            # its own error text could quote an input, so only the code is passed on
            raise InvalidInput(f"{program} must exit with 0, got {done.returncode}")
        answer = done.stdout.split("\n")
        answer = answer[:-1] if answer and answer[-1] == "" else answer
        same = len(answer) == len(texts)
        require(same, "the lines written", f"as many as read ({len(texts)})", len(answer))
        return answer
