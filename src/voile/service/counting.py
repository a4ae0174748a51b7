"""Numbers that all workers share: what was counted, and how full the buckets are.

Requests by route and class of status, records that were asked for, commits of the ledger. Records
that are refused, for what they hold or for a budget that is spent, count like those that are
released. Only commits tell something: a group of which no record can be read makes none. No
durations and no sizes, which follow from how long a text is.
"""

from __future__ import annotations

import multiprocessing
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from voile.service.config import Token

ROUTES = ("text", "places", "labels", "chat", "guarantee", "metrics", "health", "openapi", "other")
STATUSES = ("2xx", "4xx", "5xx")
_COUNTS = [
    *(f'voile_requests_total{{route="{r}",status="{s}"}}' for r in ROUTES for s in STATUSES),
    *(f'voile_records_total{{route="{r}"}}' for r in ROUTES[:4]),
    "voile_ledger_commits_total",
    "voile_ledger_failures_total",
]
_PLACES = {name: place for place, name in enumerate(_COUNTS)}
_HELP = {
    "voile_requests_total": "Requests, by route and class of status; 2xx with refused records.",
    "voile_records_total": "Records that were asked for, released or not.",
    "voile_ledger_commits_total": "Durable commits of the ledger, each for many requests.",
    "voile_ledger_failures_total": "Commits that failed: nothing of them was released.",
}


@dataclass(frozen=True)
class Shared:
    """Arrays in memory that workers share; it travels to them when they start."""

    counts: Any
    buckets: Any
    secret: bytes = field(repr=False)
    """Keys the stand-ins of conversations while the service runs, in memory alone."""

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> Shared:
        """Noughts, and buckets that are full."""
        spawned = multiprocessing.get_context("spawn")
        buckets = spawned.Array("d", 2 * len(tokens))
        for place, token in enumerate(tokens):
            buckets[2 * place] = token.burst
        return cls(spawned.Array("q", len(_COUNTS)), buckets, secrets.token_bytes(32))

    def request(self, route: str, status: int) -> None:
        """Count an answer."""
        kind = "2xx" if status < 400 else "4xx" if status < 500 else "5xx"
        self._add(f'voile_requests_total{{route="{route}",status="{kind}"}}', 1)

    def records(self, route: str, count: int) -> None:
        """Count records that were asked for."""
        self._add(f'voile_records_total{{route="{route}"}}', count)

    def commit(self, *, failed: bool = False) -> None:
        """Count a commit."""
        self._add("voile_ledger_failures_total" if failed else "voile_ledger_commits_total", 1)

    def _add(self, name: str, count: int) -> None:
        with self.counts.get_lock():
            self.counts.get_obj()[_PLACES[name]] += count

    def text(self, guarantees: Sequence[tuple[str, str]]) -> str:
        """What Prometheus reads."""
        return "\n".join(self._lines(guarantees)) + "\n"

    def _lines(self, guarantees: Sequence[tuple[str, str]]) -> Iterator[str]:
        told = ""
        for name, value in zip(_COUNTS, list(self.counts), strict=True):
            family = name.partition("{")[0]
            if family != told:
                yield f"# HELP {family} {_HELP[family]}"
                yield f"# TYPE {family} counter"
                told = family
            yield f"{name} {value}"
        yield "# HELP voile_guarantee_info What each route promises, by the name of its guarantee."
        yield "# TYPE voile_guarantee_info gauge"
        for route, name in guarantees:
            yield f'voile_guarantee_info{{route="{route}",guarantee="{name}"}} 1'
