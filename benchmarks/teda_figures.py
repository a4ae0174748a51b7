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
import os
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from teda_tables import FAR, write_tables

import voile
from voile.attackers.attribution_embedding import NearestEmbedding, NearestLatent
from voile.attackers.attribution_surface import Overlap
from voile.audit.distinguish import attribute
from voile.audit.empirical import from_rates
from voile.audit.games import plan
from voile.rewriting.trained_here import PACKAGED
from voile.rewriting.workshop import Workshop
from voile.text.attacks import judge
from voile.text.rewriters import MECHANISMS, Rewriters

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
GRID = (0.1, 0.5, 1.0, 10.0, 50.0, 100.0, 250.0, 750.0, 1000.0, 2500.0)
"""The paper's epsilons; 2 and 5 are added for word mechanisms, which turn between 1 and 10."""
WORD_GRID = tuple(sorted({*GRID, 2.0, 5.0}))
TURN = (0.5, 1.0, 2.0, 5.0, 10.0)
LATER = (1.0, 10.0, 50.0, 100.0, 250.0, 2500.0)
VARIED = {
    "tem": ((*TURN, 50.0), 5000), "dp-mlm": (LATER, 60), "dp-st": (LATER, 300),
    "adept (sound)": (LATER, 500), "dp-bart (sound)": (LATER, 500),
}  # fmt: skip
"""Mechanisms whose candidate sets are varied: epsilons around their turn, and texts to draw from.

Pools of slow rewriters are small: a text that is met again, and written alike, is read once.
"""
BOTH = ("atis", "snips")
TRIALS = 10_000
NAMES = {"em": "word-exponential"}
"""The paper's names where they are not ours."""
Cell = dict[str, Any]


def cell(section: str, mechanism: str, epsilon: float, **other: Any) -> Cell:
    """What is run: a game of `trials` over `pool` texts with k candidates at temperature λ."""
    usual = {"data": "atis", "trials": TRIALS, "pool": 5000, "k": 2, "lambda": FAR}
    return {
        "section": section, "mechanism": mechanism, "epsilon": epsilon, "attack": "embedding",
        **usual, **other,
    }  # fmt: skip


def words(data: str) -> Iterator[Cell]:
    for name in ("tem", "em", "madlib"):
        for epsilon in WORD_GRID:
            yield cell(f"figure3-{data}", name, epsilon, data=data)


def sets() -> Iterator[Cell]:
    for name, (epsilons, pool) in VARIED.items():
        for epsilon in epsilons:
            for temperature in (0.0, -FAR):
                yield cell("figure6", name, epsilon, pool=pool, **{"lambda": temperature})


def counts() -> Iterator[Cell]:
    """Four candidates for all; eight and sixteen where the paper has them, and for TEM."""
    for name, (epsilons, pool) in VARIED.items():
        for epsilon in epsilons:
            for size in (4, 8, 16) if name in ("tem", "dp-mlm") else (4,):
                yield cell("figure8", name, epsilon, pool=pool, k=size)


def many() -> Iterator[Cell]:
    for epsilon in (1.0, 2.0):
        for trials in (TRIALS, 100 * TRIALS):
            yield cell(
                "figure5", "tem", epsilon, attack="overlap", trials=trials, **{"lambda": 0.0}
            )


def latents() -> Iterator[Cell]:
    for data in BOTH:
        for name in ("adept", "dp-bart"):
            for fidelity in ("sound", "as_released"):
                for epsilon in GRID:
                    for attack in ("internal", "embedding"):
                        one = {"data": data, "attack": attack, "pool": 500}
                        yield cell("internal", f"{name} ({fidelity})", epsilon, **one)


def neural() -> Iterator[Cell]:
    for data in BOTH:
        for epsilon in GRID:
            for name in ("dp-prompt", "dp-paraphrase", "dp-mlm"):
                yield cell("rewriters", name, epsilon, data=data, pool=60)
            yield cell("rewriters", "dp-st", epsilon, data=data, pool=300)


def released() -> Iterator[Cell]:
    """DP-Paraphrase with its top 50, which is flat: few trials show it."""
    for epsilon in GRID:
        yield cell("rewriters", "dp-paraphrase (as_released)", epsilon, pool=60, trials=600)


