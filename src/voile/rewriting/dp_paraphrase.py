"""DP-Paraphrase: a model trained on paraphrases, drawn at a private temperature."""

from __future__ import annotations

from voile.rewriting.generation import LanguageModel
from voile.rewriting.prompted import PromptedRewriter, check_length
from voile.rewriting.rewriter import Fidelity, check_fidelity
from voile.rewriting.token_sampler import ReleasedSampler, TokenSampler

GPT2_BOUNDS = (-96.85249956065758, -8.747697966442914)
"""Logit bounds that the published implementation uses with its GPT-2 paraphraser."""
SEPARATOR = " >>>>> "
RELEASED_TOP_K = 50
"""What a generation pipeline keeps by default; the published code does not set it otherwise."""


def dp_paraphrase(
    language: LanguageModel,
    *,
    epsilon: float,
    bounds: tuple[float, float] = GPT2_BOUNDS,
    max_new_tokens: int = 32,
    fidelity: Fidelity = "sound",
    batch: int = 64,
) -> PromptedRewriter:
    """Continue "text >>>>> ", with a model trained on such lines, each token under ε.

    Mattern et al. (Findings of NAACL 2022), with the fixed clipping range of Meisenbacher et al.
    (2024): T = 2Δ/ε, so each token is ε-private between any two texts and n tokens nε.
    `as_released` draws among the 50 likeliest tokens only. Those 50 depend on the text, so the
    bound fails at every ε: a token outside them for one text is inside them for another, and
    lowering ε flattens the law *within* the 50 but never lets go of them. That may be
    why published curves for this mechanism stay flat; see the calibration page. It also writes as
    many tokens as the prompt has.
    """
    check_fidelity(fidelity)
    check_length(max_new_tokens)
    if fidelity == "sound":
        return PromptedRewriter(
            language=language,
            sampler=TokenSampler(epsilon, *bounds),
            prompt=prompt,
            clean=clean,
            most=max_new_tokens,
            fidelity=fidelity,
            batch=batch,
        )
    return PromptedRewriter(
        language=language,
        sampler=ReleasedSampler(epsilon, *bounds, top_k=RELEASED_TOP_K),
        prompt=prompt,
        clean=clean,
        most=None,
        fidelity=fidelity,
        outside=("the length of the text", "which 50 tokens are likeliest at each step"),
        batch=batch,
    )


def prompt(text: str) -> str:
    """The line that the model continues.

    >>> prompt("to boston")
    'to boston >>>>> '
    """
    return f"{text}{SEPARATOR}"


def clean(text: str) -> str:
    r"""Without separators and hard spaces.

    >>> clean("a >flight\xa0now")
    'a flight now'
    """
    return text.replace("\u00a0", " ").replace(">", "").strip()
