"""The command line in this process: the exit code, and all that was printed."""

import io
from contextlib import redirect_stderr, redirect_stdout

from voile.cli import main


def voile(*arguments):
    """Run a command; its exit code, and what it wrote to standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code or 0
    return code, out.getvalue(), err.getvalue()
