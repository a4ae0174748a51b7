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


LAWS = ("mixture", "public")
"""Laws of a token beside the published one, as the last part of a rewriter's name."""


def law_of(name: str) -> tuple[str, str]:
    """A rewriter's name without its law, and the law.

    >>> law_of("dp-prompt-public"), law_of("dp-mlm-plus")
    (('dp-prompt', 'public'), ('dp-mlm-plus', 'clipped'))
    """
    rest, _, last = name.rpartition("-")
    return (rest, last) if last in LAWS else (name, "clipped")


_ABOUT = {
    "mixture": "{name} whose draws are mixed with uniform ones instead of clipped.",
    "public": "{name} whose draws stay near what its model says without the text.",
}


def _with_laws(title: str, *, home: str) -> tuple[Named, ...]:
    """The published law first."""
    name = title.lower()
    others = [_named(f"{name}-{law}", _ABOUT[law].format(name=title), home=home) for law in LAWS]
    return (_named(name, home=home), *others)


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
        *_with_laws("DP-Paraphrase", home="voile.rewriting.dp_paraphrase:dp_paraphrase"),
        *_with_laws("DP-Prompt", home="voile.rewriting.dp_prompt:dp_prompt"),
        *_with_laws("DP-MLM", home="voile.rewriting.dp_mlm:dp_mlm"),
        _named(
            "dp-mlm-plus",
            "DP-MLM that also leaves out and inserts words at random.",
            home="voile.rewriting.dp_mlm:dp_mlm",
            former=("dp-mlm+",),
        ),
        *_with_laws("DP-ST", home="voile.rewriting.dp_st:dp_st"),
    ),
    groups=("voile.rewriters",),
    open_to=OWN,
    fits=rewrites,
)
"""Beside the laws of words, what `text compare --mechanisms` takes."""
