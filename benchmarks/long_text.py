"""One text of a million words through `text protect --restore`: CPU time and memory by length.

    python benchmarks/long_text.py [--words 250000,1000000]

Run from the root of a checkout that has shared/data beside it. Reviews of IMDB are joined into a
single text, which is drawn and read with 2,000 other reviews as public text, by the command line in
a process of its own. Each length is a line of results/long_text.md; what stands there already is
not run again.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb"
LINES = Path(__file__).parent / "results" / "long_text.jsonl"
LENGTHS, NEAR = (62_500, 250_000, 1_000_000), 2000


def reviews(part: str) -> list[str]:
    with gzip.open(DATA / f"{part}.csv.gz", "rt", newline="", encoding="utf-8") as file:
        return [row["text"] for row in csv.DictReader(file)]


def measured(private: list[str], public: list[str], words: int, *, rows: bool) -> dict[str, float]:
    """CPU seconds, the most memory, and words of the output, of one run of the command."""
    taken: list[str] = []
    for text in private:
        taken.append(text)
        words -= len(text.split())
        if words <= 0:
            break
    with tempfile.TemporaryDirectory() as folder:
        texts = taken if rows else [" ".join(taken)]
        for name, column in (("private", texts), ("public", public)):
            with Path(folder, f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([["text"], *([text] for text in column)])
        command = [sys.executable, "-m", "voile", "text", "protect", "private.csv", "--epsilon",
                   "4", "--restore", "reading", "--public", "public.csv"]  # fmt: skip
        pid = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(pid.pid, 0)
        assert status == 0, "the command failed"
        with Path(folder, "private.protected.csv").open(newline="", encoding="utf-8") as file:
            csv.field_size_limit(2**31 - 1)
            written = sum(len(row["text"].split()) for row in csv.DictReader(file))
        given = sum(len(text.split()) for text in texts)
        assert 0.98 * given < written < 1.02 * given  # placeholders have other lengths
    return {"words": given, "rows": len(texts), "seconds": used.ru_utime + used.ru_stime,
            "megabytes": used.ru_maxrss / 1024}  # fmt: skip


def table() -> None:
    cells = [json.loads(line) for line in LINES.read_text("utf-8").splitlines()]
    left = [f"{n:,}" for n in LENGTHS if all(abs(c["words"] - n) > NEAR for c in cells)]
    lines = [
        "# One very long text",
        "",
        "`python benchmarks/long_text.py`: `voile text protect --epsilon 4 --restore reading "
        "--public …` of reviews joined into one text, or a row each; TEM over 50,000 words of "
        "GloVe 50d, 2,000 public reviews. CPU seconds of the whole command, loading and counting "
        "the public text included, on a machine shared with other work."
        + (f" Not run: {', '.join(left)} words." if left else ""),
        "",
        "| words | rows | CPU s | words a second | most memory, MB |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {cell['words']:,} | {cell['rows']:,} | {cell['seconds']:.0f} | "
        f"{cell['words'] / cell['seconds']:,.0f} | {cell['megabytes']:,.0f} |"
        for cell in cells
    ]
    LINES.with_suffix(".md").write_text("\n".join(lines) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--rows", action="store_true", help="a row a review instead of one text")
    asked = parser.parse_args()
    private, public = reviews("test"), reviews("train")[::12][:2000]
    done = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    for words in map(int, asked.words.split(",")):
        near = [c for c in done if abs(c["words"] - words) < NEAR and (c["rows"] > 1) == asked.rows]
        if not near:
            cell = measured(private, public, words, rows=asked.rows)
            with LINES.open("a", encoding="utf-8") as file:
                file.write(json.dumps(cell) + "\n")
            print(cell, flush=True)
    table()


if __name__ == "__main__":
    main()
