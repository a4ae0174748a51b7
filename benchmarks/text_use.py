"""What released text is still good for, and what it still tells: one table over mechanisms.

    python benchmarks/text_use.py run [--only snips] [--epsilon 3] [--seconds 500]
    python benchmarks/text_use.py table                               # writes results/text_use.md

Run from the root of a checkout that has shared/data beside it. `run` makes the cells of `PLAN` that
results/text_use.jsonl has not yet, and stops after so many seconds of CPU time: call it again. Each
data set is cut in three parts that share no text: public (for the prior), private (released, and
trained on) and test (originals). A cell:

- words right: places of the private part where the release has the original's word;
- similarity: mean cosine of sentence vectors (Universal Sentence Encoder), first texts;
- F1 trained: a linear classifier trained on the release, tested on originals;
- F1 read: one trained on public originals, tested on the release;
- reader: words right by the best reader we have, who decodes whole sentences with the public prior
  and the exact law, whatever was handed on (the same for all rows of one ε and law; one draw a
  word and document is a law of its own); rewriters write other words, so that none is “right”;
- ε_emp: what the strongest attack that does not know the law shows of one text at 1 %, candidates
  drawn alike; for words, whose number is in clear, of equal length;
- document ε: for half of the texts, at most; rows a second of CPU time, prior included.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import voile
from voile.attackers.sentence_encoder import sentence_encoder
from voile.core.randomness import seeded_rng
from voile.leakage.text_tasks import _fitted, _scored
from voile.leakage.text_utility import similarity, universal_sentence_encoder
from voile.rewriting.workshop import Workshop
from voile.text.tokens import Token, Tokenizer
from voile.text.vocabulary_files import glove

Cell = dict[str, Any]
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results"
LINES, TABLE = RESULTS / "text_use.jsonl", RESULTS / "text_use.md"
OTHER = {"ag news": "imdb"}
"""Whose public part is the prior of another domain; for all others that of AG News."""


@dataclass(frozen=True)
class Sizes:
    """How many private, public and test texts, texts to compare meaning on, trials of attacks."""

    rows: int
    public: int
    tests: int = 2000
    compared: int = 200
    trials: int = 600


PLAN = {
    "snips": Sizes(600, 4000),
    "sst-2": Sizes(300, 3000, tests=1000, compared=100, trials=300),
    "ag news": Sizes(300, 2500, tests=1000, compared=100, trials=300),
    "imdb": Sizes(150, 800, tests=500, compared=40, trials=100),
    "whole imdb": Sizes(12_500, 12_500, tests=12_500, compared=200, trials=100),
}
EPSILONS = (3.0, 4.0, 6.0, 2.0)
ATTACKED = ("as drawn", "restored, reading", "one draw a word and document")
ONLY = {
    "remap": (3.0, 4.0), "remap, public prior": (3.0,), "restored, retrieval": (3.0, 4.0),
    "restored, other domain": (3.0, 4.0), "restored, other domain noticed": (3.0,),
    "one draw, restored": (3.0, 4.0), "names at 0.3 ε, rest in clear": (3.0, 4.0),
}  # fmt: skip
"""Not every way at every ε; a remap has a table of its own for each prior and ε, a minute each."""
REWRITERS = (
    ("dp-prompt", 26.0), ("dp-prompt", 60.0), ("dp-prompt-mixture", 13.0),
    ("dp-prompt-mixture", 15.0), ("dp-prompt-public", 10.0),
)  # fmt: skip
REWRITTEN, WRITTEN = 60, ("snips",)
"""So many texts of these data are rewritten: a model takes a quarter of a second for each."""
WAYS = (
    "as drawn", "remap", "remap, public prior", "restored, reading", "restored, retrieval",
    "restored, other domain", "restored, other domain noticed", "one draw a word and document",
    "one draw, restored",
)  # fmt: skip
READ = ("restored, reading", "one draw, restored")
"""What the best reader of either law would hand on."""
TIERED = "names at 0.3 ε, rest in clear"
LEFT_OUT = {("remap, public prior", name) for name in ("sst-2", "ag news", "imdb")}
WHOLE = {("as drawn", 2.0), ("as drawn", 3.0), ("restored, reading", 3.0), ("as drawn", 4.0)}
"""What is run on as many whole reviews as the paper on TEM has."""


def wanted(name: str, called: str, epsilon: float) -> bool:
    """Whether the plan has this way to release this data at this ε."""
    if name == "whole imdb":
        return (called, epsilon) in WHOLE
    return epsilon in ONLY.get(called, EPSILONS) and (called, name) not in LEFT_OUT


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


def parts_of(name: str, sizes: Sizes) -> Parts:
    """Public and private halves in a fixed random order, at most so many rows of each."""
    given, tests = rows_of(name)
    given = list(dict(given).items())
    order = np.random.default_rng(7).permutation(len(given))
    half = len(order) // 2
    public, private = order[:half][: sizes.public], order[half:][: sizes.rows]
    chosen = np.random.default_rng(8).permutation(len(tests))[: sizes.tests]
    return Parts(
        [given[i][0] for i in public],
        [given[i][1] for i in public],
        [given[i][0] for i in private],
        [given[i][1] for i in private],
        [tests[i][0] for i in chosen],
        [tests[i][1] for i in chosen],
    )


def settings(name: str, parts: Parts) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is compared, by the options of `voile text protect`."""
    foreign = OTHER.get(name, "ag news")
    other = parts_of(foreign, PLAN[foreign]).public
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
        yield TIERED, {"tiers": "pii", "alpha": ("0.3", "keep")}


