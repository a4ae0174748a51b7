"""The one interface of attackers who read sequences of releases."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from voile.core.arrays import Floats, Indices


@runtime_checkable
class SequenceAttack(Protocol):
    """Beliefs about each secret of a sequence, before and after reading all of its releases.

    Candidates and releases are positions; a table of beliefs has a row for each position of the
    sequence and a column for each candidate, and its rows are log-probabilities.
    """

    def log_prior(self, length: int) -> Floats:
        """Beliefs before reading anything, shape (length, candidates)."""
        ...

    def log_posterior(self, releases: Indices) -> Floats:
        """Beliefs after reading the whole sequence, shape (len(releases), candidates)."""
        ...
