"""A learned attacker that starts at its prior and adds what releases teach it, or nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from voile.attackers.attack import Observed, hidden
from voile.attackers.networks import Body, Reader
from voile.attackers.training import Loss, at_sensitive, long_epoch, read, train, usable
from voile.core.arrays import Floats, Indices
from voile.errors import require

Redraw = Callable[[np.random.Generator], Sequence[Observed]]
"""The training documents with releases drawn anew, where the mechanism is known."""
Scores = Callable[[Sequence[Observed]], Tensor]
"""Scores over candidates at all sensitive positions of some documents, in order."""
SCALES = np.linspace(0.0, 1.5, 31)


class Gated(nn.Module):
    """Scores over candidates: a network's, times a gate that is shut at the start."""

    def __init__(self, releases: Tensor, candidates: Tensor, *, width: int, body: Body) -> None:
        super().__init__()
        self.reader = Reader(releases, width=width, out=candidates.shape[1], body=body)
        self.vectors = nn.Parameter(candidates / candidates.norm(dim=1, keepdim=True).mean())
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, sequences: Sequence[Indices]) -> Tensor:
        """One row for each position of all sequences, in order."""
        states, _, _ = read(self.reader, sequences)
        scores: Tensor = self.gate * (states @ self.vectors.T)
        return scores


@dataclass(frozen=True, eq=False)
class ResidualAttack:
    """See `fit_residual`. `gain` is what the releases gave on validation secrets, nats each."""

    frequencies: Tensor
    context: Gated
    change: Gated
    log_law: Tensor | None
    scale: float
    gain: float
    clip: float

    def log_posteriors(
        self, sequences: Sequence[Indices], sensitive: Sequence[Indices] | None = None
    ) -> list[Floats]:
        """Beliefs at every position: the prior where the sensitive ones are hidden."""
        with torch.no_grad():
            scores = self.scores(sequences, sensitive)
            beliefs = torch.log_softmax(scores.double(), dim=1)
            kept = math.log1p(-beliefs.shape[1] * self.clip)
            floor = torch.full_like(beliefs, math.log(self.clip))
            beliefs = torch.logaddexp(beliefs + kept, floor)
        return list(np.split(beliefs.numpy(), np.cumsum([len(s) for s in sequences])[:-1]))

    def scores(self, sequences: Sequence[Indices], sensitive: Sequence[Indices] | None) -> Tensor:
        """Prior plus change; what is hidden changes nothing."""
        places = [np.arange(len(s)) for s in sequences] if sensitive is None else sensitive
        unseen = [hidden(s, where) for s, where in zip(sequences, places, strict=True)]
        prior = self.frequencies + self.context(unseen)
        if all(np.array_equal(s, u) for s, u in zip(sequences, unseen, strict=True)):
            return prior
        return prior + self.scale * changes(self.change, self.log_law, sequences)


def changes(change: Gated, log_law: Tensor | None, sequences: Sequence[Indices]) -> Tensor:
    """What releases add to the prior's scores: the network's say, and the law's where known."""
    added: Tensor = change(sequences)
    if log_law is None:
        return added
    flat = torch.as_tensor(np.concatenate([np.asarray(s) for s in sequences]))
    seen = (flat >= 0)[:, None]
    return added + torch.where(seen, log_law.T[flat.clamp(min=0)], 0.0)


