"""Training of attackers that are networks: batches, what is read where, the best epoch kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from voile.attackers.attack import HIDDEN, Observed
from voile.attackers.networks import Reader
from voile.core.arrays import Indices
from voile.errors import InvalidInput, require
from voile.progress import tell

Loss = Callable[[Sequence[Observed]], tuple[Tensor, int]]
"""The mean loss over the secrets of some documents, and how many these are."""


def usable(items: Sequence[Observed]) -> list[Observed]:
    """Those with a sensitive position."""
    kept = [item for item in items if len(item.sensitive)]
    if not kept:
        raise InvalidInput(
            "no sensitive words found: training and validation must each hold at least one "
            "sequence with a sensitive position"
        )
    return kept


def train(
    module: torch.nn.Module,
    loss: Loss,
    held_out_loss: Loss,
    epoch_batches: Callable[[], list[list[Observed]]],
    validation: Sequence[Observed],
    epochs: int,
    patience: int,
) -> None:
    """Lower a loss; the epoch that does best on validation is kept, the start included.

    Adam at 1e-3, the rate halved when the validation loss stalls, stopped after `patience` epochs
    without gain.
    """
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.5, patience=1)
    module.eval()
    best, since, kept = mean_loss(held_out_loss, validation), 0, weights(module)
    for epoch in range(epochs):
        module.train()
        for part in epoch_batches():
            value, _ = loss(part)
            optimiser.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
        module.eval()
        checked = mean_loss(held_out_loss, validation)
        tell(f"epochs, held-out loss {checked:.3f}", done=epoch + 1, total=epochs)
        schedule.step(checked)
        if checked < best - 1e-4 * abs(best):
            best, since, kept = checked, 0, weights(module)
        else:
            since += 1
            if since >= patience:
                break
    module.load_state_dict(kept)


def mean_loss(loss: Loss, items: Sequence[Observed], *, batch: int = 64) -> float:
    """The mean over the secrets of all these documents."""
    total, count = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(items), batch):
            value, size = loss(items[start : start + batch])
            total, count = total + float(value) * size, count + size
    return total / count


def weights(module: torch.nn.Module) -> dict[str, Tensor]:
    """A copy of all parameters."""
    return {name: value.clone() for name, value in module.state_dict().items()}


FEWEST_STEPS = 64
"""Steps of one epoch at the least: few documents are read several times."""


def long_epoch(
    documents: Callable[[], Sequence[Observed]], size: int, rng: np.random.Generator
) -> list[list[Observed]]:
    """Batches of all documents, asked for again until there are enough of them."""
    found: list[list[Observed]] = []
    while len(found) < FEWEST_STEPS:
        found += batches(documents(), size, rng)
    return found


def batches(items: Sequence[Observed], size: int, rng: np.random.Generator) -> list[list[Observed]]:
    """Sequences of similar length together, batches in random order."""
    jitter = rng.random(len(items))
    order = sorted(range(len(items)), key=lambda n: len(items[n].releases) + jitter[n])
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    return [[items[n] for n in parts[b]] for b in rng.permutation(len(parts))]


def read(reader: Reader, sequences: Sequence[Indices]) -> tuple[Tensor, Tensor, list[int]]:
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


def at_sensitive(items: Sequence[Observed]) -> tuple[Tensor, Tensor]:
    """Where the sensitive positions are among all positions, and the true secrets there."""
    starts = np.cumsum([0] + [len(item.releases) for item in items[:-1]])
    where = np.concatenate([s + item.sensitive for s, item in zip(starts, items, strict=True)])
    truth = np.concatenate([item.secrets[item.sensitive] for item in items])
    return torch.as_tensor(where), torch.as_tensor(truth)
