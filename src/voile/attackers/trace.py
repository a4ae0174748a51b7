"""Reading whole traces of released places: a Markov chain of how people move, and the best guess.

An attacker who knows how others moved between the public places follows a trace by
forward–backward and names, at every step, the place that is least far off on average.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.markov import MarkovAttack, fit_markov, markov_attack
from voile.core.arrays import Floats, Indices

Trace = tuple[Indices, Floats]
"""What was released at each step of a trace, by output, and the true points."""


@dataclass(frozen=True, eq=False)
class TraceAttack:
    """A fitted attacker; it travels once to a process or node."""

    attack: MarkovAttack
    places: Floats
    apart: Floats

    def errors(self, traces: Sequence[Trace]) -> Floats:
        """How far the best guess is from the true point, at every step of these traces."""
        found = []
        beliefs = self.attack.log_posteriors([outputs for outputs, _ in traces])
        for (_, truth), belief in zip(traces, beliefs, strict=True):
            best = (np.exp(belief) @ self.apart).argmin(axis=1)
            found.append(np.linalg.norm(self.places[best] - truth, axis=1))
        return np.concatenate(found)


def trace_attack(places: Floats, law: Floats, known: Sequence[Floats]) -> TraceAttack:
    """An attacker who knows the law at each of some places, and some people's whole traces.

    `law` holds a row of probabilities for each place, `known` the true points of each trace; a
    point counts for the place nearest to it.

    >>> walks = [np.array([[0.0, 0.0], [1.0, 0.0]])] * 3
    >>> attack = trace_attack(walks[0], np.array([[0.9, 0.1], [0.1, 0.9]]), walks)
    >>> attack.errors([(np.array([0, 1]), walks[0])])
    array([0., 0.])
    """
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    tree = cKDTree(places)
    chain = fit_markov([np.asarray(tree.query(points)[1]) for points in known], size=len(places))
    return TraceAttack(markov_attack(np.log(law + 1e-300), chain), places, cdist(places, places))


def batches(traces: Sequence[Indices], *, steps: int = 20_000) -> Iterator[list[Indices]]:
    """Traces of similar length together, at most so many padded steps at once."""
    batch: list[Indices] = []
    for trace in sorted(traces, key=len):
        if batch and (len(batch) + 1) * len(trace) > steps:
            yield batch
            batch = []
        batch.append(trace)
    if batch:
        yield batch
