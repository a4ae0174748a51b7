"""A recipe and an epsilon become a way to release records, with the bounds it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.rounding import at_most, sum_upwards
from voile.errors import InvalidInput, require, require_epsilon
from voile.labels.blurs import blurred, within
from voile.labels.recipes import Recipe

if TYPE_CHECKING:
    from voile.labels.memo import Memo
    from voile.labels.sampling import Sampler
    from voile.mechanisms.labels.columnwise import Columnwise
    from voile.mechanisms.labels.label_cf import LabelCF

Columns = tuple[NDArray[Any], ...]
Draw = Callable[[Columns, Indices, Generator], tuple[Columns, Indices]]
LEARNED = (
    "what the output shows beside the draws: its ranges, names of categories and classes, and "
    "typical records were learned from the private file, and nothing bounds that"
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
    typical: bool = False
    """Whether features are replaced by those of typical records."""
    passes_features: bool = False
    """Whether features are released as they are; then `draw` hands on what it is given."""
    channels: tuple[Channel, ...] = ()
    """What each drawn part goes through: the features (or their cell), the label last."""
    sampler: Sampler | None = None
    """Draws reports of one column in place of records; then `draw` is not asked."""

    def beside(self, passed: Sequence[str]) -> Protection:
        """What is left of the bounds beside columns in clear, named as messages may call them.

        Such a column may equal the label. Then nothing bounds what the whole release says of it,
        and the label's own noise is all there is: a bound at fixed features and columns in clear.
        """
        if not passed or self.passes_features or self.label is None:
            return self
        note = (
            f"what stands IN CLEAR ({', '.join(passed)}): IT MAY GIVE THE LABEL AWAY, and the "
            "record too; the bound is for the label's own noise, to somebody who knows the rest"
        )
        label = replace(self.label, outside=(note, *self.label.outside))
        return replace(self, label=label, conditional=None, local=None)

    def strongest(self) -> Guarantee:
        """The strongest bound on a label: by the whole release if there is one."""
        bound = self.conditional or self.label
        if bound is None:
            raise InvalidInput("this protection bounds nothing about the label")
        return bound

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

    return _label_only(recipe, randomised_response(recipe.classes, epsilon=epsilon))


def prior_protection(recipe: Recipe, *, epsilon: float, prior: Sequence[float]) -> Protection:
    """Features as they are, the label by randomised response among the likely ones."""
    from voile.mechanisms import rr_with_prior

    return _label_only(recipe, rr_with_prior(recipe.classes, prior=prior, epsilon=epsilon))


def cells_protection(
    recipe: Recipe, *, epsilon: float, label_share: float | None = None
) -> Protection:
    """The typical record of a cell, and a randomised label: Label DP-CF.

    `label_share` of epsilon, the recipe's unless given, goes to the label at fixed features, the
    rest bounds what the cell may say. What the cells do not need goes to the label too. The recipe
    must hold cells; the bound rests on their P(cell|label), which was estimated: it is a
    statistical certificate.
    """
    from voile.mechanisms import label_cf, randomised_response

    epsilon = require_epsilon(epsilon)
    share = min(recipe.shares[-1], 1 - 1e-6) if label_share is None else label_share
    require(0 < share < 1, "label_share", "between 0 and 1", share)
    cells = recipe.cells
    if cells is None:
        raise InvalidInput(
            "the recipe must hold cells for Label DP-CF; make one with `voile labels recipe`"
        )

    def solved(own: float) -> LabelCF:
        return label_cf(
            randomised_response(recipe.classes, epsilon=own),
            lower=cells.lower,
            upper=cells.upper,
            weights=cells.weights,
            epsilon=epsilon,
            loss=cells.loss(),
        )

    blur = solved(epsilon * share)
    unused = epsilon - blur.conditional.epsilon
    if unused > 1e-3 * epsilon:
        blur = solved(epsilon * share + unused * (1 - 1e-6))
    trust = (
        "records of another population than those that the recipe was made from, and a misleading "
        f"sample of it (chance ≤ {cells.failure_probability:g}, records being independent)"
    )
    word = (
        "a recipe that is wrong: its bounds on P(cell|label) and that chance are the file's own "
        "word, which a release cannot check"
    )

    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        rows = np.stack([cells.of(recipe.columns, values), labels], axis=1)
        released = blur.release(rows, rng)
        return cells.decode(released[:, 0], recipe.columns), released[:, 1]

    estimated = replace(
        blur.conditional,
        basis=Basis.STATISTICAL,
        confidence=1 - cells.failure_probability,
        outside=(*blur.conditional.outside, trust, word),
    )
    return Protection(
        "label DP-CF",
        draw,
        _as_learned(recipe, blur.label),
        _as_learned(recipe, estimated),
        _as_learned(recipe, blur.guarantee),
        blur.kept,
        typical=True,
        channels=(blur.cells, blur.labels),
    )


def noise_protection(
    recipe: Recipe, *, epsilon: float, label_share: float | None = None
) -> Protection:
    """Every feature and the label blurred: local DP of the whole record.

    The budget is divided by the recipe's shares. A number moves among its levels by two-sided
    geometric noise (Ghosh et al.), a category and the label by randomised response; what is missing
    is a value like the others.
    """
    from voile.mechanisms import columnwise, randomised_response

    epsilon = require_epsilon(epsilon)
    parts_of_one = recipe.parts(label_share)

    def built(total: float) -> tuple[list[Channel], Columnwise]:
        shares = [total * share for share in parts_of_one]
        channels = [  # any epsilon will do for a constant, which reveals nothing
            blurred(c, epsilon=e or epsilon) for c, e in zip(recipe.columns, shares, strict=False)
        ]
        channels.append(randomised_response(recipe.classes, epsilon=shares[-1]))
        return channels, columnwise(channels)

    # The sum of the parts is rounded up, so the parts are cut a hair below the whole.
    channels, blur = within(
        epsilon, built, lambda made: made[1].guarantee, first=epsilon * (1 - 2.0**-40)
    )

    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        parts = [c.encode(v) for c, v in zip(recipe.columns, values, strict=True)]
        released = blur.release(np.stack([*parts, labels], axis=1), rng)
        decoded = tuple(c.decode(released[:, j]) for j, c in enumerate(recipe.columns))
        return decoded, released[:, -1]

    local = _as_learned(recipe, blur.guarantee)
    conditional = replace(local, granularity="one label")
    label = _as_learned(recipe, channels[-1].guarantee)
    return Protection("local DP", draw, label, conditional, local, channels=tuple(channels))


def sample_protection(recipe: Recipe, *, epsilon: float, memo: Memo | None = None) -> Protection:
    """One random column of a record with its label, at all of epsilon; the rest is not released.

    The recipe must say how its codes are grouped (`grouped`). With a memo a person's report is the
    same whenever the record is.
    """
    from voile.labels.memo import HOLDER, REPEATS
    from voile.labels.sampling import sampler_of

    sampler = within(
        require_epsilon(epsilon),
        lambda total: sampler_of(recipe, epsilon=total),
        lambda made: made.law.guarantee,
        first=epsilon,
    )
    repeats = (
        "other reports of the same record: each is drawn anew and spends ε again, of whatever "
        "column; what was released once can be handed on as often as you like"
    )
    guarantee = sampler.law.guarantee
    said = (repeats,) if memo is None else (REPEATS, HOLDER)
    local = _as_learned(recipe, replace(guarantee, outside=(*guarantee.outside, *said)))
    label = replace(local, granularity="one label")

    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        raise InvalidInput("a sampled column is a report, and no record; use the sampler")

    return Protection(
        "sampled column",
        draw,
        label,
        label,
        local,
        channels=sampler.law.channels,
        sampler=replace(sampler, memo=memo),
    )


def _label_only(recipe: Recipe, channel: Channel) -> Protection:
    def draw(values: Columns, labels: Indices, rng: Generator) -> tuple[Columns, Indices]:
        drawn = channel.draw(labels, rng)
        return values, channel.space.index(channel.outputs[drawn])

    note = "what the features say about the label: run `voile labels audit` to see how much"
    label = replace(channel.guarantee, outside=(*channel.guarantee.outside, note))
    return Protection(
        "label DP",
        draw,
        _as_learned(recipe, label),
        None,
        None,
        passes_features=True,
        channels=(channel,),
    )


def _as_learned(recipe: Recipe, guarantee: Guarantee) -> Guarantee:
    """The guarantee, or what is left of it where the recipe shows private records.

    A recipe that was learned under (ε, δ) is released first, and the draws given it: the bounds
    add up.
    """
    if recipe.learned:
        return replace(guarantee, basis=Basis.CLAIMED, outside=(LEARNED, *guarantee.outside))
    epsilon, delta = recipe.spent
    if not epsilon:
        return guarantee
    note = (
        "the curator, who ran this and saw every record: ranges, names or classes were learned "
        f"from the whole file (central trust model), at ε = {at_most(epsilon)} and "
        f"δ = {at_most(delta)} of the bound"
    )
    return replace(
        guarantee,
        epsilon=sum_upwards(guarantee.epsilon, epsilon),
        delta=sum_upwards(guarantee.delta, delta),
        outside=(note, *guarantee.outside),
    )
