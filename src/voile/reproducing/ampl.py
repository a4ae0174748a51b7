"""AmPL on documents: strengths chosen on some, and what attackers find in others at them.

A cell is what each method chooses on the documents of the search, or what an attacker finds on a
block of documents that nothing was chosen on. Methods share documents and random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from voile.adapt.ampl import Measured, Trial
from voile.adapt.joint import capped
from voile.adapt.levels import Levels, adapt, meets, together
from voile.errors import InvalidInput
from voile.leakage.bounds import chernoff_interval
from voile.reproducing.ampl_documents import DATASETS, MESSAGES, PAPER, SMALL, World
from voile.reproducing.experiment import Row, Work

FILE = "ampl_cells.jsonl"
EPSILONS = (0.5, 1.5, 3.0)
NETWORKS = ("rnn", "lstm", "transformer", "minilm")
PAPERS = ("EM", "AmPL-U", "AmPL-I", "AmPL")
"""The methods of the paper; others are of ours."""
METHODS = (*PAPERS, "even", "even at AmPL's loss", "capped", "nothing")
BLIND = "releases that carry nothing"
DELTA = 0.01
"""The share of documents with a violation that a search aims at."""
QUANTILES = (0.5, 0.9, 0.99, 0.999)
NO_STRENGTH = 1e-5
PLAIN = (1.0, 1.0)
SEARCHES = {
    "AmPL-I": Levels(start=PLAIN, free=(True, False)),
    "AmPL": Levels(start=PLAIN, free=(True, True)),
}
"""Names alone move, or words close to names too."""


class Bench:
    """Cells as they are kept, or made now; a world is read when the first cell of it is missing."""

    def __init__(self, work: Work) -> None:
        self.work, self.sizes = work, SMALL if work.small else PAPER
        self._worlds: dict[str, World] = {}

    def datasets(self) -> dict[str, str]:
        """Those whose data is there; a small run takes the first, or messages of ours."""
        there = {
            name: called for name, called in DATASETS.items() if self.work.file(name) is not None
        }
        if self.work.small:
            return dict(list(there.items())[:1]) or {MESSAGES: MESSAGES}
        for name in DATASETS:
            self.work.needed(name)
        return there

    def chosen(self, dataset: str, epsilon: float) -> Row:
        """What each method chooses on the documents of the search, and all that was tried."""
        return self._cell("chosen", self._choose, dataset=dataset, epsilon=epsilon)

    def adapted(self, dataset: str, epsilon: float, attacker: str) -> Row:
        """What AmPL chooses against a network, and all that was tried."""
        return self._cell(
            "adapted", self._adapt, dataset=dataset, epsilon=epsilon, attacker=attacker
        )

    def cap(self, dataset: str, epsilon: float) -> Row:
        """Equal strengths whose worst joint leakage is proved to be at most ε; None if none is."""
        return self._cell("capped", self._cap, dataset=dataset, epsilon=epsilon)

    def judged(self, dataset: str, epsilon: float, method: str, block: int) -> Row:
        """The exact attacker on a block that nothing was chosen on."""
        method = self._first_with(dataset, epsilon, method)
        return self._cell(
            "judged", self._judge, dataset=dataset, epsilon=epsilon, method=method, block=block
        )

    def learned(
        self, dataset: str, epsilon: float, method: str, attacker: str, read: int | None = None
    ) -> Row:
        """A network that knows the law, trained on so many documents of the search, on a block.

        What AmPL adapts is adapted against the same network.
        """
        return self._cell(
            "learned", self._learn, dataset=dataset, epsilon=epsilon,
            method=self._first_with(dataset, epsilon, method, attacker), attacker=attacker,
            read=read or self.sizes.read_by(attacker)[0],
        )  # fmt: skip

    def _cell(self, kind: str, make: Callable[..., Row], **setting: Any) -> Row:
        return self.work.cell(FILE, {"kind": kind} | setting, partial(make, **setting))

    def strengths(
        self, dataset: str, epsilon: float, method: str, attacker: str | None = None
    ) -> tuple[float, ...] | None:
        """What a method chose; None where it releases nothing or found nothing.

        Against the exact attacker, unless a network is named.
        """
        if method == "nothing":
            return None
        if method in ("EM", BLIND):
            return PLAIN if method == "EM" else (NO_STRENGTH, NO_STRENGTH)
        if method == "capped":
            found = self.cap(dataset, epsilon)["strength"]
            return None if found is None else (found, found)
        if attacker is None or method == "AmPL-U":  # which looks at no attacker
            return tuple(self.chosen(dataset, epsilon)["strengths"][method])
        return tuple(self.adapted(dataset, epsilon, attacker)["strengths"][method])

    def _first_with(
        self, dataset: str, epsilon: float, method: str, attacker: str | None = None
    ) -> str:
        """The first method that chose the same strengths: documents and luck are shared too."""
        if method in ("EM", "nothing", BLIND):
            return method
        own = self.strengths(dataset, epsilon, method, attacker)
        same = (m for m in PAPERS if own == self.strengths(dataset, epsilon, m, attacker))
        return next(same, method)

    def world(self, dataset: str) -> World:
        """The documents of a data set, read once."""
        if dataset not in self._worlds:
            self._worlds[dataset] = World(dataset, self.work.data, self.sizes)
        return self._worlds[dataset]

    def _choose(self, dataset: str, epsilon: float) -> Row:
        trial, rounds = self.world(dataset).trial(epsilon), self.sizes.rounds
        evaluate = _Evaluated(trial)
        found: dict[str, tuple[float, ...]] = {"EM": PLAIN}
        alone = Levels(start=PLAIN, free=(True, True), privacy_weight=0.0)
        cost = adapt(alone, lambda s: (0.0, trial.expected_loss(s)), most_rounds=rounds)
        found["AmPL-U"] = cost.best.strengths
        for name, levels in SEARCHES.items():
            state = adapt(levels, evaluate, most_rounds=rounds)
            found[name] = (meets(state.rounds, delta=DELTA) or state.best).strengths
        alike = together(levels, evaluate, state.rounds, delta=DELTA, most_rounds=7)
        found["even"] = (meets(alike, delta=DELTA) or alike[-1]).strengths
        low, high, wanted = 0.0, 1.0, trial.expected_loss(found["AmPL"])
        for _ in range(10):
            middle = (low + high) / 2
            over = trial.expected_loss((middle, middle)) > wanted
            low, high = (middle, high) if over else (low, middle)
        found["even at AmPL's loss"] = (high, high)
        return {"strengths": found, "tried": evaluate.tried()}

    def _adapt(self, dataset: str, epsilon: float, attacker: str) -> Row:
        """Plain strengths that meet the target are kept: none that do cost less."""
        _one_thread()
        _, epochs = self.sizes.read_by(attacker)
        evaluate = _Evaluated(self.world(dataset).trial(epsilon, attacker=attacker, epochs=epochs))
        rounds = self.sizes.trained_rounds if evaluate(PLAIN)[0] > DELTA else 1
        found: dict[str, tuple[float, ...]] = {"EM": PLAIN}
        for name, levels in SEARCHES.items():
            state = adapt(levels, evaluate, most_rounds=rounds)
            found[name] = (meets(state.rounds, delta=DELTA) or state.best).strengths
        return {"strengths": found, "tried": evaluate.tried()}

    def _cap(self, dataset: str, epsilon: float) -> Row:
        world = self.world(dataset)
        trial = world.trial(epsilon)
        plain = trial.joint(PLAIN, length=world.length).joint
        try:
            strength, bound = capped(trial, cap=epsilon, length=world.length, lowest=0.01)
        except InvalidInput:
            return {"strength": None, "joint": None, "plain": plain, "length": world.length}
        return {"strength": strength, "joint": bound.joint, "plain": plain, "length": world.length}

    def _judge(self, dataset: str, epsilon: float, method: str, block: int) -> Row:
        world, strengths = self.world(dataset), self.strengths(dataset, epsilon, method)
        trial, fresh = world.trial(epsilon, seed=10 + block), world.blocks[block]
        if strengths is None:
            loss = trial.nothing(fresh, failure_probability=0.05).loss
            return {"loss": loss, "any": [], "triples": 0.0, "largest": 0.0}
        return _told(trial.measure(strengths, world.known, fresh, seed=10 + block))

    def _learn(self, dataset: str, epsilon: float, method: str, attacker: str, read: int) -> Row:
        _one_thread()
        _, epochs = self.sizes.read_by(attacker)
        world, strengths = self.world(dataset), self.strengths(dataset, epsilon, method, attacker)
        assert strengths is not None
        trial = world.trial(epsilon, attacker=attacker, epochs=epochs, seed=10)
        found = trial.measure(strengths, world.known[:read], world.blocks[0], seed=10)
        lower, upper = chernoff_interval(
            mean=float(found.shares.mean()), clusters=len(found.shares), failure_probability=0.05
        )
        shown = found.learned.shown(0.05)
        told = {"lower": lower if shown else 0.0, "upper": upper, "shown": shown}
        return {"strengths": strengths, **_told(found), **told}


class _Evaluated:
    """What strengths leak and cost, each worked out once."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._kept: dict[tuple[float, ...], tuple[float, float]] = {}

    def __call__(self, strengths: tuple[float, ...]) -> tuple[float, float]:
        if strengths not in self._kept:
            self._kept[strengths] = self._trial.evaluate(strengths)
        return self._kept[strengths]

    def tried(self) -> list[list[float]]:
        """Strengths, what they leak and what they cost, in the order in which they were tried."""
        return [[*strengths, *values] for strengths, values in self._kept.items()]


def _one_thread() -> None:
    """Two threads of a small network wait for each other more than they work."""
    import torch

    torch.set_num_threads(1)


def _told(found: Measured) -> Row:
    """A measurement as it is kept: whether each document holds a violation, and what is large."""
    return {
        "loss": float(found.losses.mean()),
        "any": (found.shares > 0).astype(int).tolist(),
        "triples": float(found.shares.mean()),
        "gain": found.learned.gain,
        "largest": found.largest,
        "quantiles": [float(q) for q in np.quantile(found.sample, QUANTILES)],
    }
