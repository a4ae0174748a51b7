"""What rewriters share by what their ε covers: a whole text, a drawn token, a noisy vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import require_epsilon
from voile.rewriting.latent_noise import GaussianNoise, gaussian_noise
from voile.rewriting.rewriter import Fidelity, Rewritten, guarantee_for


class TextRewriter:
    """A frozen dataclass with `epsilon` for one text; `rewrite` says how a text is made anew."""

    @property
    def guarantee(self) -> Guarantee:
        """ε for one unit."""
        raise NotImplementedError

    @property
    def text_guarantee(self) -> Guarantee:
        """The same: a text is one unit."""
        return self.guarantee

    def at(self, epsilon: float) -> Self:
        """The same model at another epsilon."""
        return _changed(self, epsilon=require_epsilon(epsilon))

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """The texts made anew."""
        raise NotImplementedError

    def release(self, texts: Sequence[str] | Items, rng: Generator) -> Items:
        """The rewritten texts as an array."""
        return np.array(self.rewrite(list(texts), rng).texts, dtype=object)


class TokenRewriter(TextRewriter):
    """ε is that of one drawn token, whose law is the `sampler`; every draw sees the whole text."""

    sampler: Any

    @property
    def most_draws(self) -> int:
        """The most tokens that are drawn for a text."""
        raise NotImplementedError

    @property
    def text_guarantee(self) -> Guarantee:
        """The whole text: the token's ε times the most tokens that are drawn for it."""
        return replace(self.guarantee.repeated(self.most_draws), granularity="one text")

    def at(self, epsilon: float) -> Self:
        """The same model at another epsilon for each token."""
        return _changed(self, sampler=replace(self.sampler, epsilon=require_epsilon(epsilon)))


class LatentRewriter(TextRewriter):
    """(ε, δ) for one text: all of it goes through one clipped vector, to which noise is added."""

    epsilon: float
    delta: float
    fidelity: Fidelity

    @property
    def sensitivity(self) -> float:
        """How far apart two clipped vectors can be."""
        raise NotImplementedError

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ) for one text."""
        return guarantee_for(
            "one text", epsilon=self.epsilon, delta=self.delta, fidelity=self.fidelity
        )

    @property
    def noise(self) -> GaussianNoise:
        """The noise of each coordinate."""
        return gaussian_noise(
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            delta=self.delta,
            fidelity=self.fidelity,
        )

    def latent(self, texts: Sequence[str]) -> Floats:
        """Clipped vectors before noise: what the internal attack compares with."""
        raise NotImplementedError

    def noisy_latent(self, texts: Sequence[str], rng: Generator) -> Floats:
        """Vectors with noise: the mechanism proper; all else is post-processing."""
        return self.noise.add(self.latent(texts), rng)


def _changed(rewriter: Any, **fields: Any) -> Any:
    return replace(rewriter, **fields)
