"""The two things a mechanism can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from voile.core.arrays import Floats, Items
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator


@runtime_checkable
class Mechanism(Protocol):
    """Anything that blurs secrets under a guarantee."""

    @property
    def guarantee(self) -> Guarantee:
        """What one release promises."""
        ...

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One release for each secret."""
        ...


@runtime_checkable
class ExactMechanism(Mechanism, Protocol):
    """A mechanism that knows its own law."""

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """Ln K(release | secret), shape (len(secrets), len(releases)).

        Right to `ROUNDING` times max(1, |ln K|), or to what `log_prob_error` says beside it.
        """
        ...


ROUNDING = 1e-9
"""What a log-probability in doubles may be off by, relative to itself if it is beyond ±1."""


def log_prob_error(mechanism: ExactMechanism) -> float:
    """What a mechanism says that its log-probabilities may be off by, beyond rounding; usually 0.

    A mechanism that integrates or sums its law less precisely has an attribute of this name.
    """
    return float(getattr(mechanism, "log_prob_error", 0.0))
