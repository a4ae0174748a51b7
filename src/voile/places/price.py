"""What privacy costs on one map: the same design at several epsilons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from voile.places._design import Note, PublicMap, design_places
from voile.places.designs import PlacesDesign


class Priced(NamedTuple):
    """One epsilon, the method that was solved, its loss, and what none can go below."""

    epsilon: float
    method: str
    loss: float
    lower_bound: float | None


def priced_places(
    public: PublicMap,
    made: PlacesDesign,
    *,
    epsilons: Sequence[float],
    method: str = "best",
    p: float = 2.0,
    bound: bool = True,
    bound_size: int = 100,
    note: Note = lambda text: None,
) -> list[Priced]:
    """The design's own price and those at further epsilons, by epsilon; empty if none are asked.

    Each further epsilon is solved, repaired, certified and bounded as the design was.
    """
    if not epsilons:
        return []
    found = [_priced(made, method)]
    for epsilon in sorted(set(epsilons) - {made.guarantee.epsilon}):
        note(f"the same at ε = {epsilon:g}")
        other = design_places(
            public,
            epsilon=epsilon,
            method=method,
            p=p,
            resolution=float(made.facts["resolution"]),
            bound=bound,
            bound_size=bound_size,
            against_aipo=False,
            note=note,
        )
        found.append(_priced(other, method))
    return sorted(found)


def _priced(design: PlacesDesign, method: str) -> Priced:
    facts = design.facts
    # "best" may choose another construction at another epsilon: it is one line all the same
    name = "best" if method == "best" else str(facts["method"])
    return Priced(design.guarantee.epsilon, name, float(facts["loss"]), facts["lower_bound"])
