"""Rewriting by continuing a prompt: what DP-Prompt and DP-Paraphrase share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from voile.core.arrays import Floats
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import require
from voile.rewriting.families import TokenRewriter
from voile.rewriting.generation import generate, log_likelihood
from voile.rewriting.language_model import LanguageModel, Tokens
from voile.rewriting.models import logit_bounds
from voile.rewriting.rewriter import Fidelity, Rewritten, guarantee_for
from voile.rewriting.token_law import TokenLaw
from voile.rewriting.token_sampler import ReleasedSampler, TokenSampler


@dataclass(frozen=True, eq=False)
class PromptedRewriter(TokenRewriter):
    """A model, a prompt, a sampler, and a fixed number of tokens to write.

    `most` is None where published code writes as many tokens as the prompt has: then the length
    of the text shows, outside any guarantee. `before` is public text that the model reads first;
    with `one_line`, what it writes ends with the line. A law that reads a public one gets it from
    the same question about an empty text, and from what was written so far.
    """

    language: LanguageModel
    sampler: TokenLaw
    prompt: Callable[[str], str]
    clean: Callable[[str], str]
    most: int | None
    fidelity: Fidelity
    outside: tuple[str, ...] = ()
    before: str = ""
    one_line: bool = False
    batch: int = 64

    @property
    def guarantee(self) -> Guarantee:
        """ε for one drawn token, between any two texts."""
        return guarantee_for(
            "one token",
            epsilon=self.sampler.stated(self.language.vocabulary),
            fidelity=self.fidelity,
            outside=self.outside,
        )

    @property
    def most_draws(self) -> int:
        """The most tokens that are drawn for a text."""
        return self.language.longest if self.most is None else self.most

    def bounded_by(self, public_texts: Sequence[str]) -> PromptedRewriter:
        """The same with logit bounds for this model and prompt, from *public* texts.

        Laws that do not clip need none.
        """
        if not isinstance(self.sampler, TokenSampler | ReleasedSampler):
            return self
        questions = [self.before + self.prompt(text) for text in public_texts]
        lower, upper = logit_bounds(self.language, questions)
        return replace(self, sampler=replace(self.sampler, lower=lower, upper=upper))

    def tokens(self, texts: Sequence[str], rng: Generator) -> tuple[list[Tokens], int]:
        """The drawn tokens of each text, and how many prompts were cut."""
        rows, cut = self._encoded(texts)
        written = generate(
            self.language,
            rows,
            self.sampler,
            lengths=self.lengths(texts),
            rng=rng,
            public=self._public(len(rows)),
            ends=self._ends,
            batch=self.batch,
        )
        return written, cut

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many tokens may be drawn for each text."""
        if self.most is not None:
            return [self.most] * len(texts)
        alone, _ = self.language.encoded([self.prompt(text) for text in texts])
        return [len(row) for row in alone]

    @property
    def _ends(self) -> frozenset[int] | None:
        return self.language.line_ends if self.one_line else None

    def _public(self, count: int) -> list[Tokens] | None:
        """The question about no text, for each, if the law asks what the model says to that."""
        return self._encoded([""])[0] * count if self.sampler.reads_public else None

    def _encoded(self, texts: Sequence[str]) -> tuple[list[Tokens], int]:
        return self.language.encoded([self.before + self.prompt(text) for text in texts])

    def decode(self, tokens: Sequence[Tokens]) -> list[str]:
        """Drawn tokens as texts: post-processing."""
        texts = [self.language.tokenizer.decode(t, skip_special_tokens=True) for t in tokens]
        return [self.clean(text) for text in texts]

    def log_likelihood(self, texts: Sequence[str], written: Sequence[Tokens]) -> Floats:
        """ln of the probability that each text is rewritten to exactly these tokens."""  # noqa: D403
        rows, _ = self._encoded(texts)
        return log_likelihood(
            self.language,
            rows,
            written,
            self.sampler,
            public=self._public(len(rows)),
            ends=self._ends,
            batch=self.batch,
        )

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """One rewritten text for each."""
        drawn, cut = self.tokens(texts, rng)
        return Rewritten(self.decode(drawn), [len(tokens) for tokens in drawn], cut)


def check_length(most: int) -> None:
    """A fixed, public cap."""
    require(1 <= most <= 10_000, "max_new_tokens", "between 1 and 10,000", most)
