"""Which texts an attacker must tell apart: candidate sets by probabilistic transitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require

BLOCK = 2**23
"""Scores held at a time: 64 MB of doubles, however large the pool."""

Vectors = NDArray[np.floating]


def candidate_sets(
    embeddings: Vectors | int,
    *,
    sets: int,
    size: int = 2,
    temperature: float = -10_000.0,
    rng: Generator,
) -> Indices:
    """Many candidate sets at once: the first member uniform, each next one by transition.

    TeDA (2603.22968), appendix C: P(x|s) ∝ exp(−d(x, s)) with the cosine distance d, the score
    of x for a set S is Σ_s ln P(x|s), and x is taken with probability ∝ exp(λ·score). The
    normalisers of P(·|s) do not depend on x and cancel, so with unit vectors the law is
    ∝ exp(λ·x·Σ_s s): one matrix product with the *sum* of the members, no table of all pairs.
    λ < 0 takes members far apart, λ > 0 alike, λ = 0 uniformly (then a number of texts may be
    given instead of embeddings).

    Equal prefixes share one row of scores, so a million sets of two cost no more than one row for
    each text. Cost: rows × texts × dimension, in blocks of 64 MB.

    >>> import numpy as np
    >>> from voile.core.randomness import seeded_rng
    >>> pool = np.array([[1.0, 0.0], [0.99, 0.1], [-1.0, 0.0]])
    >>> chosen = candidate_sets(pool, sets=500, temperature=-10_000.0, rng=seeded_rng(1))
    >>> sorted({tuple(sorted(pair)) for pair in chosen[chosen[:, 0] != 2].tolist()})
    [(0, 2), (1, 2)]
    """
    vectors = None if isinstance(embeddings, int) else unit_rows(embeddings)
    count = embeddings if isinstance(embeddings, int) else len(embeddings)
    _check(count, sets=sets, size=size, temperature=temperature)
    chosen = np.empty((sets, size), dtype=np.intp)
    chosen[:, 0] = rng.integers(count, size=sets)
    for step in range(1, size):
        prefix = chosen[:, :step]
        if temperature == 0:
            chosen[:, step] = _uniform_others(prefix, count, rng)
        elif vectors is None:
            raise InvalidInput("a temperature other than 0 needs embeddings, got only a count")
        else:
            chosen[:, step] = _next_members(vectors, prefix, temperature, rng)
    return chosen


def sets_within(
    classes: Indices,
    embeddings: Vectors | int,
    *,
    sets: int,
    size: int = 2,
    temperature: float = -10_000.0,
    rng: Generator,
) -> Indices:
    """Candidate sets whose members are of one class, such as texts of one length.

    A class is taken as often as it has texts, among classes that have enough of them.

    >>> import numpy as np
    >>> from voile.core.randomness import seeded_rng
    >>> lengths = np.array([3, 5, 3, 5, 9])
    >>> found = sets_within(lengths, 5, sets=99, temperature=0.0, rng=seeded_rng(1))
    >>> sorted({tuple(sorted(pair)) for pair in found.tolist()})
    [(0, 2), (1, 3)]
    """
    _, which, counts = np.unique(classes, return_inverse=True, return_counts=True)
    enough = np.flatnonzero((counts >= size)[which])
    if not len(enough):
        raise too_few_alike(len(classes), size)
    chosen = np.empty((sets, size), dtype=np.intp)
    taken = which[rng.choice(enough, size=sets)]
    for one in np.unique(taken):
        members = np.flatnonzero(which == one)
        vectors = len(members) if isinstance(embeddings, int) else embeddings[members]
        here = taken == one
        chosen[here] = members[
            candidate_sets(
                vectors, sets=int(here.sum()), size=size, temperature=temperature, rng=rng
            )
        ]
    return chosen


def too_few_alike(texts: int, size: int) -> InvalidInput:
    """That candidates of one length were asked for, and no length has enough texts."""
    return InvalidInput(
        f"no {size} of the {texts} different texts have as many words; leave out equal lengths, or "
        "give more texts"
    )


def disjoint_sets(
    embeddings: Vectors | int,
    *,
    size: int = 2,
    temperature: float = -10_000.0,
    rng: Generator,
    sets: int | None = None,
) -> Indices:
    """Candidate sets that share no member: as many as the pool gives, or `sets` of them.

    For releases that exist already, one for each text: a release used in two trials would make
    them dependent and the exact interval wrong. Drawn in rounds: each round proposes sets among
    the texts still free and keeps, in order, those that do not touch an earlier one.

    >>> from voile.core.randomness import seeded_rng
    >>> sorted(disjoint_sets(6, temperature=0.0, rng=seeded_rng(3)).ravel().tolist())
    [0, 1, 2, 3, 4, 5]
    """
    count = embeddings if isinstance(embeddings, int) else len(embeddings)
    most = count // size
    wanted = most if sets is None else sets
    _check(count, sets=max(1, wanted), size=size, temperature=temperature)
    require(wanted <= most, "trials", f"at most {most} for {count} texts in sets of {size}", wanted)
    if isinstance(embeddings, int) or temperature == 0:
        require(temperature == 0, "temperature", "0 without embeddings", temperature)
        return rng.permutation(count)[: wanted * size].reshape(wanted, size)
    vectors, free = unit_rows(embeddings), np.ones(count, dtype=bool)
    kept: list[Indices] = []
    ask = 1
    while len(kept) < wanted:
        seeds = np.flatnonzero(free)
        proposed = rng.permutation(seeds)[: min(ask, wanted - len(kept)), None]
        for _ in range(1, size):
            more = _next_members(vectors, proposed, temperature, rng, barred=~free)
            proposed = np.column_stack([proposed, more])
        fresh = [row for row in proposed if free[row].all() and _take(free, row)]
        kept += fresh
        # far-apart sets all want the same outliers: ask for as many as still rarely collide
        ask = 2 * ask if len(fresh) == len(proposed) else max(1, ask // 2)
    return np.array(kept, dtype=np.intp).reshape(-1, size)


def _take(free: NDArray[np.bool_], row: Indices) -> bool:
    free[row] = False
    return True


def unit_rows(vectors: Vectors) -> Floats:
    """Rows scaled to length 1; a zero row, such as an empty text's, stays zero."""
    table = np.asarray(vectors, dtype=np.float64)
    require(table.ndim == 2 and table.size > 0, "embeddings", "a table", f"shape {table.shape}")
    require(bool(np.isfinite(table).all()), "embeddings", "finite", "NaN or infinity")
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)


