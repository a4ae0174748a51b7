"""What somebody who reads whole documents learns about single words of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.reliability import Reliability, reliability
from voile.audit.posterior import PosteriorAudit, posterior
from voile.core.randomness import seeded_rng
from voile.domains.text import glove
from voile.domains.text.sequences import Corpus, corpus, read_words
from voile.domains.text.tiers import DEFAULT_PIPELINE, Tiers, tiers
from voile.domains.text.vocabulary import Vocabulary
from voile.errors import InvalidInput, MissingExtra, require
from voile.jobs import RowProblem, open_source

ATTACKERS = ("rnn", "lstm", "transformer")
MOST_TRIPLES = 4_000_000_000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class TextPosterior:
    """The audit's answer: findings, how far the attacker can be trusted, what was left out."""

    audit: PosteriorAudit
    reliability: Reliability
    attacker: str
    documents: int
    unaligned: int
    unpaired: int
    candidates: int
    sensitive_words: int
    worst: tuple[tuple[float, str, str], ...]
    """Pairs of words whose odds moved most, for the auditor's own screen only."""
    control: tuple[float, ...] | None = None
    """Shares that the same kind of attacker finds where releases carry nothing: its own error."""


def read_texts(path: str | Path, column: str) -> list[str]:
    """The text column of a file; a missing value is an empty text."""
    source = open_source(path)
    if column not in source.columns:
        listed = ", ".join(source.columns[:20])
        raise InvalidInput(f"the column must be one of {listed}; got {column!r}")
    texts = []
    for line, row in source.rows():
        if isinstance(row, RowProblem):
            raise InvalidInput(f"line {line} of {Path(path).name}: {row.reason}")
        value = row.get(column)
        texts.append(value if isinstance(value, str) else "")
    return texts


def sensitive_tiers(words: Vocabulary, *, sensitive: str, pipeline: str | None) -> Tiers | None:
    """Tiers for "pii,poii" (names and words close to names), nothing for "all"."""
    require(sensitive in ("pii,poii", "all"), "sensitive", "pii,poii or all", sensitive)
    return None if sensitive == "all" else tiers(words, pipeline=pipeline or DEFAULT_PIPELINE)


def split(sequences: Sequence[Observed], *, seed: int) -> tuple[list[Observed], ...]:
    """60/20/20 by document: train, calibrate, test. The audit splits, not the attacker."""
    require(len(sequences) >= 10, "documents", "at least 10", len(sequences))
    order = seeded_rng(seed).permutation(len(sequences))
    cuts = [int(0.6 * len(order)), int(0.8 * len(order))]
    return tuple([sequences[n] for n in part] for part in np.split(order, cuts))


def shuffled(sequences: Sequence[Observed], *, seed: int) -> tuple[Observed, ...]:
    """The same sequences with the releases of all sensitive words dealt out anew.

    Each release then says nothing about the secret it stands at, nor about any other.
    """
    drawn = np.concatenate([item.releases[item.sensitive] for item in sequences])
    dealt = seeded_rng(seed).permutation(drawn)
    start, answer = 0, []
    for item in sequences:
        releases = item.releases.copy()
        releases[item.sensitive] = dealt[start : start + len(item.sensitive)]
        start += len(item.sensitive)
        answer.append(Observed(releases, item.secrets, item.sensitive))
    return tuple(answer)


