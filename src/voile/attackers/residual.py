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
from voile.attackers.networks import Body, Features, Reader
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

    def __init__(
        self,
        releases: Tensor,
        candidates: Tensor,
        *,
        width: int,
        body: Body,
        features: Features | None = None,
    ) -> None:
        super().__init__()
        out = candidates.shape[1]
        self.reader = Reader(releases, width=width, out=out, body=body, features=features)
        self.vectors = nn.Parameter(candidates / candidates.norm(dim=1, keepdim=True).mean())
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, sequences: Sequence[Indices]) -> Tensor:
        """One row for each position of all sequences, in order."""
        states, _, _ = read(self.reader, sequences)
        scores: Tensor = self.gate * (states @ self.vectors.T)
        return scores


@dataclass(frozen=True, eq=False)
class ResidualAttack:
    """See `fit_residual`.

    `gain` is what the network's say gave over what stands without it, in nats a secret, on
    documents that nothing was chosen on.
    """

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
        told = own_release(self.log_law, sequences)
        if told is not None:
            prior = prior + told
        return prior if self.scale == 0.0 else prior + self.scale * self.change(sequences)


def own_release(log_law: Tensor | None, sequences: Sequence[Indices]) -> Tensor | None:
    """What each place's own release says of it by Bayes' rule, where the law is known."""
    if log_law is None:
        return None
    flat = torch.as_tensor(np.concatenate([np.asarray(s) for s in sequences]))
    seen = (flat >= 0)[:, None]
    return torch.where(seen, log_law.T[flat.clamp(min=0)], 0.0)


def fit_residual(
    training: Sequence[Observed],
    validation: Sequence[Observed],
    *,
    releases: Floats,
    candidates: Floats,
    body: Body,
    features: Features | None = None,
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

    Scores over candidates are ln(frequency) + g₁·a(context) + ln K(own) + s·g₂·b(releases), with
    networks a and b, gates g that are shut at first, and the law K where it is known: what a
    place's own release says then needs no learning. First a and g₁ are trained with all sensitive
    positions hidden; then they stand still, and b and g₂ are trained on the releases, drawn anew
    each epoch where `redraw` can. What does best on one half of the validation documents is kept,
    the start included, and s is chosen there. Whether b has a say at all is decided on the other
    half, on which nothing was chosen: its mean gain over documents must be above 0 by Student's
    one-sided test at `LEVEL`, or s is 0. So an attacker that finds nothing *is* its prior, to the
    last bit, and reports no leakage. (A network that learns prior and posterior side by side has
    opinions about noise: where releases carry nothing it still claims leakage.)
    """
    known, checked = usable(training), usable(validation)
    choosing, deciding = checked[::2], checked[1::2]
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
        context, change = (
            Gated(seen, vectors, width=width, body=body, features=features) for _ in range(2)
        )

        def prior(items: Sequence[Observed]) -> Tensor:
            unseen = [hidden(item.releases, item.sensitive) for item in items]
            where, _ = at_sensitive(items)
            return frequencies + context(unseen)[where]

        def without(items: Sequence[Observed]) -> Tensor:
            where, _ = at_sensitive(items)
            told = own_release(law, [item.releases for item in items])
            with torch.no_grad():
                return prior(items) if told is None else prior(items) + told[where]

        def posterior(items: Sequence[Observed]) -> Tensor:
            where, _ = at_sensitive(items)
            said: Tensor = change([item.releases for item in items])
            return without(items) + said[where]

        rng = np.random.default_rng(seed)

        def fresh() -> Sequence[Observed]:
            return known if redraw is None else usable(redraw(rng))

        for module, scores, documents in (
            (context, prior, lambda: known),
            (change, posterior, fresh),
        ):
            loss, parts = _cross_entropy(scores), partial(long_epoch, documents, batch, rng)
            train(module, loss, loss, parts, choosing, epochs, patience)
    scale = float(SCALES[_gains(without, posterior, choosing, SCALES).sum(axis=1).argmax()])
    gains = _gains(without, posterior, deciding, (0.0, scale))[1] if deciding else np.zeros(0)
    if not clearly_positive(gains):
        return ResidualAttack(frequencies, context, change, law, 0.0, 0.0, clip)
    gain = float(gains.sum()) / sum(len(item.sensitive) for item in deciding)
    return ResidualAttack(frequencies, context, change, law, scale, gain, clip)


def _cross_entropy(scores: Scores) -> Loss:
    def loss(items: Sequence[Observed]) -> tuple[Tensor, int]:
        _, truth = at_sensitive(items)
        return nn.functional.cross_entropy(scores(items), truth), len(truth)

    return loss


LEVEL = 0.01
"""How often a network that gains nothing has a say all the same."""


def clearly_positive(gains: Floats, *, level: float = LEVEL) -> bool:
    """Whether the mean of independent gains is above 0 by Student's one-sided test.

    Exact for normal gains and right in the limit for any: the gain of a document is a sum over its
    secrets. A wrong yes lets a network speak; whether its claims count is told by `learned_from`.

    >>> clearly_positive(np.array([0.1, 0.2, 0.15, 0.1])), clearly_positive(np.array([0.1, -0.1]))
    (True, False)
    """
    from scipy.special import stdtrit

    if len(gains) < 2:
        return False
    error = float(gains.std(ddof=1)) / math.sqrt(len(gains))
    return float(gains.mean()) > error * float(stdtrit(len(gains) - 1, 1 - level))


def _gains(
    without: Scores, posterior: Scores, items: Sequence[Observed], scales: Sequence[float] | Floats
) -> Floats:
    """What so much of the network's say gains over none: a row a scale, a column a document."""
    gains = []
    with torch.no_grad():
        for start in range(0, len(items), 64):
            part = items[start : start + 64]
            before, after = without(part).double(), posterior(part).double()
            _, truth = at_sensitive(part)
            rows, owner = torch.arange(len(truth)), _owners(part)
            believed = [
                torch.log_softmax(before + scale * (after - before), dim=1)[rows, truth].numpy()
                for scale in (0.0, *scales)
            ]
            gains.append([np.bincount(owner, weights=one - believed[0]) for one in believed[1:]])
    return np.concatenate([np.array(part) for part in gains], axis=1)


def _owners(items: Sequence[Observed]) -> Indices:
    """Whose each sensitive position is."""
    return np.repeat(np.arange(len(items)), [len(item.sensitive) for item in items])
