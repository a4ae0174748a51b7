"""Documents that belong together: in one part of a split, and one group of an interval."""

import numpy as np
import pytest

import voile
from voile.attackers.attack import Observed
from voile.attackers.learning import learned_from
from voile.audit.documents import owners_of, shuffled, split
from voile.audit.posterior import posterior
from voile.errors import InvalidInput
from voile.leakage.bounds import chernoff_interval


def document(number, owner=None, *, words=3):
    return Observed(np.arange(words) % 2, np.full(words, number), np.arange(words), owner)


def test_nobody_is_in_two_parts():
    items = [document(n, owner=n % 23) for n in range(115)]
    parts = split(items, seed=3)
    owned = [{item.owner for item in part} for part in parts]
    assert [len(each) for each in owned] == [13, 5, 5]
    assert len(set.union(*owned)) == 23, "no owner is in two parts"
    assert sorted(item.secrets[0] for part in parts for item in part) == list(range(115))
    with pytest.raises(InvalidInput, match="at least 10 different ones, got 9"):
        split([document(n, owner=n % 9) for n in range(90)], seed=3)


def test_documents_of_their_own_are_split_as_ever():
    items = [document(n) for n in range(50)]
    order = voile.seeded_rng(7).permutation(50)
    told = [[item.secrets[0] for item in part] for part in split(items, seed=7)]
    assert told == [part.tolist() for part in np.split(order, [30, 40])]


def test_owners_stay_with_documents_that_are_dealt_anew():
    items = [document(n, owner=n // 2) for n in range(20)]
    assert [item.owner for item in shuffled(items, seed=1)] == [item.owner for item in items]


class Believing:
    """It moves the odds at every release of 1, and at no other."""

    def log_posteriors(self, sequences, sensitive=None):
        tables = []
        for sequence in sequences:
            moved = np.where(sequence == 1, 2.0, 0.0)
            scores = np.column_stack([moved, np.zeros(len(sequence))])
            tables.append(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))
        return tables


def test_copies_are_one_group():
    """Forty copies of one text in which all leaks, and ten others in which nothing does."""
    leaks, quiet = np.ones(4, dtype=int), np.zeros(4, dtype=int)
    items = [Observed(leaks, leaks, np.arange(4), 0) for _ in range(40)]
    items += [Observed(quiet, quiet, np.arange(4)) for _ in range(10)]
    asked = {"epsilons": [1.0], "delta": 0.5}
    sequences, apart = [item.releases for item in items], 1 - np.eye(2)
    alone = posterior(Believing(), sequences, apart, **asked)
    assert alone.findings[0].verdict == "violated"
    assert alone.shares == (0.8,)
    owned = posterior(Believing(), sequences, apart, owners=owners_of(items), **asked)
    assert owned.groups == 11
    assert owned.shares == pytest.approx((1 / 11,))
    low, high = chernoff_interval(mean=1 / 11, clusters=11, failure_probability=0.01)
    assert (owned.findings[0].lower, owned.findings[0].upper) == pytest.approx((low, high))
    assert owned.findings[0].verdict == "open"
    assert owned.leakage.triples == alone.leakage.triples
    assert learned_from(Believing(), items).documents == 11
