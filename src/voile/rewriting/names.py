"""The rewriters of whole texts, by the names of their papers."""

from __future__ import annotations

from typing import Any

from voile.names import Family, Named


def rewrites(thing: Any) -> bool:
    """Whether a user's own thing can rewrite: a function, a class, or an object with `release`."""
    return callable(thing) or hasattr(thing, "release")


OWN = (
    "your own as NAME=FILE.py:FUNCTION or MODULE:FUNCTION (in Python the function itself, or an "
    "object with release(texts, rng))"
)


def _named(name: str, about: str = "", *, home: str, former: tuple[str, ...] = ()) -> Named:
    return Named(name, about, home, former, metric="discrete", basis="proved")


REWRITERS = Family(
    "mechanisms",
    (
        _named("adept", home="voile.rewriting.adept:adept"),
        _named("dp-bart", home="voile.rewriting.dp_bart:dp_bart"),
        _named(
            "dp-bart-pr",
            "DP-BART with fewer dimensions, pruned on public texts.",
            home="voile.rewriting.dp_bart:dp_bart",
        ),
        _named(
            "dp-bart-pr-plus",
            "Pruned DP-BART that has learned to read through its own noise.",
            home="voile.rewriting.dp_bart:dp_bart",
            former=("dp-bart-pr+",),
        ),
        _named("dp-paraphrase", home="voile.rewriting.dp_paraphrase:dp_paraphrase"),
        _named("dp-prompt", home="voile.rewriting.dp_prompt:dp_prompt"),
        _named("dp-mlm", home="voile.rewriting.dp_mlm:dp_mlm"),
        _named(
            "dp-mlm-plus",
            "DP-MLM that also leaves out and inserts words at random.",
            home="voile.rewriting.dp_mlm:dp_mlm",
            former=("dp-mlm+",),
        ),
        _named("dp-st", home="voile.rewriting.dp_st:dp_st"),
    ),
    groups=("voile.rewriters",),
    open_to=OWN,
    fits=rewrites,
)
"""Beside the laws of words, what `text compare --mechanisms` takes."""
