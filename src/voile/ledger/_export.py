"""All that a ledger holds as a table or as lines, for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TextIO

from voile.errors import CannotWrite
from voile.files import open_private
from voile.files.locations import Overwrite
from voile.ledger._options import Where
from voile.ledger.amounts import shown
from voile.ledger.book import Ledger
from voile.options import Option, use_case
from voile.report.model import Report
from voile.report.result import SILENT, Result


@dataclass(frozen=True, repr=False, eq=False)
class Exported(Result):
    """How much was written, and where; without a file, the text itself."""

    what: str
    lines: int
    out: Path | None
    text: str | None = field(default=None, metadata=SILENT)

    def _report(self) -> Report:
        where = "" if self.out is None else f" to {self.out}"
        return Report(title="A ledger, exported", answer=f"Wrote {self.lines:,} {self.what}{where}")

    def _piped(self) -> str | None:
        return self.text


@use_case("ledger export")
def export(
    ledger: Where,
    *,
    out: Annotated[
        Path | None, Option("Where to write; default: the terminal.", "Output", writes=True)
    ] = None,
    entries: Annotated[
        bool, Option("Every entry as JSON lines, instead of accounts.", "Output")
    ] = False,
    overwrite: Overwrite = False,
) -> Exported:
    """Write all accounts as CSV: keyed hash, rows, spent, left. Needs no key.

    Example: `voile ledger export ledger.db --out accounts.csv`
    """
    what = "entries" if entries else "accounts"
    write = _write_entries if entries else _write_accounts
    with Ledger(str(ledger), None) as opened:
        if out is None:
            text = io.StringIO(newline="")
            lines = write(opened, text)
            return Exported(what, lines, None, text.getvalue())
        try:
            with open_private(out, "w" if overwrite else "x", encoding="utf-8", newline="") as file:
                return Exported(what, write(opened, file), Path(out))
        except FileExistsError:
            raise CannotWrite(
                f"{str(out)!r} exists already; choose another or --overwrite"
            ) from None
        except OSError as problem:
            raise CannotWrite(f"{str(out)!r} cannot be written: {problem.strerror}") from None


def _write_accounts(ledger: Ledger, file: TextIO) -> int:
    """One CSV row a person, by keyed hash; how many there were."""
    terms = ledger.terms()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["person", "rows", "spent", "left"])
    count = 0
    for person, epsilon, _, _, rows in ledger.accounts():
        left = "" if terms is None else shown(terms.left(epsilon))
        writer.writerow([person.hex(), rows, shown(epsilon), left])
        count += 1
    return count


def _write_entries(ledger: Ledger, file: TextIO) -> int:
    """One JSON line an entry; how many there were."""
    count = 0
    for line in _entry_lines(ledger):
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
        count += 1
    return count


def _entry_lines(ledger: Ledger) -> Iterator[dict[str, Any]]:
    for entry in ledger.store.entries():
        table = entry.table().tolist()
        charges = [
            {"person": person.hex(), "spent": shown(amounts[0]), "rows": amounts[3]}
            for person, amounts in zip(entry.hashes(), table, strict=True)
        ]
        yield {
            "number": entry.number,
            "event": entry.event,
            "time": entry.time,
            "job": entry.job,
            "part": entry.part,
            "rows": entry.rows,
            "rows_within": int(entry.decisions().sum()),
            "charges": charges,
            "facts": entry.known(),
            "hash": entry.digest.hex(),
        }
