"""Forward–backward on a Markov-chain prior: the exact joint posterior at useful sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from voile.attackers.attack import HIDDEN
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require


@dataclass(frozen=True, eq=False)
class MarkovPrior:
    """A chain over candidates: T = (1 − λ_x)·S + λ_x·start, S sparse, the rest of rank one.

    Smoothing towards the overall frequencies keeps every step possible, and being of rank one it
    costs nothing: a step is a sparse product and an inner product.
    """

    start: Floats
    seen: sparse.csr_array
    smoothing: Floats

    def __len__(self) -> int:
        return len(self.start)

    def alone(self) -> MarkovPrior:
        """The same frequencies, and no step that says anything of the next."""
        return replace(self, smoothing=np.ones(len(self)))

    def forward(self, beliefs: Floats) -> Floats:
        """Beliefs one step later: rows of `beliefs` times T."""
        followed = (beliefs * (1 - self.smoothing)) @ self.seen
        return np.asarray(followed) + (beliefs @ self.smoothing)[:, None] * self.start

    def backward(self, values: Floats) -> Floats:
        """T times each row of `values`."""
        followed = np.asarray((self.seen @ values.T).T)
        mixed = (values @ self.start)[:, None] * self.smoothing
        return (1 - self.smoothing) * followed + mixed

    def dense(self) -> Floats:
        """T as a table."""
        table = self.seen.toarray() * (1 - self.smoothing)[:, None]
        return table + self.smoothing[:, None] * self.start


def fit_markov(
    sequences: Iterable[Sequence[int] | Indices], *, size: int, strength: float | None = None
) -> MarkovPrior:
    """A chain fitted to *public* sequences of candidates.

    Row x mixes what followed x with the overall frequencies in the ratio count(x) : strength
    (a Dirichlet prior on the row); the frequencies themselves have one count added everywhere.
    Unless the strength is given it is the one of `STRENGTHS` under which sequences that were left
    out are likeliest. It decides what the attacker believes of neighbours: a chain that trusts
    few counts too much claims leakage that is not there.

    >>> chain = fit_markov([[0, 1, 0, 1, 0]], size=3)
    >>> chain.dense().sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    require(size >= 2, "size", ">= 2", size)
    require(strength is None or strength > 0, "strength", "> 0", strength)
    read: list[Indices] = [np.asarray(sequence, dtype=np.intp) for sequence in sequences]
    require(len(read) > 0, "sequences", "at least one", "none")
    if any(len(states) and (states.min() < 0 or states.max() >= size) for states in read):
        raise InvalidInput(f"sequences must hold positions below {size}, some are not")
    if strength is None:
        strength = _likeliest(read, size)
    frequency, counts = _counted(read, size)
    totals: Floats = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    scale = sparse.diags_array(1 / np.maximum(totals, 1))
    return MarkovPrior(
        start=frequency / frequency.sum(),
        seen=sparse.csr_array(scale @ counts),
        smoothing=strength / (strength + totals),
    )


STRENGTHS = 2.0 ** np.arange(-4, 21)
"""From hardly any smoothing to next to no chain at all."""
FOLDS = 5
_ALIKE = 1e-6
"""Nats, over all sequences, that are no difference."""


def _likeliest(read: Sequence[Indices], size: int) -> float:
    """The strength under which each fifth of the sequences is likeliest, given the others.

    Equal sequences are in one fifth together. Fewer different ones than that tell nothing: 1. Of
    strengths that are as likely, as all are where no step was seen twice, the largest.
    """
    numbers: dict[bytes, int] = {}
    fold = np.array([numbers.setdefault(states.tobytes(), len(numbers)) for states in read]) % FOLDS
    if len(numbers) < FOLDS:
        return 1.0
    total = np.zeros(len(STRENGTHS))
    for left_out in range(FOLDS):
        rest = [states for states, n in zip(read, fold, strict=True) if n != left_out]
        frequency, counts = _counted(rest, size)
        rows, columns = _steps([s for s, n in zip(read, fold, strict=True) if n == left_out])
        if len(rows):
            seen, of = np.asarray(counts[rows, columns]).ravel(), np.asarray(counts.sum(axis=1))
            likely, start = of.ravel()[rows], (frequency / frequency.sum())[columns]
            for k, strength in enumerate(STRENGTHS):
                total[k] += np.log((seen + strength * start) / (likely + strength)).sum()
    return float(STRENGTHS[total >= total.max() - _ALIKE].max())


