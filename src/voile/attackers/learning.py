"""Whether an attacker learned anything from releases, told by secrets it never saw.

Beliefs that move when releases are read may move for no reason: a network that was trained on few
documents has opinions about noise. Whether they are about the secrets is told by the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from voile.attackers.attack import Observed, SequenceAttack
from voile.core.arrays import Floats, Indices
from voile.errors import require

BLOCK = 2
"""Documents whose releases are dealt out anew among themselves."""
_BATCH = 32


@dataclass(frozen=True)
class Learned:
    """What the right releases brought over dealt ones, in nats a secret, and how sure that is.

    `p_value` bounds the probability of so large a gain if releases told nothing about secrets.
    """

    gain: float
    p_value: float
    blocks: int
    documents: int

    def shown(self, failure_probability: float) -> bool:
        """Whether the gain is above zero, wrongly so with at most this probability."""
        return self.p_value <= failure_probability

    def documents_to_show(self, failure_probability: float) -> int | None:
        """How many held-out documents would show a gain like this one; None if there is none.

        The bound is exponential in their number: ln p falls in proportion to it.
        """
        if self.p_value >= 1.0:
            return None
        return math.ceil(self.documents * math.log(failure_probability) / math.log(self.p_value))

    def __str__(self) -> str:
        return (
            f"gains {self.gain:.3g} nats a secret from the right releases over shuffled ones, on "
            f"{self.documents:,} held-out documents (p ≤ {self.p_value:.2g})"
        )


def learned_from(attack: SequenceAttack, items: Sequence[Observed], *, seed: int = 0) -> Learned:
    """Compare beliefs in the true secrets after the right releases and after dealt ones.

    Held-out documents are taken in blocks, and the releases at the sensitive positions of a block
    are dealt out anew among these. If releases told nothing about secrets, both arrangements would
    be equally likely, so each block's gain D (the sum of ln p(truth) after the right releases,
    minus that after dealt ones) would be as likely −D. Hoeffding's bound for sums with random
    signs then holds whatever the attacker believes: P(ΣD ≥ t) ≤ exp(−t²/2ΣD²). About twenty
    documents are the fewest that can show anything. Copies count once. Cost: two readings of the
    documents.
    """
    used = _different(items)
    rng = np.random.default_rng(seed)  # chooses a comparison, and hides nothing
    starts = range(0, len(used), BLOCK)
    dealt = [item for start in starts for item in _dealt(used[start : start + BLOCK], rng)]
    difference = _truth(attack, used) - _truth(attack, dealt)
    gains = np.array([difference[start : start + BLOCK].sum() for start in starts])
    total, square = float(gains.sum()), float((gains**2).sum())
    p_value = math.exp(-(total**2) / (2 * square)) if total > 0 else 1.0
    secrets = sum(len(item.sensitive) for item in used)
    return Learned(total / secrets, p_value, len(gains), len(used))


def learned_beside(
    attack: SequenceAttack, other: SequenceAttack, items: Sequence[Observed]
) -> Learned:
    """What an attacker believes more in the truth than another does, in nats a secret.

    If the other's beliefs p were right, q(truth)/p(truth) would be 1 on average, whatever q is, and
    so would its mean over the secrets of a document. The product of these means over documents is
    then at least 1/α with probability at most α (Markov). Cost: a reading by each.
    """
    used = _different(items)
    pairs = zip(_truths(attack, used), _truths(other, used), strict=True)
    gains = [own - others for own, others in pairs]
    grown = sum(float(logsumexp(gain)) - math.log(len(gain)) for gain in gains)
    nats = float(np.concatenate(gains).mean())
    return Learned(nats, min(1.0, math.exp(-grown)), len(used), len(used))


def _different(items: Sequence[Observed]) -> list[Observed]:
    """Documents with secrets, one of all copies: what was released for these may be copies too."""
    found: dict[object, Observed] = {}
    for number, item in enumerate(items):
        if len(item.sensitive):
            alone = item.owner is None
            found.setdefault(number if alone else (item.owner, item.secrets.tobytes()), item)
    require(len(found) > 0, "documents", "at least one with a sensitive word", "none")
    return list(found.values())


def _dealt(block: Sequence[Observed], rng: np.random.Generator) -> list[Observed]:
    cards = rng.permutation(np.concatenate([item.releases[item.sensitive] for item in block]))
    hands: list[Indices] = np.split(cards, np.cumsum([len(item.sensitive) for item in block])[:-1])
    answer = []
    for item, hand in zip(block, hands, strict=True):
        releases = item.releases.copy()
        releases[item.sensitive] = hand
        answer.append(replace(item, releases=releases))
    return answer


def _truth(attack: SequenceAttack, items: Sequence[Observed]) -> Floats:
    """The sum of ln p(truth) over the secrets of each document."""
    return np.array([beliefs.sum() for beliefs in _truths(attack, items)])


def _truths(attack: SequenceAttack, items: Sequence[Observed]) -> Iterator[Floats]:
    """Logarithms of p(truth), of the secrets of each document."""
    for start in range(0, len(items), _BATCH):
        part = items[start : start + _BATCH]
        tables = attack.log_posteriors(
            [item.releases for item in part], [item.sensitive for item in part]
        )
        for item, table in zip(part, tables, strict=True):
            yield table[item.sensitive, item.secrets[item.sensitive]]
