"""What must hold of any file: a clean refusal, or a whole release that can be read again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from fuzz.inputs import TOKEN, Made
from releasers import Simple
from voile.errors import VoileError
from voile.files.parts import delimiter_for, part_bytes
from voile.jobs import Batch, OnError, RowProblem, open_source, run_job

ENDINGS = ("csv", "jsonl", "parquet", "txt", "csv.gz")


def marked(batch: Batch) -> dict[str, list[str]]:
    """New text for every row, as of any releaser."""
    return {"text": [f"<{text}>" for text in batch.column("text")]}


def missing(batch: Batch) -> dict[int, RowProblem]:
    """A problem for rows that have no text."""
    texts = batch.column("text")
    problem = RowProblem("the text is missing")
    return {i: problem for i, text in enumerate(texts) if not isinstance(text, str)}


def check_reader(given: Made, folder: Path) -> str:
    """Read, write in its own format, read again: "refused", or "read" with all values equal."""
    path = folder / given.name
    path.write_bytes(given.content)
    try:
        source = open_source(path)
        records = list(source.rows())
        good = [row for _, row in records if not isinstance(row, RowProblem)]
        _quiet(str([r.reason for _, r in records if isinstance(r, RowProblem)]))
        if not good or source.format == "parquet":
            return "read"
        parted = delimiter_for(source, given.name)
        written = part_bytes(good, columns=source.columns, target=given.name, delimiter=parted)
    except VoileError as problem:
        _quiet(str(problem))
        return "refused"
    if source.format == "csv":
        names = [dict(zip(source.columns, source.columns, strict=True))]
        head = part_bytes(names, columns=source.columns, target=given.name, delimiter=parted)
        written = head + written
    path.write_bytes(written)
    again = [row for _, row in open_source(path).rows()]
    assert _equal(again, good), "what was written is not what was read"
    return "read"


def check_job(given: Made, folder: Path, number: int) -> str:
    """A whole job: "refused" with nothing left behind, or "released" row by row."""
    path = folder / given.name
    path.write_bytes(given.content)
    policy = list(OnError)[number % 3]
    out = folder / f"out.{ENDINGS[number % len(ENDINGS)]}"
    try:
        source = open_source(path)
        records = list(source.rows())
        if "text" not in source.columns:
            return "refused"
        report = run_job(
            source, out, Simple(marked, missing), identity={}, on_error=policy,
            batch_rows=1 + number % 4,
        )  # fmt: skip
    except VoileError as problem:
        _quiet(str(problem))
        left = sorted(p.name for p in folder.iterdir())
        assert left == [given.name], f"left behind: {left}"
        return "refused"
    try:
        assert report.rows + report.skipped + report.masked == len(records), "rows were lost"
        found = [row for _, row in open_source(out).rows()]
        assert len(found) == report.rows + report.masked, "the output has other rows than counted"
        if policy is OnError.FAIL:
            kept = [{**row, "text": f"<{row['text']}>"} for _, row in records]  # type: ignore[dict-item]
            same = given.name.split(".")[1] == out.name.split(".")[1]
            assert not same or _equal(found, kept), "other columns changed"
    finally:
        out.unlink()
    return "released"


def _quiet(message: str) -> None:
    assert TOKEN not in message, f"a message repeats a value: {message}"
    assert "\n" not in message, "a message is one line"


def _equal(one: Any, other: Any) -> bool:
    """Equal as JSON is, a number that is none equal to itself."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
