"""A recipe and an epsilon become a way to release records, with the bounds it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices
from voile.core.channel import Channel
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.domains.labels.columns import Column, NumberColumn
from voile.domains.labels.recipe import Recipe
from voile.errors import InvalidInput, require, require_epsilon

Columns = tuple[NDArray[Any], ...]
Draw = Callable[[Columns, Indices, Generator], tuple[Columns, Indices]]
LEARNED = (
    "what the recipe shows: its ranges, names and cells were learned from records; write it "
    "beforehand from public knowledge to avoid that"
)


@dataclass(frozen=True, eq=False)
class Protection:
    """How records are released, and the three bounds; None where nothing bounds it.

    `draw` takes the features by column and the labels as codes, and returns both released.
    """

    name: str
    draw: Draw
    label: Guarantee | None
    conditional: Guarantee | None
    local: Guarantee | None
    kept: float = 1.0

    def adding_up(self) -> Guarantee:
        """The bound that adds up over a person's records, whatever they have to do with each other.

        For cf and ldp that is the bound on the whole record. The bound by the whole release (CF)
        is smaller, but takes features to be drawn for each record anew, which a person's records
        are not.
        """
        found = self.local or self.label
        if found is None:
            raise InvalidInput("a ledger needs a mechanism with a bound for a record or a label")
        return found


def response_protection(recipe: Recipe, *, epsilon: float) -> Protection:
    """Features as they are, the label by k-ary randomised response."""
    from voile.mechanisms import randomised_response

    return _label_only("label DP", randomised_response(recipe.classes, epsilon=epsilon))


def prior_protection(recipe: Recipe, *, epsilon: float, prior: Sequence[float]) -> Protection:
    """Features as they are, the label by randomised response among the likely ones."""
    from voile.mechanisms import rr_with_prior

    return _label_only("label DP", rr_with_prior(recipe.classes, prior=prior, epsilon=epsilon))


def cells_protection(recipe: Recipe, *, epsilon: float, label_share: float = 0.5) -> Protection:
    """The typical record of a cell, and a randomised label: Label DP-CF.

    `label_share` of epsilon goes to the label at fixed features, the rest bounds what the cell
    may say. The recipe must hold cells.
    """
    from voile.mechanisms import label_cf, randomised_response

    epsilon = require_epsilon(epsilon)
    require(0 < label_share < 1, "label_share", "between 0 and 1", label_share)
    cells = recipe.cells
    if cells is None:
        raise InvalidInput(
            "the recipe must hold cells for Label DP-CF; move it away and let cf learn a new one"
        )
    blur = label_cf(
        randomised_response(recipe.classes, epsilon=epsilon * label_share),
        lower=cells.lower,
        upper=cells.upper,
        weights=cells.weights,
        epsilon=epsilon,
        loss=cells.loss(),
    )
    trust = (
        f"a misleading sample (chance ≤ {cells.failure_probability:g}, records being independent)"
    )

    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        rows = np.stack([cells.of(recipe.columns, values), labels], axis=1)
        released = blur.release(rows, rng)
        return cells.decode(released[:, 0], recipe.columns), released[:, 1]

    notes = (*blur.conditional.outside, trust, *_learned(recipe))
    conditional = replace(blur.conditional, outside=notes)
    return Protection("label DP-CF", draw, blur.label, conditional, blur.guarantee, blur.kept)


def noise_protection(recipe: Recipe, *, epsilon: float) -> Protection:
    """Every feature and the label blurred: local DP of the whole record.

    The budget is divided by the recipe's shares. A number moves among its levels by two-sided
    geometric noise (Ghosh et al.), a category and the label by randomised response.
    """
    from voile.mechanisms import columnwise, randomised_response

    epsilon = require_epsilon(epsilon)
    # The sum of the parts is rounded up, so the parts are cut a hair below the whole.
    total = epsilon * (1 - 2.0**-40)
    shares = [total * share for share in recipe.shares]
    channels = [_blurred(c, epsilon=e) for c, e in zip(recipe.columns, shares, strict=False)]
    channels.append(randomised_response(recipe.classes, epsilon=shares[-1]))
    blur = columnwise(channels)

    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        lines = np.zeros(len(labels), dtype=np.intp)
        parts = [c.encode(v, lines) for c, v in zip(recipe.columns, values, strict=True)]
        released = blur.release(np.stack([*parts, labels], axis=1), rng)
        decoded = tuple(c.decode(released[:, j]) for j, c in enumerate(recipe.columns))
        return decoded, released[:, -1]

    local = replace(blur.guarantee, outside=_learned(recipe))
    conditional = replace(local, granularity="one label")
    label = replace(channels[-1].guarantee, outside=_learned(recipe))
    return Protection("local DP", draw, label, conditional, local)


def _label_only(name: str, channel: Channel) -> Protection:
    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        drawn = channel.draw(labels, rng)
        return values, channel.space.index(channel.outputs[drawn])

    note = "what the features say about the label: run `voile labels audit` to see how much"
    label = replace(channel.guarantee, outside=(*channel.guarantee.outside, note))
    return Protection(name, draw, label, None, None)


def _blurred(column: Column, *, epsilon: float) -> Channel:
    from voile.mechanisms import geometric, randomised_response
    from voile.metrics import euclidean

    if not isinstance(column, NumberColumn):
        return randomised_response(column.categories, epsilon=epsilon, granularity="one value")
    steps = max(1, len(column.levels) - 1)
    line = Space([[i / steps] for i in range(len(column.levels))], metric=euclidean(unit="range"))
    return geometric(line, epsilon=epsilon, granularity="one value")


def _learned(recipe: Recipe) -> tuple[str, ...]:
    return (LEARNED,) if recipe.learned else ()
