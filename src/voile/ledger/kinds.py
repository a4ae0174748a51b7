"""What a ledger counts: epsilons of one granularity, in one metric."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from voile.core.guarantee import Guarantee


@dataclass(frozen=True)
class Kind:
    """Epsilons add up only if they are per unit of the same distance, for the same kind of secret.

    >>> import voile
    >>> place = voile.Guarantee(0.8, voile.metrics.euclidean(unit="km"), "one location")
    >>> print(Kind.of(place))
    ε per km (euclidean) for one location
    """

    granularity: str
    metric: str
    unit: str
    parameters: tuple[tuple[str, str], ...] = ()
    bounded: bool = False
    """Whether no two secrets are further apart than one unit, as with labels."""

    @classmethod
    def of(cls, guarantee: Guarantee) -> Kind:
        """The kind of epsilon that a guarantee speaks of."""
        metric = guarantee.metric
        parameters = tuple((name, str(value)) for name, value in metric.parameters)
        bounded = metric.largest <= 1
        return cls(guarantee.granularity, metric.name, metric.unit, parameters, bounded)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Kind:
        """The kind that `facts` wrote."""
        parameters = tuple((str(name), str(value)) for name, value in facts["parameters"])
        return cls(**{**facts, "parameters": parameters})

    def facts(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {**asdict(self), "parameters": [list(pair) for pair in self.parameters]}

    def differs_in(self, other: Kind) -> str:
        """The names of what differs."""
        mine, yours = self.facts(), other.facts()
        names = [name for name in mine if mine[name] != yours[name]]
        return ", ".join(names)

    def __str__(self) -> str:
        return f"ε per {self.unit} ({self.metric}) for {self.granularity}"
