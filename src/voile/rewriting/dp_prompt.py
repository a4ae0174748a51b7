"""DP-Prompt: ask a language model for a paraphrase, and draw it at a private temperature."""

from __future__ import annotations

from collections.abc import Callable

from voile.rewriting.language_model import LanguageModel
from voile.rewriting.prompted import PromptedRewriter, check_length
from voile.rewriting.rewriter import Fidelity, Law, check_fidelity_of_law, sound_law
from voile.rewriting.token_sampler import TokenSampler

FLAN_T5_BOUNDS = (-19.22705113016047, 7.48324937989716)
"""Logit bounds that the published implementation uses with google/flan-t5-base."""


def dp_prompt(
    language: LanguageModel,
    *,
    epsilon: float,
    bounds: tuple[float, float] = FLAN_T5_BOUNDS,
    max_new_tokens: int = 32,
    fidelity: Fidelity = "sound",
    law: Law = "clipped",
    question: Callable[[str], str] | None = None,
    batch: int = 64,
) -> PromptedRewriter:
    """Continue "Document : … Paraphrase of the document :", each token under ε.

    Utpala et al. (Findings of EMNLP 2023): logits clipped to [b1, b2] and divided by
    T = 2(b2 − b1)/ε. Each token is ε-private between any two texts whatever came before it, so a
    text of at most n tokens is nε-private. Here n is fixed, and ending is a token like any other.
    A model that was taught to chat does better with `question=chat_question(language)`; for the
    guarantee any question will do. If sound, each row of logits is aligned with b2 before it is
    clipped (`TokenSampler`); `as_released` is not, and writes as many tokens as the prompt has,
    which shows the text's length. Costs one pass of the model for each token.

    `law` "mixture" and "public" draw each token under the same ε without clipping (see
    `voile.rewriting.public_law`); the public law is what the model says to the same question about
    an empty text after the same tokens, a second pass for each token.
    """
    check_fidelity_of_law(fidelity, law)
    check_length(max_new_tokens)
    sound = fidelity == "sound"
    return PromptedRewriter(
        language=language,
        sampler=sound_law(law, epsilon, bounds) if sound else TokenSampler(epsilon, *bounds),
        prompt=question or prompt,
        clean=str.strip,
        most=max_new_tokens if sound else None,
        fidelity=fidelity,
        outside=() if sound else ("the length of the text",),
        batch=batch,
    )


def prompt(text: str) -> str:
    r"""The question put to the model.

    >>> prompt("to boston")
    'Document : to boston\nParaphrase of the document :'
    """
    return f"Document : {text}\nParaphrase of the document :"


def chat_question(language: LanguageModel) -> Callable[[str], str]:
    """The question in the words of a model's own chat template; `prompt` if it has none."""
    if not getattr(language.tokenizer, "chat_template", None):
        return prompt

    def question(text: str) -> str:
        said = f"Say this in other words, in one sentence, and nothing else: {text}"
        return str(
            language.tokenizer.apply_chat_template(
                [{"role": "user", "content": said}], add_generation_prompt=True, tokenize=False
            )
        )

    return question
