"""Labels protected together with what the features say about them: Label DP-CF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voile.core import weights as integer
from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.rounding import sum_upwards
from voile.core.space import Space
from voile.errors import DoesNotExist, InvalidInput, require, require_epsilon
from voile.mechanisms._cells_program import least_costly_cells, ratio_bounds
from voile.mechanisms._spread import outwards, pair_spreads, spread

LARGEST = 100.0
"""No epsilon beyond it: e^ε must be a number in the program, and protects nothing long before."""
WORST = 1.0
"""How much the most changed cell counts beside the mean loss."""


@dataclass(frozen=True, eq=False)
class LabelCF:
    """See `label_cf`. A record is a row (cell of the features, position of the label).

    `guarantee` is the local-DP bound between any two records, `label` the bound between two
    labels at fixed features, `conditional` the bound between two labels whose features follow P.
    `kept` is the probability that a record keeps its cell.
    """

    cells: Channel
    labels: Channel
    guarantee: Guarantee
    label: Guarantee
    conditional: Guarantee
    kept: float

    @cached_property
    def space(self) -> Space:
        """All records there are: every cell with every label."""
        rows = np.indices((len(self.cells.space), len(self.labels.space)))
        return Space(rows.reshape(2, -1).T, metric=self.guarantee.metric)

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """A row (cell, label) for each row, both drawn, and independently."""
        rows = self._rows(secrets, columns=len(self.labels.space))
        cell, label = self.cells.draw(rows[:, 0], rng), self.labels.draw(rows[:, 1], rng)
        return np.stack([cell, label], axis=1)

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """The law ln K(release | secret)."""
        rows = self._rows(secrets, columns=len(self.labels.space))
        given = self._rows(releases, columns=len(self.labels.outputs))
        cell = self.cells.log_probabilities()[np.ix_(rows[:, 0], given[:, 0])]
        return cell + self.labels.log_probabilities()[np.ix_(rows[:, 1], given[:, 1])]

    def law(self) -> Floats:
        """K[cell, label, release] with release (cell', label') at cell'·labels + label'."""
        table = np.einsum("xc,yl->xycl", self.cells.probabilities(), self.labels.probabilities())
        return table.reshape(*table.shape[:2], -1)

    def _rows(self, values: Sequence[Any] | Items, *, columns: int) -> Indices:
        rows = np.asarray(values)
        good = rows.ndim == 2 and rows.shape[1] == 2 and rows.dtype.kind in "iu"
        require(good, "records", "rows (cell, label) of integers", f"shape {rows.shape}")
        limits = np.array([len(self.cells.space), columns])
        inside = bool(((rows >= 0) & (rows < limits)).all())
        require(inside, "records", f"below {limits.tolist()}", "others")
        return rows.astype(np.intp)


def label_cf(
    response: Channel,
    *,
    lower: Floats,
    upper: Floats,
    weights: Floats,
    epsilon: float,
    loss: Floats | None = None,
) -> LabelCF:
    """Randomise the label by `response` and the cell only as far as CF-ε = epsilon demands.

    Release (c', ỹ) with ỹ ~ response(y) and c' ~ F(·|c), F without a look at the label. Given the
    label, Pr[c', ỹ|y] = R(ỹ|y)·T_y(c') with T_y = Σ_c P(c|y) F(c'|c): the ratio between two labels
    is at most e^(ε_R(y, y')) · T_y/T_y'. F is the linear-program solution with the least
    Σ_c w(c) Σ_c' F(c'|c)·loss[c, c'] + max_c (1 − F(c|c)), w the weights as shares, among those
    with T_y(c') ≤ e^(ε − ε_R(y, y'))·T_y'(c') for all y, y', c'. The loss is 1 for a changed cell
    unless one is given; it is 0 on the diagonal, so F is the identity if the cells reveal no more
    than the room there is. At fixed features only ỹ depends on the label, so `response`'s own
    bound holds there as label DP, which CF alone would not give.

    The second term is for who learns from the release. The least mean loss alone is reached by
    sending a rare and telling cell to its opposite entirely: its row of F is then another's, and
    no number of releases tells the two apart. Where every cell is kept more often than not, F is
    diagonally dominant and so invertible: each P(c, y) is estimated the better the more there are.

    `lower` and `upper` bracket P(cell|label), a row a cell, a column a label; equal if P is known.
    The bound holds for *every* P between them, so if they are a confidence region the CF-ε is
    what the records support and not a plug-in. It is recomputed from the sampled integers and
    rounded up. Label DP-CF: Busa-Fekete et al. (ICML 2023, definition 4.3); Sekiguchi et al.
    (2025, Theorem 5.1: no unexpected leakage). Costs one program of about cells²·labels variables.

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=0.5)
    >>> given = np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])
    >>> blur = label_cf(warner, lower=given, upper=given, weights=given.mean(axis=1), epsilon=1.5)
    >>> round(blur.conditional.epsilon, 4), round(blur.label.epsilon, 4), round(blur.kept, 4)
    (1.5, 0.5, 0.8465)
    """
    epsilon = require_epsilon(epsilon)
    require(epsilon <= LARGEST, "epsilon", f"at most {LARGEST:g} for Label DP-CF", epsilon)
    _check_bracket(lower, upper, weights, labels=len(response.space))
    between = pair_spreads(response)
    for_label = spread(response)
    if for_label > epsilon:
        raise InvalidInput(
            f"the label's own epsilon must leave room within {epsilon:g}, got {for_label:.4g}; "
            "use a stronger response for the label"
        )
    changed = 1.0 - np.eye(len(lower)) if loss is None else np.asarray(loss, dtype=float)
    good = changed.shape == (len(lower), len(lower)) and not np.diagonal(changed).any()
    require(good and bool((changed >= 0).all()), "loss",
            f"{len(lower)}×{len(lower)}, non-negative and 0 on the diagonal", "others")  # fmt: skip
    proposal = least_costly_cells(
        lower,
        upper,
        cost=weights[:, None] / weights.sum() * changed,
        worst=WORST,
        log_room=epsilon * (1 - 1e-9) - between,
    )
    cells, reached = _inside(proposal, lower, upper, between, epsilon)
    from voile.metrics.discrete_distance import discrete

    named = Guarantee(for_label, discrete(), "one label", Basis.CERTIFIED)
    local = replace(named, epsilon=sum_upwards(for_label, spread(cells)), granularity="one record")
    known = bool(np.array_equal(lower, upper))
    region = "the stated P" if known else "every P between the stated bounds"
    notes = (
        f"features that do not follow P: the bound is for labels whose features have the law of "
        f"{region}",
        f"somebody who knows a record's features beforehand: for them ε is {for_label:.4g}",
    )
    conditional = replace(named, epsilon=reached, outside=notes)
    kept = float((np.diagonal(cells.probabilities()) * weights).sum() / weights.sum())
    return LabelCF(cells, response, local, named, conditional, kept)


def _inside(
    proposal: Floats, lower: Floats, upper: Floats, between: Floats, epsilon: float
) -> tuple[Channel, float]:
    """The proposal as integers, mixed with a constant row by as little as keeps the claim."""
    from voile.metrics.discrete_distance import discrete

    table = np.maximum(proposal, 0.0)
    table /= table.sum(axis=1, keepdims=True)
    even = table.mean(axis=0)
    space = Space(list(range(len(table))), metric=discrete())
    floor = integer.floor_bits(outputs=len(table), smallest_step=epsilon)
    mixed = 0.0
    for _ in range(40):
        blended = (1 - mixed) * table + mixed * even
        with np.errstate(divide="ignore"):
            whole = integer.quantise(np.log(blended), floor=floor)
        cells = Channel(space, space.items, whole, Guarantee(float("inf"), discrete(), "one cell"))
        reached = outwards(
            max(0.0, float((between + ratio_bounds(cells.probabilities(), lower, upper)).max()))
        )
        if reached <= epsilon:
            return cells, reached
        mixed = max(2 * mixed, 1e-9)
        if mixed >= 1:
            mixed = 1.0
    raise DoesNotExist(  # a constant row has ratio 1, so this needs a response that spends all
        f"no randomisation of the cells keeps CF-epsilon {epsilon:g}; use a stronger response"
    )


def _check_bracket(lower: Floats, upper: Floats, weights: Floats, *, labels: int) -> None:
    shape = np.shape(lower)
    good = len(shape) == 2 and shape == np.shape(upper) and shape[1] == labels
    require(good, "lower and upper", f"tables with {labels} columns, alike", f"shape {shape}")
    order = bool((lower >= 0).all() and (lower <= upper).all() and (upper <= 1).all())
    require(order, "lower and upper", "0 <= lower <= upper <= 1", "others")
    room = bool((lower.sum(axis=0) <= 1 + 1e-9).all() and (upper.sum(axis=0) >= 1 - 1e-9).all())
    require(room, "lower and upper", "a bracket of probabilities that sum to 1", "sums beyond 1")
    fine = np.shape(weights) == shape[:1] and bool((weights >= 0).all()) and weights.sum() > 0
    require(fine, "weights", f"{shape[0]} non-negative numbers, not all zero", "others")


def examples() -> list[LabelCF]:
    """A known P, and one known only within bounds."""
    from voile.metrics.discrete_distance import discrete

    def warner(epsilon: float) -> Channel:
        space = Space(["ill", "well"], metric=discrete())
        return Channel.build(
            space, lambda s: s * np.eye(2), epsilon=epsilon, granularity="one label"
        )

    given = np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])
    weights = given.mean(axis=1)
    low, high = np.maximum(given - 0.05, 0), given + 0.05
    return [
        label_cf(warner(0.5), lower=given, upper=given, weights=weights, epsilon=1.5),
        label_cf(warner(0.5), lower=low, upper=high, weights=weights, epsilon=1.0),
    ]
