"""What held-out secrets bear out of an attacker's claims: never more than is true."""

import math

import numpy as np
import pytest

from voile.attackers.attack import HIDDEN, Observed
from voile.attackers.corpus import Corpus
from voile.attackers.learning import learned_from
from voile.audit import borne_out as module
from voile.audit.borne_out import borne_out
from voile.audit.documents import measured, others_releases
from voile.audit.finding import Verdict
from voile.leakage.bounds import betting_lower


class Believer:
    """Beliefs that are given: a row for each release, and one for a place that it cannot see."""

    def __init__(self, after, prior):
        self.tables = np.log(np.vstack([after, prior]))

    def log_posteriors(self, sequences, sensitive=None):
        hidden = len(self.tables) - 1
        return [self.tables[np.where(s == HIDDEN, hidden, s)] for s in sequences]


def one(secret, release):
    return Observed(np.array([release]), np.array([secret]), np.array([0]))


def weighed(attack, pairs, distances, epsilon):
    """W and what is claimed, of documents of one word."""
    items = [one(*pair) for pair in pairs]
    return borne_out(
        attack, items, items, distances, epsilons=[epsilon],
        counted=[np.array([0])] * len(items), groups=np.arange(len(items)),
    )  # fmt: skip


def line(size, rng):
    places = np.sort(rng.uniform(0, 3, size))
    return np.abs(places[:, None] - places)


def simplex(rng, *shape, sharpness=1.0):
    drawn = rng.dirichlet(np.full(shape[-1], sharpness), size=shape[:-1])
    mixed = 0.98 * drawn + 0.02 / shape[-1]
    return mixed / mixed.sum(axis=-1, keepdims=True)


def expected(world, believed, prior, distances, epsilon):
    """E[W] and the true share of violations, by enumeration of all secrets and releases."""
    size, releases = world.shape
    pairs = [(x, o) for x in range(size) for o in range(releases)]
    found = weighed(Believer(believed, prior), pairs, distances, epsilon)
    weights = np.array([world[pair] for pair in pairs])
    truth = np.log(world) - np.log(prior)[:, None]
    apart = np.abs(truth[:, None, :] - truth[None, :, :]) > epsilon * distances[:, :, None]
    apart &= distances[:, :, None] > 0
    share = np.einsum("io,j,ijo->", world, prior, apart)
    return float(weights @ found.shown[:, 0]), float(share), float(weights @ found.claimed[:, 0])


@pytest.mark.parametrize("seed", range(120))
def test_no_belief_bears_out_more_than_is_true(seed):
    """Whatever the attacker believes, of releases and beforehand: all secrets are enumerated."""
    rng = np.random.default_rng(seed)
    size, releases = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    world = simplex(rng, size * releases, sharpness=rng.choice([0.3, 1, 5])).reshape(size, -1)
    distances, epsilon = line(size, rng), float(rng.choice([0.05, 0.3, 1.0, 2.0]))
    prior = world.sum(axis=1) if rng.random() < 0.5 else simplex(rng, size)
    believed = simplex(rng, releases, size, sharpness=rng.choice([0.3, 1]))
    if rng.random() < 0.5:  # the truth, or nearly
        believed = (world / world.sum(axis=0)).T ** rng.uniform(0.5, 2)
        believed /= believed.sum(axis=1, keepdims=True)
    shown, share, claimed = expected(world, believed, prior, distances, epsilon)
    assert shown <= share + 1e-12
    assert shown <= claimed + 1e-12


def test_an_attacker_that_is_right_shows_most_of_what_is_there():
    """Ten words, one kept nine times in ten: what the truth is, and what is borne out of it."""
    law = np.full((10, 10), 0.1 / 9) + np.diag(np.full(10, 0.9 - 0.1 / 9))
    prior, distances = np.full(10, 0.1), 1 - np.eye(10)
    shown, share, claimed = expected(law / 10, law.T, prior, distances, 0.3)
    assert share == pytest.approx(0.9 * 0.9 + 0.1 * 0.1)
    assert claimed == pytest.approx(share)
    # i is claimed against all j where it was released, and right in 0.9; wrong where j was it
    assert shown == pytest.approx(0.9 * 0.9 - 0.1 * 0.1 * math.exp(0.3))


