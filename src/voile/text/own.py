"""A user's own rewriter: a function of one text or of all, a class, or an object that releases.

It takes part in a comparison as any other. What it promises is taken on its word, if it says
anything at all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require
from voile.names import Named, asked
from voile.rewriting.prepared import Prepared, mean_words

_TEXT_UNITS: dict[str, Callable[[Sequence[str]], float]] = {
    "one word": mean_words,
    "one text": lambda texts: 1.0,
    "one document": lambda texts: 1.0,
}


def own_epsilons(which: Named, epsilons: Sequence[float]) -> tuple[float | None, ...]:
    """The epsilons at which it can run: those asked for, or its own one if it takes none."""
    thing = which.load()
    if "epsilon" in parameters_of(thing):
        return tuple(epsilons)
    claimed = _claim(_made(thing, None, which.name))
    return (None if claimed is None else claimed.epsilon,)


def own_rewriter(which: Named, epsilon: float | None) -> Prepared:
    """It at one epsilon, ready to run.

    >>> from voile.core.randomness import seeded_rng
    >>> def hide(text: str) -> str:
    ...     return "x" * len(text)
    >>> own_rewriter(Named("hide", given=hide), None).rewrite(["one", "four"], seeded_rng(1))
    ['xxx', 'xxxx']
    """
    made = _made(which.load(), epsilon, which.name)
    guarantee = _claim(made)
    units = None if guarantee is None else _TEXT_UNITS.get(guarantee.granularity)
    return Prepared(_drawing(made, epsilon, which.name), guarantee, units)


def _made(thing: Any, epsilon: float | None, name: str) -> Any:
    """The thing itself, or what a class makes at this epsilon."""
    if not inspect.isclass(thing):
        return thing
    return asked(name, lambda: thing(**_given(epsilon, parameters_of(thing))))


def _given(epsilon: float | None, known: dict[str, inspect.Parameter]) -> dict[str, Any]:
    return {"epsilon": epsilon} if epsilon is not None and "epsilon" in known else {}


def _claim(made: Any) -> Guarantee | None:
    found = getattr(made, "guarantee", None)
    return found if isinstance(found, Guarantee) else None


def _drawing(
    made: Any, epsilon: float | None, name: str
) -> Callable[[Sequence[str], Generator], list[str]]:
    release = getattr(made, "release", None)
    work = made if release is None else release
    if not callable(work):
        raise InvalidInput(f"{name} must be a function, or have release(texts, rng)")
    known = parameters_of(work)
    whole = release is not None or _takes_all(known)
    given = _given(epsilon, known)
    randomness = "rng" if "rng" in known or release is None else _second(known)

    def draw(texts: Sequence[str], rng: Generator) -> list[str]:
        more = given | ({randomness: rng} if randomness in known else {})
        if whole:
            found = asked(name, lambda: work(list(texts), **more))
        else:
            found = asked(name, lambda: [work(text, **more) for text in texts])
        return _checked(found, len(texts), name)

    return draw


def parameters_of(thing: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function, or of what makes an object of a class."""
    try:
        return dict(inspect.signature(thing).parameters)
    except (TypeError, ValueError):  # a function of C's that does not say
        return {}


def _takes_all(known: dict[str, inspect.Parameter]) -> bool:
    """Whether the first parameter is all texts: it is annotated so, or its name is a plural."""
    first = next(iter(known.values()), None)
    if first is None:
        return False
    if first.annotation is not first.empty:
        return first.annotation not in (str, "str", Any, "Any")
    return first.name.endswith("s")


def _second(known: dict[str, inspect.Parameter]) -> str:
    """The second parameter of `release(texts, rng)`, whatever it is called there."""
    return next(iter(list(known)[1:]), "")


def _checked(given: Any, wanted: int, name: str) -> list[str]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"{name} must give a list of texts, got a {type(given).__name__}")
    found = asked(name, lambda: list(given))
    require(len(found) == wanted, f"releases of {name}", f"one for each of {wanted}", len(found))
    wrong = {type(one).__name__ for one in found if not isinstance(one, str)}
    if wrong:
        raise InvalidInput(
            f"{name} must give a str for each text, got {', '.join(sorted(wrong))}; a function of "
            "all texts at once annotates its first parameter as list[str]"
        )
    return found
