"""AmPL on words: what a law with a strength for each level leaks to an attacker, and costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.adapt.levels import Evaluate
from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.chain import chain_attacker, sensitive_only, word_chain
from voile.attackers.corpus import Corpus
from voile.attackers.names import TUNING_ATTACKERS
from voile.attackers.readers import fit_reader
from voile.audit.documents import measured, split
from voile.core.arrays import Floats
from voile.errors import require
from voile.progress import about, tell

EXACT = "markov"
"""The attacker that is not trained: see `voile.attackers.chain`."""
COUNTED = ("triples", "documents")


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
    batch: int = 32,
    seed: int = 0,
) -> Evaluate:
    """Strengths → (violation share at epsilon, utility loss): perturb, attack, measure.

    Violations are counted over triples, as the paper does, or over documents: the share in which
    some pair of candidates moved too far. The attacker "markov" is exact and the same every time.
    """
    attacker = TUNING_ATTACKERS.find(attacker).name
    require(counted in COUNTED, "counted", " or ".join(COUNTED), counted)
    loss, prior = similarity_loss(texts), _prior(texts)
    rng = np.random.default_rng(seed)
    uniforms = [rng.random(len(item.sensitive)) for item in texts.sequences]

    def attacked(law: Floats) -> tuple[SequenceAttack, list[Observed]]:
        """The attacker against a law, and the documents to measure it on."""
        items = perturbed(texts, law, uniforms, texts.sequences)
        training, validation, test = split(items, seed=seed)
        if attacker == EXACT:
            tell("forward–backward")
            chain = word_chain(texts, [*training, *validation])
            return chain_attacker(law, chain), sensitive_only(texts, test)

        def redraw(rng: np.random.Generator) -> list[Observed]:
            numbers = [rng.random(len(item.sensitive)) for item in training]
            return perturbed(texts, law, numbers, training)

        fitted = fit_reader(
            attacker,
            texts,
            training,
            validation,
            head=head,
            epochs=epochs,
            batch=batch,
            seed=seed,
            log_law=_over_releases(texts, law),
            redraw=redraw,
        )
        return fitted, test

    def evaluate(strengths: tuple[float, ...]) -> tuple[float, float]:
        law = level_laws(texts, epsilon=epsilon, strengths=strengths)
        with about("strengths " + ", ".join(f"{value:.3g}" for value in strengths)):
            attack, test = attacked(law)
            audit = measured(
                attack,
                test,
                texts,
                epsilons=[epsilon],
                delta=0.5,
                every_word=counted == "documents",
            )
        shares = audit.leakage.shares[:, 0]
        violation = float((shares > 0).mean() if counted == "documents" else shares.mean())
        return violation, expected_loss(law, loss, prior, remapped=remapped)

    return evaluate


def _over_releases(texts: Corpus, law: Floats) -> Floats:
    """The law's logarithms by release: a column for all that was seen, words in clear alike."""
    table = np.zeros((len(law), len(texts.seen)))
    table[:, np.searchsorted(texts.seen, texts.candidates)] = np.log(np.maximum(law, 1e-300))
    return table


def _prior(texts: Corpus) -> Floats:
    """How often each candidate occurs, with one count added everywhere."""
    secrets = np.concatenate([item.secrets[item.sensitive] for item in texts.sequences])
    counts = np.bincount(secrets, minlength=len(texts.candidates)) + 1
    return np.asarray(counts / counts.sum())
