"""The one finite mechanism: a table of integer weights with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from voile.core import weights as integer
from voile.core.arrays import Floats, Indices, Items, Weights, immutable
from voile.core.certificate import Certificate, certify
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.repair import Repair, repaired
from voile.core.space import Space, as_items, as_positions, lookup, positions_of
from voile.errors import GuaranteeBroken, InvalidInput, require


@dataclass(frozen=True, eq=False)
class Channel:
    """Secrets in, outputs out: K(y|x) = weights[x, y] / 2**62, exactly.

    What is sampled is what is certified: both read the same integers. A channel whose
    certificate exceeds its guarantee cannot be constructed.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))
    >>> channel = voile.mechanisms.exponential(line, epsilon=1.0)
    >>> channel.probabilities()[0].round(5)
    array([0.50648, 0.3072 , 0.18632])
    >>> print(channel.certificate())
    certified ε = 0.614108 per km, reached by secrets 0 and 1, 1 km apart, at output 0
    """

    space: Space
    outputs: Items
    weights: Weights
    guarantee: Guarantee
    repair: Repair | None = None
    _certificate: Certificate = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "outputs", as_items(self.outputs, name="outputs"))
        given = np.asarray(self.weights)
        require(given.dtype == np.uint64, "weights", "of dtype uint64", given.dtype)
        object.__setattr__(self, "weights", immutable(given))
        shape = (len(self.space), len(self.outputs))
        require(self.weights.shape == shape, "weights", f"of shape {shape}", self.weights.shape)
        integer.check_rows(self.weights)
        if self.guarantee.metric != self.space.metric:
            raise InvalidInput(
                f"the guarantee must speak of the space's metric ({self.space.metric}), "
                f"got {self.guarantee.metric}"
            )
        require(self.guarantee.delta == 0, "a channel's delta", "0", self.guarantee.delta)
        certificate = certify(self.space, self.weights)
        object.__setattr__(self, "_certificate", certificate)
        if certificate.epsilon > self.guarantee.epsilon:
            raise GuaranteeBroken(
                f"the certificate must not exceed the claim of {self.guarantee.epsilon:.6g}, got: "
                f"{certificate}; claim more, or lower the mechanism's strength",
                certified=certificate.epsilon,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy from elsewhere is built, and certified, like any other channel."""
        return Channel, (self.space, self.outputs, self.weights, self.guarantee, self.repair)

    # ── building ───────────────────────────────────────────────────────────────────────────

    @classmethod
    def build(
        cls,
        space: Space,
        log_weights: Callable[[float], Floats],
        *,
        epsilon: float,
        granularity: str,
        outputs: Items | None = None,
    ) -> Channel:
        """The channel of `log_weights(strength)` for the largest strength that fits epsilon.

        The strength starts a hair below epsilon and is lowered by what rounding to integers
        overshoots, so that a mechanism whose bound is tight keeps its claim strictly.
        """
        guarantee = Guarantee(epsilon, space.metric, granularity, Basis.CERTIFIED)
        outputs = space.items if outputs is None else as_items(outputs, name="outputs")
        step = epsilon * space.smallest_distance()
        floor = integer.floor_bits(outputs=len(outputs), smallest_step=step)
        margin = 2.0**-32
        for _ in range(12):
            table = integer.quantise(log_weights(epsilon * (1 - margin)), floor=floor)
            try:
                return cls(space, outputs, table, guarantee)
            except GuaranteeBroken as broken:
                over = broken.certified / epsilon - 1
                if over > 0.5 and step > 1e-9:
                    raise  # not a matter of rounding
                margin = min(0.5, 4 * margin + 1.5 * over)
        raise GuaranteeBroken(
            f"secrets must be further apart for epsilon {epsilon:g}: at "
            f"{step / epsilon:.3g} {space.metric.unit}, the smallest distance here, two rows would "
            f"have to agree to more digits than a weight holds; merge or round such items"
        )

    @classmethod
    def from_probabilities(
        cls,
        space: Space,
        probabilities: Floats,
        guarantee: Guarantee,
        *,
        outputs: Items | None = None,
        repair: bool = False,
    ) -> Channel:
        """The channel of a table of probabilities, such as a solver's answer.

        With `repair`, numerical dust is mended first (clamp, lift each output by the constant
        that its worst pair needs, renormalise) and the channel's `repair` says by how much.
        """
        given = np.asarray(probabilities)
        require(given.dtype.kind in "fiu", "probabilities", "numbers", f"an array of {given.dtype}")
        table = given.astype(np.float64)
        outputs = space.items if outputs is None else as_items(outputs, name="outputs")
        shape = (len(space), len(outputs))
        require(table.shape == shape, "probabilities", f"of shape {shape}", table.shape)
        require(bool(np.isfinite(table).all()), "probabilities", "finite", "NaN or infinity")
        report = None
        floor = -1
        if repair:
            step = guarantee.epsilon * space.smallest_distance()
            floor = integer.floor_bits(outputs=len(outputs), smallest_step=step)
            table, report = repaired(table, space=space, epsilon=guarantee.epsilon)
        else:
            off = float(np.abs(table.sum(axis=1) - 1).max())
            good = bool((table >= 0).all()) and off < 1e-9
            lowest = float(table.min())
            require(
                good,
                "probabilities",
                "non-negative and sum to 1 in each row",
                f"least {lowest:.2g}, sums off by {off:.2g}",
                "try repair=True",
            )
        with np.errstate(divide="ignore"):
            weights = integer.quantise(np.log(table), floor=floor)
        return cls(space, outputs, weights, guarantee, report)

    def restated(self, *, epsilon: float) -> Channel:
        """The same channel under another claim; the certificate must allow it."""
        return replace(self, guarantee=replace(self.guarantee, epsilon=epsilon))

    def merged(self, mapping: Sequence[int] | Indices, outputs: Items) -> Channel:
        """Deterministic post-processing: output y is released as outputs[mapping[y]].

        Never weakens the guarantee: a sum of weights that each obey the bound obeys it.
        """
        mapping = as_positions(mapping, name="mapping", below=len(outputs))
        require(
            mapping.shape == (len(self.outputs),),
            "mapping",
            f"one entry for each of {len(self.outputs)} outputs",
            mapping.shape,
        )
        merged = np.zeros((len(self.space), len(outputs)), dtype=np.uint64)
        np.add.at(merged.T, mapping, self.weights.T)
        return replace(self, outputs=outputs, weights=merged)

    # ── asking ─────────────────────────────────────────────────────────────────────────────

    def certificate(self) -> Certificate:
        """The tight epsilon over all pairs and outputs, with the pair that reaches it."""
        return self._certificate

    def probabilities(self) -> Floats:
        """K(y|x) as doubles."""
        return self.weights / float(integer.TOTAL)

    def log_probabilities(self) -> Floats:
        """Ln K(y|x) as doubles; −inf where the weight is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities())

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """Ln K(release | secret), shape (len(secrets), len(releases))."""
        columns = lookup(self._output_positions, releases, size=len(self.outputs))
        return self.log_probabilities()[np.ix_(self.space.index(secrets), columns)]

    def expected_loss(self, loss: Floats, prior: Sequence[float] | Floats | None = None) -> float:
        """Σ π(x) K(y|x) loss[x, y]; a uniform prior unless one is given."""
        per_secret = (self.probabilities() * loss).sum(axis=1)
        return float(np.average(per_secret, weights=prior))

    # ── drawing ────────────────────────────────────────────────────────────────────────────

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One output for each secret, drawn exactly; secrets are items of the space."""
        return self.outputs[self.draw(self.space.index(secrets), rng)]

    def draw(self, rows: Sequence[int] | Indices, rng: Generator) -> Indices:
        """The same by position: positions of secrets in, positions of outputs out."""
        rows = as_positions(rows, name="rows", below=len(self.space))
        return integer.draw(self._cumulative, rows, rng)

    @cached_property
    def _cumulative(self) -> Weights:
        sums: Weights = np.cumsum(self.weights, axis=1, dtype=np.uint64)
        return sums

    @cached_property
    def _output_positions(self) -> dict[Any, int]:
        return positions_of(self.outputs)
