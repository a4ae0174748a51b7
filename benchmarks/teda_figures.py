"""The figures of TeDA (2603.22968) in shape, on ATIS and SNIPS, with what runs on a CPU.

    python benchmarks/teda_figures.py run                      # everything, hours on two cores
    python benchmarks/teda_figures.py run --only figure3-atis  # one section, see SECTIONS
    python benchmarks/teda_figures.py tables

Run from the root of a checkout that has shared/data beside it. `run` appends one line a cell to
results/teda_figures.jsonl and skips what is there already; `tables` writes results/teda_figures.md
and the charts, with the plain words of results/teda_findings.md. T = 10⁴ but where a rewriter is
too slow for it; every row says its T. Intervals are at 1 % for each cell, as in the paper, so that
the ceiling is its 7.54; `voile text compare` shares the 1 % over a whole table instead. "audit"
seconds are all but the rewriting: drawing the trials, embedding, guessing.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from teda_tables import write_tables

import voile
from voile.audit.empirical import from_rates
from voile.reproducing.teda import BOTH, FILE, SECTIONS, Bench

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
Cell = dict[str, Any]


def auditor() -> Cell:
    """Randomised response with k = 100, ε = 1: audits of 10⁶ trials a side, as LDP-Auditor's."""
    channel = voile.mechanisms.randomised_response([str(i) for i in range(100)], epsilon=1.0)
    values, seconds = [], []
    for seed in range(40):
        rng = voile.seeded_rng(seed)
        began = time.perf_counter()
        hits = [int((channel.draw(np.full(10**6, v), rng) == 0).sum()) for v in (0, 99)]
        values.append(from_rates(hits[0], 10**6, hits[1], 10**6).lower)
        seconds.append(time.perf_counter() - began)
    return {"section": "auditor", "values": values, "seconds": seconds}


def key(row: Cell) -> tuple[Any, ...]:
    names = ("section", "data", "mechanism", "epsilon", "attack", "trials", "pool", "k", "lambda")
    return tuple(row.get(name) for name in names)


def read(path: Path) -> list[Cell]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "tables"))
    parser.add_argument("--only", nargs="*", choices=("auditor", *SECTIONS), default=())
    parser.add_argument("--mechanism", nargs="*", default=())
    parser.add_argument("--data", nargs="*", choices=BOTH, default=())
    parser.add_argument("--epsilon", nargs="*", type=float, default=())
    chosen = parser.parse_args()
    path = RESULTS / FILE
    if chosen.what == "tables":
        write_tables(read(path), RESULTS)
        return
    done = {key(row) for row in read(path)}
    bench = Bench(DATA)

    def keep(row: Cell) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)

    if "auditor" in chosen.only or not chosen.only:
        keep(auditor())
    for name in chosen.only or SECTIONS:
        for todo in SECTIONS[name]() if name in SECTIONS else ():
            wanted = all(
                not choice or todo[field] in choice
                for field, choice in (
                    ("mechanism", chosen.mechanism),
                    ("data", chosen.data),
                    ("epsilon", chosen.epsilon),
                )
            )
            if not wanted or key(todo) in done:
                continue
            keep(bench.run(todo))


if __name__ == "__main__":
    main()