def _counted(read: Sequence[Indices], size: int) -> tuple[Floats, sparse.csr_array]:
    """How often each candidate occurs, one added everywhere, and how often one follows another."""
    frequency = np.ones(size)
    np.add.at(frequency, np.concatenate(read), 1.0)
    rows, columns = _steps(read)
    counts = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    return frequency, counts.tocsr()


def _steps(read: Sequence[Indices]) -> tuple[Indices, Indices]:
    """From where to where each step goes."""
    return (
        np.concatenate([states[:-1] for states in read]),
        np.concatenate([states[1:] for states in read]),
    )


@dataclass(frozen=True, eq=False)
class MarkovAttack:
    """See `markov_attack`."""

    law: Floats
    prior: MarkovPrior

    def log_posteriors(
        self, sequences: Sequence[Indices], sensitive: Sequence[Indices] | None = None
    ) -> list[Floats]:
        """The exact marginals of each sequence; all are padded to one length and done at once."""
        lengths = [len(sequence) for sequence in sequences]
        require(min(lengths, default=0) > 0, "sequences", "not empty", "an empty one")
        longest = max(lengths)
        padded = np.full((len(sequences), longest), HIDDEN, dtype=np.intp)
        for row, sequence in enumerate(sequences):
            padded[row, : lengths[row]] = sequence
        size = len(self.prior)
        forward = np.empty((longest, len(sequences), size))
        current = np.broadcast_to(self.prior.start, (len(sequences), size))
        for step in range(longest):
            if step:
                current = self.prior.forward(forward[step - 1])
            forward[step] = _normalised(current * self._likelihood(padded[:, step]))
        beliefs = np.ones((len(sequences), size))
        with np.errstate(divide="ignore"):
            for step in reversed(range(longest)):
                if step < longest - 1:
                    seen = beliefs * self._likelihood(padded[:, step + 1])
                    beliefs = _normalised(self.prior.backward(seen))
                forward[step] = np.log(_normalised(forward[step] * beliefs))
        return [forward[: lengths[row], row] for row in range(len(sequences))]

    def _likelihood(self, releases: Indices) -> Floats:
        """K(y | x) over candidates x, scaled to at most 1; all 1 where nothing was released."""
        table = np.ones((len(releases), len(self.prior)))
        told = releases != HIDDEN
        table[told] = self.law.T[releases[told]]
        return table / table.max(axis=1, keepdims=True)


def markov_attack(log_law: Floats, prior: MarkovPrior) -> MarkovAttack:
    """The attacker who knows the channel and that secrets follow a Markov chain.

    Forward–backward: P(x_l | y_1 … y_L) ∝ α_l(x)·β_l(x), with
    α_l(x) = K(y_l|x)·Σ α_(l−1)(x')·T(x', x) and β_l(x) = Σ T(x, x')·K(y_(l+1)|x')·β_(l+1)(x').
    Exact, in O(L·(nonzeros + candidates)); each
    step is scaled, so that no length underflows.

    >>> import numpy as np
    >>> chain = fit_markov([[0, 1, 0, 1, 0, 1]], size=2)
    >>> attack = markov_attack(np.log([[0.72, 0.28], [0.28, 0.72]]), chain)
    >>> np.exp(attack.log_posteriors([np.array([0, 1, 0])])[0]).round(3)
    array([[0.874, 0.126],
           [0.088, 0.912],
           [0.87 , 0.13 ]])
    """
    law = np.asarray(log_law, dtype=np.float64)
    require(len(law) == len(prior), "the law", f"{len(prior)} secrets tall", len(law))
    return MarkovAttack(np.exp(law), prior)


def _normalised(rows: Floats) -> Floats:
    return rows / rows.sum(axis=1, keepdims=True)
