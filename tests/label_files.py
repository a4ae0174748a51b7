"""Writing small files for the label tests."""

from __future__ import annotations

import csv
from pathlib import Path


def write_rows(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path
