"""How records are released, as plain values: what a worker process and a reader build it from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from voile.labels.memo import Memo
from voile.labels.protection import (
    Protection,
    cells_protection,
    noise_protection,
    prior_protection,
    response_protection,
    sample_protection,
)
from voile.labels.recipe_file import recipe_digest, recipe_from


@dataclass(frozen=True)
class Draws:
    """How a release was drawn: what its reader must know, beside the recipe of this hash.

    `label_share` is none where the recipe's own was used.
    """

    mechanism: str
    epsilon: float
    label_share: float | None
    prior: tuple[float, ...]
    recipe_sha256: str


@dataclass(frozen=True)
class Law:
    """What a worker process needs to build the protection: plain values."""

    recipe: str
    epsilon: float
    mechanism: str
    prior: tuple[float, ...]
    label_share: float | None
    memo: Memo | None = None
    """Makes reports permanent."""

    def draws(self) -> Draws:
        """What a release by this law says of its draws."""
        digest = recipe_digest(recipe_from(self.recipe))
        return Draws(self.mechanism, self.epsilon, self.label_share, self.prior, digest)

    def protection(self) -> Protection:
        """How records are released, with its bounds."""
        return _protection(self)


@lru_cache(maxsize=4)
def _protection(law: Law) -> Protection:
    """Kept, since the program behind cf may take a while: to state and to draw it is made once."""
    recipe, epsilon, share = recipe_from(law.recipe), law.epsilon, law.label_share
    builders: dict[str, Callable[[], Protection]] = {
        "rr": lambda: response_protection(recipe, epsilon=epsilon),
        "prior": lambda: prior_protection(recipe, epsilon=epsilon, prior=law.prior),
        "cf": lambda: cells_protection(recipe, epsilon=epsilon, label_share=share),
        "ldp": lambda: noise_protection(recipe, epsilon=epsilon, label_share=share),
        "sample": lambda: sample_protection(recipe, epsilon=epsilon, memo=law.memo),
    }
    return builders[law.mechanism]()
