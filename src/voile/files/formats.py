"""What a file's name says: its format, and how it is packed."""

from __future__ import annotations

from typing import NamedTuple

from voile.errors import InvalidInput

_NAMES = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "txt": "txt"}


class Format(NamedTuple):
    """A file's format, and whether it is gzipped."""

    kind: str
    zipped: bool


def format_of(name: str) -> Format:
    """The format that a file name says, and whether it is gzipped."""
    suffixes = [suffix.lower() for suffix in name.split(".")[1:]]
    zipped = bool(suffixes) and suffixes[-1] == "gz"
    last = suffixes[-2:-1] if zipped else suffixes[-1:]
    if not last or last[0] not in _NAMES or (zipped and last[0] == "parquet"):
        raise InvalidInput(
            f"a file must end in .csv, .jsonl, .txt (each also with .gz) or .parquet, got "
            f"{name!r}; rename it or convert it"
        )
    return Format(_NAMES[last[0]], zipped)
