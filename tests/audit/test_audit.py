import math

import numpy as np
import pytest

import voile
from voile.audit import nearest_pairs, ratio, sampler
from voile.errors import InvalidInput

LINE = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"lower": 1.1, "upper": 1.2}, "violated"),
        ({"lower": 0.8, "upper": 0.9}, "holds"),
        ({"lower": 0.9, "upper": 1.1}, "open"),
        ({"lower": 0.0, "upper": 0.1, "samples": 10**6, "failure_probability": 1e-9}, "open"),
        ({"lower": 0.9}, "open"),
    ],
)
def test_verdicts(arguments, verdict):
    """Sampling can say violated or open, never holds."""
    assert voile.Finding("How much?", claim=1.0, **arguments).verdict == verdict


def test_a_finding_reads_as_a_sentence():
    finding = voile.Finding("Odds:", 1.0, 0.5, samples=1000, failure_probability=0.01, unit="km")
    assert str(finding) == (
        "Odds: at least 0.5 per km, claim 1: open (1,000 samples, failure probability 0.01)"
    )
    computed = voile.Finding("Odds:", 1.0, 0.5, 0.6, detail="Worst: 3 and 4")
    assert str(computed) == (
        "Odds: between 0.5 and 0.6 per unit, claim 1: holds (computed). Worst: 3 and 4"
    )


@pytest.mark.parametrize(
    "arguments",
    [{"lower": 2.0, "upper": 1.0}, {"lower": 0.0, "failure_probability": 1.0},
     {"lower": 0.0, "samples": -1}],
)  # fmt: skip
def test_impossible_findings(arguments):
    with pytest.raises(InvalidInput):
        voile.Finding("How much?", claim=1.0, **arguments)


def test_nearest_pairs_are_the_nearest():
    points = np.random.default_rng(0).random((60, 2))
    metric = voile.metrics.euclidean()
    first, second, distances = nearest_pairs(points, metric, count=25)
    every = metric.pairwise(points, points)[np.triu_indices(60, k=1)]
    assert distances.tolist() == pytest.approx(sorted(every)[:25])
    assert (first < second).all()


def test_near_pairs_show_what_random_pairs_hide():
    """A mechanism that is wrong only between the two closest of 200 points."""
    points = np.append(np.arange(199.0) * 10, 0.01)[:, None]
    space = voile.Space(points, metric=voile.metrics.euclidean())
    honest = voile.mechanisms.exponential(space, epsilon=0.5)
    law = honest.log_probabilities().copy()
    law[199] += 0.02 * np.cos(np.arange(200))  # 2 % more or less: nothing, but at 0.01 apart

    class Liar:
        guarantee = honest.guarantee
        release = honest.release

        def log_prob(self, secrets, releases):
            return law[np.ix_(space.index(secrets), space.index(releases))]

    assert ratio(honest, points, releases=points).verdict == "open"
    assert ratio(Liar(), points, releases=points, pairs=1).verdict == "violated"
    rng = np.random.default_rng(1)
    left, right = rng.integers(200, size=(2, 300))
    apart = np.abs(points[left, 0] - points[right, 0])
    gaps = np.abs(law[left] - law[right]).max(axis=1)
    hidden = gaps[apart > 0] <= 0.5 * apart[apart > 0]
    assert hidden.all()  # 300 random pairs see nothing


def test_an_infinite_ratio_is_seen():
    class Teller:
        guarantee = voile.Guarantee(1.0, LINE.metric, "one place")

        def release(self, secrets, rng):
            return secrets

        def log_prob(self, secrets, releases):
            same = np.asarray(secrets)[:, None, 0] == np.asarray(releases)[None, :, 0]
            return np.where(same, 0.0, -np.inf)

    finding = ratio(Teller(), LINE.items, releases=LINE.items)
    assert finding.verdict == "violated"
    assert math.isinf(finding.lower)


class Blurred:
    """An honest law whose logarithms are off by up to 1e-6, as a coarse integral's would be."""

    def __init__(self, honest, off, **stated):
        self.honest, self.off, self.guarantee = honest, off, honest.guarantee
        self.release = honest.release
        self.__dict__ |= stated

    def log_prob(self, secrets, releases):
        exact = self.honest.log_prob(secrets, releases)
        signs = np.where(np.arange(exact.size).reshape(exact.shape) % 2 == 0, 1, -1)
        return exact + self.off * signs


def test_no_claim_is_refuted_by_what_a_law_may_be_off_by():
    near = voile.Space([[0.0], [1e-7], [1.0]], metric=voile.metrics.euclidean())
    honest = voile.mechanisms.exponential(near, epsilon=1.0)
    coarse = Blurred(honest, 1e-6)
    assert ratio(honest, near.items, releases=near.items).verdict == "open"
    assert ratio(coarse, near.items, releases=near.items).verdict == "violated"
    stated = Blurred(honest, 1e-6, log_prob_error=1e-6)
    assert ratio(stated, near.items, releases=near.items).verdict == "open"
    liar = Blurred(honest, 1e-3, log_prob_error=1e-6)
    assert ratio(liar, near.items, releases=near.items).verdict == "violated"


def test_large_logarithms_are_given_their_rounding():
    """ln K of −1e6 has ten digits after the point in a double, and not sixteen."""
    pair = voile.Space([[0.0], [1e-6]], metric=voile.metrics.euclidean())

    class Far:
        guarantee = voile.Guarantee(1.0, pair.metric, "one place")
        release = None

        def log_prob(self, secrets, releases):
            return np.array([[-1e6], [-1e6 - 1e-4]])

    assert ratio(Far(), pair.items, releases=pair.items[:1]).verdict == "open"


@pytest.mark.parametrize("step", [1.0, 1e-3, 2.0**-20])
def test_an_honest_planar_laplace_is_never_accused(step):
    blur = voile.mechanisms.planar_laplace(epsilon=0.8, step=step)
    rng = np.random.default_rng(3)
    places = np.vstack([rng.normal(size=(12, 2)), rng.normal(size=(12, 2)) * 4 * step])
    places = np.vstack([places, places[:6] + step * rng.normal(size=(6, 2))])
    releases = blur.release(places, voile.seeded_rng(1))
    assert ratio(blur, places, releases=releases).verdict == "open"


@pytest.mark.parametrize("draws", [[0.9], ["1"], [-1], [2], [[0]], [True]])
def test_draws_are_positions(draws):
    with pytest.raises(InvalidInput, match="draws must be"):
        sampler(draws, np.array([0.5, 0.5]))


def test_a_claim_is_a_number():
    with pytest.raises(InvalidInput, match="claim must be a number"):
        voile.Finding("How much?", claim=math.nan, lower=0.0)


def test_ratio_wants_two_secrets():
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    with pytest.raises(InvalidInput, match="at least two"):
        ratio(channel, LINE.items[:1], releases=LINE.items)


def test_sampler_false_alarms_stay_below_their_bound():
    """At a failure probability of 5 %, honest draws are accused in at most 5 % of 400 runs."""
    law = np.array([0.6, 0.3, 0.1])
    rng = np.random.default_rng(3)
    runs = [sampler(rng.choice(3, 2000, p=law), law, failure_probability=0.05) for _ in range(400)]
    assert sum(run.verdict == "violated" for run in runs) <= 20


@pytest.mark.parametrize(
    ("draws", "law"), [([], [1.0]), ([0], [0.5, 0.6]), ([2], [0.5, 0.5]), ([0], [-0.5, 1.5])]
)
def test_sampler_bad_input(draws, law):
    with pytest.raises(InvalidInput):
        sampler(np.array(draws, dtype=int), np.array(law))
