"""Names put back into an answer that came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from voile.core.randomness import Generator
from voile.errors import InvalidInput, require
from voile.files.source import open_source
from voile.jobs import Batch, JobReport, Planned, Replaced, release_in_memory, run_job
from voile.jobs.release import output_for
from voile.jobs.settings import Running
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.options import Data, Option, use_case
from voile.report.model import Report
from voile.report.result import SILENT, Result
from voile.text.mapping import Entry, read_mapping, read_mapping_key
from voile.text.options import MappingKey
from voile.text.revealing import Revealer
from voile.text.sharing import owners_of


@dataclass(frozen=True, repr=False, eq=False)
class Revealed(Result):
    """An answer with originals in it: as private as what stand-ins were made for."""

    rows: int
    changed: int
    """How many rows hold something that was put back."""
    things: int
    """How many different stand-ins were found, summed over rows."""
    known: int
    """How many stand-ins the mapping holds."""
    output: str | None = None
    data: Any = field(default=None, metadata=SILENT)

    def _report(self) -> Report:
        return Report(
            title="Names put back",
            answer=f"{self.things:,} stand-ins were put back in {self.changed:,} of {self.rows:,} "
            f"rows; the mapping holds {self.known:,}.",
            notes=(
                *((f"Wrote {Path(self.output).name}, for you alone.",) if self.output else ()),
                "What was put back is as private as the texts that the stand-ins were made for.",
            ),
        )

    def _outputs(self) -> tuple[str, ...]:
        return () if self.output is None else (self.output,)


@use_case("text reveal")
def reveal(
    data: Annotated[
        Data,
        Option("What came back: text, CSV, JSONL, Parquet; a path or a URL.", reads="private"),
    ],
    *,
    mapping: Annotated[Path, Option("The mapping that `text protect --keep-mapping` kept.")],
    mapping_key: MappingKey = None,
    column: Annotated[str, Option("The column that holds the answers.", shown=True)] = "text",
    person: Annotated[
        str | None,
        Option(
            "The column that says to whom a row belongs: put back that person's names alone.",
            shown=True,
        ),
    ] = None,
    most: Annotated[
        int | None,
        Option("Leave a row as it is that holds more different stand-ins than this."),
    ] = None,
    out: Annotated[
        str | None, Option("Output; default FILE.revealed.…", "Output", writes=True)
    ] = None,
    running: Running = Running(),
) -> Revealed:
    """Put names back where their stand-ins came back, in an answer of a language model for one.

    Example: `voile text reveal answer.txt --mapping names.map --mapping-key names.key`

    Only stand-ins that stand in the answer are put back, and the output is for you alone to read.
    """
    require(most is None or most >= 0, "--most", ">= 0", most)
    target = output_for(data, out, overwrite=running.overwrite, made="revealed")
    found = read_mapping(mapping, read_mapping_key(mapping_key))
    source = open_source(data)
    column = source.chosen(column)
    source.must_have(person)
    if person is not None and not any(entry.owner for entry in found.entries):
        raise InvalidInput(
            "--person must go with a mapping that knows persons: of `text protect --consistent "
            "person`"
        )
    make = MakeRevealer(column, person, found.entries, most)
    known = len(found.entries)
    if source.in_memory:
        answer, report = release_in_memory(source, make, on_error=running.policy)
        return _told(report, known, data=answer)
    assert target is not None  # `output_for` named it
    report = run_job(
        source,
        target,
        make,
        identity={
            "task": "text reveal",
            "mapping": found.job,
            "column": column,
            "person": person,
            "most": most,
        },
        engine=running.chosen(),
        batch_rows=running.batch_rows,
        on_error=running.policy,
        overwrite=running.overwrite,
        private=True,
    )
    return _told(report, known, output=target, data=target)


def _told(report: JobReport, known: int, **rest: Any) -> Revealed:
    totals = report.totals
    return Revealed(
        report.rows, int(totals.get("changed", 0)), int(totals.get("things", 0)), known, **rest
    )


@dataclass(frozen=True)
class MakeRevealer:
    """Makes what reveals; it travels to workers with the entries in it."""

    column: str
    person: str | None
    entries: tuple[Entry, ...] = field(repr=False)
    most: int | None = None

    def __call__(self) -> MakeRevealer:
        """The same in every process."""
        return self

    @cached_property
    def _revealers(self) -> Mapping[str, Revealer]:
        """By owner; under the empty name all entries."""
        owned: dict[str, list[Entry]] = {}
        for entry in self.entries:
            owned.setdefault(entry.owner, []).append(entry)
        each = {owner: Revealer(tuple(entries)) for owner, entries in owned.items()}
        return {**each, "": Revealer(self.entries)} if self.person is None else each

    def plan(self, batch: Batch) -> Planned:
        """The texts, and whose each is."""
        texts = list(batch.column(self.column))
        owners = owners_of(batch, self.person)
        return Planned((texts, owners), lambda: Bill.listed([None] * len(texts)))

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """The texts with originals in them; nothing is drawn."""
        texts, owners = planned.secrets
        found = [self._revealed(*row) for row in zip(texts, owners, strict=True)]
        seen = [things for _, things in found]
        counts = {"changed": sum(map(bool, seen)), "things": sum(seen)}
        return Replaced({self.column: [answer for answer, _ in found]}, counts)

    def _revealed(self, text: Any, owner: str | None) -> tuple[Any, int]:
        revealer = None if owner is None else self._revealers.get(owner)
        if revealer is None or not isinstance(text, str):
            return text, 0
        answer, seen = revealer.reveal(text)
        return (text, 0) if self.most is not None and len(seen) > self.most else (answer, len(seen))
