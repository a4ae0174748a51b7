"""Bearer tokens: known by their hashes, each with its rights and its rate.

A token is 256 random bits, so its plain SHA-256 tells nothing of it and nobody finds another that
fits; it is looked up by its hash, and how long that takes depends on the hash alone.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Sequence

from voile.service.config import Token
from voile.service.counting import Shared

PREFIX = "voile_"


def new_token() -> tuple[str, str]:
    """A token, and the hash that goes into the configuration.

    >>> token, digest = new_token()
    >>> digest == token_hash(token), len(digest)
    (True, 64)
    """
    token = PREFIX + secrets.token_urlsafe(32)
    return token, token_hash(token)


def token_hash(token: str) -> str:
    """What the configuration holds of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Doors:
    """Who is let in, and how often: one bucket a token, shared by all workers.

    A bucket holds `burst` records at most and is filled at `records_per_second`; a request takes
    as many as it brings, or is turned away with the seconds after which there is room.
    """

    def __init__(self, tokens: Sequence[Token], shared: Shared) -> None:
        self._tokens = {token.sha256: (place, token) for place, token in enumerate(tokens)}
        self._shared = shared

    def known(self, header: bytes) -> Token | None:
        """The token of an Authorization header."""
        scheme, _, token = header.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        found = self._tokens.get(hashlib.sha256(token.strip()).hexdigest())
        return None if found is None else found[1]

    def wait(self, token: Token, records: int) -> float:
        """0 if so many records may pass now, else the seconds until they may."""
        place, _ = self._tokens[token.sha256]
        with self._shared.buckets.get_lock():
            values = self._shared.buckets.get_obj()
            level, then = values[2 * place], values[2 * place + 1]
            now = time.monotonic()  # of the machine: one clock for all its processes
            level = min(token.burst, level + (now - then) * token.records_per_second)
            enough = records <= level
            values[2 * place] = level - records if enough else level
            values[2 * place + 1] = now
        return 0.0 if enough else max(0.001, (records - level) / token.records_per_second)
