"""Learned readers of whole documents, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.corpus import Corpus
from voile.attackers.names import ATTACKERS
from voile.errors import MissingExtra, require

HEADS = ("candidates", "embedding")


def fit_reader(
    name: str,
    texts: Corpus,
    training: Sequence[Observed],
    validation: Sequence[Observed],
    *,
    head: str = "candidates",
    epochs: int = 30,
    batch: int = 64,
    seed: int = 0,
) -> SequenceAttack:
    """A learned attacker on a corpus: which reader, and which way to believe.

    A smaller `batch` means more steps an epoch, which few documents need.
    """
    reader = ATTACKERS.find(name)
    require(head in HEADS, "head", " or ".join(HEADS), head)
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", extra="neural") from None
    from voile.attackers import networks
    from voile.attackers.learned import fit_learned
    from voile.progress import about

    vectors = torch.as_tensor(texts.candidate_vectors(), dtype=torch.float32)
    made: Any = (
        networks.CandidateHead(vectors) if head == "candidates" else networks.EmbeddingHead(vectors)
    )
    with about(f"training the {reader.name}"):
        return fit_learned(
            training,
            validation,
            releases=texts.release_vectors(),
            head=made,
            body=reader.load(),
            epochs=epochs,
            batch=batch,
            seed=seed,
        )
