"""What privacy costs on one map: the same design at several epsilons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from voile.interrupts import asked_to_stop
from voile.places.designs import PlacesDesign
from voile.places.public_map import PublicMap
from voile.places.settings import Solving
from voile.places.solve import solve
from voile.places.solved import Priced
from voile.progress import tell


def priced(
    public: PublicMap, made: PlacesDesign, *, epsilons: Sequence[float], solving: Solving
) -> tuple[Priced, ...]:
    """The design's own price and those at further epsilons, by epsilon; none if none are asked.

    Each further epsilon is solved, repaired, certified and bounded as the design was. An interrupt
    leaves out the rest.
    """
    if not epsilons:
        return ()
    found = [_priced(made, solving)]
    others = sorted(set(epsilons) - {made.guarantee.epsilon})
    for count, epsilon in enumerate(others):
        if asked_to_stop():
            break
        tell(f"the same at ε = {epsilon:g}", done=count, total=len(others))
        other = solve(public, epsilon=epsilon, solving=replace(solving, against_aipo=False))
        if not asked_to_stop():
            found.append(_priced(other, solving))
    return tuple(sorted(found, key=lambda row: row.epsilon))


def _priced(design: PlacesDesign, solving: Solving) -> Priced:
    # "best" may choose another construction at another epsilon: it is one line all the same
    name = "best" if solving.method == "best" else design.solved.method
    loss = design.solved.loss
    assert loss is not None  # it was solved for
    return Priced(design.guarantee.epsilon, name, loss, design.solved.lower_bound)