def _check(count: int, *, sets: int, size: int, temperature: float) -> None:
    require(sets >= 1, "trials", ">= 1", sets)
    require(size >= 2, "candidates", ">= 2", size)
    if size > count:
        raise InvalidInput(
            f"candidates must be at most the {count} different texts of the pool, got {size}; "
            "give more texts or ask for fewer candidates"
        )
    require(bool(np.isfinite(temperature)), "temperature", "finite", temperature)


def _uniform_others(prefix: Indices, count: int, rng: Generator) -> Indices:
    """Uniform over what the prefix has not: the r-th free position, counted past its members."""
    drawn: Indices = rng.integers(count - prefix.shape[1], size=len(prefix)).astype(np.intp)
    for member in np.sort(prefix, axis=1).T:
        drawn += drawn >= member
    return drawn


def _next_members(
    vectors: Floats,
    prefix: Indices,
    temperature: float,
    rng: Generator,
    *,
    barred: NDArray[np.bool_] | None = None,
) -> Indices:
    """One more member for each prefix, by inversion of the running sum of its weights."""
    distinct, inverse = np.unique(np.sort(prefix, axis=1), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(distinct) + 1))
    uniforms = rng.random(len(prefix))
    answer = np.empty(len(prefix), dtype=np.intp)
    rows = max(1, BLOCK // len(vectors))
    for begin in range(0, len(distinct), rows):
        block = distinct[begin : begin + rows]
        scores = vectors[block].sum(axis=1) @ vectors.T
        scores *= temperature
        np.put_along_axis(scores, block, -np.inf, axis=1)
        if barred is not None:
            scores[:, barred] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        sums = np.exp(scores, out=scores).cumsum(axis=1)
        for row, running in enumerate(sums, start=begin):
            here = order[starts[row] : starts[row + 1]]
            targets = uniforms[here] * running[-1]
            # side="right" steps over members of weight 0, whose running sum does not rise
            answer[here] = np.minimum(
                np.searchsorted(running, targets, side="right"), _last_positive(running)
            )
    return answer


def _last_positive(running: Floats) -> int:
    """The last entry that adds weight: rounding must not carry a draw past it."""
    return int(np.searchsorted(running, running[-1], side="left"))
