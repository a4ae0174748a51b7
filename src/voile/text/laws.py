"""The laws by which single words are replaced, by the names of their papers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from voile.core.guarantee import Basis, Guarantee
from voile.core.mechanism import Mechanism
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.mechanisms import names_in
from voile.names import Family, Named, asked, named_after_files

_HOME = "voile.mechanisms"

_NAMED = (
    Named("tem", home=f"{_HOME}:word_truncated_exponential"),
    Named("word-exponential", home=f"{_HOME}:word_exponential", former=("exponential", "em")),
    Named(
        "santext",
        "SanText's law, which is that of word-exponential.",
        home=f"{_HOME}:word_exponential",
    ),
    Named("santext-plus", home=f"{_HOME}:santext_plus", former=("santext+",)),
)
"""Laws that go, or went, by another name than that of their file."""

LAWS = Family(
    "mechanism",
    (*_NAMED, *named_after_files(_HOME, names_in("words"), but=_NAMED)),
    groups=("voile.mechanisms",),
    open_to="a function (space, *, epsilon) of your own",
)
"""What `text protect --mechanism` takes; an entry is a function (space, *, epsilon)."""

KNOWN_WORD_BY_WORD = ("tem", "word-exponential", "santext")
"""Laws with a closed form: they can be remapped, and their kept share is known beforehand."""


def beta_of(name: str) -> float | None:
    """The β of the law with a closed form that cuts what it draws from; the others have none."""
    return 0.001 if name == "tem" else None


def uses_neighbours(law: Any) -> bool:
    """Whether a law draws with a table of nearest words, which all its epsilons can share."""
    if not callable(law):
        raise InvalidInput(f"a mechanism must be a function, got a {type(law).__name__}")
    return "neighbours" in inspect.signature(law).parameters


def builder(mechanism: Named, space: Any, neighbours: Any = None) -> Callable[[float], Mechanism]:
    """A mechanism over a space of words, for any epsilon."""
    law = mechanism.load()
    if mechanism.own:
        return lambda epsilon: OwnLaw(mechanism.name, law, space, epsilon)
    shared = {"neighbours": neighbours} if uses_neighbours(law) else {}
    return lambda epsilon: law(space, epsilon=epsilon, **shared)


def _check_shape(name: str, law: Callable[..., Any]) -> None:
    """Refuse what cannot be asked for a law: a function of texts, for one, which has its place."""
    try:
        signature = inspect.signature(law)
    except (TypeError, ValueError):  # a function of C's that does not say
        return
    first = next(iter(signature.parameters.values()), None)
    of_texts = first is not None and (
        first.name in ("text", "texts") or first.annotation in (str, "str")
    )
    try:
        signature.bind(None, epsilon=1.0)
    except TypeError:
        of_texts = True
    if of_texts:
        raise InvalidInput(
            f"{name} must be a function (space, *, epsilon) that gives a law, and it takes "
            f"({', '.join(signature.parameters)}); a function of texts goes into text compare, as "
            "one of its mechanisms"
        )


class OwnLaw:
    """A user's own law, held to what a law must answer; what it promises is taken on its word."""

    def __init__(self, name: str, law: Callable[..., Any], space: Any, epsilon: float) -> None:
        self._name, self._size = name, len(space)
        _check_shape(name, law)
        made = asked(name, lambda: law(space, epsilon=epsilon))
        if not isinstance(getattr(made, "guarantee", None), Guarantee) or not hasattr(
            made, "release"
        ):
            raise InvalidInput(
                f"{name} must return a mechanism with a guarantee and release(secrets, rng), got "
                f"{type(made).__name__}"
            )
        said = made.guarantee
        word = f"whether {name}, a mechanism of your own, does what it says"
        self.guarantee = replace(said, basis=Basis.CLAIMED, outside=(word, *said.outside))
        self._made = made

    def release(self, secrets: Any, rng: Generator) -> Any:
        """Its answer, if it is a word of the space for each secret."""
        drawn = asked(self._name, lambda: np.asarray(self._made.release(secrets, rng)))
        words = drawn.dtype.kind in "iu" and drawn.shape == np.shape(secrets)
        if not words or (len(drawn) and not 0 <= drawn.min() <= drawn.max() < self._size):
            raise InvalidInput(
                f"{self._name} must release one of {self._size:,} words, by its position, for each "
                f"secret, got an array of {drawn.dtype} of shape {drawn.shape}"
            )
        return drawn.astype(np.intp)
