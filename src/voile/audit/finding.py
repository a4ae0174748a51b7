"""What an audit found: a bracket around the truth, and what may be said of the claim."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from voile.core.rounding import at_least, at_most
from voile.errors import require


class Verdict(StrEnum):
    """What an audit may say of a claim."""

    VIOLATED = "violated"
    HOLDS = "holds"
    OPEN = "open"


@dataclass(frozen=True)
class Finding:
    """An answer to one question: the true value lies in [lower, upper].

    The bracket is wrong with probability at most `failure_probability` (0 for a computation).
    `samples` is how many draws it rests on, 0 for a computation. Sampling can say *violated* or
    *open*, never *holds*: what one attack did not find, another may.
    """

    question: str
    claim: float
    lower: float
    upper: float = math.inf
    failure_probability: float = 0.0
    samples: int = 0
    unit: str = "unit"
    detail: str = ""

    def __post_init__(self) -> None:
        require(not math.isnan(self.claim), "claim", "a number", self.claim)
        require(self.lower <= self.upper, "lower", f"<= upper = {self.upper}", self.lower)
        require(
            0 <= self.failure_probability < 1,
            "failure_probability",
            "in [0, 1)",
            self.failure_probability,
        )
        require(self.samples >= 0, "samples", ">= 0", self.samples)

    @property
    def verdict(self) -> Verdict:
        """Violated if even the lower end exceeds the claim; holds only by computation."""
        if self.lower > self.claim:
            return Verdict.VIOLATED
        computed = self.samples == 0 and self.failure_probability == 0.0
        return Verdict.HOLDS if computed and self.upper <= self.claim else Verdict.OPEN

    def to_dict(self) -> dict[str, Any]:
        """The bracket with its verdict, as JSON holds it."""
        return asdict(self) | {"verdict": str(self.verdict)}

    def __str__(self) -> str:
        bracket = (
            f"at least {at_least(self.lower, digits=6)}"
            if math.isinf(self.upper) and math.isfinite(self.lower)
            else f"between {at_least(self.lower, digits=6)} and {at_most(self.upper, digits=6)}"
        )
        ground = (
            "computed"
            if self.samples == 0
            else f"{self.samples:,} samples, failure probability {self.failure_probability:.2g}"
        )
        text = f"{self.question} {bracket} per {self.unit}, claim {self.claim:.6g}: "
        text += f"{self.verdict} ({ground})"
        return text + (f". {self.detail}" if self.detail else "")
