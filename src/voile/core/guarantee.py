"""What a release promises: an odds bound, for which unit of data, and on what ground."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypedDict

import numpy as np

from voile.core.granularity import Words
from voile.core.metric import Metric, MetricRecord
from voile.core.rounding import (
    at_most,
    exp_upwards,
    odds_at_most,
    percent_at_most,
    product_at_most,
    product_upwards,
    sum_upwards,
)
from voile.errors import BadFile, InvalidInput, as_double, require

VERSION = 1
"""Of the serial form, `Guarantee.to_dict`."""


class GuaranteeRecord(TypedDict):
    """A guarantee as every guarantee file holds it."""

    version: int
    epsilon: float | None
    delta: float
    metric: MetricRecord
    granularity: str
    basis: str
    outside: list[str]
    confidence: float


class Basis(StrEnum):
    """The ground a guarantee stands on, strongest first."""

    CERTIFIED = "certified"  # computed from the very numbers that are sampled
    PROVED = "proved"  # a theorem, up to what docs/known-limits.md leaves to trust
    STATISTICAL = "statistical"  # certified for a law that was estimated from a sample
    CLAIMED = "claimed"  # taken on somebody's word


_STRENGTH = list(Basis)


@dataclass(frozen=True)
class Guarantee:
    """|ln K(y|x) − ln K(y|x')| ≤ epsilon · d(x, x') for all secrets x, x' and releases y.

    With delta > 0 the bound may fail with probability delta: K(Y|x) ≤ e^(ε·d) K(Y|x') + δ.
    `granularity` is what one secret is ("one word"); `outside` lists what the bound leaves out.
    `confidence` is below 1 where the bound rests on an estimated law: so often is it right.

    >>> import voile
    >>> street = Guarantee(0.8, voile.metrics.euclidean(unit="km"), "one location")
    >>> round(street.odds_factor(1.0), 2)
    2.23
    >>> street.repeated(3).epsilon == 3 * street.epsilon
    True
    """

    epsilon: float
    metric: Metric
    granularity: str
    basis: Basis = Basis.CLAIMED
    delta: float = 0.0
    outside: tuple[str, ...] = ()
    confidence: float = 1.0

    def __post_init__(self) -> None:
        for name, most, must in (("epsilon", math.inf, ">= 0"), ("delta", 1, "between 0 and 1")):
            value = as_double(getattr(self, name))
            require(0 <= value <= most, name, must, getattr(self, name))  # NaN fails too
            object.__setattr__(self, name, value)
        require(0 < self.confidence <= 1, "confidence", "above 0 and at most 1", self.confidence)
        object.__setattr__(self, "basis", Basis(self.basis))
        object.__setattr__(self, "outside", tuple(self.outside))
        self.metric.require_metric()

    # ── composition ────────────────────────────────────────────────────────────────────────

    def repeated(self, times: int) -> Guarantee:
        """The same secret released `times` times with fresh noise: epsilon and delta add up.

        Rounded up, as every sum of bounds.
        """
        require(times >= 1 and int(times) == times, "times", "an integer >= 1", times)
        epsilon, delta = (product_upwards(x, int(times)) for x in (self.epsilon, self.delta))
        return replace(self, epsilon=epsilon, delta=min(1.0, delta))

    def then(self, other: Guarantee) -> Guarantee:
        """The same secret released by two mechanisms: epsilons and deltas add up, rounded up.

        Both must speak of the same metric and granularity; the weaker basis is kept.
        """
        if self.metric != other.metric or self.granularity != other.granularity:
            raise InvalidInput(
                f"guarantees compose only over one metric and granularity, got {self.metric} for "
                f"{self.granularity} and {other.metric} for {other.granularity}; restate one first"
            )
        return Guarantee(
            epsilon=sum_upwards(self.epsilon, other.epsilon),
            metric=self.metric,
            granularity=self.granularity,
            basis=max(self.basis, other.basis, key=_STRENGTH.index),
            delta=min(1.0, sum_upwards(self.delta, other.delta)),
            outside=tuple(dict.fromkeys(self.outside + other.outside)),
            confidence=max(math.ulp(0.0), self.confidence + other.confidence - 1),
        )

    # ── what it means ──────────────────────────────────────────────────────────────────────

    def odds_factor(self, distance: float) -> float:
        """By how much a release can move the odds between two secrets this far apart, at most."""
        return exp_upwards(self._loss(distance, "distance"))

    def _loss(self, distance: float, name: str) -> float:
        """The exponent ε·d of the bound, rounded up."""
        require(distance >= 0, name, ">= 0", distance)
        return product_upwards(self.epsilon, float(min(distance, self.metric.largest)))

    def best_guess(
        self,
        *,
        candidates: int | None = None,
        prior: Sequence[float] | None = None,
        within: float = 1.0,
    ) -> float:
        """The success that no attacker exceeds who names one secret out of several.

        The candidates lie within `within` of each other; equally likely, or with the given
        prior. Let o be the odds against the likeliest of n candidates and E = e^(ε·within).
        Averaging the pairwise bound over the prior gives o·S ≤ E·(1 − S) + δ·(n − 1) for the
        success S, so S ≤ (E + δ·(n − 1)) / (E + o).

        >>> import voile
        >>> label = Guarantee(1.0, voile.metrics.discrete(), "one label")
        >>> round(label.best_guess(candidates=2), 4)    # e / (e + 1)
        0.7311
        """
        top, count = _likeliest(candidates, prior)
        shrink = math.exp(-self._loss(within, "within"))
        failing = self.delta * (count - 1) * shrink
        return min(1.0, (1 + failing) / (1 + (1 - top) / top * shrink))

    def explain(
        self,
        *,
        distances: Sequence[float] = (),
        candidates: int = 100,
        within: float | None = None,
    ) -> str:
        """The guarantee in sentences that need no background.

        >>> import voile
        >>> print(Guarantee(0.8, voile.metrics.euclidean(unit="km"), "one location").explain())
        ε = 0.8 per km for one location (claimed).
        Two locations 1 km apart: whatever is released, the odds between them change by at most e^0.8 = 2.23×.
        An attacker who knows that the location is one of 100 equally likely ones within 1 km of each other names the right one at most 2.2 % of the time, instead of 1 %.
        """  # noqa: E501
        unit, largest = self.metric.unit, self.metric.largest
        chosen = tuple(distances) or (largest if math.isfinite(largest) else 1.0,)
        words = Words(self.granularity, unit)
        lines = [self.headline()]
        lines += [f"{words.pair(None if d >= largest else d)}: {self._odds(d)}." for d in chosen]
        reach = max(chosen) if within is None else within
        guess = self.best_guess(candidates=candidates, within=reach)
        far = None if math.isfinite(largest) else reach
        lines.append(
            f"An attacker who knows that {words.candidates(candidates, far)} names the right one "
            f"at most {percent_at_most(guess)} of the time, instead of {_percent(1 / candidates)}."
        )
        lines += [f"Not covered: {item}." for item in self.outside]
        return "\n".join(lines)

    def headline(self) -> str:
        """One line: epsilon, unit, granularity, basis."""
        delta = f", δ = {at_most(self.delta)}" if self.delta else ""
        return (
            f"ε = {at_most(self.epsilon, digits=6)} per {self.metric.unit}{delta} for "
            f"{self.granularity} ({self.ground()})."
        )

    def ground(self) -> str:
        """The basis in a word, or what a certificate from a sample is: one of some confidence."""
        if self.basis is not Basis.STATISTICAL:
            return str(self.basis)
        return f"a statistical certificate at {100 * self.confidence:.12g} %"

    def _odds(self, distance: float) -> str:
        factor, far = self.odds_factor(distance), min(distance, self.metric.largest)
        power = f"e^{product_at_most(self.epsilon, far)}"
        if math.isinf(factor):
            return f"the odds between them may change by {power}, which is no bound worth the name"
        text = f"whatever is released, the odds between them change by at most {power} = "
        but = f", except with probability {at_most(self.delta)}" if self.delta else ""
        return f"{text}{odds_at_most(factor)}{but}"

    # ── in a file ──────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> GuaranteeRecord:
        """The one serial form, the same in every guarantee file; infinity is null, as in JSON.

        >>> import voile
        >>> Guarantee(1.0, voile.metrics.discrete(), "one label").to_dict()["metric"]
        {'name': 'discrete', 'unit': 'change', 'parameters': {}, 'largest': 1.0}
        """
        return {
            "version": VERSION,
            "epsilon": self.epsilon if math.isfinite(self.epsilon) else None,
            "delta": self.delta,
            "metric": self.metric.to_dict(),
            "granularity": self.granularity,
            "basis": str(self.basis),
            "outside": list(self.outside),
            "confidence": self.confidence,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, metric: Metric | None = None) -> Guarantee:
        """The guarantee that `to_dict` wrote: what the record says, nothing of it checked.

        Its metric is known by name only, unless the `metric` itself is at hand; that must be the
        one that the record names.

        >>> import voile
        >>> label = Guarantee(1.0, voile.metrics.discrete(), "one label")
        >>> Guarantee.from_dict(label.to_dict(), metric=voile.metrics.discrete()) == label
        True
        """
        version = record.get("version")
        if version != VERSION:
            raise BadFile(f"a guarantee of version {VERSION} must say so, got {version!r}")
        try:
            named = Metric.from_dict(record["metric"])
            if metric is not None and metric.to_dict() != named.to_dict():
                raise BadFile(f"the guarantee speaks of {named}, and not of {metric}")
            epsilon, outside = record["epsilon"], record["outside"]
            return cls(
                math.inf if epsilon is None else epsilon,
                named if metric is None else metric,
                _text(record["granularity"]),
                Basis(record["basis"]),
                record["delta"],
                tuple(_text(item) for item in list(outside)),
                record["confidence"],
            )
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise BadFile("a guarantee must have the fields that to_dict writes") from problem


def _likeliest(candidates: int | None, prior: Sequence[float] | None) -> tuple[float, int]:
    """The largest prior probability and the number of possible candidates."""
    if (candidates is None) == (prior is None):
        raise InvalidInput("give either candidates or prior, and not both")
    if candidates is not None:
        require(
            candidates >= 1 and int(candidates) == candidates,
            "candidates",
            "an integer >= 1",
            candidates,
        )
        return 1 / candidates, candidates
    values = np.asarray(prior, dtype=float)
    ok = values.ndim == 1 and len(values) > 0 and bool((values >= 0).all())
    require(
        ok and abs(float(values.sum()) - 1) < 1e-9,
        "prior",
        "probabilities that sum to 1",
        f"{values.size} numbers summing to {float(values.sum()):.6g}",
    )
    return float(values.max()), int((values > 0).sum())


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("must be a text")
    return value
