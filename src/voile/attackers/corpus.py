"""Sequences of secrets and releases over one vocabulary of words, ready for an attacker."""

from __future__ import annotations

from dataclasses import dataclass

from voile.attackers.attack import Observed
from voile.core.arrays import Floats, Indices
from voile.mechanisms._embedding import Embedding


@dataclass(frozen=True)
class Corpus:
    """Documents ready for an attacker.

    `candidates` and `seen` are positions in the embedding: what a secret may be, and what was
    released somewhere; sequences count in them. `unaligned` documents were left out, because
    it is unclear which released word stands for which; `unpaired` words of the others have no
    clear partner and do not count.
    """

    embedding: Embedding
    sequences: tuple[Observed, ...]
    candidates: Indices
    seen: Indices
    levels: Indices
    unaligned: int
    unpaired: int
    written: tuple[str, ...] = ()
    """How each position of the embedding is written, for attackers who read words."""

    def candidate_vectors(self) -> Floats:
        """A row of coordinates for each candidate, in the metric's own unit."""
        return self.embedding.points[self.candidates] * self.embedding.step

    def release_vectors(self) -> Floats:
        """A row for each release."""
        return self.embedding.points[self.seen] * self.embedding.step

    def distances(self) -> Floats:
        """Distances between candidates."""
        return self.embedding.metric.pairwise(self.candidates, self.candidates)
