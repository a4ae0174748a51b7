"""The one interface of attackers who read sequences of releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from voile.core.arrays import Floats, Indices

HIDDEN = -1
"""Marks a position whose release the attacker does not see."""


@dataclass(frozen=True)
class Observed:
    """One sequence: releases and secrets by position, and which positions are sensitive.

    Sequences of one `owner` (a person, or copies of one text) are not independent; None: its own.
    """

    releases: Indices
    secrets: Indices
    sensitive: Indices
    owner: int | None = None


@runtime_checkable
class SequenceAttack(Protocol):
    """Beliefs about each secret of a sequence after reading all of its releases.

    Candidates and releases are positions in their lists. A table of beliefs has a row for each
    position of the sequence and a column for each candidate; its rows are log-probabilities.
    Reading a sequence with the sensitive positions `HIDDEN` gives the attacker's prior.
    """

    def log_posteriors(
        self, sequences: Sequence[Indices], sensitive: Sequence[Indices] | None = None
    ) -> list[Floats]:
        """One table for each sequence, shape (its length, candidates).

        `sensitive` says which positions hold secrets (all, unless it is given), for attackers that
        start from what they believed before they read those.
        """
        ...


def hidden(sequence: Indices, positions: Indices | slice) -> Indices:
    """The sequence with some positions unseen."""
    copy = np.array(sequence, dtype=np.intp)
    copy[positions] = HIDDEN
    return copy
