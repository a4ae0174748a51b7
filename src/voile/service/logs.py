"""The service's log: one JSON object a line, without bodies, tokens or persons."""

from __future__ import annotations

import json
import logging
import sys

LOG = logging.getLogger("voile.service")


class AsJson(logging.Formatter):
    """One JSON object a line: when, how bad, what."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; uvicorn's own messages hold addresses of clients at most."""
        return json.dumps(
            {
                "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
                "level": record.levelname.lower(),
                "message": record.getMessage(),
            }
        )


def log_to_stderr() -> None:
    """Let the service's lines go to the standard error, and of uvicorn's those that warn."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(AsJson())
    LOG.handlers, LOG.propagate = [handler], False
    LOG.setLevel(logging.INFO)
    below = logging.getLogger("uvicorn")
    below.handlers, below.propagate = [handler], False
    below.setLevel(logging.WARNING)
    # another server of this process, a studio for one, may have silenced it
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
