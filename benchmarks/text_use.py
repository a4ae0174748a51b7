"""What released text is still good for, and what it still tells: one table over mechanisms.

    python benchmarks/text_use.py run [--only snips] [--rows 2000] [--public 6000] [--leave remap]
                                                                      # appends to text_use.jsonl
    python benchmarks/text_use.py table                               # writes results/text_use.md

Run from the root of a checkout that has shared/data beside it. Each data set is cut in three parts
that share no text: public (for the prior), private (released, and trained on) and test
(originals). `run` skips cells that are there already. A cell:

- words right: places of the private part where the release has the original's word;
- similarity: cosine of sentence vectors (Universal Sentence Encoder) on 200 texts;
- F1 trained: a linear classifier trained on the release, tested on originals;
- F1 read: one trained on public originals, tested on the release;
- reader: words right by the best reader we have, who decodes whole sentences with the public prior
  and the exact law, whatever was handed on (the same for all rows of one ε and law; one draw a
  word and document is a law of its own);
- ε_emp: what the strongest attack shows of one text, candidates of equal length, 600 trials at 1 %;
- document ε: for half of the texts, at most; rows a second of CPU time, prior included.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import voile
from voile.leakage.text_tasks import macro_f1
from voile.leakage.text_utility import similarity, universal_sentence_encoder
from voile.text.tokens import Token, Tokenizer
from voile.text.vocabulary_files import glove

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results"
LINES, TABLE = RESULTS / "text_use.jsonl", RESULTS / "text_use.md"
OTHER = {"snips": "ag news", "ag news": "imdb", "sst-2": "ag news", "imdb": "ag news"}
"""Whose public part is the prior of another domain."""


@dataclass(frozen=True)
class Parts:
    """Three parts of a data set that share no text."""

    public: list[str]
    public_labels: list[str]
    private: list[str]
    labels: list[str]
    tests: list[str]
    test_labels: list[str]


def rows_of(name: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(text, label) of what is released or public, and of the tests."""
    if name == "snips":
        return tuple(_lines(DATA / "snips" / part) for part in ("train", "test"))
    if name == "ag news":
        with (DATA / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
            rows = [(row[2], row[0]) for row in csv.reader(file)]
        return rows[:6000], rows[6000:]
    if name == "sst-2":
        with gzip.open(DATA / "sst2" / "train.tsv.gz", "rt", encoding="utf-8") as file:
            rows = [(r["sentence"], r["label"]) for r in csv.DictReader(file, delimiter="\t")]
        with (DATA / "sst2" / "dev.tsv").open(encoding="utf-8") as file:
            tests = [(r["sentence"], r["label"]) for r in csv.DictReader(file, delimiter="\t")]
        return _sentences(rows), tests
    found = []
    for part in ("train", "test"):
        with gzip.open(DATA / "imdb" / f"{part}.csv.gz", "rt", newline="") as file:
            found.append([(r["text"], r["label"]) for r in csv.DictReader(file)])
    return found[0], found[1]


def _sentences(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The longest phrases that share no six words: SST-2 holds sentences and their parts."""
    kept, seen = [], set[tuple[str, ...]]()
    for text, label in sorted(rows, key=lambda row: -len(row[0])):
        words = text.split()
        runs = {tuple(words[i : i + 6]) for i in range(len(words) - 5)}
        if runs and runs.isdisjoint(seen):
            kept.append((text, label))
            seen |= runs
    return kept


def _lines(folder: Path) -> list[tuple[str, str]]:
    texts, labels = (
        (folder / name).read_text("utf-8").splitlines() for name in ("seq.in", "label")
    )
    return [(a.strip(), b.strip()) for a, b in zip(texts, labels, strict=True) if a.strip()]


def parts_of(name: str, rows: int, public_rows: int) -> Parts:
    """Public and private halves in a fixed random order, at most so many rows of each."""
    given, tests = rows_of(name)
    given = list(dict(given).items())
    order = np.random.default_rng(7).permutation(len(given))
    half = len(order) // 2
    public, private = order[:half][:public_rows], order[half:][:rows]
    chosen = np.random.default_rng(8).permutation(len(tests))[:2000]
    return Parts(
        [given[i][0] for i in public],
        [given[i][1] for i in public],
        [given[i][0] for i in private],
        [given[i][1] for i in private],
        [tests[i][0] for i in chosen],
        [tests[i][1] for i in chosen],
    )


def settings(name: str, parts: Parts, public_rows: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is compared, by the options of `voile text protect`."""
    other = parts_of(OTHER[name], 1, public_rows).public
    yield "as drawn", {}
    yield "remap", {"remap": True}
    yield "remap, public prior", {"remap": True, "public": parts.public}
    yield "restored, reading", {"restore": "reading", "public": parts.public}
    yield "restored, retrieval", {"restore": "retrieval", "public": parts.public}
    yield (
        "restored, other domain",
        {"restore": "reading", "public": other, "misfit": "ignore"},
    )
    yield (
        "restored, other domain noticed",
        {"restore": "reading", "public": other, "misfit": "drawn"},
    )
    yield "one draw a word and document", {"consistent": "document"}
    yield (
        "one draw, restored",
        {"consistent": "document", "restore": "reading", "public": parts.public},
    )
    if name == "ag news":
        yield "names at 0.3 ε, rest in clear", {"tiers": "pii", "alpha": ("0.3", "keep")}


class Measuring:
    """Everything that is measured of a release of one data set."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.tokenizer = Tokenizer(glove(top=50_000))
        self.encode = universal_sentence_encoder()
        self.words = [self._words(text) for text in parts.private]

    def _words(self, text: str) -> list[int]:
        return [p.position for p in self.tokenizer.split(text) if isinstance(p, Token)]

    def words_right(self, released: list[str]) -> float:
        """Places whose word is the original's, where a text has as many words as before."""
        right = total = 0
        for before, text in zip(self.words, released, strict=True):
            after = self._words(text)
            total += len(before)
            if len(after) == len(before):
                right += sum(a == b for a, b in zip(before, after, strict=True))
        return right / total

    def of(self, released: list[str], epsilons: Any) -> dict[str, float]:
        """The columns of the table."""
        parts = self.parts
        return {
            "words right": self.words_right(released),
            "similarity": similarity(parts.private[:200], released[:200], self.encode).value,
            "F1 trained": macro_f1(
                released, parts.labels, tests=parts.tests, test_labels=parts.test_labels
            ),
            "F1 read": macro_f1(
                parts.public, parts.public_labels, tests=released, test_labels=parts.labels
            ),
            "document ε": epsilons,
        }


def empirical(parts: Parts, options: dict[str, Any]) -> float:
    """What the strongest attack shows of one text that is released with these options."""

    def rewrite(texts: list[str]) -> list[str]:
        return protected(list(texts), options, seed=5).data

    found = voile.text.calibrate(
        parts.private[:1000],
        command=rewrite,
        attacks=("tf-idf", "overlap", "shape", "alignment"),
        temperature=0.0,
        trials=600,
        equal_length=True,
    )
    return found.strongest.at_least


def protected(texts: list[str], options: dict[str, Any], seed: int) -> Any:
    return voile.text.protect(texts, seed=seed, **options)


def run(asked: argparse.Namespace) -> None:
    names, rows = asked.only.split(","), asked.rows
    epsilons = [float(e) for e in asked.epsilon.split(",")]
    kept = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    done = {(cell["data"], cell["ε"], cell["release"], cell["rows"]) for cell in kept}
    for name in names:
        parts = parts_of(name, rows, asked.public)
        measuring = Measuring(parts)
        for epsilon in epsilons:
            for called, options in settings(name, parts, asked.public):
                if (name, epsilon, called, rows) in done or called in asked.leave.split(";"):
                    continue
                began = time.process_time()
                release = protected(parts.private, {"epsilon": epsilon, **options}, seed=1)
                took = time.process_time() - began
                released = ["" if text is None else str(text) for text in release.data]
                spent = release.spent[0]
                cell = {
                    "data": name,
                    "ε": epsilon,
                    "release": called,
                    "rows": rows,
                    "public": len(parts.public),
                    **measuring.of(released, spent.median),
                    "rows/s": len(released) / took,
                }
                attacked = ("as drawn", "restored, reading", "one draw a word and document")
                if called in attacked and epsilon in asked.attack:
                    cell["ε_emp"] = empirical(parts, {"epsilon": epsilon, **options})
                with LINES.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(cell, ensure_ascii=False) + "\n")
                print(cell, flush=True)


COLUMNS = (
    "words right", "similarity", "F1 trained", "F1 read", "reader", "ε_emp", "document ε", "rows/s",
)  # fmt: skip


def table() -> None:
    cells = [json.loads(line) for line in LINES.read_text().splitlines()]
    best: dict[tuple[Any, ...], float] = {}
    for cell in cells:
        key = _law(cell)
        best[key] = max(best.get(key, 0.0), cell["words right"])
    for cell in cells:
        if "clear" not in cell["release"]:
            cell["reader"] = best[_law(cell)]
    lines = ["| data | private, public | ε | release | " + " | ".join(COLUMNS) + " |"]
    lines.append("| --- " * (4 + len(COLUMNS)) + "|")
    for cell in cells:
        values = [_told(column, cell.get(column)) for column in COLUMNS]
        start = [
            cell["data"],
            f"{cell['rows']:,}, {cell['public']:,}",
            f"{cell['ε']:g}",
            cell["release"],
        ]
        lines.append("| " + " | ".join([*start, *values]) + " |")
    notes = (
        "`python benchmarks/text_use.py run --rows 300 --public 2000 --attack 99 --epsilon 3,4`, "
        "then `table`; one seed; what a column is stands in the script. A reduced grid: the second "
        "column says how many private and public texts."
    )
    TABLE.write_text(
        f"# What released text is good for\n\n{notes}\n\n" + "\n".join(lines) + "\n", "utf-8"
    )


def _law(cell: dict[str, Any]) -> tuple[Any, ...]:
    return cell["data"], cell["rows"], cell["ε"], cell["release"].startswith("one draw")


def _told(column: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if column in ("document ε", "rows/s") else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--only", default="snips,ag news,sst-2")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--public", type=int, default=6000)
    parser.add_argument("--epsilon", default="2,3,4,6")
    parser.add_argument("--leave", default="", help="releases to leave out, with ; between")
    parser.add_argument("--attack", type=lambda s: [float(e) for e in s.split(",") if e],
                        default=[2.0, 3.0, 4.0, 6.0], help="attack at these ε")  # fmt: skip
    asked = parser.parse_args()
    if asked.what == "table":
        table()
    else:
        run(asked)


if __name__ == "__main__":
    main()
