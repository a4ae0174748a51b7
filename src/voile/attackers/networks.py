"""Readers of release sequences, and the paper's way to turn what they read into beliefs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn

Body = Callable[[int], nn.Module]
"""From a width to a network that maps (batch, length, width) and a padding mask to the same."""


class Features(Protocol):
    """What somebody else's network makes of a sequence; nothing of it is trained here."""

    width: int

    def __call__(self, sequence: Tensor, padding: Tensor) -> Tensor:
        """A vector for each position."""
        ...


class _Recurrent(nn.Module):
    """A recurrent network in both directions: the attacker has the whole sequence."""

    def __init__(self, cell: type[nn.RNN] | type[nn.LSTM], width: int) -> None:
        super().__init__()
        self.cell = cell(width, width // 2, batch_first=True, bidirectional=True)

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """Read every sequence; what lies beyond its end is not read."""
        lengths = (~padding).sum(dim=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            states, lengths, batch_first=True, enforce_sorted=False
        )
        read, _ = self.cell(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(
            read, batch_first=True, total_length=states.shape[1]
        )
        return out


class _Transformer(nn.Module):
    """Self-attention over the sequence, with sinusoidal positions."""

    def __init__(self, width: int, *, layers: int, heads: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, heads, dim_feedforward=2 * width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.width = width

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """Every position reads every other one."""
        place = torch.arange(states.shape[1], dtype=states.dtype)[:, None]
        rate = torch.exp(torch.arange(0, self.width, 2) * (-math.log(10_000.0) / self.width))
        waves = torch.stack([torch.sin(place * rate), torch.cos(place * rate)], dim=2).flatten(1)
        read: Tensor = self.encoder(states + waves, src_key_padding_mask=padding)
        return read


rnn: Body = partial(_Recurrent, nn.RNN)
"""An Elman network in both directions."""
lstm: Body = partial(_Recurrent, nn.LSTM)
"""A long short-term memory in both directions."""
transformer: Body = partial(_Transformer, layers=2, heads=4)
"""Two layers of self-attention with four heads."""


class Reader(nn.Module):
    """Vectors of releases in, a vector a position out; being hidden has a vector of its own."""

    def __init__(
        self,
        releases: Tensor,
        *,
        width: int,
        out: int,
        body: Body,
        features: Features | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("releases", releases)
        self.features = features
        self.beside = None if features is None else nn.Linear(features.width, width)
        self.unseen = nn.Parameter(torch.zeros(width))
        self.enter = nn.Linear(releases.shape[1], width)
        self.body = body(width)
        self.leave = nn.Linear(width, out)
        self.skip = nn.Linear(width, out)

    def forward(self, sequence: Tensor, padding: Tensor) -> Tensor:
        """`sequence` holds positions of releases, −1 where hidden or beyond the end."""
        seen = (sequence >= 0)[..., None]
        vectors = self.get_buffer("releases")[sequence.clamp(min=0)]
        states = torch.where(seen, self.enter(vectors), self.unseen)
        if self.features is not None and self.beside is not None:
            states = states + self.beside(self.features(sequence, padding))
        read: Tensor = self.leave(self.body(states, padding)) + self.skip(states)
        return read


class EmbeddingHead(nn.Module):
    """The paper's: estimate the secret's vector, believe in what lies near the estimate.

    Scores are −‖x̂ − x_i‖² / τ_base, τ_base the mean squared distance between candidates; the
    training loss is the mean squared error of x̂ (mPL paper, section 2.4).
    """

    def __init__(self, candidates: Tensor) -> None:
        super().__init__()
        self.register_buffer("candidates", candidates)
        spread = 2 * candidates.var(dim=0, unbiased=False).sum()
        self.base = float(spread) or 1.0
        self.width = candidates.shape[1]

    def scores(self, states: Tensor) -> Tensor:
        """Unnormalised log-beliefs over the candidates."""
        return -(torch.cdist(states, self.get_buffer("candidates")) ** 2) / self.base

    def loss(self, states: Tensor, truth: Tensor) -> Tensor:
        """Mean squared error of the estimated vector."""
        target: Tensor = self.get_buffer("candidates")[truth]
        return ((states - target) ** 2).sum(dim=1).mean()