def test_claims_stay_within_their_stake():
    """However much a wrong claim would cost: W is a number between −1 and 1."""
    prior = np.array([0.98, 0.01, 0.01])
    believed = np.array([[0.001, 0.499, 0.5], [0.98, 0.01, 0.01]])
    pairs = [(x, o) for x in range(3) for o in range(2)]
    found = weighed(Believer(believed, prior), pairs, 5 * (1 - np.eye(3)), 1.0)
    assert (np.abs(found.shown) <= 1).all()
    assert found.shown[0, 0] == -1  # the likely word, where both others were claimed against it


def test_shares_are_at_most_one_however_a_prior_is_rounded():
    """All words but an impossible one are claimed against: their sum may be one and a bit."""
    for seed in range(40):
        prior = np.random.default_rng(seed).dirichlet(np.ones(30))
        prior[0] = 1e-300
        believed = np.full((1, 30), 1e-12)
        believed[0, 0] = 1.0
        attack = Believer(believed, prior / prior.sum())
        found = weighed(attack, [(0, 0)], 1 - np.eye(30), 0.1)
        assert found.shown[0, 0] <= 1
        assert found.claimed[0, 0] <= 1


def test_many_claims_against_one_word_share_its_stake():
    """A release that halves the odds of one word, of 50, is no violation however it is claimed."""
    size = 50
    seen = np.where(np.arange(size) == 0, 0.25, 0.5)
    world = np.stack([seen, 1 - seen], axis=1) / size
    prior = np.full(size, 1 / size)
    believed = np.where(np.arange(size) == 0, 1e-6, 1.0)
    believed = np.stack([believed / believed.sum(), prior])
    distances = np.where(np.eye(size) > 0, 0.0, 2.0)
    shown, share, claimed = expected(world, believed, prior, distances, 1.0)
    assert share == 0
    assert claimed > 0.01
    assert shown < 0


def test_a_table_in_part_claims_less_and_loses_no_more(monkeypatch):
    """Where not all pairs are looked at, the likeliest words are."""
    rng = np.random.default_rng(3)
    world, distances = simplex(rng, 24).reshape(6, 4), line(6, rng)
    believed = (world / world.sum(axis=0)).T
    whole = expected(world, believed, world.sum(axis=1), distances, 0.3)
    monkeypatch.setattr(module, "ENTRIES", 12)
    part = expected(world, believed, world.sum(axis=1), distances, 0.3)
    assert part[0] <= whole[1]
    assert part[1:] == whole[1:]


WORDS, KEPT, EPSILON = 60, 0.1, 0.05


def response(count, rng):
    """One word in ten is kept, the others are drawn evenly."""
    secrets = rng.integers(WORDS, size=count)
    kept = rng.random(count) < KEPT
    releases = np.where(kept, secrets, rng.integers(WORDS, size=count))
    return list(map(one, secrets, releases))


def smeared():
    """It knows the law, and takes words near the released one for likelier too."""
    law = np.full((WORDS, WORDS), (1 - KEPT) / WORDS) + np.diag(np.full(WORDS, KEPT))
    near = np.abs(np.arange(WORDS)[:, None] - np.arange(WORDS))
    believed = law * np.exp(0.5 * np.exp(-near / 10.0))
    return Believer(believed / believed.sum(axis=1, keepdims=True), np.full(WORDS, 1 / WORDS))


class Words:
    """As much of an embedding as distances need."""

    class metric:
        @staticmethod
        def pairwise(one, other):
            return np.abs(one[:, None] - other[None, :]) / 10.0


def texts(items):
    places = np.arange(WORDS)
    return Corpus(Words, tuple(items), places, places, places, 0, 0)