def judged() -> Iterator[Cell]:
    for epsilon in TURN:
        yield cell("figure2", "tem", epsilon, attack="judge", pool=60, trials=300)


SECTIONS: dict[str, Callable[[], Iterator[Cell]]] = {
    "figure3-atis": lambda: words("atis"),
    "figure6": sets,
    "figure8": counts,
    "figure3-snips": lambda: words("snips"),
    "internal": latents,
    "rewriters": neural,
    "released": released,
    "figure5": many,
    "figure2": judged,
}


class Bench:
    """Data, models that are loaded or trained once, and one way to run a cell."""

    def __init__(self) -> None:
        self.shops: dict[tuple[str, str], Rewriters] = {}

    def texts(self, data: str) -> list[str]:
        """Distinct texts of a data set, shuffled."""
        lines = (DATA / data / "train" / "seq.in").read_text().splitlines()
        distinct = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return [distinct[i] for i in np.random.default_rng(0).permutation(len(distinct))]

    def shop(self, data: str, fidelity: str) -> Rewriters:
        """Rewriters whose public texts are the last 1,500: no pool of a trained rewriter."""
        if (data, fidelity) not in self.shops:
            public = self.texts(data)[-1500:]
            workshop = Workshop({}, public, fidelity, max_new_tokens=16, batch=256)
            shop = self.shops[data, fidelity] = Rewriters(workshop)
            shop.encoder = self.encode
        return self.shops[data, fidelity]

    @cached_property
    def encode(self) -> Any:
        """The sentence encoder of all attacks and candidate sets."""
        return Rewriters().encoder

    @cached_property
    def judge(self) -> Any:
        """The packaged small model, asked in the paper's words."""
        return judge(PACKAGED)

    def run(self, todo: Cell) -> Cell:
        """One game, one attack."""
        pool = self.texts(todo["data"])[: todo["pool"]]
        name, _, rest = todo["mechanism"].partition(" (")
        fidelity, epsilon = rest.rstrip(")") or "sound", todo["epsilon"]
        which = MECHANISMS.find(NAMES.get(name, name))
        made: Any = self.shop(todo["data"], fidelity).prepare(which, epsilon)
        rewrite: Callable[..., Any] = made.rewrite
        attack: Any = NearestEmbedding(self.encode)
        if todo["attack"] == "internal":
            rewrite, attack = made.inside.noisy_latent, NearestLatent(made.inside.latent)
        elif todo["attack"] == "overlap":
            attack = Overlap()
        elif todo["attack"] == "judge":
            attack = self.judge
        rng = voile.seeded_rng(0)
        clock = [time.perf_counter()]
        game = plan(
            pool, trials=todo["trials"], candidates=todo["k"], temperature=todo["lambda"],
            encode=self.encode if todo["lambda"] else None, rng=rng,
        )  # fmt: skip
        clock.append(time.perf_counter())
        released = rewrite(game.sources, rng)
        clock.append(time.perf_counter())
        guessed = attribute(game, released, attack, delta=made.guarantee.delta, rng=rng)
        clock.append(time.perf_counter())
        e, s = guessed.estimate, guessed.symmetric
        return todo | {
            "texts": len(pool), "unit": made.guarantee.granularity, "units": made.units(pool),
            "successes": e.successes,
            "lower": e.lower, "middle": e.middle, "upper": min(e.upper, 1e9), "ceiling": e.ceiling,
            "symmetric_lower": s.lower, "symmetric_upper": min(s.upper, 1e9),
            "symmetric_ceiling": s.ceiling,
            "s_rewriting": round(clock[2] - clock[1], 1),
            "s_audit": round(clock[3] - clock[2] + clock[1] - clock[0], 1),
            "load": round(os.getloadavg()[0], 1), "note": guessed.note,
        }  # fmt: skip


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
    path = RESULTS / "teda_figures.jsonl"
    if chosen.what == "tables":
        write_tables(read(path), RESULTS)
        return
    done = {key(row) for row in read(path)}
    bench = Bench()

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
