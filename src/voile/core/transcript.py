"""What an audit works on: secrets and what was released for them, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Indices, Items
from voile.core.randomness import Generator
from voile.core.space import as_items, as_positions
from voile.errors import InvalidInput, require


@dataclass(frozen=True, eq=False)
class Transcript:
    """Secrets and releases side by side; `groups` says which records belong together.

    A group is a document or a trace: its records are correlated, so a split never cuts one.
    """

    secrets: Items
    releases: Items
    groups: Indices

    def __init__(
        self,
        secrets: Sequence[Any] | Items,
        releases: Sequence[Any] | Items,
        groups: Sequence[int] | Indices | None = None,
    ) -> None:
        secrets, releases = as_items(secrets, name="secrets"), as_items(releases, name="releases")
        chosen = np.arange(len(secrets)) if groups is None else as_positions(groups, name="groups")
        if not len(secrets) == len(releases) == len(chosen):
            raise InvalidInput(
                f"a transcript must have one release and one group for each secret, got "
                f"{len(secrets)} secrets, {len(releases)} releases and {len(chosen)} groups"
            )
        for name, value in (("secrets", secrets), ("releases", releases), ("groups", chosen)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.secrets)

    def __repr__(self) -> str:  # never the values
        return f"Transcript({len(self)} records in {len(np.unique(self.groups))} groups)"

    def select(self, keep: Items) -> Transcript:
        """The records that a mask or positions pick."""
        return Transcript(self.secrets[keep], self.releases[keep], self.groups[keep])

    def split(self, shares: Sequence[float], rng: Generator) -> tuple[Transcript, ...]:
        """Disjoint parts holding about these shares of the *groups*, none of them cut.

        >>> from voile.core.randomness import seeded_rng
        >>> whole = Transcript(range(10), range(10), groups=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
        >>> [len(part) for part in whole.split([0.6, 0.2, 0.2], seeded_rng(1))]
        [6, 2, 2]
        """
        positive = all(share > 0 for share in shares)
        require(
            positive and abs(sum(shares) - 1) < 1e-9,
            "shares",
            "positive and sum to 1",
            list(shares),
        )
        names = rng.permutation(np.unique(self.groups))
        require(len(names) >= len(shares), "groups", f"at least {len(shares)}", len(names))
        cuts = np.rint(np.cumsum(shares)[:-1] * len(names)).astype(int)
        lowest = np.arange(1, len(shares))
        cuts = np.clip(cuts, lowest, len(names) - lowest[::-1])
        parts = np.split(names, cuts)
        return tuple(self.select(np.isin(self.groups, part)) for part in parts)
