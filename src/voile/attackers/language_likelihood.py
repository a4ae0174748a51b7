"""How likely a language model finds a release after a candidate: a judge that knows no places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.attackers.attribution_likelihood import PairLikelihood
from voile.core.arrays import Floats
from voile.errors import InvalidInput
from voile.rewriting.likelihood import continued, padded, summed

QUESTION = "Original: {}\nRewritten:"
"""What a model that only goes on has read before the release."""


def language_likelihood(language: Any) -> PairLikelihood:
    """The law ln P(release | candidate) of a causal or encoder–decoder model that reads `QUESTION`.

    A small model that is asked which number it finds best answers with one number whatever it is
    shown; what it *expects* after each candidate still tells them apart. Each candidate is scored
    by itself, so there are no places to prefer and as many candidates as one likes; the release is
    the same for all of them, so its own rarity and length favour none. Both texts are cut to half
    of what the model reads. One pass of the model for each pair.

    >>> from voile.rewriting.tiny import tiny_causal
    >>> law = language_likelihood(tiny_causal(["red cat", "blue dog"]))
    >>> law(["red cat", "blue dog"], ["a cat", "a cat"]).shape
    (2,)
    """
    kinds = getattr(language.model.config, "architectures", None) or [type(language.model).__name__]
    if any("MaskedLM" in kind for kind in kinds):
        raise InvalidInput(
            "the judge must be a model that writes, got one that fills masks; name a causal or an "
            "encoder–decoder model"
        )
    weigh = _written if language.model.config.is_encoder_decoder else continued

    def law(texts: Sequence[str], releases: Sequence[Any]) -> Floats:
        questions = _tokens(language, [QUESTION.format(text) for text in texts], keep_end=True)
        answers = _tokens(language, [f" {release}" for release in releases])
        return weigh(language, questions, [[*answer, language.end] for answer in answers])

    return law


def _tokens(language: Any, texts: Sequence[str], *, keep_end: bool = False) -> list[list[int]]:
    """Token ids of each text, cut to half of what the model reads; the end of a question stays."""
    most = language.longest // 2 - 1
    rows = language.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    return [list(row[-most:] if keep_end else row[:most]) or [language.end] for row in rows]


def _written(language: Any, questions: list[list[int]], answers: list[list[int]]) -> Floats:
    import torch

    width = max(map(len, questions))
    seen = [[1] * len(row) + [0] * (width - len(row)) for row in questions]
    start = language.model.config.decoder_start_token_id
    with torch.inference_mode():
        logits = language.model(
            input_ids=padded(questions, language.padding),
            attention_mask=torch.tensor(seen),
            decoder_input_ids=padded([[start, *row[:-1]] for row in answers], language.padding),
        ).logits
    return summed(logits, [0] * len(answers), answers)