def fit_residual(
    training: Sequence[Observed],
    validation: Sequence[Observed],
    *,
    releases: Floats,
    candidates: Floats,
    body: Body,
    log_law: Floats | None = None,
    redraw: Redraw | None = None,
    width: int = 96,
    epochs: int = 40,
    patience: int = 5,
    batch: int = 32,
    clip: float = 1e-9,
    seed: int = 0,
) -> ResidualAttack:
    """Learn a prior from what is in clear, then what releases change about it.

    Scores over candidates are ln(frequency) + g₁·a(context) + s·(g₂·b(releases) + ln K(own)), with
    networks a and b, gates g that are shut at first, and the law K where it is known. First a
    and g₁ are trained with all sensitive positions hidden; then they stand still, and b and g₂ are
    trained on the releases, drawn anew each epoch where `redraw` can. What does best on validation
    documents is kept, the start included, and s is chosen there too: an attacker that finds nothing
    *is* its prior, to the last bit, and reports no leakage. (A network that learns prior and
    posterior side by side has opinions about noise: where releases carry nothing it still claims
    leakage.)
    """
    known, checked = usable(training), usable(validation)
    require(0 < clip < 1e-3, "clip", "in (0, 0.001)", clip)
    counts = np.bincount(
        np.concatenate([item.secrets[item.sensitive] for item in known]), minlength=len(candidates)
    )
    frequencies = torch.log(torch.as_tensor((counts + 0.5) / (counts + 0.5).sum())).float()
    law = None if log_law is None else torch.as_tensor(np.asarray(log_law), dtype=torch.float32)
    seen = torch.as_tensor(np.array(releases, dtype=np.float32))
    vectors = torch.as_tensor(np.array(candidates, dtype=np.float32))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        context, change = (Gated(seen, vectors, width=width, body=body) for _ in range(2))

        def prior(items: Sequence[Observed]) -> Tensor:
            unseen = [hidden(item.releases, item.sensitive) for item in items]
            where, _ = at_sensitive(items)
            return frequencies + context(unseen)[where]

        def posterior(items: Sequence[Observed]) -> Tensor:
            where, _ = at_sensitive(items)
            with torch.no_grad():
                start = prior(items)
            return start + changes(change, law, [item.releases for item in items])[where]

        rng = np.random.default_rng(seed)

        def fresh() -> Sequence[Observed]:
            return known if redraw is None else usable(redraw(rng))

        for module, scores, documents in (
            (context, prior, lambda: known),
            (change, posterior, fresh),
        ):
            loss, parts = _cross_entropy(scores), partial(long_epoch, documents, batch, rng)
            train(module, loss, loss, parts, checked, epochs, patience)
    scale, gain = _scale(prior, posterior, checked)
    return ResidualAttack(frequencies, context, change, law, scale, gain, clip)


def _cross_entropy(scores: Scores) -> Loss:
    def loss(items: Sequence[Observed]) -> tuple[Tensor, int]:
        _, truth = at_sensitive(items)
        return nn.functional.cross_entropy(scores(items), truth), len(truth)

    return loss


CLEARLY = 2.5
"""Standard errors over documents by which a change must gain to be made at all."""


def _scale(
    prior: Scores,
    posterior: Scores,
    items: Sequence[Observed],
) -> tuple[float, float]:
    """How much of the change does best on these documents, and what it gains a secret.

    None of it where the gain is not clear: the best of many epochs gains a little by luck.
    """
    gains = []
    with torch.no_grad():
        for start in range(0, len(items), 64):
            part = items[start : start + 64]
            before, after = prior(part).double(), posterior(part).double()
            _, truth = at_sensitive(part)
            rows, owner = torch.arange(len(truth)), _owners(part)
            believed = [
                torch.log_softmax(before + scale * (after - before), dim=1)[rows, truth].numpy()
                for scale in SCALES
            ]
            gains.append([np.bincount(owner, weights=one - believed[0]) for one in believed])
    by_document = np.concatenate([np.array(part) for part in gains], axis=1)
    best = int(by_document.sum(axis=1).argmax())
    chosen = by_document[best]
    if chosen.sum() <= CLEARLY * math.sqrt(float((chosen**2).sum())):
        return 0.0, 0.0
    return float(SCALES[best]), float(chosen.sum()) / sum(len(item.sensitive) for item in items)


def _owners(items: Sequence[Observed]) -> Indices:
    """Whose each sensitive position is."""
    return np.repeat(np.arange(len(items)), [len(item.sensitive) for item in items])
