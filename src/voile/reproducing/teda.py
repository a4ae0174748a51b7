"""TeDA's figures: games over ATIS and SNIPS against word mechanisms and rewriters."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.randomness import seeded_rng
from voile.reproducing.experiment import Row
from voile.text.rewriters import MECHANISMS, Rewriters

FAR = -10_000.0
"""λ of candidates far apart; its opposite makes them alike."""
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
FILE = "teda_figures.jsonl"
MESSAGES = "messages"
"""Texts of ours, made up, where ATIS was not given."""


def cell(section: str, mechanism: str, epsilon: float, **other: Any) -> Row:
    """What is run: a game of `trials` over `pool` texts with k candidates at temperature λ."""
    usual = {"data": "atis", "trials": TRIALS, "pool": 5000, "k": 2, "lambda": FAR}
    return {
        "section": section, "mechanism": mechanism, "epsilon": epsilon, "attack": "embedding",
        **usual, **other,
    }  # fmt: skip


def words(data: str) -> Iterator[Row]:
    """Figure 3, top, for word mechanisms."""
    for name in ("tem", "em", "madlib"):
        for epsilon in WORD_GRID:
            yield cell(f"figure3-{data}", name, epsilon, data=data)


def sets() -> Iterator[Row]:
    """Figure 6: candidates uniform and alike; far apart they stand in the other figures."""
    for name, (epsilons, pool) in VARIED.items():
        for epsilon in epsilons:
            for temperature in (0.0, -FAR):
                yield cell("figure6", name, epsilon, pool=pool, **{"lambda": temperature})


def counts() -> Iterator[Row]:
    """Four candidates for all; eight and sixteen where the paper has them, and for TEM."""
    for name, (epsilons, pool) in VARIED.items():
        for epsilon in epsilons:
            for size in (4, 8, 16) if name in ("tem", "dp-mlm") else (4,):
                yield cell("figure8", name, epsilon, pool=pool, k=size)


def many() -> Iterator[Row]:
    """Figure 5: a hundred times the trials."""
    for epsilon in (1.0, 2.0):
        for trials in (TRIALS, 100 * TRIALS):
            yield cell(
                "figure5", "tem", epsilon, attack="overlap", trials=trials, **{"lambda": 0.0}
            )


def latents() -> Iterator[Row]:
    """Figure 3, bottom: noisy vectors, and the texts written from them."""
    for data in BOTH:
        for name in ("adept", "dp-bart"):
            for fidelity in ("sound", "as_released"):
                for epsilon in GRID:
                    for attack in ("internal", "embedding"):
                        one = {"data": data, "attack": attack, "pool": 500}
                        yield cell("internal", f"{name} ({fidelity})", epsilon, **one)


def neural() -> Iterator[Row]:
    """Token and triple rewriters."""
    for data in BOTH:
        for epsilon in GRID:
            for name in ("dp-prompt", "dp-paraphrase", "dp-mlm"):
                yield cell("rewriters", name, epsilon, data=data, pool=60)
            yield cell("rewriters", "dp-st", epsilon, data=data, pool=300)


def released() -> Iterator[Row]:
    """DP-Paraphrase with its top 50, which is flat: few trials show it."""
    for epsilon in GRID:
        yield cell("rewriters", "dp-paraphrase (as_released)", epsilon, pool=60, trials=600)


def judged() -> Iterator[Row]:
    """Figure 2 in small: the packaged model as judge of TEM."""
    for epsilon in TURN:
        yield cell("figure2", "tem", epsilon, attack="judge", pool=60, trials=300)


SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
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

    def __init__(self, data: Path | None) -> None:
        self.data = data
        self.shops: dict[tuple[str, str], Rewriters] = {}

    def texts(self, data: str) -> list[str]:
        """Distinct texts of a data set, shuffled; messages of ours where none was given."""
        if data == MESSAGES:
            from voile.text.sample_messages import messages

            lines = [message.text for message in messages(2000, seed=0)]
        else:
            assert self.data is not None
            path = self.data / data / "train" / "seq.in"
            lines = path.read_text(encoding="utf-8").splitlines()
        distinct = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return [distinct[i] for i in np.random.default_rng(0).permutation(len(distinct))]

    def shop(self, data: str, fidelity: str) -> Rewriters:
        """Rewriters whose public texts are the last 1,500: no pool of a trained rewriter."""
        from voile.rewriting.workshop import Workshop

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
        """The packaged small model, by its likelihoods."""
        from voile.rewriting.trained_here import PACKAGED
        from voile.text.attacks import judges
        from voile.text.game import Judge

        (made,) = judges(Judge(judge_model=PACKAGED), None, candidates=2)
        return made

    def run(self, todo: Row) -> Row:
        """One game, one attack."""
        from voile.attackers.attribution_embedding import NearestEmbedding, NearestLatent
        from voile.attackers.attribution_surface import Overlap
        from voile.audit.distinguishing import attribute
        from voile.audit.games import plan

        pool = self.texts(todo["data"])[: todo["pool"]]
        name, _, rest = todo["mechanism"].partition(" (")
        fidelity, epsilon = rest.rstrip(")") or "sound", todo["epsilon"]
        which = MECHANISMS.find(NAMES.get(name, name))
        made: Any = self.shop(todo["data"], fidelity).prepare(which, epsilon)
        rewrite: Callable[..., Any] = made.rewrite
        attack: Any = None
        if todo["attack"] == "internal":
            rewrite, attack = made.inside.noisy_latent, NearestLatent(made.inside.latent)
        elif todo["attack"] == "overlap":
            attack = Overlap()
        elif todo["attack"] == "judge":
            attack = self.judge
        else:
            attack = NearestEmbedding(self.encode)
        rng = seeded_rng(0)
        clock, busy = [time.perf_counter()], time.process_time()
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
            "seconds": round(time.process_time() - busy, 2),
            "load": round(os.getloadavg()[0], 1), "note": guessed.note,
        }  # fmt: skip
