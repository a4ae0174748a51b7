"""The laws by which single words are replaced, by the names of their papers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from voile.core.mechanism import Mechanism
from voile.names import Family, Named

_HOME = "voile.mechanisms"

LAWS = Family(
    "mechanism",
    (
        Named("tem", home=f"{_HOME}:word_truncated_exponential"),
        Named("word-exponential", home=f"{_HOME}:word_exponential", former=("exponential", "em")),
        Named(
            "santext",
            "SanText's law, which is that of word-exponential.",
            home=f"{_HOME}:word_exponential",
        ),
        Named("santext-plus", home=f"{_HOME}:santext_plus", former=("santext+",)),
        Named("custext", home=f"{_HOME}:custext"),
        Named("madlib", home=f"{_HOME}:madlib"),
        Named("mahalanobis", home=f"{_HOME}:mahalanobis"),
        Named("vickrey", home=f"{_HOME}:vickrey"),
    ),
    groups=("voile.mechanisms",),
    open_to="a function (space, *, epsilon) of your own",
)
"""What `text protect --mechanism` takes; an entry is a function (space, *, epsilon)."""

KNOWN_WORD_BY_WORD = ("tem", "word-exponential", "santext")
"""Laws with a closed form: they can be remapped, and their kept share is known beforehand."""


def uses_neighbours(law: Callable[..., Any]) -> bool:
    """Whether a law draws with a table of nearest words, which all its epsilons can share."""
    return "neighbours" in inspect.signature(law).parameters


def builder(mechanism: Named, space: Any, neighbours: Any = None) -> Callable[[float], Mechanism]:
    """A mechanism over a space of words, for any epsilon."""
    law = mechanism.load()
    shared = {"neighbours": neighbours} if uses_neighbours(law) else {}
    return lambda epsilon: law(space, epsilon=epsilon, **shared)
