"""Fitting a neural attacker to pairs of secrets and releases, and asking it for beliefs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from voile.attackers.attack import HIDDEN, Observed, hidden
from voile.attackers.networks import Body, Reader
from voile.attackers.reliability import best_temperature
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.progress import tell


class Head(Protocol):
    """Turns read vectors into scores over candidates, and says how wrong they are."""

    width: int

    def scores(self, states: Tensor, releases: Tensor) -> Tensor:
        """Unnormalised log-beliefs."""
        ...

    def loss(self, states: Tensor, releases: Tensor, truth: Tensor) -> Tensor:
        """What training lowers."""
        ...


@dataclass(frozen=True, eq=False)
class LearnedAttack:
    """See `fit_learned`; `history` has (training loss, validation loss) for each epoch."""

    reader: Reader
    head: Head
    temperature: float
    clip: float
    history: tuple[tuple[float, float], ...]

    def log_posteriors(self, sequences: Sequence[Indices]) -> list[Floats]:
        """Calibrated, clipped beliefs at every position of every sequence."""
        states, flat, lengths = _read(self.reader, sequences)
        with torch.no_grad():
            scores = self.head.scores(states, flat) / self.temperature
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
    head: Head,
    body: Body,
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
    usable = [item for item in training if len(item.sensitive)]
    checked = [item for item in validation if len(item.sensitive)]
    if not usable or not checked:
        raise InvalidInput(
            "no sensitive words found: training and validation must each hold at least one "
            "sequence with a sensitive position"
        )
    require(0 < clip < 1e-3, "clip", "in (0, 0.001)", clip)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        vectors = torch.as_tensor(np.array(releases, dtype=np.float32))
        reader = Reader(vectors, width=width, out=head.width, body=body)
        history = _train(reader, head, usable, checked, epochs, patience, batch, seed)
    reader.eval()
    temperature = _calibrate(reader, head, checked)
    return LearnedAttack(reader, head, temperature, clip, tuple(history))


def _train(
    reader: Reader,
    head: Head,
    training: Sequence[Observed],
    validation: Sequence[Observed],
    epochs: int,
    patience: int,
    batch: int,
    seed: int,
) -> list[tuple[float, float]]:
    learned = torch.nn.ModuleList([reader, head])  # type: ignore[list-item]
    optimiser = torch.optim.Adam(learned.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.5, patience=1)
    rng = np.random.default_rng(seed)
    best, since, kept = math.inf, 0, _weights(learned)
    history: list[tuple[float, float]] = []
    for epoch in range(epochs):
        reader.train()
        total, count = 0.0, 0
        for part in _batches(training, batch, rng):
            masked = [_sometimes_hidden(item, rng) for item in part]
            loss, size = _loss(reader, head, part, masked)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learned.parameters(), 1.0)
            optimiser.step()
            total, count = total + float(loss.detach()) * size, count + size
        reader.eval()
        checked = _validation_loss(reader, head, validation, batch)
        history.append((total / count, checked))
        tell(f"epochs, held-out loss {checked:.3f}", done=epoch + 1, total=epochs)
        schedule.step(checked)
        if checked < best - 1e-4 * abs(best) or not math.isfinite(best):
            best, since, kept = checked, 0, _weights(learned)
        else:
            since += 1
            if since >= patience:
                break
    learned.load_state_dict(kept)
    return history


def _weights(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}


def _batches(
    items: Sequence[Observed], size: int, rng: np.random.Generator
) -> list[list[Observed]]:
    """Sequences of similar length together, batches in random order."""
    jitter = rng.random(len(items))
    order = sorted(range(len(items)), key=lambda n: len(items[n].releases) + jitter[n])
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    return [[items[n] for n in batches[b]] for b in rng.permutation(len(batches))]


def _sometimes_hidden(item: Observed, rng: np.random.Generator) -> Indices:
    return hidden(item.releases, item.sensitive) if rng.random() < 1 / 3 else item.releases


def _read(reader: Reader, sequences: Sequence[Indices]) -> tuple[Tensor, Tensor, list[int]]:
    """Read vectors of all positions, padding removed; with their releases and the lengths."""
    lengths = [len(sequence) for sequence in sequences]
    require(min(lengths, default=0) > 0, "sequences", "not empty", "an empty one")
    padded = np.full((len(sequences), max(lengths)), HIDDEN, dtype=np.int64)
    for row, sequence in enumerate(sequences):
        padded[row, : lengths[row]] = sequence
    tokens = torch.as_tensor(padded)
    padding = torch.arange(max(lengths))[None] >= torch.as_tensor(lengths)[:, None]
    with torch.set_grad_enabled(reader.training):
        states = reader(tokens, padding)
    return states[~padding], tokens[~padding], lengths


def _at_sensitive(items: Sequence[Observed]) -> tuple[Tensor, Tensor]:
    """Where the sensitive positions are among all positions, and the true secrets there."""
    starts = np.cumsum([0] + [len(item.releases) for item in items[:-1]])
    where = np.concatenate([s + item.sensitive for s, item in zip(starts, items, strict=True)])
    truth = np.concatenate([item.secrets[item.sensitive] for item in items])
    return torch.as_tensor(where), torch.as_tensor(truth)


def _loss(
    reader: Reader, head: Head, items: Sequence[Observed], seen: Sequence[Indices]
) -> tuple[Tensor, int]:
    states, flat, _ = _read(reader, seen)
    where, truth = _at_sensitive(items)
    return head.loss(states[where], flat[where], truth), len(truth)


def _validation_loss(reader: Reader, head: Head, items: Sequence[Observed], batch: int) -> float:
    total, count = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(items), batch):
            part = items[start : start + batch]
            loss, size = _loss(reader, head, part, [item.releases for item in part])
            total, count = total + float(loss) * size, count + size
    return total / count


def _calibrate(reader: Reader, head: Head, items: Sequence[Observed], most: int = 4000) -> float:
    """The temperature of least log-loss on held-out secrets."""
    scores, truths, count = [], [], 0
    with torch.no_grad():
        for start in range(0, len(items), 64):
            part = items[start : start + 64]
            states, flat, _ = _read(reader, [item.releases for item in part])
            where, truth = _at_sensitive(part)
            scores.append(head.scores(states[where], flat[where]).double().numpy())
            truths.append(truth.numpy())
            count += len(truth)
            if count >= most:
                break
    return best_temperature(np.concatenate(scores), np.concatenate(truths))
