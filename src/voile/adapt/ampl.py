"""AmPL on words: what the laws of a release leak to an attacker at some strengths, and cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.adapt.secrets import Document, Secrets, document_losses, drawn
from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.learning import Learned, learned_beside, learned_from
from voile.attackers.markov import MarkovPrior, fit_markov, markov_attack
from voile.attackers.names import TUNING_ATTACKERS
from voile.attackers.readers import fit_reader
from voile.audit.documents import measured, split
from voile.core.arrays import Floats, Indices
from voile.core.mechanism import ExactMechanism
from voile.errors import require
from voile.leakage.bounds import bernstein_interval, chernoff_interval, clopper_pearson
from voile.leakage.joint import JointBound, joint_bound, reached
from voile.mechanisms.spaces.word_remap import RemappedWords
from voile.progress import about, tell

EXACT = "markov"
"""Not trained: forward–backward on a chain of words, exact if they follow it."""
COUNTED = ("triples", "documents")
Laws = Callable[[tuple[float, ...]], Sequence[ExactMechanism | None]]
"""From strengths to the law of each level: those that a release with these strengths draws from."""


@dataclass(frozen=True)
class Checked:
    """What strengths leak and cost on documents that they were not chosen on.

    Share and interval are of one thing: the mean over documents of the share of a document's
    triples, or the share of documents. The loss is a mean over documents of the mean over their
    words. `strengths` is None where nothing is released.
    """

    what: str
    strengths: tuple[float, ...] | None
    share: float
    lower: float
    upper: float
    loss: float
    loss_lower: float
    loss_upper: float
    documents: int
    gain: float | None = None
    """What releases taught a trained attacker, or neighbours the chain, in nats a secret."""
    shown: bool = True
    """Whether the attacker is not trained, or was shown to have learned from the releases."""


@dataclass(frozen=True, eq=False)
class Trial:
    """An attacker against the laws that a release draws from, on documents for the search."""

    secrets: Secrets
    documents: tuple[Document, ...]
    laws: Laws
    epsilon: float
    attacker: str = "lstm"
    counted: str = "triples"
    head: str = "candidates"
    epochs: int = 12
    batch: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        TUNING_ATTACKERS.find(self.attacker)
        require(self.counted in COUNTED, "counted", " or ".join(COUNTED), self.counted)

    def evaluate(self, strengths: tuple[float, ...]) -> tuple[float, float]:
        """Violation share and expected loss on the last fifth of the documents: for `adapt`."""
        training, validation, test = split(self.documents, seed=self.seed)
        found = self.measure(strengths, [*training, *validation], test, seed=self.seed)
        return float(self._counted(found).mean()), float(found.losses.mean())

    def expected_loss(self, strengths: tuple[float, ...]) -> float:
        """What strengths cost on all documents of the search; nobody attacks."""
        _, losses = self.secrets.tables(self.laws(strengths), np.empty(0, dtype=np.intp))
        items = [self.secrets.observed(d, d.words) for d in self.documents]
        return float(document_losses(items, losses).mean())

    def joint(self, strengths: tuple[float, ...], *, length: int) -> JointBound:
        """A bound on the leakage of every release of at most `length` secrets (`leakage.joint`).

        For equal strengths and the laws exp(−s·min(d, γ)) of words: by the triangle inequality
        ln K(y|a)/K(y|b) is largest at y = a, whatever the other outputs, so that two columns tell.
        A remap after the draw can only lower it. The prior is the exact attacker's chain.
        """
        require(len(set(strengths)) == 1, "strengths", "equal in all tiers", strengths)
        laws = [law.law if isinstance(law, RemappedWords) else law for law in self.laws(strengths)]
        logs, _ = self.secrets.tables(laws, self.secrets.words)
        chain, apart = self._chain(self.documents), self.secrets.corpus().distances()
        steps, ratios = chain.dense(), np.diagonal(logs)[:, None] - logs.T
        bound = joint_bound(ratios, chain.start, steps, apart, length=length)
        return replace(bound, reached=reached(bound, np.exp(logs), chain.start, steps, apart))

    def check(
        self,
        strengths: tuple[float, ...],
        fresh: Sequence[Document],
        *,
        what: str,
        failure_probability: float,
    ) -> Checked:
        """The same on fresh documents, with intervals that fail together with this probability.

        The attacker knows all documents of the search; draws and documents are new to it.
        """
        found = self.measure(strengths, self.documents, fresh, seed=self.seed + 1)
        values = self._counted(found)
        each, count = failure_probability / 2, len(values)
        if self.counted == "documents":
            lower, upper = clopper_pearson(int(values.sum()), count, failure_probability=each)
        else:
            lower, upper = chernoff_interval(
                mean=float(values.mean()), clusters=count, failure_probability=each
            )
        shown = self.attacker == EXACT or found.learned.shown(failure_probability)
        return Checked(
            what,
            strengths,
            float(values.mean()),
            lower if shown else 0.0,
            upper,
            *_mean(found.losses, each),
            count,
            found.learned.gain,
            shown,
        )

    def nothing(self, fresh: Sequence[Document], *, failure_probability: float) -> Checked:
        """One word for all secrets, the one that served the documents of the search best.

        It tells nothing, so that it leaks nothing; no draw that costs more is worth its leakage.
        """
        losses = self.secrets.constant_losses(self.secrets.best_constant(self.documents))
        found = document_losses([self.secrets.observed(d, d.words) for d in fresh], losses)
        loss = _mean(found, failure_probability)
        return Checked("release nothing", None, 0.0, 0.0, 0.0, *loss, len(found))

    def measure(
        self,
        strengths: tuple[float, ...],
        known: Sequence[Document],
        tested: Sequence[Document],
        *,
        seed: int,
    ) -> Measured:
        """Draw, attack with knowledge of some documents, and measure on others."""
        laws = self.laws(strengths)
        with about("strengths " + ", ".join(f"{value:.3g}" for value in strengths)):
            tell("drawing")
            items = self._released(tested, laws, seed)
            seen = np.unique(np.concatenate([i.releases[i.sensitive] for i in items]))
            if self.attacker == EXACT:
                tell("the law of every secret")
                logs, losses = self.secrets.tables(laws, seen)
                chain = self._chain(known)
                attack: SequenceAttack = markov_attack(logs, chain)
                items = [_sensitive_only(item, seen) for item in items if len(item.sensitive)]
                learned = learned_beside(attack, markov_attack(logs, chain.alone()), items)
            else:
                every = np.arange(len(self.secrets.embedding))
                logs, losses = self.secrets.tables(laws, every, dtype=np.float32)
                attack = self._trained(known, laws, logs, seed)
                learned = learned_from(attack, items, seed=seed)
            audit = measured(
                attack,
                items,
                self.secrets.corpus(),
                epsilons=[self.epsilon],
                delta=0.5,
                every_word=self.counted == "documents",
            )
        leakage = audit.leakage
        losses = document_losses(items, losses)
        return Measured(leakage.shares[:, 0], losses, leakage.supremum, learned, leakage.sample)

    def _counted(self, found: Measured) -> Floats:
        shares = found.shares
        return (shares > 0).astype(float) if self.counted == "documents" else shares

    def _released(
        self, documents: Sequence[Document], laws: Sequence[Any], source: Any
    ) -> list[Observed]:
        released = drawn(documents, laws, source)
        return [self.secrets.observed(d, y) for d, y in zip(documents, released, strict=True)]

    def _chain(self, known: Sequence[Document]) -> MarkovPrior:
        told = [self.secrets.observed(d, d.words) for d in known]
        states = [item.secrets[item.sensitive] for item in told if len(item.sensitive)]
        return fit_markov(states, size=len(self.secrets))

    def _trained(
        self, known: Sequence[Document], laws: Sequence[Any], logs: Floats, seed: int
    ) -> SequenceAttack:
        cut = int(0.75 * len(known))
        training, validation = known[:cut], known[cut:]

        def redraw(rng: np.random.Generator) -> list[Observed]:
            return self._released(training, laws, rng)

        return fit_reader(
            self.attacker,
            self.secrets.corpus(),
            self._released(training, laws, seed + 2),
            self._released(validation, laws, seed + 3),
            head=self.head,
            epochs=self.epochs,
            batch=self.batch,
            seed=seed,
            log_law=logs,
            redraw=redraw,
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """Of each document the share of its triples above epsilon, and the loss; the worst of all."""

    shares: Floats
    losses: Floats
    largest: float
    learned: Learned
    """From the right releases over shuffled ones; of the chain, over each word's own release."""
    sample: Floats
    """The leakage of some triples, drawn at random."""


def _sensitive_only(item: Observed, seen: Indices) -> Observed:
    """A document as the sequence of its secrets, releases as columns of the law's table."""
    columns = np.searchsorted(seen, item.releases[item.sensitive])
    return Observed(columns, item.secrets[item.sensitive], np.arange(len(columns)))


def _mean(values: Floats, failure_probability: float) -> tuple[float, float, float]:
    low, high = bernstein_interval(
        np.clip(values, 0, 1), low=0, high=1, failure_probability=failure_probability
    )
    return float(values.mean()), low, high
