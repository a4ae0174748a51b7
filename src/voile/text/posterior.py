"""Readers of whole documents: pairs of texts, attackers trained on them, what they learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.learning import Learned
from voile.attackers.reliability import Reliability, reliability
from voile.audit.posterior import PosteriorAudit, posterior
from voile.core.arrays import Indices
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, MissingExtra, require
from voile.files import no_such_column
from voile.jobs import RowProblem, open_source
from voile.text.sequences import Corpus
from voile.text.tiers import DEFAULT_PIPELINE, Tiers, tiers
from voile.text.vocabularies import Vocabulary

ATTACKERS = ("rnn", "lstm", "transformer")
MOST_TRIPLES = 10_000_000_000
"""Of one audit; about a minute on two cores."""

Progress = Callable[[str], None]


def read_texts(path: str | Path, column: str) -> list[str]:
    """The text column of a file; a missing value is an empty text."""
    source = open_source(path)
    if column not in source.columns:
        raise no_such_column(column, source.columns)
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
    failure_probability: float = 0.01,
    every_word: bool = False,
    learned: Learned | None = None,
    progress: Progress = lambda line: None,
) -> PosteriorAudit:
    """The posterior audit over test documents.

    Where that would be more than `MOST_TRIPLES`, fewer words of each document are measured, drawn
    at random: the share over them is a number in [0, 1] whose mean is the document's share, which
    is all that the bound over documents needs. Fewer documents would widen it. With `every_word`
    there are fewer documents instead: whether a document holds any violation is told by all of
    its words alone.
    """
    used = [item for item in items if len(item.sensitive)]
    pairs = len(texts.candidates) * (len(texts.candidates) - 1) // 2
    most = max(1, MOST_TRIPLES // pairs)
    if every_word:
        words = np.cumsum([len(item.sensitive) for item in used])
        used = used[: max(1, int(np.searchsorted(words, most, side="right")))]
    used = used[:most]
    return posterior(
        attack,
        [item.releases for item in used],
        texts.distances(),
        epsilons=epsilons,
        delta=delta,
        failure_probability=failure_probability,
        sensitive=[item.sensitive for item in used],
        counted=None if every_word else thinned([item.sensitive for item in used], most=most),
        learned=learned,
        progress=lambda done: progress(f"measuring: {done} of {len(used)} documents"),
    )


def thinned(positions: Sequence[Indices], *, most: int) -> list[Indices]:
    """At most so many positions in all, drawn at random, equally many from each document.

    A document with fewer keeps all of them; one is kept of each.

    >>> [len(kept) for kept in thinned([np.arange(2), np.arange(9), np.arange(5)], most=8)]
    [2, 3, 3]
    """
    sizes = np.array([len(listed) for listed in positions])
    if sizes.sum() <= most:
        return list(positions)
    each = 1
    while np.minimum(sizes, each + 1).sum() <= most:
        each += 1
    rng = np.random.default_rng(0)  # chooses what is measured, and hides nothing
    return [np.sort(rng.permutation(listed)[:each]) for listed in positions]
