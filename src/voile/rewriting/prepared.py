"""A rewriter at one epsilon as audits need it: what it draws, how that reads, and its law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voile.core.arrays import Floats
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator

if TYPE_CHECKING:
    from voile.rewriting.families import LatentRewriter


@dataclass(frozen=True)
class Prepared:
    """A rewriter ready to run, with what it promises and what is known of it.

    What is drawn may be more than a reader sees: the tokens of a text rather than the text. It is
    plain enough to be kept as JSON; `read` turns it into texts, which is post-processing.
    """

    draw: Callable[[Sequence[str], Generator], list[Any]]
    guarantee: Guarantee | None
    """What it promises; None where nothing is known or claimed."""
    units: Callable[[Sequence[str]], float] | None
    """Mean number of units that one text costs, for conversion between granularities."""
    read: Callable[[Sequence[Any]], list[str]] = list
    log_likelihood: Callable[[Sequence[str], Sequence[Any]], Any] | None = None
    """ln K(drawn | text) side by side, where the law is known."""
    inside: LatentRewriter | None = None
    """Where noise is put on a vector before a text is written: ADePT, DP-BART."""

    def text_epsilon(self, texts: Sequence[str]) -> float | None:
        """The epsilon of a whole text, on average over these; None where it cannot be said."""
        if self.guarantee is None or self.units is None:
            return None
        return self.guarantee.epsilon * self.units(texts)

    def rewrite(self, texts: Sequence[str], rng: Generator) -> list[str]:
        """One text for each."""
        return self.read(self.draw(texts, rng))


def prepared_prompted(rewriter: Any) -> Prepared:
    """A rewriter that writes token by token: tokens are kept, since they are what it draws."""

    def draw(texts: Sequence[str], rng: Generator) -> list[list[int]]:
        return [list(tokens) for tokens in rewriter.tokens(list(texts), rng)[0]]

    def law(texts: Sequence[str], drawn: Sequence[Sequence[int]]) -> Floats:
        found: Floats = rewriter.log_likelihood(texts, [tuple(tokens) for tokens in drawn])
        return found

    return Prepared(
        draw,
        rewriter.guarantee,
        lambda texts: sum(rewriter.lengths(texts)) / max(1, len(texts)),
        read=lambda drawn: rewriter.decode([tuple(tokens) for tokens in drawn]),
        log_likelihood=law,
    )


def prepared_masked(rewriter: Any, *, known: bool) -> Prepared:
    """DP-MLM, whose law is `known` where every word is replaced by one."""
    law = rewriter.log_likelihood if known else None
    return Prepared(_rewritten(rewriter), rewriter.guarantee, mean_words, log_likelihood=law)


def prepared_whole(rewriter: Any) -> Prepared:
    """A rewriter whose unit is a text: DP-ST, ADePT, DP-BART; the latter two have an inside."""
    inside = rewriter if hasattr(rewriter, "noisy_latent") else None
    return Prepared(_rewritten(rewriter), rewriter.guarantee, lambda texts: 1.0, inside=inside)


def _rewritten(rewriter: Any) -> Callable[[Sequence[str], Generator], list[Any]]:
    def draw(texts: Sequence[str], rng: Generator) -> list[Any]:
        return list(rewriter.rewrite(list(texts), rng).texts)

    return draw


def mean_words(texts: Sequence[str]) -> float:
    """Words of a text, on average."""
    return sum(len(text.split()) for text in texts) / max(1, len(texts))
