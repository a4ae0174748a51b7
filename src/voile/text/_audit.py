"""What somebody who reads whole documents learns about single words of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from voile.attackers.learning import learned_from
from voile.attackers.reliability import Reliability
from voile.audit.posterior import PosteriorAudit
from voile.errors import InvalidInput, require
from voile.jobs import Engine, Processes, spread
from voile.text import glove
from voile.text.posterior import (
    ATTACKERS,
    Progress,
    fit_attacker,
    measured,
    read_texts,
    sensitive_tiers,
    shuffled,
    split,
    trust,
)
from voile.text.sequences import Corpus, corpus, read_words

FAILURE_PROBABILITY = 0.01
"""That some interval of the audit is wrong; shared among all runs and epsilons."""


@dataclass(frozen=True)
class AttackRun:
    """What one attacker found on one split of the documents."""

    attacker: str
    seed: int
    audit: PosteriorAudit
    reliability: Reliability
    control: tuple[float, ...] | None = None
    """Shares that the same kind of attacker finds where releases carry nothing: its own error."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of triples over each epsilon, a mean over documents."""
        return self.audit.shares


@dataclass(frozen=True)
class AttackerAt:
    """An attacker at one epsilon: its shares over the seeds, and how many of them violate."""

    attacker: str
    epsilon: float
    seeds: tuple[int, ...]
    mean: float
    deviation: float | None
    highest: float
    violated: int
    control: float | None


@dataclass(frozen=True)
class TextPosterior:
    """The audit's answer: what each attacker found on each split, and what was left out."""

    runs: tuple[AttackRun, ...]
    documents: int
    unaligned: int
    unpaired: int
    candidates: int
    sensitive_words: int
    worst: tuple[tuple[float, str, str], ...]
    """Pairs of words whose odds moved most, for the auditor's own screen only."""

    def strongest(self, k: int) -> AttackRun:
        """The run that found most at the k-th epsilon: its interval reaches least far down.

        The failure probability is shared among the runs, so all intervals hold together and this
        one may be chosen after seeing them. It is violated if any run's is.
        """
        return max(self.runs, key=lambda run: (run.audit.findings[k].lower, run.shares[k]))

    @property
    def lead(self) -> AttackRun:
        """The strongest run at the first epsilon, from which all else is told."""
        return self.strongest(0)

    def attackers(self) -> tuple[AttackerAt, ...]:
        """Each attacker at each epsilon: means and standard deviations over its seeds."""
        names = dict.fromkeys(run.attacker for run in self.runs)
        return tuple(
            _at([run for run in self.runs if run.attacker == name], k, epsilon)
            for name in names
            for k, epsilon in enumerate(self.lead.audit.leakage.epsilons)
        )


def _at(runs: Sequence[AttackRun], k: int, epsilon: float) -> AttackerAt:
    shares = np.array([run.shares[k] for run in runs])
    controls = [run.control[k] for run in runs if run.control is not None]
    return AttackerAt(
        attacker=runs[0].attacker,
        epsilon=epsilon,
        seeds=tuple(run.seed for run in runs),
        mean=float(shares.mean()),
        deviation=float(shares.std(ddof=1)) if len(shares) > 1 else None,
        highest=float(shares.max()),
        violated=sum(run.audit.findings[k].verdict == "violated" for run in runs),
        control=float(np.mean(controls)) if controls else None,
    )


