"""Choosing the strengths of tiers against an attacker, learned or exact (AmPL)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.adapt.levels import Evaluate, Levels, Round, State, adapt, frontier, meets
from voile.attackers.attack import Observed, SequenceAttack
from voile.core.arrays import Floats
from voile.errors import require, require_epsilon
from voile.text import glove
from voile.text.chain import chain_attacker, sensitive_only, word_chain
from voile.text.posterior import (
    ATTACKERS,
    Progress,
    fit_attacker,
    measured,
    read_texts,
    sensitive_tiers,
    split,
)
from voile.text.sequences import Corpus, corpus, read_words

EXACT = "markov"
"""The attacker that is not trained: see `text_chain`."""
COUNTED = ("triples", "documents")

CAVEATS = {
    "public": "",
    "held-out": "",
    "private": (
        "The strengths were chosen on the private text itself: the choice leaks something about "
        "it that no epsilon here accounts for. Adapt on public or held-out text if you can."
    ),
}


@dataclass(frozen=True)
class TunedText:
    """Where the search ended: all rounds, the chosen one, and what to hand to protect."""

    state: State
    chosen: Round
    meets_target: bool
    frontier: tuple[Round, ...]
    epsilon: float
    caveat: str
    attacker: str = "lstm"
    counted: str = "triples"

    def as_facts(self, *, target_delta: float) -> dict[str, Any]:
        """The search as JSON and reports hold it."""
        return {
            "epsilon": self.epsilon,
            "target_delta": target_delta,
            "attacker": self.attacker,
            "counted": self.counted,
            "chosen": asdict(self.chosen),
            "meets_target": self.meets_target,
            "protect_options": self.protect_options(),
            "caveat": self.caveat,
            "rounds": [asdict(round_) for round_ in self.state.rounds],
        }

    def protect_options(self) -> str:
        """The options that make `voile text protect` use these strengths."""
        pii, poii = self.chosen.strengths
        return (
            f"--mechanism word-exponential --epsilon {self.epsilon:g} "
            f"--tiers pii,poii --alpha {pii:g},{poii:g},keep"
        )


def level_laws(texts: Corpus, *, epsilon: float, strengths: Sequence[float]) -> Floats:
    """The adjusted exponential mechanism over the candidates: exp(−½·α_level·ε·d), by rows."""
    scale = np.array(strengths)[texts.levels]
    logs = -0.5 * epsilon * scale[:, None] * texts.distances()
    logs -= logs.max(axis=1, keepdims=True)
    law = np.exp(logs)
    return law / law.sum(axis=1, keepdims=True)


def similarity_loss(texts: Corpus) -> Floats:
    """c(x, y) = 1 − (cos(x, y) + 1)/2 between candidates (mPL paper, appendix E.2)."""
    vectors = texts.candidate_vectors()
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths > 0, lengths, 1)
    return (1 - directions @ directions.T) / 2


def expected_loss(law: Floats, loss: Floats, prior: Floats, *, remapped: bool) -> float:
    """Σ π(x) K(y|x) c(x, y); with `remapped`, each y is first replaced by the best y'."""
    if not remapped:
        return float((prior[:, None] * law * loss).sum())
    joint = prior[:, None] * law
    return float((joint.T @ loss).min(axis=1).sum())


def perturbed(
    texts: Corpus, law: Floats, uniforms: Sequence[Floats], chosen: Sequence[Observed]
) -> list[Observed]:
    """Sensitive words redrawn by the law, all else in clear, on given random numbers.

    The same numbers serve every round, so that rounds differ by their strengths alone.
    """
    running = np.cumsum(law, axis=1)
    running /= running[:, -1:]
    order = np.searchsorted(texts.seen, texts.candidates)
    released = []
    for item, numbers in zip(chosen, uniforms, strict=True):
        copy = item.releases.copy()
        secrets = item.secrets[item.sensitive]
        drawn = [
            np.searchsorted(running[s], u, side="right")
            for s, u in zip(secrets, numbers, strict=True)
        ]
        copy[item.sensitive] = order[np.minimum(np.array(drawn, dtype=np.intp), len(law) - 1)]
        released.append(Observed(copy, item.secrets, item.sensitive))
    return released


