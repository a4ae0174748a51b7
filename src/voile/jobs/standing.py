"""A release that stands ready for records that have not come yet.

A service protects records one by one as they arrive, by what a command would do to a file of them.
So it calls the very use case of the command with `Expected` records in the place of a file: every
option is checked, the mechanism built and certified, the ledger opened and agreed with. Where the
job would begin, what it would run is put down here instead, and the use case returns what it
promises, of no rows so far.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.errors import InvalidInput
from voile.files.columns_in_clear import ColumnsInClear
from voile.files.cutting import Piece
from voile.files.locations import Location
from voile.files.pieces import Block
from voile.files.source import Source
from voile.jobs.charging import Charging
from voile.jobs.job_report import JobReport
from voile.jobs.records import Releaser
from voile.jobs.sharing import SharesDraws
from voile.version import __version__

NOTHING_YET = JobReport("", 0, 0, 0, 0, 0, 0.0)


@dataclass(frozen=True)
class Standing:
    """What a job would run: who draws, what passes in clear, who is charged."""

    make_releaser: Callable[[], Releaser]
    clear: ColumnsInClear
    charging: Charging | None
    identity: Mapping[str, Any]
    """All that decides the draws: options, and the digests of the files that were read."""

    def digest(self, promised: Mapping[str, Any]) -> str:
        """One name for what decides the draws and what is promised for them.

        Equal for two processes exactly if both draw from the same laws by the same version.
        """
        content = {"voile": __version__, "identity": self.identity, "guarantee": promised}
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Expected(Source):
    """Records of which only the names of their fields are known.

    >>> list(Expected(["lat", "lon"]).rows())
    []
    """

    format = "jsonl"
    types = None
    count = None
    name = "the service's records"
    standing: Standing | None = None

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    def stand(
        self,
        make_releaser: Callable[[], Releaser] | SharesDraws,
        *,
        clear: ColumnsInClear,
        charging: Charging | None,
        identity: Mapping[str, Any],
        seed: int | None,
    ) -> None:
        """Put down what a job would run; refused where records cannot be released one by one."""
        if isinstance(make_releaser, SharesDraws) or (charging and charging.beforehand):
            raise InvalidInput(
                "a service releases each record by itself: no draws are shared with records that "
                'come later (consistent = "person" or "file", traces, kept mappings)'
            )
        if seed is not None:
            raise InvalidInput("a service releases, and what a seed draws must not be released")
        self.standing = Standing(make_releaser, clear, charging, identity)

    @property
    def location(self) -> Location:
        """There is no file."""
        raise InvalidInput("the records of a service lie in no file")

    def pieces(self, *, size: int) -> Iterator[Piece]:
        """None yet."""
        return iter(())

    def read(self, piece: Piece) -> Block:
        """Nothing can be read."""
        raise InvalidInput("the records of a service have not come yet")

    def fingerprint(self) -> str:
        """The same whatever comes."""
        return ""

    def size(self) -> int:
        """Without end: what pays for many records is made beforehand."""
        return 2**62

    def where(self, number: int) -> str:
        """A record by its number in the request."""
        return f"record {number}"
