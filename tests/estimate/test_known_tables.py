"""Public counts beside reports: closed forms at both ends, the largest likelihood between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.errors import InvalidInput
from voile.estimate.known_tables import (
    OF_CLASSES,
    OF_VALUES,
    public_table,
    table_beside,
)

pytest.importorskip("sklearn")

from voile.estimate import MarginalBayes, ReportLaw

rr = voile.mechanisms.randomised_response
KNOWN = np.array([[40.0, 2.0], [30.0, 9.0], [5.0, 24.0]])


def test_reports_in_clear_are_counted_with_the_public_records():
    seen = np.array([[300, 10], [50, 60], [7, 173]])
    found = table_beside(np.eye(6), KNOWN, seen.ravel())
    given_class = (seen + KNOWN) / (seen.sum(axis=0) + KNOWN.sum(axis=0))
    of_class = OF_CLASSES * KNOWN.sum(axis=0) / KNOWN.sum()
    shares = (seen.sum(axis=0) + of_class) / (seen.sum() + OF_CLASSES)
    assert found == pytest.approx(given_class * shares, abs=1e-12)


def test_many_reports_in_clear_outweigh_any_recipe():
    seen = np.array([[300, 10], [50, 60], [7, 173]]) * 10**9
    found = table_beside(np.eye(6), KNOWN[::-1], seen.ravel())
    assert found == pytest.approx(seen / seen.sum(), abs=1e-6)


def test_reports_that_tell_nothing_leave_what_was_known():
    found = table_beside(np.full((6, 4), 0.25), KNOWN, np.array([100, 200, 5, 7]))
    assert found == pytest.approx(KNOWN / KNOWN.sum(), abs=1e-7)
    none = table_beside(np.eye(6), KNOWN, np.zeros(6, dtype=int))
    assert none == pytest.approx(KNOWN / KNOWN.sum(), abs=1e-12)


worlds = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 3), st.floats(0.05, 3)
)


@settings(max_examples=40, deadline=None)
@given(worlds)
def test_no_other_table_makes_reports_and_public_records_likelier(drawn):
    """Given its classes' shares no other P(x|y), and given its P(x|y) no other shares."""
    seed, codes, classes, epsilon = drawn
    rng = np.random.default_rng(seed)
    law = rr(list(range(codes * classes)), epsilon=epsilon).probabilities()
    public = rng.gamma(1.0, 20.0, size=(codes, classes)) + 0.5
    seen = rng.multinomial(500, rng.dirichlet(np.ones(codes * classes)) @ law)

    of_class = public.sum(axis=0) / public.sum() * min(OF_CLASSES, public.sum())

    def likelihood(given_class, share):
        told = seen @ np.log((given_class * share).ravel() @ law)
        return told + (public * np.log(given_class)).sum() + of_class @ np.log(share)

    found = table_beside(law, public, seen, steps=100_000)
    share = found.sum(axis=0)
    given_class = found / share
    best = likelihood(given_class, share)
    assert best >= likelihood(public / public.sum(axis=0), of_class / of_class.sum()) - 1e-9
    for _ in range(20):
        near = rng.random() ** 4
        other = (1 - near) * given_class + near * rng.dirichlet(np.ones(codes), size=classes).T
        assert likelihood(other, share) <= best + 1e-3
        shares = (1 - near) * share + near * rng.dirichlet(np.ones(classes))
        assert likelihood(given_class, shares) <= best + 1e-3


def test_a_value_that_few_records_have_is_shrunk_to_what_is_said_of_all():
    """One of one is less than forty of fifty; where all have many, nothing changes."""
    few = public_table(np.array([[90.0, 10.0], [10.0, 40.0], [0.0, 1.0]]))
    odds = few[:, 1] / few[:, 0]
    assert odds[0] < odds[2] < odds[1]
    assert few.sum(axis=1) == pytest.approx(np.array([100, 50, 1]) + OF_VALUES)
    many = 1e9 * KNOWN
    assert public_table(many) == pytest.approx(many)
    assert public_table(np.zeros((3, 2))) == pytest.approx(np.full((3, 2), OF_VALUES / 2))


def weak_reports(known, *, epsilon, count=2_000):
    """Noisy reports of three values with two classes, P(x|y) as in KNOWN."""
    rng = np.random.default_rng(4)
    law = rr(list(range(6)), epsilon=epsilon)
    truth = rng.choice(6, size=count, p=(KNOWN / KNOWN.sum()).ravel())
    drawn = law.draw(truth, voile.seeded_rng(5))
    model = MarginalBayes([ReportLaw(law.probabilities(), 2, known)])
    return model.fit(np.stack([np.zeros(count, dtype=int), drawn], axis=1))


def test_a_learner_of_weak_reports_falls_back_on_what_is_known():
    codes = np.arange(3)[:, None]
    found = weak_reports(KNOWN, epsilon=1e-3)
    before = found.without_reports()
    assert found.predict_proba(codes) == pytest.approx(before.predict_proba(codes), abs=1e-3)
    # The planted liar: a learner who knows the law and forgets the recipe has nothing to rank by.
    forgetful = weak_reports(None, epsilon=1e-3).predict_proba(codes)
    assert float(np.ptp(forgetful[:, 1])) < 0.5 * float(np.ptp(found.predict_proba(codes)[:, 1]))
    assert weak_reports(None, epsilon=1.0).without_reports() is None


def test_a_wrong_recipe_gives_way_to_many_clear_reports():
    codes = np.arange(3)[:, None]
    found = weak_reports(KNOWN[::-1], epsilon=12.0, count=50_000)
    beliefs = found.predict_proba(codes)[:, 1]
    assert beliefs[0] < beliefs[1] < beliefs[2]
    wrong = found.without_reports().predict_proba(codes)[:, 1]
    assert wrong[0] > wrong[1] > wrong[2]


def test_bad_counts_are_refused():
    for known in (KNOWN[:2], -KNOWN, np.full((3, 2), np.nan), KNOWN.T):
        with pytest.raises(InvalidInput, match="known"):
            weak_reports(known, epsilon=1.0)
    table = rr(list(range(6)), epsilon=1.0).probabilities()
    laws = [ReportLaw(table, 2, KNOWN), ReportLaw(table, 2)]
    with pytest.raises(InvalidInput, match="all laws or none"):
        MarginalBayes(laws).fit(np.array([[0, 1], [1, 2]]))
