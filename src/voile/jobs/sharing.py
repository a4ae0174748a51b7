"""Jobs whose parts share draws: one key for all of them, and a look at all rows before the first.

A part is drawn wherever there is room, and may be drawn again by a restart. Where rows of several
parts must be drawn alike, all that they share is a key: 256 bits from the operating system, kept in
the job's own folder for its owner alone, in the tasks on their way to the workers, and nowhere
else. It is deleted when the last part is drawn, before the output gets its name: from then on
nobody can repeat a draw, and another job, even of the same file, has another key.

What a person is charged for then depends on rows of other parts: a word is charged for once,
wherever it stands first. So all rows are looked at before the first is drawn, and each person is
charged once, for everything. Whoever's budget does not cover everything gets nothing: were some
rows let through, a word that was charged for with a refused row could be drawn in another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from voile.core.keyed_streams import KEY_BYTES
from voile.errors import CannotWrite
from voile.files.fitting import fitting
from voile.jobs.charging import Charging
from voile.jobs.draw import PartTask
from voile.jobs.engines import Engine
from voile.jobs.records import Batch, Releaser
from voile.ledger import Bill


@runtime_checkable
class SharesDraws(Protocol):
    """Makes releasers whose parts share draws.

    `looking` makes what looks at the parts first, or is None if nobody need. `owed` says what each
    person of all looks is to be charged, and `told` makes the releasers that know the job's key,
    what was seen, and whom the ledger has refused.
    """

    @property
    def looking(self) -> Callable[[], Looking] | None:
        """What looks at the parts first."""
        ...

    def owed(self, looks: Sequence[Any]) -> tuple[Sequence[str], Bill]:
        """Persons, and what each is charged for the whole job."""
        ...

    def told(
        self, key: bytes, looks: Sequence[Any], unpaid: frozenset[str]
    ) -> Callable[[], Releaser]:
        """The maker of the releasers that draw."""
        ...


class Looking(Protocol):
    """Looks at a part and says what there is to know of it; nothing is random."""

    def look(self, batch: Batch) -> Any:
        """What the whole job must know of this part."""
        ...


@dataclass(frozen=True)
class Prepared:
    """Who draws, and what the pieces were when they were looked at, by part."""

    make: Callable[[], Releaser]
    marks: Mapping[int, str] = field(default_factory=dict)

    def held(self, tasks: Iterator[PartTask]) -> Iterator[PartTask]:
        """The same tasks, as long as the file is what it was when it was looked at."""
        for task in tasks:
            if self.marks and self.marks.get(task.part) != task.piece.mark:
                raise CannotWrite(
                    f"{task.piece.name} must not change between two readings, and from line "
                    f"{task.piece.first} on it did; repeat the command when no program writes to it"
                )
            yield task


def prepared(
    maker: Callable[[], Releaser] | SharesDraws,
    tasks: Callable[[], Iterator[PartTask]],
    *,
    key: Callable[[], bytes],
    engine: Engine,
    charging: Charging | None,
    job: str,
) -> Prepared:
    """Look at all parts and charge for them, if the parts share draws; else nothing is to be done.

    Asked again by a restart, the ledger repeats its answer.
    """
    if not isinstance(maker, SharesDraws):
        return Prepared(maker)
    seen: dict[int, tuple[str, Any]] = {}
    if maker.looking is not None:
        for part, mark, look in engine.run(maker.looking, look_at, tasks()):
            seen[part] = (mark, look)
    looks = [seen[part][1] for part in sorted(seen)]
    unpaid: frozenset[str] = frozenset()
    if charging is not None and charging.beforehand:
        persons, bill = maker.owed(looks)
        within = charging.ledger.charge(job, 0, list(persons), bill).within
        unpaid = frozenset(p for p, paid in zip(persons, within.tolist(), strict=True) if not paid)
    marks = {part: mark for part, (mark, _) in seen.items()}
    return Prepared(maker.told(key(), looks, unpaid), marks)


def look_at(looking: Looking, task: PartTask) -> tuple[int, str, Any]:
    """One part's number, the mark of its piece, and what was seen in it."""
    block = task.source.read(task.piece)
    if task.target is not None:
        block = fitting(block, task.source.columns, task.target.name)
    mark = "" if task.target is None else task.piece.mark
    return task.part, mark, looking.look(Batch(task.part, block.rows))


def key_of_seed(seed: int) -> bytes:
    """A repeatable key, for experiments: what is drawn with it must not be released."""
    return hashlib.blake2b(f"seed {seed}".encode(), digest_size=KEY_BYTES).digest()
