"""The posterior audit over documents: how they are split, dealt anew, and which words count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.corpus import Corpus
from voile.attackers.learning import Learned
from voile.attackers.reliability import Reliability
from voile.audit.borne_out import ENTRIES, borne_out
from voile.audit.posterior import PosteriorAudit, posterior, verdicts
from voile.core.arrays import Indices
from voile.core.randomness import seeded_rng
from voile.errors import require

Item = TypeVar("Item")
MOST_TRIPLES = 10_000_000_000
"""Of one audit; about a minute on two cores."""
MOST_CLAIMS = 2_000_000_000
"""Pairs that claims are weighed for, over all secrets of an audit; about half a minute."""


@dataclass(frozen=True)
class AttackRun:
    """What one attacker found on one split of the documents."""

    attacker: str
    seed: int
    audit: PosteriorAudit
    reliability: Reliability
    control: tuple[float, ...] | None = None
    """Shares that the same kind of attacker claims where releases carry nothing: its own error."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of cases over each epsilon that it claims, a mean over documents."""
        return self.audit.shares


def strongest(runs: Sequence[AttackRun], k: int) -> AttackRun:
    """The run that found most at the k-th epsilon: its interval reaches least far down.

    Where the failure probability was shared among the runs, all intervals hold together and this
    one may be chosen after seeing them. It is violated if any run's is.
    """
    return max(runs, key=lambda run: (run.audit.findings[k].lower, run.shares[k]))


def split(sequences: Sequence[Item], *, seed: int) -> tuple[list[Item], ...]:
    """60/20/20 by owner: train, calibrate, test. The audit splits, not the attacker.

    An attacker that had a copy of a text, or another text of the same person, would be measured on
    what it was told.
    """
    return parted(sequences, lambda count: (int(0.6 * count), int(0.8 * count)), seed=seed)


def parted(
    items: Sequence[Item], cuts: Callable[[int], Sequence[int]], *, seed: int
) -> tuple[list[Item], ...]:
    """All owners in a random order, cut where `cuts` says for so many of them."""
    owners = owners_of(items)
    count = int(owners.max(initial=-1)) + 1
    require(count >= 10, "documents", "at least 10 different ones", count)
    held: list[list[Item]] = [[] for _ in range(count)]
    for item, owner in zip(items, owners.tolist(), strict=True):
        held[owner].append(item)
    parts = np.split(seeded_rng(seed).permutation(count), cuts(count))
    return tuple([item for owner in part for item in held[owner]] for part in parts)


def owners_of(items: Sequence[Any]) -> Indices:
    """Whose each is, numbered in the order in which they first occur.

    >>> owners_of([Observed(*[np.arange(1)] * 3, owner) for owner in (7, None, 7, None)]).tolist()
    [0, 1, 0, 2]
    """
    numbers: dict[tuple[str, int], int] = {}
    told = [getattr(item, "owner", None) for item in items]
    keys = [("nobody", n) if owner is None else ("owner", owner) for n, owner in enumerate(told)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def shuffled(sequences: Sequence[Observed], *, seed: int) -> tuple[Observed, ...]:
    """The same sequences with the releases of all sensitive words dealt out anew.

    Each release then says nothing about the secret it stands at, nor about any other.
    """
    drawn = np.concatenate([item.releases[item.sensitive] for item in sequences])
    dealt = seeded_rng(seed).permutation(drawn)
    start, answer = 0, []
    for item in sequences:
        releases = item.releases.copy()
        releases[item.sensitive] = dealt[start : start + len(item.sensitive)]
        start += len(item.sensitive)
        answer.append(replace(item, releases=releases))
    return tuple(answer)


def others_releases(
    sequences: Sequence[Observed], elsewhere: Sequence[Observed], *, seed: int
) -> list[Observed]:
    """The same sequences with releases of secrets elsewhere, each drawn at random.

    They say nothing about the secrets here. Sequences that were independent of each other, given
    those elsewhere, still are.
    """
    pool = np.concatenate([item.releases[item.sensitive] for item in elsewhere])
    rng, answer = seeded_rng(seed), []
    for item in sequences:
        releases = item.releases.copy()
        releases[item.sensitive] = pool[rng.integers(len(pool), size=len(item.sensitive))]
        answer.append(replace(item, releases=releases))
    return answer


def measured(
    attack: SequenceAttack,
    items: Sequence[Observed],
    texts: Corpus,
    *,
    epsilons: Sequence[float],
    delta: float,
    failure_probability: float = 0.01,
    every_word: bool = False,
    learned: Learned | None = None,
    elsewhere: Sequence[Observed] = (),
    seed: int = 0,
) -> PosteriorAudit:
    """The posterior audit over test documents.

    An attacker that was trained comes with what it `learned`: what it claims is then held against
    the truth, case by case (`borne_out`), beside the same with the releases of `elsewhere`, which
    are the documents that it was trained on.

    Where that would be more than `MOST_TRIPLES`, fewer words of each document are measured, drawn
    at random: the share over them is a number in [0, 1] whose mean is the document's share, which
    is all that the bound over documents needs. Fewer documents would widen it. With `every_word`
    there are fewer documents instead: whether a document holds any violation is told by all of
    its words alone.
    """
    used = [item for item in items if len(item.sensitive)]
    pairs = len(texts.candidates) * (len(texts.candidates) - 1) // 2
    most = max(1, MOST_TRIPLES // pairs)
    if every_word:
        words = np.cumsum([len(item.sensitive) for item in used])
        used = used[: max(1, int(np.searchsorted(words, most, side="right")))]
    used = used[:most]
    owners = owners_of(used)
    audit = posterior(
        attack,
        [item.releases for item in used],
        texts.distances(),
        epsilons=epsilons,
        delta=delta,
        failure_probability=failure_probability,
        sensitive=[item.sensitive for item in used],
        counted=None if every_word else thinned([item.sensitive for item in used], most=most),
        owners=owners,
    )
    if learned is None:
        return audit
    each = 2 * len(audit.leakage.epsilons) * min(len(texts.candidates) ** 2, ENTRIES)
    borne = borne_out(
        attack,
        used,
        others_releases(used, elsewhere, seed=seed),
        texts.distances(),
        epsilons=audit.leakage.epsilons,
        counted=thinned([item.sensitive for item in used], most=max(1, MOST_CLAIMS // each)),
        groups=owners,
    )
    return verdicts(
        audit.leakage,
        delta=delta,
        failure_probability=failure_probability,
        learned=learned,
        borne=borne,
    )


def thinned(positions: Sequence[Indices], *, most: int) -> list[Indices]:
    """At most so many positions in all, drawn at random, equally many from each document.

    A document with fewer keeps all of them; one is kept of each.

    >>> [len(kept) for kept in thinned([np.arange(2), np.arange(9), np.arange(5)], most=8)]
    [2, 3, 3]
    """
    sizes = np.array([len(listed) for listed in positions])
    if sizes.sum() <= most:
        return list(positions)
    each = 1
    while np.minimum(sizes, each + 1).sum() <= most:
        each += 1
    rng = np.random.default_rng(0)  # chooses what is measured, and hides nothing
    return [np.sort(rng.permutation(listed)[:each]) for listed in positions]