class Measuring:
    """Everything that is measured of a release of one data set."""

    def __init__(self, parts: Parts, sizes: Sizes) -> None:
        self.parts, self.sizes = parts, sizes
        self.tokenizer = Tokenizer(glove(top=50_000))
        self.encode = universal_sentence_encoder()
        self.reader = _fitted(parts.public, parts.public_labels)

    def _words(self, text: str) -> list[int]:
        return [p.position for p in self.tokenizer.split(text) if isinstance(p, Token)]

    def words_right(self, released: list[str]) -> float:
        """Places whose word is the original's, between the same two blanks.

        A word may be replaced by one that is read as two (“u.s.”); the words beside it still count.
        Where a placeholder stands for several words, texts are aligned instead.
        """
        right = total = 0
        for text, other in zip(self.parts.private, released, strict=True):
            before, after = text.split(), other.split()
            if len(before) != len(after):
                known, read = self._words(text), self._words(other)
                total += len(known)
                alike = SequenceMatcher(None, known, read, autojunk=False)
                right += sum(block.size for block in alike.get_matching_blocks())
                continue
            for one, two in zip(before, after, strict=True):
                known, read = self._words(one), self._words(two)
                total += len(known)
                if len(known) == len(read):
                    right += sum(a == b for a, b in zip(known, read, strict=True))
        return right / total

    def of(self, released: list[str], count: int) -> dict[str, float]:
        """The columns that any release has, of the first `count` texts."""
        parts, some = self.parts, min(count, self.sizes.compared)
        return {
            "similarity": similarity(parts.private[:some], released[:some], self.encode).value,
            "F1 trained": _scored(
                _fitted(released, parts.labels[:count]), parts.tests, parts.test_labels
            ),
            "F1 read": _scored(self.reader, released, parts.labels[:count]),
        }


def empirical(parts: Parts, options: dict[str, Any], trials: int) -> float:
    """What the strongest attack shows of one text that is released with these options."""

    def rewrite(texts: list[str]) -> list[str]:
        return released_with(list(texts), options, seed=5)[0]

    found = voile.text.calibrate(
        parts.private,
        command=rewrite,
        attacks=("tf-idf", "overlap", "shape", "alignment"),
        temperature=0.0,
        trials=trials,
        equal_length=True,
    )
    return found.strongest.at_least


