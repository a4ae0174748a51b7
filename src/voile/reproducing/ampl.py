"""AmPL on documents: strengths chosen on some, and what attackers find in others at them.

A cell is what each method chooses on the documents of the search, or what an attacker finds on a
block of documents that nothing was chosen on. Methods share documents and random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from voile.adapt.ampl import Measured, Trial
from voile.adapt.joint import capped
from voile.adapt.levels import Levels, adapt, meets, together
from voile.adapt.secrets import Document, Secrets
from voile.attackers.readers import PRETRAINED
from voile.errors import InvalidInput
from voile.jobs import RowProblem, open_source
from voile.leakage.bounds import chernoff_interval
from voile.reproducing.experiment import Row, Work
from voile.text.building import build_protector, load_vocabulary
from voile.text.options import Words
from voile.text.tuned_release import documents_of, laws_at, tuned_settings

FILE = "ampl_cells.jsonl"
DATASETS = {"ag_news": "AG News", "imdb": "IMDB", "amazon": "Amazon reviews"}
MESSAGES = "made-up messages"
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


@dataclass(frozen=True)
class Sizes:
    """How much is read: documents of the search and of a block, words, secrets; by an encoder."""

    search: int
    fresh: int
    blocks: int
    words: int
    secrets: int
    epochs: int
    rounds: int
    encoded: int = 400

    def read_by(self, attacker: str) -> tuple[int, int]:
        """From how many documents of the search a network learns, and how often it reads them.

        Fewer where an encoder takes a tenth of a second for each.
        """
        if attacker == PRETRAINED:
            return min(self.encoded, self.search), self.epochs // 3
        return self.search, self.epochs

    def read(self, attackers: Iterable[str]) -> str:
        """The same in words, for all that are not exact."""
        each = [(name, *self.read_by(name)) for name in attackers]
        return "networks start at their prior, know the law, and read " + ", ".join(
            f"{count:,} documents {times} times ({name})" for name, count, times in each
        )

    def __str__(self) -> str:
        return (
            f"first {self.words} words, the {self.secrets} most frequent secrets, strengths chosen "
            f"on {self.search:,} documents and judged on {self.blocks} × {self.fresh:,} others"
        )


PAPER = Sizes(search=6400, fresh=1000, blocks=1, words=30, secrets=200, epochs=12, rounds=10)
SMALL = Sizes(search=120, fresh=60, blocks=1, words=20, secrets=60, epochs=3, rounds=5)


def documents(dataset: str, data: Path | None, count: int, *, words: int) -> list[str]:
    """So many documents in a fixed random order, cut at a space some words after the last read."""
    texts = _read(dataset, data, count)
    order = np.random.default_rng(0).permutation(len(texts))[:count]
    return [" ".join(texts[n].split()[: words + 10]) for n in order]


def _read(dataset: str, data: Path | None, count: int) -> list[str]:
    if dataset == MESSAGES or data is None:
        from voile.text.sample_messages import messages

        return [message.text for message in messages(count, seed=0)]
    if dataset == "ag_news":
        news = _rows(data / "ag_news" / "test.csv", header=False)
        return [f"{row['c2']}. {row['c3']}" for row in news]
    if dataset == "imdb":
        reviews = _rows(data / "imdb" / "train.csv.gz")
        return [str(row["text"]).replace("<br />", " ") for row in reviews]
    files = sorted((data / "amazon").glob("*-train.tsv.gz"))
    return [str(row["sentence"]) for path in files for row in _rows(path)]


def _rows(path: Path, *, header: bool = True) -> list[Mapping[str, Any]]:
    rows = open_source(path, header=header).rows()
    return [row for _, row in rows if not isinstance(row, RowProblem)]


class World:
    """The documents of a data set as the release reads them, and trials on them."""

    def __init__(self, dataset: str, data: Path | None, sizes: Sizes) -> None:
        count = sizes.search + sizes.blocks * sizes.fresh
        texts = documents(dataset, data, count, words=sizes.words)
        settings = tuned_settings(texts, "text", 1.0, "word-exponential", Words(), None)
        vocabulary = load_vocabulary(settings)
        protector = build_protector(settings, vocabulary)
        found = documents_of(protector, texts, longest=sizes.words)
        self.known: tuple[Document, ...] = tuple(found[: sizes.search])
        starts = range(sizes.search, count, sizes.fresh)
        self.blocks = [found[start : start + sizes.fresh] for start in starts]
        self.secrets = Secrets.of(
            self.known, vocabulary.embedding, drawn=2, most=sizes.secrets,
            written=vocabulary.written,
        )  # fmt: skip
        self._laws = laws_at(settings, vocabulary)

    def trial(self, epsilon: float, **how: Any) -> Trial:
        """The exact attacker at an epsilon, unless another is named; strengths are factors."""
        how = {"attacker": "markov", "counted": "documents"} | how
        laws = self._laws
        return Trial(
            self.secrets,
            self.known,
            lambda s: laws(tuple(epsilon * value for value in s)),
            epsilon,
            **how,
        )

    @cached_property
    def length(self) -> int:
        """The most secrets in a document."""
        every = (*self.known, *(d for block in self.blocks for d in block))
        return max(len(self.secrets.observed(d, d.words).sensitive) for d in every)


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
        """A network that knows the law, trained on so many documents of the search, on a block."""
        return self._cell(
            "learned", self._learn, dataset=dataset, epsilon=epsilon,
            method=self._first_with(dataset, epsilon, method), attacker=attacker,
            read=read or self.sizes.read_by(attacker)[0],
        )  # fmt: skip

    def _cell(self, kind: str, make: Callable[..., Row], **setting: Any) -> Row:
        return self.work.cell(FILE, {"kind": kind} | setting, partial(make, **setting))

    def strengths(self, dataset: str, epsilon: float, method: str) -> tuple[float, ...] | None:
        """What a method chose; None where it releases nothing or found nothing."""
        if method == "nothing":
            return None
        if method in ("EM", BLIND):
            return (1.0, 1.0) if method == "EM" else (NO_STRENGTH, NO_STRENGTH)
        if method == "capped":
            found = self.cap(dataset, epsilon)["strength"]
            return None if found is None else (found, found)
        return tuple(self.chosen(dataset, epsilon)["strengths"][method])

    def _first_with(self, dataset: str, epsilon: float, method: str) -> str:
        """The first method that chose the same strengths: documents and luck are shared too."""
        if method in ("EM", "nothing", BLIND):
            return method
        own = self.strengths(dataset, epsilon, method)
        same = (m for m in PAPERS if own == self.strengths(dataset, epsilon, m))
        return next(same, method)

    def world(self, dataset: str) -> World:
        """The documents of a data set, read once."""
        if dataset not in self._worlds:
            self._worlds[dataset] = World(dataset, self.work.data, self.sizes)
        return self._worlds[dataset]

    def _choose(self, dataset: str, epsilon: float) -> Row:
        trial, rounds = self.world(dataset).trial(epsilon), self.sizes.rounds
        kept: dict[tuple[float, ...], tuple[float, float]] = {}

        def evaluate(strengths: tuple[float, ...]) -> tuple[float, float]:
            if strengths not in kept:
                kept[strengths] = trial.evaluate(strengths)
            return kept[strengths]

        found: dict[str, tuple[float, ...]] = {"EM": (1.0, 1.0)}
        alone = Levels(start=(1.0, 1.0), free=(True, True), privacy_weight=0.0)
        cost = adapt(alone, lambda s: (0.0, trial.expected_loss(s)), most_rounds=rounds)
        found["AmPL-U"] = cost.best.strengths
        for name, free in (("AmPL-I", (True, False)), ("AmPL", (True, True))):
            levels = Levels(start=(1.0, 1.0), free=free)
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
        return {"strengths": found, "tried": [[*s, *values] for s, values in kept.items()]}

    def _cap(self, dataset: str, epsilon: float) -> Row:
        world = self.world(dataset)
        trial = world.trial(epsilon)
        plain = trial.joint((1.0, 1.0), length=world.length).joint
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
        import torch

        torch.set_num_threads(1)
        _, epochs = self.sizes.read_by(attacker)
        world, strengths = self.world(dataset), self.strengths(dataset, epsilon, method)
        assert strengths is not None
        trial = world.trial(epsilon, attacker=attacker, epochs=epochs, seed=10)
        found = trial.measure(strengths, world.known[:read], world.blocks[0], seed=10)
        lower, upper = chernoff_interval(
            mean=float(found.shares.mean()), clusters=len(found.shares), failure_probability=0.05
        )
        shown = found.learned.shown(0.05)
        return {**_told(found), "lower": lower if shown else 0.0, "upper": upper, "shown": shown}


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
