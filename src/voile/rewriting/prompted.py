"""Rewriting by continuing a prompt: what DP-Prompt and DP-Paraphrase share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.rewriting.generation import LanguageModel, Tokens, generate, log_likelihood
from voile.rewriting.rewriter import Fidelity, Rewritten, guarantee_for
from voile.rewriting.token_sampler import Sampler


@dataclass(frozen=True, eq=False)
class PromptedRewriter:
    """A model, a prompt, a sampler, and a fixed number of tokens to write.

    `most` is None where published code writes as many tokens as the prompt has: then the length
    of the text shows, outside any guarantee.
    """

    language: LanguageModel
    sampler: Sampler
    prompt: Callable[[str], str]
    clean: Callable[[str], str]
    most: int | None
    fidelity: Fidelity
    outside: tuple[str, ...] = ()
    batch: int = 64

    @property
    def guarantee(self) -> Guarantee:
        """ε for one drawn token, between any two texts."""
        return guarantee_for(
            "one token",
            epsilon=self.sampler.epsilon,
            fidelity=self.fidelity,
            outside=self.outside,
        )

    @property
    def text_guarantee(self) -> Guarantee:
        """The whole text: the token's ε times the most tokens that are drawn for it."""
        count = self.language.longest if self.most is None else self.most
        return replace(self.guarantee.repeated(count), granularity="one text")

    def at(self, epsilon: float) -> PromptedRewriter:
        """The same model at another epsilon for each token."""
        require_epsilon(epsilon)
        return replace(self, sampler=replace(self.sampler, epsilon=epsilon))

    def tokens(self, texts: Sequence[str], rng: Generator) -> tuple[list[Tokens], int]:
        """The drawn tokens of each text, and how many prompts were cut."""
        rows, cut = self.language.encoded([self.prompt(text) for text in texts])
        lengths = [len(row) if self.most is None else self.most for row in rows]
        written: list[Tokens] = [()] * len(rows)
        # batches pad little, and equal prompts, which are read once, stand together
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i]), rows[i]))
        for start in range(0, len(order), self.batch):
            here = order[start : start + self.batch]
            drawn = generate(
                self.language,
                [rows[i] for i in here],
                self.sampler,
                lengths=[lengths[i] for i in here],
                rng=rng,
            )
            for position, tokens in zip(here, drawn, strict=True):
                written[position] = tokens
        return written, cut

    def decode(self, tokens: Sequence[Tokens]) -> list[str]:
        """Drawn tokens as texts: post-processing."""
        texts = [self.language.tokenizer.decode(t, skip_special_tokens=True) for t in tokens]
        return [self.clean(text) for text in texts]

    def log_likelihood(self, texts: Sequence[str], written: Sequence[Tokens]) -> Floats:
        """ln of the probability that each text is rewritten to exactly these tokens."""  # noqa: D403
        rows, _ = self.language.encoded([self.prompt(text) for text in texts])
        parts = [
            log_likelihood(
                self.language,
                rows[i : i + self.batch],
                written[i : i + self.batch],
                self.sampler,
            )
            for i in range(0, len(rows), self.batch)
        ]
        return np.concatenate(parts)

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """One rewritten text for each."""
        drawn, cut = self.tokens(texts, rng)
        return Rewritten(self.decode(drawn), [len(tokens) for tokens in drawn], cut)

    def release(self, texts: Sequence[str] | Items, rng: Generator) -> Items:
        """The rewritten texts as an array."""
        return np.array(self.rewrite(list(texts), rng).texts, dtype=object)


def check_length(most: int) -> None:
    """A fixed, public cap."""
    require(1 <= most <= 10_000, "max_new_tokens", "between 1 and 10,000", most)