def test_what_is_claimed_about_near_words_is_no_violation():
    """Odds truly move in 12.8 % of cases; it claims five times as many, and did learn."""
    rng = np.random.default_rng(0)
    items, elsewhere = response(3000, rng), response(3000, rng)
    attack = smeared()
    learned = learned_from(attack, items)
    assert learned.shown(0.001)
    kept = KEPT + (1 - KEPT) / WORDS
    share = kept * (WORDS - 1) / WORDS + (1 - kept) / WORDS
    given = {"epsilons": [EPSILON], "learned": learned, "elsewhere": elsewhere}
    audit = measured(attack, items, texts(items), delta=0.2, **given)
    assert share == pytest.approx(0.1278, abs=1e-4)
    assert audit.shares[0] > 0.6
    assert audit.findings[0].verdict == Verdict.OPEN
    assert 0.03 < audit.findings[0].lower < share
    audit = measured(attack, items, texts(items), delta=0.03, **given)
    assert audit.findings[0].verdict == Verdict.VIOLATED
    taken = measured(attack, items, texts(items), epsilons=[EPSILON], delta=0.2)
    assert taken.findings[0].verdict == Verdict.VIOLATED  # its odds, taken for the truth


def test_a_wrong_prior_is_no_leakage():
    """Words are not as frequent as it believed; releases tell nothing, and it knows the words."""
    rng = np.random.default_rng(1)
    frequent = np.array([0.6, 0.2, 0.1, 0.1])
    truth, even = np.tile(frequent, (4, 1)), np.full(4, 0.25)
    attack = Believer(truth, even)
    secrets, releases = rng.choice(4, size=2000, p=frequent), rng.integers(4, size=2000)
    items = list(map(one, secrets, releases))
    dealt = others_releases(items, items[:50], seed=0)
    found = borne_out(
        attack, items, dealt, 1 - np.eye(4), epsilons=[0.3],
        counted=[np.array([0])] * len(items), groups=np.arange(len(items)),
    )  # fmt: skip
    assert found.shown.mean() > 0.2  # the error of its prior
    assert found.lower(0, failure_probability=0.01) == 0
    assert found.out[0] < 0.05


def test_releases_of_others_are_theirs_and_leave_what_is_in_clear():
    item = Observed(np.array([7, 1, 7]), np.array([7, 1, 7]), np.array([1]))
    others = [Observed(np.array([5, 2]), np.array([0, 0]), np.array([1])), one(0, 3)]
    drawn = {tuple(others_releases([item], others, seed=n)[0].releases) for n in range(40)}
    assert drawn == {(7, 2, 7), (7, 3, 7)}


@pytest.mark.parametrize("count", [5, 60, 400])
@pytest.mark.parametrize("mean", [0.02, 0.3, 0.5, 0.9])
def test_a_bet_is_lost_as_seldom_as_is_said(count, mean):
    """The probability that the bound lies above the mean, exact: the bound hangs on the count."""
    from scipy.stats import binom

    ends = [
        betting_lower(np.arange(count) < k, low=0.0, high=1.0, failure_probability=0.05)
        for k in range(count + 1)
    ]
    assert ends == sorted(ends)
    wrong = sum(binom.pmf(k, count, mean) for k, end in enumerate(ends) if end > mean)
    assert wrong <= 0.05


def test_a_bet_gains_where_the_range_is_hardly_used():
    """Values of a wide range that lie close together: far above what the range alone gives."""
    values = np.tile([0.0, 0.25], 200)
    found = betting_lower(values, low=-1.0, high=1.0, failure_probability=0.01)
    by_range = values.mean() - 2 * math.sqrt(math.log(1 / 0.01) / (2 * len(values)))
    assert by_range < 0 < 0.09 < found < values.mean()


def test_a_bet_on_impossible_values_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        betting_lower(np.array([0.5, 1.5]), low=0, high=1, failure_probability=0.05)
