"""What separates the values of a CSV file: a comma, or what its line of names and records say."""

from __future__ import annotations

import csv
import io
from typing import IO

from voile.files.cutting import csv_reader
from voile.files.formats import format_of
from voile.files.lines import Lines

COMMA, TAB = ",", "\t"
_OTHERS = (";", TAB, "|")
_SAMPLE_LINES, _SAMPLE_BYTES = 100, 2**20


def delimiter_of(file: IO[bytes], name: str) -> str:
    """A tab for a .tsv file; else the comma, unless the line of names and the records say another.

    Another sign must part the line of names, and every record into as many values: semicolons in
    texts do not do that. Where the comma parts all of them alike it is the comma.
    """
    if format_of(name).ending == "tsv":
        return TAB
    sample = _sample(Lines(file, name))
    width, misfits, count = _parted(sample, COMMA)
    if width > 1 and not misfits:
        return COMMA
    # With a comma in the line of names any doubt speaks for it; without one, bad rows may be bad.
    allowed = count // 2 if width <= 1 else 0
    fitting = [
        (found[0], other)
        for other in _OTHERS
        if (found := _parted(sample, other))[0] > 1 and found[1] <= allowed
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else COMMA


def _sample(lines: Lines) -> str:
    """The first lines; one sign a byte, as only plain ones matter here."""
    taken: list[bytes] = []
    size = 0
    while len(taken) < _SAMPLE_LINES and size < _SAMPLE_BYTES and (line := lines.take(1)):
        taken.append(line)
        size += len(line)
    return b"".join(taken).removeprefix(b"\xef\xbb\xbf").decode("latin-1")


def _parted(sample: str, delimiter: str) -> tuple[int, int, int]:
    """Into how many values a sign parts the line of names; misfits among the records; all records.

    The last record may be cut off by the sample's end and does not count if it cannot be read.
    """
    widths: list[int] = []
    misread = 0
    try:
        widths.extend(
            len(record) for record in csv_reader(io.StringIO(sample), delimiter) if record
        )
    except csv.Error as problem:
        misread = 0 if "end of data" in str(problem) else len(sample)
    if not widths:
        return 0, misread, 0
    return widths[0], misread + sum(w != widths[0] for w in widths[1:]), len(widths) - 1