def audit_text(
    original: str | Path,
    released: str | Path,
    *,
    column: str = "text",
    epsilons: Sequence[float],
    delta: float = 0.05,
    attackers: Sequence[str] = ("lstm",),
    repeats: int = 1,
    head: str = "candidates",
    sensitive: str = "pii,poii",
    pipeline: str | None = None,
    top: int = 50_000,
    longest: int = 40,
    most_candidates: int = 2000,
    most_documents: int = 5000,
    epochs: int = 30,
    control: bool = False,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Progress = lambda line: None,
) -> TextPosterior:
    """Train attackers on pairs of originals and releases, and measure what they learn.

    Works for any release that keeps words in their order, whoever made it. An attacker sees
    60 % of the documents with their originals, is calibrated on 20 % and measured on 20 %; each
    is trained on `repeats` such splits, of seeds `seed`, `seed` + 1, … With `control`, one more
    is trained for each where the releases of sensitive words were shuffled over all documents:
    the true leakage is then 0, and what is found is the attacker's own error. A violation is
    found only by an attacker that was shown, on held-out secrets, to learn from the releases.

    `engine` spreads the trainings, controls too, over processes or nodes. Several are each done on
    one thread, so that the figures are the same wherever that was.
    """
    _check(attackers, repeats)
    words = glove(top=top)
    before, after = read_texts(original, column), read_texts(released, column)
    if len(before) != len(after):
        raise InvalidInput(
            f"original and release must have as many rows, got {len(before)} and {len(after)}"
        )
    before, after = before[:most_documents], after[:most_documents]
    progress("reading words and finding names")
    chosen = sensitive_tiers(words, sensitive=sensitive, pipeline=pipeline)
    texts = corpus(
        read_words(before, words, tiers=chosen),
        read_words(after, words, beside=before),
        words,
        longest=longest,
        most_candidates=most_candidates,
    )
    wanted = [(name, seed + repeat) for name in attackers for repeat in range(repeats)]
    here = engine is None or engine == Processes(1)
    asked = _Asked(
        texts,
        head=head,
        epochs=epochs,
        epsilons=tuple(epsilons),
        delta=delta,
        failure_probability=FAILURE_PROBABILITY / len(wanted),
        alone=here and len(wanted) == 1,
        progress=progress if here else _silent,
    )
    pieces = [(*run, blind) for run in wanted for blind in ((False, True) if control else (False,))]
    answers = spread(
        _run,
        pieces,
        common=asked,
        engine=engine,
        progress=lambda done: None if here else progress(f"{done} of {len(pieces)} trainings done"),
    )
    answered = dict(zip(pieces, answers, strict=True))
    runs = tuple(
        AttackRun(
            name,
            number,
            *answered[name, number, False],
            answered[name, number, True][0].shares if control else None,
        )
        for name, number in wanted
    )
    written = words.written
    found = TextPosterior(
        runs=runs,
        documents=len(texts.sequences),
        unaligned=texts.unaligned,
        unpaired=texts.unpaired,
        candidates=len(texts.candidates),
        sensitive_words=sum(len(item.sensitive) for item in texts.sequences),
        worst=(),
    )
    return replace(
        found,
        worst=tuple(
            (value, written[texts.candidates[first]], written[texts.candidates[second]])
            for value, first, second in found.lead.audit.leakage.worst_pairs
        ),
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """What all runs share; it travels once to a process or node."""

    texts: Corpus
    head: str
    epochs: int
    epsilons: tuple[float, ...]
    delta: float
    failure_probability: float
    alone: bool
    progress: Progress


def _run(asked: _Asked, piece: tuple[str, int, bool]) -> tuple[PosteriorAudit, Reliability]:
    """Train and measure one attacker on one split; blind: where releases carry nothing."""
    name, seed, blind = piece
    texts = asked.texts
    if blind:
        texts = replace(texts, sequences=shuffled(texts.sequences, seed=seed))
    about = ("control: " if blind else "") + ("" if asked.alone else f"seed {seed}, ")

    def say(line: str) -> None:
        asked.progress(about + line)

    training, validation, test = split(texts.sequences, seed=seed)
    with _threads(None if asked.alone else 1):
        attack = fit_attacker(
            name, texts, training, validation, head=asked.head, epochs=asked.epochs, seed=seed,
            progress=say,
        )  # fmt: skip
        audit = measured(
            attack, test, texts, epsilons=asked.epsilons, delta=asked.delta,
            failure_probability=asked.failure_probability,
            learned=learned_from(attack, test, seed=seed), progress=say,
        )  # fmt: skip
        return audit, trust(attack, test)


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    """So many threads of torch's, whose number may change the last digits; None: as they are."""
    if count is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _silent(line: str) -> None:
    """Nobody watches in another process."""


def _check(attackers: Sequence[str], repeats: int) -> None:
    for name in attackers:
        require(name in ATTACKERS, "attacker", "one of " + ", ".join(ATTACKERS), name)
    differ = len(attackers) > 0 and len(set(attackers)) == len(attackers)
    require(differ, "attackers", "at least one, each once", ", ".join(attackers) or "none")
    require(repeats >= 1, "repeats", ">= 1", repeats)
