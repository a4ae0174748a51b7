"""What reading draws as a whole did: the value in the guarantee file, and its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from voile.core.rounding import percent_at_most
from voile.restoring.candidates import MOST
from voile.restoring.reranking import BEST
from voile.text.language_prior import Gain, LanguagePrior, PriorUsed
from voile.text.options import SERVING, Misfit, Use
from voile.text.released import ReleasedText
from voile.text.reranker import ModelUsed
from voile.text.settings import TextSettings

LIKELIEST, LEAST_LOSS = "likeliest word", "word of least expected loss"
_WORDS, _LEFT_OUT, _GAIN, _TEXTS, _UNFIT = (
    f"read {what}" for what in ("words", "left out", "gain", "texts", "unfit")
)


@dataclass(frozen=True)
class Restored:
    """What texts were read for and with and, after a release, how that went.

    `expected` is what context gains on held-out public text put through the same law, `gain` what
    it gained here, in nats a word. `left_out` bounds the belief outside the candidates, on average;
    `fell_back` counts texts for which the public text did not fit.
    """

    use: Use
    output: str
    prior: PriorUsed
    misfit: Misfit
    expected: Gain | None
    candidates: int
    model: ModelUsed | None = None
    """The language model that was asked to weigh the likeliest readings again."""
    words: int | None = None
    left_out: float | None = None
    gain: float | None = None
    texts: int | None = None
    fell_back: int | None = None

    @property
    def as_a_whole(self) -> bool | None:
        """Whether texts were read so, or else each word by itself; None if all stand as drawn."""
        if self.prior.file is None:
            return False
        if not self.texts or self.texts != self.fell_back:
            return True
        return None if self.misfit == "drawn" else False

    def after(self, totals: Mapping[str, float]) -> Restored:
        """The same with what a job counted."""
        words = int(totals.get(_WORDS, 0))
        return replace(
            self,
            words=words,
            left_out=totals.get(_LEFT_OUT, 0.0) / max(1, words),
            gain=totals.get(_GAIN, 0.0) / max(1, words),
            texts=int(totals.get(_TEXTS, 0)),
            fell_back=int(totals.get(_UNFIT, 0)),
        )


def restored_with(settings: TextSettings, prior: LanguagePrior, words: int) -> Restored:
    """What is known before anything was read."""
    assert settings.restore is not None
    output = LEAST_LOSS if SERVING[settings.restore] else LIKELIEST
    return Restored(
        settings.restore, output, prior.used, settings.misfit, prior.expected, min(MOST, words),
        prior.model,
    )  # fmt: skip


def read_totals(answers: Iterable[ReleasedText]) -> dict[str, float]:
    """What was found in reading some texts, as totals that a job can add up."""
    found = [answer.read for answer in answers if answer.read is not None]
    if not found:
        return {}
    return {
        _WORDS: sum(read.words for read in found),
        _LEFT_OUT: sum(read.left_out for read in found),
        _GAIN: sum(read.gain for read in found),
        _TEXTS: len(found),
        _UNFIT: sum(not read.fits for read in found),
    }


def restored_sentences(restored: Restored) -> list[str]:
    """That it is post-processing, with what, what was left out, and whether the prior fitted."""
    prior = restored.prior
    with_what = prior.source
    if prior.file is not None:
        with_what = f"{prior.file} ({prior.texts:,} public texts, {prior.words:,} words)"
    whole = restored.as_a_whole
    if whole is None:
        return ["Nothing was read: all words stand as they were drawn.", *_fit_sentences(restored)]
    if not whole and prior.file is not None:
        with_what = "general word frequencies"
    given = "all draws of a text" if whole else "its own draw"
    lines = [
        f"Read {'as a whole' if whole else 'word by word'}: post-processing, so the guarantee is "
        f"unchanged. For {restored.use}: the {restored.output}, given {given}, the exact law and "
        f"{with_what}."
    ]
    if restored.left_out is not None and restored.words:
        lines.append(
            f"Each word was sought among its {restored.candidates} likeliest; on average at most "
            f"{percent_at_most(restored.left_out)} of the belief (without context) lies outside."
        )
    return lines + _model_sentences(restored) + _fit_sentences(restored)


def _model_sentences(restored: Restored) -> list[str]:
    """Whether a language model chose, and what that was worth where the truth is public."""
    model = restored.model
    if model is None:
        return []
    measured = (
        f"on {model.texts:,} held-out public texts it read {model.with_it:.1%} of the words right, "
        f"{model.without:.1%} without it"
    )
    if not model.share:
        return [f"The language model {model.name} was not used: it read no more words right "
                f"({model.without:.1%}) on {model.texts:,} held-out public texts."]  # fmt: skip
    return [
        f"The language model {model.name} weighed the {BEST} likeliest readings of each sentence, "
        f"its word counting {model.share:g} and that of the public text {1 - model.share:g}: "
        f"{measured}."
    ]


def _fit_sentences(restored: Restored) -> list[str]:
    expected, instead = restored.expected, {
        "drawn": "stand as they were drawn",
        "frequencies": "were read word by word, by general frequencies",
        "ignore": "",
    }[restored.misfit]  # fmt: skip
    if expected is None:
        if restored.prior.file is None:
            return ["No public text was given: each word was read by itself. Give --public."]
        return ["Too few public texts to tell whether they fit what was drawn."]
    if restored.gain is None or not restored.words:
        return []
    measured = (
        f"context foretold the draws by {restored.gain:.2f} nats a word, and by "
        f"{expected.mean:.2f} on public text put through the same law"
    )
    if restored.fell_back:
        return [
            f"THE PUBLIC TEXT DOES NOT FIT {restored.fell_back:,} of {restored.texts:,} texts, "
            f"which {instead}: {measured}. Give public text of their kind."
        ]
    if restored.misfit == "ignore":
        return [f"Whether the public text fits was not asked: {measured}."]
    if restored.gain - expected.error(restored.words) < expected.enough:
        return [f"Too few words to tell whether the public text fits: {measured}."]
    return [f"The public text fits: {measured}."]