def evaluator(
    texts: Corpus,
    *,
    epsilon: float,
    attacker: str = "lstm",
    head: str = "candidates",
    counted: str = "triples",
    remapped: bool = True,
    epochs: int = 12,
    batch: int = 64,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> Evaluate:
    """Strengths → (violation share at epsilon, utility loss): perturb, attack, measure.

    Violations are counted over triples, as the paper does, or over documents: the share in which
    some pair of candidates moved too far. The attacker "markov" is exact and the same every time.
    """
    names = (*ATTACKERS, EXACT)
    require(attacker in names, "attacker", "one of " + ", ".join(names), attacker)
    require(counted in COUNTED, "counted", "triples or documents", counted)
    loss = similarity_loss(texts)
    counts = np.bincount(
        np.concatenate([item.secrets[item.sensitive] for item in texts.sequences]),
        minlength=len(texts.candidates),
    )
    prior = (counts + 1) / (counts + 1).sum()
    rng = np.random.default_rng(seed)
    uniforms = [rng.random(len(item.sensitive)) for item in texts.sequences]

    def evaluate(strengths: tuple[float, ...]) -> tuple[float, float]:
        law = level_laws(texts, epsilon=epsilon, strengths=strengths)
        items = perturbed(texts, law, uniforms, texts.sequences)
        training, validation, test = split(items, seed=seed)
        shown = ", ".join(f"{value:.3g}" for value in strengths)
        if attacker == EXACT:
            progress(f"strengths {shown}: forward–backward")
            chain = word_chain(texts, [*training, *validation])
            attack: SequenceAttack = chain_attacker(law, chain)
            test = sensitive_only(texts, test)
        else:
            attack = fit_attacker(
                attacker, texts, training, validation, head=head, epochs=epochs, batch=batch,
                seed=seed, progress=lambda line: progress(f"strengths {shown}: {line}"),
            )  # fmt: skip
        audit = measured(
            attack, test, texts, epsilons=[epsilon], delta=0.5, every_word=counted == "documents"
        )
        shares = audit.leakage.shares[:, 0]
        violation = float((shares > 0).mean() if counted == "documents" else shares.mean())
        return violation, expected_loss(law, loss, prior, remapped=remapped)

    return evaluate


def tune_text(
    file: str | Path,
    *,
    column: str = "text",
    epsilon: float,
    target_delta: float,
    data: str,
    attacker: str = "lstm",
    counted: str = "triples",
    pipeline: str | None = None,
    top: int = 50_000,
    longest: int = 40,
    most_candidates: int = 1000,
    most_documents: int = 2000,
    epochs: int = 12,
    most_rounds: int = 12,
    levels: str = "pii,poii",
    privacy_weight: float = 1.0,
    utility_weight: float = 1.0,
    trace: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: Progress = lambda line: None,
    on_round: Callable[[State], None] = lambda state: None,
) -> TunedText:
    """Find strengths for names and words close to names that keep an attacker down.

    `data` says what the text is: "public", "held-out" or "private"; adapting on private text
    spends privacy, and the answer says so. `levels` "pii" lets the strength of names alone move
    (the paper's AmPL-I); a privacy weight of 0 is its AmPL-U. `attacker` and `counted` are those
    of `evaluator`.
    """
    require(data in CAVEATS, "data", "public, held-out or private", data,
            "adapting on private text itself spends privacy")  # fmt: skip
    epsilon = require_epsilon(epsilon)
    require(0 < target_delta < 1, "target-delta", "in (0, 1)", target_delta)
    require(levels in ("pii,poii", "pii"), "levels", "pii,poii or pii", levels)
    progress("reading words and finding names")
    documents = read_texts(file, column)[:most_documents]
    texts = _own_corpus(
        documents, sensitive_of=pipeline, top=top, longest=longest, most_candidates=most_candidates
    )
    search = Levels(
        start=(1.0, 1.0),
        free=(True, levels == "pii,poii"),
        privacy_weight=privacy_weight,
        utility_weight=utility_weight,
    )
    evaluate = evaluator(
        texts, epsilon=epsilon, attacker=attacker, counted=counted, epochs=epochs, seed=seed,
        progress=progress,
    )  # fmt: skip
    about = {
        "texts": hashlib.sha256("\0".join(documents).encode()).hexdigest(),
        "epsilon": epsilon,
        "attacker": attacker,
        "counted": counted,
        "pipeline": pipeline,
        "sizes": [top, longest, most_candidates, epochs],
        "seed": seed,
    }
    state = adapt(
        search, evaluate, most_rounds=most_rounds, trace=trace, about=about, progress=on_round
    )
    good = meets(state, delta=target_delta)
    return TunedText(
        state=state,
        chosen=good or state.best,
        meets_target=good is not None,
        frontier=frontier(state.rounds),
        epsilon=epsilon,
        caveat=_caveat(data, (good or state.best).strengths, candidates=len(texts.candidates)),
        attacker=attacker,
        counted=counted,
    )


def _caveat(data: str, strengths: Sequence[float], *, candidates: int) -> str:
    """What the user should know before using these strengths."""
    another = (
        f"Violations and loss are those of a law over the {candidates:,} sensitive words of this "
        "text, the loss after a remap, measured on the documents that strengths were chosen on, "
        "without an interval. The command draws over the whole vocabulary and does not remap: "
        "its figures are others, usually with far fewer violations and more loss. Measure its "
        "release with voile text audit and utility."
    )
    uneven = (
        "The strengths differ, so a single release may tell a name from a word close to names "
        "more than ε allows within either; which of the two a word is, is not protected."
    )
    said = [CAVEATS[data], another, uneven if len(set(strengths)) > 1 else ""]
    return " ".join(text for text in said if text)


def _own_corpus(
    texts: Sequence[str], *, sensitive_of: str | None, top: int, longest: int, most_candidates: int
) -> Corpus:
    """A corpus whose releases are its own words, to be perturbed; all candidates can be seen."""
    words = glove(top=top)
    chosen = sensitive_tiers(words, sensitive="pii,poii", pipeline=sensitive_of)
    sequences = read_words(texts, words, tiers=chosen)
    return corpus(sequences, sequences, words, longest=longest, most_candidates=most_candidates)
