"""Permanent reports: a person who reports the same again gets the same release, by a secret key.

**What is promised.** The column of a person is drawn once, F_k(person); the report of a person
whose value and label in that column are c is drawn once, F_k(person, column, c), with F the keyed
streams of `core.keyed_streams`. Were F random, all that is ever released of a person would be a
function of as many independent draws of the certified law as the person had different c: ε for each
of these, however often it is reported. For a record that stays as it is that is ε, once and for
all, where fresh draws spend ε each time and an average over them gives the record away. That F may
be taken for random is the assumption of `secure_rng`, made of BLAKE2b too: no draw of voile rests
on less, so a table of what was drawn would promise no more, and would hold persons' reports.

**What is not.** That a report changed shows that the record did. Whoever holds the file repeats the
draws: it is the key of all reports under one law, for its owner alone, and a lost one cannot be
made again. Another recipe or ε is another law, whose reports spend ε anew: the file is of one law
and refuses others.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Indices
from voile.core.keyed_streams import KEY_BYTES, KeyedStreams
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.files.regular import require_private, require_regular
from voile.jobs.guarantee_file import fields_of
from voile.ledger.people import one_spelling
from voile.mechanisms.labels.sampled_column import SampledColumn

FORMAT = "voile-memo/2"
REPEATS = (
    "that a record changed since it was last reported: its report is then drawn anew, and every "
    "value that a person ever had spends ε (a record that stays as it is spends it once)"
)
HOLDER = "whoever holds the memo: it repeats every draw, and must be kept like a password"


@dataclass(frozen=True)
class Memo:
    """The key of one law's reports."""

    key: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """By what a restart knows that it has the same one, which tells nothing of the key."""
        return hashlib.blake2b(key=self.key, person=b"voile memo", digest_size=16).hexdigest()

    def release(self, law: SampledColumn, codes: Indices, persons: Sequence[str]) -> Indices:
        """A row (column, report) for each record: the same for the same person and values."""
        streams = KeyedStreams(self.key)
        columns: dict[str, int] = {}
        reports: dict[tuple[str, int], int] = {}
        drawn = np.empty((len(codes), 2), dtype=np.intp)
        for place, person in enumerate(map(one_spelling, persons)):
            name = person.encode("utf-8", "surrogatepass")
            if person not in columns:
                columns[person] = int(law.column.draw([0], streams.rng(b"column " + name))[0])
            column = columns[person]
            code = int(codes[place, column])
            if (person, code) not in reports:
                of_value = streams.rng(b"report %d %d " % (column, code) + name)
                reports[person, code] = int(law.channels[column].draw([code], of_value)[0])
            drawn[place] = column, reports[person, code]
        return drawn


@dataclass(frozen=True)
class _Body:
    """The fields of a memo's file, as they stand there."""

    format: Any
    law: Any
    key: Any


def memo_at(path: str, *, recipe: str, epsilon: float) -> Memo:
    """The memo in a file, for its owner alone; made if there is none. Refused for another law."""
    law = hashlib.sha256(f"{recipe} {epsilon!r}".encode()).hexdigest()
    place = Path(path)
    try:
        made = asdict(_Body(FORMAT, law, secrets.token_bytes(KEY_BYTES).hex()))
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(made) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        pass
    except OSError as problem:
        raise CannotWrite(f"cannot write --memo: {problem.strerror or problem}") from None
    return _read(place, law)


def _read(place: Path, law: str) -> Memo:
    require_regular(place)
    try:
        require_private(place, "--memo")
        body = fields_of(_Body, json.loads(place.read_text(encoding="utf-8")))
        memo = Memo(bytes.fromhex(body.key))
    except OSError as problem:
        raise InvalidInput(f"cannot read --memo: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise BadFile("--memo must name a file that voile made, and this is another") from None
    if body.format != FORMAT or len(memo.key) != KEY_BYTES:
        raise BadFile("--memo must name a file that voile made, and this is damaged")
    if body.law != law:
        raise InvalidInput(
            "--memo is of releases by another recipe or epsilon: reports by this one spend ε "
            "anew; give the recipe that lies beside the first release (how its codes are grouped "
            "follows from the number of records) and its epsilon, or another file"
        )
    return memo