def released_with(texts: list[str], options: dict[str, Any], seed: int) -> tuple[list[str], float]:
    """What is handed on, and the ε of half of the texts."""
    release = voile.text.protect(texts, seed=seed, **options)
    return ["" if text is None else str(text) for text in release.data], release.spent[0].median


_warm: list[bool] = []


def words_cell(measuring: Measuring, called: str, epsilon: float, options: dict[str, Any]) -> Cell:
    """One way to release words."""
    parts, given = measuring.parts, {"epsilon": epsilon, **options}
    if not _warm:  # what is compiled on first use is not timed
        for way in ({}, {"restore": "reading", "public": parts.public[:50], "misfit": "ignore"}):
            released_with(parts.private[:8], {"epsilon": 3.0, **way}, seed=2)
        _warm.append(True)
    began = time.process_time()
    released, spent = released_with(parts.private, given, seed=1)
    took = time.process_time() - began
    cell = {"words right": measuring.words_right(released), **measuring.of(released, len(released))}
    cell |= {"document ε": spent, "rows/s": len(released) / took}
    if called in ATTACKED:
        cell["ε_emp"] = empirical(parts, given, measuring.sizes.trials)
    return cell


def rewritten_cell(measuring: Measuring, workshop: Workshop, called: str, epsilon: float) -> Cell:
    """One rewriter with the packaged model."""
    texts = measuring.parts.private[:REWRITTEN]
    rewriter = workshop.prepare(called, epsilon, encoder=sentence_encoder)
    rewriter.rewrite(texts[:1], seeded_rng(0))
    began = time.process_time()
    released = rewriter.rewrite(texts, seeded_rng(1))
    took = time.process_time() - began
    found = voile.text.calibrate(
        texts, released=released, attacks=("embedding", "tf-idf", "overlap"), temperature=0.0
    )
    return {
        **measuring.of(released, len(released)),
        "document ε": rewriter.text_epsilon(texts),
        "rows/s": len(released) / took,
        "ε_emp": found.strongest.at_least,
    }


def done() -> set[tuple[str, float, str, int]]:
    """The cells that are there, whoever made them."""
    kept = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    return {(cell["data"], cell["ε"], cell["release"], cell["rows"]) for cell in kept}


def run(asked: argparse.Namespace) -> None:
    """Every cell that no line has yet, until the time is over."""
    workshop = Workshop()
    for name in asked.only.split(","):
        sizes = PLAN[name]
        parts = parts_of(name, sizes)
        measuring = Measuring(parts, sizes)
        ways: list[tuple[str, float, int, Callable[[], Cell]]] = []
        for epsilon in map(float, asked.epsilon.split(",")):
            for called, options in settings(name, parts):
                if not wanted(name, called, epsilon):
                    continue
                make = partial(words_cell, measuring, called, epsilon, options)
                ways.append((called, epsilon, len(parts.private), make))
        for called, epsilon in REWRITERS if name in WRITTEN else ():
            make = partial(rewritten_cell, measuring, workshop, called, epsilon)
            ways.append((called, epsilon, REWRITTEN, make))
        for called, epsilon, rows, make in ways:
            if (name, epsilon, called, rows) in done():
                continue
            if time.process_time() > asked.seconds:
                print("the time is over: call it again")
                return
            cell = {"data": name, "ε": epsilon, "release": called, "rows": rows,
                    "public": len(parts.public), **make()}  # fmt: skip
            with LINES.open("a", encoding="utf-8") as file:
                file.write(json.dumps(cell, ensure_ascii=False) + "\n")
            print(f"{time.process_time():.0f} s", cell, flush=True)
    print("all cells are there")


COLUMNS = (
    "words right", "similarity", "F1 trained", "F1 read", "reader", "ε_emp", "document ε", "rows/s",
)  # fmt: skip


