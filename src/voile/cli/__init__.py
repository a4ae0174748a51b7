"""The command line: parse, call a task, show.

Exit codes: 0 done · 1 an audit found a claim violated, or a ledger was changed ·
2 wrong usage, input or output ·
70 a fault of voile itself · 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``voile``; an error of ours is one line, never a traceback (which could show data)."""
    from voile.cli.app import app
    from voile.errors import VoileError

    try:
        app(None if arguments is None else list(arguments), prog_name="voile")
    except VoileError as problem:
        _fail(f"error: {problem}", 2)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _fail(_interrupted(ended), INTERRUPTED)
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as problem:  # what the system refuses is no fault of ours
        _fail(f"error: the system refused: {problem.strerror or type(problem).__name__}", 2)
    except Exception as fault:
        if os.environ.get("VOILE_DEBUG"):
            raise
        _fail(f"internal error: {type(fault).__name__}; set VOILE_DEBUG=1 for a traceback", 70)


INTERRUPTED = 130


def _interrupted(ended: BaseException) -> str:
    """What an interrupted command says: what its task said, which Typer keeps as a cause."""
    cause: BaseException | None = ended
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return f"interrupted: {cause}" if cause is not None and str(cause) else "interrupted"


def _fail(message: str, code: int) -> None:
    sys.stderr.write(message + "\n")
    sys.exit(code)


__all__ = ["main"]
