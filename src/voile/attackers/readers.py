"""Learned readers of whole documents, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.corpus import Corpus
from voile.attackers.names import ATTACKERS
from voile.core.arrays import Floats
from voile.errors import MissingExtra, require

HEADS = ("candidates", "embedding")
PRETRAINED = "minilm"
"""The reader that is handed what a pretrained encoder makes of the words."""


def fit_reader(
    name: str,
    texts: Corpus,
    training: Sequence[Observed],
    validation: Sequence[Observed],
    *,
    head: str = "candidates",
    epochs: int = 30,
    batch: int = 32,
    seed: int = 0,
    log_law: Floats | None = None,
    redraw: Callable[[Any], Sequence[Observed]] | None = None,
) -> SequenceAttack:
    """A learned attacker on a corpus: which reader, and which way to believe.

    "candidates" starts at the prior and learns what releases change (`fit_residual`); "embedding"
    is the paper's. A smaller `batch` means more steps an epoch, which few documents need. Where the
    mechanism is known, `log_law` is its table and `redraw` draws the training documents anew.
    """
    reader = ATTACKERS.find(name)
    require(head in HEADS, "head", " or ".join(HEADS), head)
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", extra="neural") from None
    from voile.attackers.learned import fit_learned
    from voile.attackers.networks import EmbeddingHead
    from voile.attackers.residual import fit_residual
    from voile.progress import about

    vectors = texts.candidate_vectors()
    how: dict[str, Any] = {"epochs": epochs, "batch": batch, "seed": seed, "body": reader.load()}
    how["releases"] = texts.release_vectors()
    if reader.name == PRETRAINED:
        how["features"] = _features(texts)
    with about(f"training the {reader.name}"):
        if head == "embedding":
            papers = EmbeddingHead(torch.as_tensor(vectors, dtype=torch.float32))
            return fit_learned(training, validation, head=papers, **how)
        return fit_residual(
            training, validation, candidates=vectors, log_law=log_law, redraw=redraw, **how
        )


def _features(texts: Corpus) -> Any:
    from importlib.util import find_spec

    if find_spec("transformers") is None:
        raise MissingExtra("transformers", extra="neural")
    from voile.attackers.pretrained import PretrainedFeatures

    require(len(texts.written) > 0, "the words of the vocabulary", "known to minilm", "none")
    return PretrainedFeatures([texts.written[n] for n in texts.seen.tolist()])