def table() -> None:
    """All cells, in the order of the plan."""
    cells = [json.loads(line) for line in LINES.read_text().splitlines()]
    cells.sort(key=lambda cell: (list(PLAN).index(cell["data"]), _written(cell), cell["ε"]))
    best: dict[tuple[Any, ...], float] = {}
    for cell in cells:
        if cell["release"] == TIERED:
            continue
        key = _law(cell)
        best[key] = max(best.get(key, 0.0), cell.get("words right", 0.0))
    read = {_law(cell) for cell in cells if cell["release"] in READ}
    lines = []
    for name, sizes in PLAN.items():
        own = [cell for cell in cells if cell["data"] == name]
        if not own:
            continue
        lines += [
            f"## {name}",
            "",
            f"{own[0]['rows']:,} private texts, {own[0]['public']:,} public ones"
            + (f", {REWRITTEN} rewritten" if name in WRITTEN else "")
            + f", at most {sizes.tests:,} to test on; similarity on "
            f"{sizes.compared}; ε_emp from {sizes.trials} trials, rewriters {REWRITTEN}.",
            "",
            "| ε | release | " + " | ".join(COLUMNS) + " |",
            "| --- " * (2 + len(COLUMNS)) + "|",
        ]
        for cell in own:
            if _law(cell) in read and cell["release"] != TIERED:
                cell["reader"] = best[_law(cell)]
            values = [_told(column, cell.get(column)) for column in COLUMNS]
            lines.append(f"| {cell['ε']:g} | {cell['release']} | " + " | ".join(values) + " |")
        lines.append("")
    made = {(cell["data"], cell["ε"], cell["release"]) for cell in cells}
    missing = [(n, e) for n, e, r in planned() if (n, e, r) not in made]
    counted = ", ".join(f"{n} at ε = {e:g} ({c})" for (n, e), c in Counter(missing).items())
    told = "All cells of the plan are there." if not missing else (
        f"{len(missing)} of the plan's {len(planned())} cells were not run: {counted}."
    )  # fmt: skip
    notes = (
        "`python benchmarks/text_use.py run` (again until all cells are there), then `table`. TEM "
        "over 50,000 words of GloVe 50d, ε of a word; DP-Prompt with the packaged SmolLM2-135M, at "
        "most 24 tokens, ε of a token. One seed. What a column is stands in the head of the "
        "script. CPU time of a machine shared with other work. "
        "Words right count all words, also those outside the vocabulary; a text in which a "
        "placeholder took the place of several words (most whole reviews, some news) is aligned "
        "by its words, which at small shares finds too few: compare ways, and see text_restore.md "
        f"for shares over known words alone. ε_emp from 100, 300 and 600 trials is 2.539, "
        f"3.663 and 4.362 at most. {told}"
    )
    TABLE.write_text(f"# What released text is good for\n\n{notes}\n\n" + "\n".join(lines), "utf-8")


def planned() -> list[tuple[str, float, str]]:
    """Data, ε and release of every cell."""
    found = []
    for name in PLAN:
        names = [*WAYS, *((TIERED,) if name == "ag news" else ())]
        found += [
            (name, epsilon, called)
            for epsilon in EPSILONS
            for called in names
            if wanted(name, called, epsilon)
        ]
        found += [(name, epsilon, called) for called, epsilon in REWRITERS if name in WRITTEN]
    return found


def _written(cell: Cell) -> bool:
    return cell["release"].startswith("dp-")


def _law(cell: dict[str, Any]) -> tuple[Any, ...]:
    return cell["data"], cell["rows"], cell["ε"], cell["release"].startswith("one draw")


def _told(column: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if column in ("document ε", "rows/s") else f"{value:.3f}"


def main() -> None:
    """One of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--only", default=",".join(PLAN))
    parser.add_argument("--epsilon", default=",".join(map(str, EPSILONS)))
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so much CPU time")
    asked = parser.parse_args()
    if asked.what == "table":
        table()
    else:
        run(asked)


if __name__ == "__main__":
    main()
