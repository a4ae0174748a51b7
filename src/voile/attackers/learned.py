"""The paper's learned attacker: it estimates the secret's vector, and believes in what is near."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from voile.attackers.attack import Observed, hidden
from voile.attackers.networks import Body, EmbeddingHead, Features, Reader
from voile.attackers.reliability import best_temperature
from voile.attackers.training import at_sensitive, batches, read, train, usable
from voile.core.arrays import Floats, Indices
from voile.errors import require


@dataclass(frozen=True, eq=False)
class LearnedAttack:
    """See `fit_learned`."""

    reader: Reader
    head: EmbeddingHead
    temperature: float
    clip: float

    def log_posteriors(
        self, sequences: Sequence[Indices], sensitive: Sequence[Indices] | None = None
    ) -> list[Floats]:
        """Calibrated, clipped beliefs at every position of every sequence."""
        with torch.no_grad():
            states, _, lengths = read(self.reader, sequences)
            scores = self.head.scores(states) / self.temperature
            beliefs = torch.log_softmax(scores.double(), dim=1)
            size = beliefs.shape[1]
            floor = math.log(self.clip)
            kept = math.log1p(-size * self.clip)
            beliefs = torch.logaddexp(beliefs + kept, torch.full_like(beliefs, floor))
        rows = beliefs.numpy()
        return list(np.split(rows, np.cumsum(lengths)[:-1]))


def fit_learned(
    training: Sequence[Observed],
    validation: Sequence[Observed],
    *,
    releases: Floats,
    head: EmbeddingHead,
    body: Body,
    features: Features | None = None,
    width: int = 96,
    epochs: int = 40,
    patience: int = 4,
    batch: int = 64,
    clip: float = 1e-9,
    seed: int = 0,
) -> LearnedAttack:
    """Train an attacker that reads whole sequences and believes something about each secret.

    `releases` are the vectors of what can be released. Adam at 1e-3, the rate halved when the
    validation loss stalls, stopped after `patience` epochs without gain, best epoch kept. In a
    third of the sequences of each batch all sensitive positions are hidden, so that the same
    network gives the prior. The temperature is then calibrated on the validation part, and
    beliefs are mixed with `clip` so that none is zero (mPL paper, Prop. 5, assumption A1).
    """
    known, checked = usable(training), usable(validation)
    require(0 < clip < 1e-3, "clip", "in (0, 0.001)", clip)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        vectors = torch.as_tensor(np.array(releases, dtype=np.float32))
        reader = Reader(vectors, width=width, out=head.width, body=body, features=features)
        learned = torch.nn.ModuleList([reader, head])
        rng = np.random.default_rng(seed)

        def loss(items: Sequence[Observed], seen: Sequence[Indices]) -> tuple[Tensor, int]:
            where, truth = at_sensitive(items)
            states, _, _ = read(reader, seen)
            return head.loss(states[where], truth), len(truth)

        def of_batch(part: Sequence[Observed]) -> tuple[Tensor, int]:
            return loss(part, [_sometimes_hidden(item, rng) for item in part])

        def of_checked(part: Sequence[Observed]) -> tuple[Tensor, int]:
            return loss(part, [item.releases for item in part])

        train(
            learned,
            of_batch,
            of_checked,
            lambda: batches(known, batch, rng),
            checked,
            epochs,
            patience,
        )
    return LearnedAttack(reader, head, _calibrated(reader, head, checked), clip)


def _sometimes_hidden(item: Observed, rng: np.random.Generator) -> Indices:
    return hidden(item.releases, item.sensitive) if rng.random() < 1 / 3 else item.releases


def _calibrated(
    reader: Reader, head: EmbeddingHead, items: Sequence[Observed], most: int = 4000
) -> float:
    """The temperature of least log-loss on held-out secrets."""
    scores, truths, count = [], [], 0
    with torch.no_grad():
        for start in range(0, len(items), 64):
            part = items[start : start + 64]
            states, _, _ = read(reader, [item.releases for item in part])
            where, truth = at_sensitive(part)
            scores.append(head.scores(states[where]).double().numpy())
            truths.append(truth.numpy())
            count += len(truth)
            if count >= most:
                break
    return best_temperature(np.concatenate(scores), np.concatenate(truths))
