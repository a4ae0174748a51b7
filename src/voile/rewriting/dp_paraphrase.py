"""DP-Paraphrase: a model trained on paraphrases, drawn at a private temperature."""

from __future__ import annotations

from collections.abc import Sequence

from voile.rewriting.language_model import LanguageModel
from voile.rewriting.prompted import PromptedRewriter, check_length
from voile.rewriting.rewriter import Fidelity, Law, check_fidelity_of_law, sound_law
from voile.rewriting.token_sampler import ReleasedSampler

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
    law: Law = "clipped",
    examples: Sequence[tuple[str, str]] = (),
    batch: int = 64,
) -> PromptedRewriter:
    """Continue "text >>>>> ", with a model trained on such lines, each token under ε.

    A model that was not trained on them needs a few *public* pairs as `examples`, which it reads
    first; what it writes then ends with the line.

    Mattern et al. (Findings of NAACL 2022), with the clipping width of Meisenbacher et al. (2024):
    T = 2Δ/ε, so each token is ε-private between any two texts and n tokens nε. If sound, each row
    of logits is aligned with the upper bound first (`TokenSampler`); published code is fixed.
    `as_released` draws among the 50 likeliest tokens only. Those 50 depend on the text, so the
    bound fails at every ε: a token outside them for one text is inside them for another, and
    lowering ε flattens the law *within* the 50 but never lets go of them. That may be
    why published curves for this mechanism stay flat; see the calibration page. It also writes as
    many tokens as the prompt has. `law` is as in `dp_prompt`.
    """
    check_fidelity_of_law(fidelity, law)
    check_length(max_new_tokens)
    sound = fidelity == "sound"
    return PromptedRewriter(
        language=language,
        sampler=sound_law(law, epsilon, bounds)
        if sound
        else ReleasedSampler(epsilon, *bounds, top_k=RELEASED_TOP_K),
        prompt=_bare if examples else prompt,
        clean=clean,
        most=max_new_tokens if sound else None,
        fidelity=fidelity,
        outside=()
        if sound
        else ("the length of the text", "which 50 tokens are likeliest at each step"),
        before=shown(examples),
        one_line=bool(examples),
        batch=batch,
    )


def prompt(text: str) -> str:
    """The line that the model continues.

    >>> prompt("to boston")
    'to boston >>>>> '
    """
    return f"{text}{SEPARATOR}"


def shown(examples: Sequence[tuple[str, str]]) -> str:
    r"""Public pairs as the model reads them.

    >>> shown([("good day", "hello"), ("a thing", "something")])
    'good day >>>>> hello\na thing >>>>> something\n'
    """
    return "".join(f"{text}{SEPARATOR}{other}\n" for text, other in examples)


def _bare(text: str) -> str:
    """As `prompt`, the space left to the answer, as in the examples."""
    return prompt(text).rstrip()


def clean(text: str) -> str:
    r"""Without separators and hard spaces.

    >>> clean("a >flight\xa0now")
    'a flight now'
    """
    return text.replace("\u00a0", " ").replace(">", "").strip()