def fit_attacker(
    name: str,
    texts: Corpus,
    training: Sequence[Observed],
    validation: Sequence[Observed],
    *,
    head: str = "candidates",
    epochs: int = 30,
    batch: int = 64,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> SequenceAttack:
    """A learned attacker on a corpus: which reader, and which way to believe.

    A smaller `batch` means more steps an epoch, which few documents need.
    """
    require(name in ATTACKERS, "attacker", "one of " + ", ".join(ATTACKERS), name)
    require(head in ("candidates", "embedding"), "head", "candidates or embedding", head)
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", extra="neural") from None
    from voile.attackers import networks
    from voile.attackers.learned import fit_learned

    vectors = torch.as_tensor(texts.candidate_vectors(), dtype=torch.float32)
    made: Any = (
        networks.CandidateHead(vectors) if head == "candidates" else networks.EmbeddingHead(vectors)
    )
    bodies = {"rnn": networks.rnn, "lstm": networks.lstm, "transformer": networks.transformer}
    return fit_learned(
        training,
        validation,
        releases=texts.release_vectors(),
        head=made,
        body=bodies[name],
        epochs=epochs,
        batch=batch,
        seed=seed,
        progress=lambda epoch, train, check: progress(
            f"{name}, epoch {epoch + 1}: loss {train:.3f}, held out {check:.3f}"
        ),
    )


def trust(attack: SequenceAttack, items: Sequence[Observed]) -> Reliability:
    """How an attacker's confidence compares with its accuracy on documents it never saw."""
    beliefs, truths = [], []
    used = [item for item in items if len(item.sensitive)]
    for start in range(0, len(used), 32):
        part = used[start : start + 32]
        tables = attack.log_posteriors([item.releases for item in part])
        for item, table in zip(part, tables, strict=True):
            beliefs.append(table[item.sensitive])
            truths.append(item.secrets[item.sensitive])
    if not used:
        raise InvalidInput("no sensitive words found in the test documents; give more documents")
    return reliability(np.concatenate(beliefs), np.concatenate(truths))


def measured(
    attack: SequenceAttack,
    items: Sequence[Observed],
    texts: Corpus,
    *,
    epsilons: Sequence[float],
    delta: float,
    progress: Progress = lambda line: None,
) -> PosteriorAudit:
    """The posterior audit over test documents, as many as keep the triples within bounds."""
    used = [item for item in items if len(item.sensitive)]
    pairs = len(texts.candidates) * (len(texts.candidates) - 1) // 2
    releases = np.cumsum([len(item.sensitive) for item in used])
    enough = max(1, int(np.searchsorted(releases, MOST_TRIPLES / pairs)))
    used = used[:enough]
    return posterior(
        attack,
        [item.releases for item in used],
        texts.distances(),
        epsilons=epsilons,
        delta=delta,
        sensitive=[item.sensitive for item in used],
        progress=lambda done: progress(f"measuring: {done} of {len(used)} documents"),
    )


def audit_text(
    original: str | Path,
    released: str | Path,
    *,
    column: str = "text",
    epsilons: Sequence[float],
    delta: float = 0.05,
    attacker: str = "lstm",
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
    progress: Progress = lambda line: None,
) -> TextPosterior:
    """Train an attacker on pairs of originals and releases, and measure what it learns.

    Works for any release that keeps words in their order, whoever made it. The attacker sees
    60 % of the documents with their originals, is calibrated on 20 % and measured on 20 %. With
    `control`, a second attacker is trained where the releases of sensitive words were shuffled
    over all documents: the true leakage is then 0, and what is found is the attacker's own error.
    """
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
    training, validation, test = split(texts.sequences, seed=seed)
    attack = fit_attacker(
        attacker, texts, training, validation, head=head, epochs=epochs, seed=seed,
        progress=progress,
    )  # fmt: skip
    audit = measured(attack, test, texts, epsilons=epsilons, delta=delta, progress=progress)
    floor = None
    if control:
        progress("the control: releases that carry nothing")
        blind = replace(texts, sequences=shuffled(texts.sequences, seed=seed))
        training, validation, others = split(blind.sequences, seed=seed)
        guesser = fit_attacker(
            attacker, blind, training, validation, head=head, epochs=epochs, seed=seed,
            progress=lambda line: progress(f"control: {line}"),
        )  # fmt: skip
        floor = measured(guesser, others, blind, epsilons=epsilons, delta=delta)
    written = words.written
    return TextPosterior(
        audit=audit,
        reliability=trust(attack, test),
        attacker=attacker,
        documents=len(texts.sequences),
        unaligned=texts.unaligned,
        unpaired=texts.unpaired,
        candidates=len(texts.candidates),
        sensitive_words=sum(len(item.sensitive) for item in texts.sequences),
        worst=tuple(
            (value, written[texts.candidates[first]], written[texts.candidates[second]])
            for value, first, second in audit.leakage.worst_pairs
        ),
        control=floor.leakage.violation_shares if floor else None,
    )
