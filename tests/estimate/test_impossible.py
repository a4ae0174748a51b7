"""Releases that a law cannot have given are refused, and those that chance gave are not."""

from typing import Any

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.estimate import likeliest_frequencies, unbiased_frequencies
from voile.estimate.debiasing import unbiased_scores
from voile.estimate.intervals import contradicted

rr = voile.mechanisms.randomised_response
WARNER = rr(["ill", "well"], epsilon=1.0)


def test_shares_that_no_population_has_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"at ε = 1 they cannot: .* give the guarantee file"):
        unbiased_frequencies(WARNER, ["ill"] * 2_000)
    line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    blurred = voile.mechanisms.geometric(line, epsilon=0.3)
    with pytest.raises(InvalidInput, match=r"ε = 0\.3"):
        unbiased_frequencies(blurred, counts=np.array([0, 20_000, 0]))
    found = likeliest_frequencies(WARNER, ["ill"] * 2_000)  # within 0 and 1 whatever was drawn
    assert (found.lower <= found.upper).all()


def test_a_share_of_nought_is_no_contradiction() -> None:
    """A 95 % interval of it lies below 0 now and then; the refusal, once in a million times."""
    law = WARNER.probabilities()[1]  # everybody is well
    trials = np.random.default_rng(1).multinomial(500, law, size=2_000)
    shares = [unbiased_frequencies(WARNER, counts=counts) for counts in trials]
    assert sum(found.upper[0] < 0 for found in shares) > 10


@pytest.mark.parametrize("channel", [WARNER, rr(list("abcde"), epsilon=0.5)])
def test_it_is_seen_once_records_are_enough(channel: Any) -> None:
    scores = unbiased_scores(channel)[0]
    few, many = (np.array([n, *[0] * (len(scores) - 1)]) for n in (3, 3_000))
    assert not contradicted(scores, few)
    assert contradicted(scores, many)


@pytest.mark.parametrize("mechanism", ["rr", "ldp", "sample"])
def test_a_release_that_another_epsilon_drew_is_refused(mechanism: str, tmp_path: Any) -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    ill = rng.random(6_000) < 0.95
    rows = [{"x": "ab"[y], "y": "pq"[y]} for y in ill.astype(int).tolist()]
    made = voile.labels.recipe(
        rows[:1000], label="y", mechanism="ldp" if mechanism == "rr" else mechanism
    )
    asked: dict[str, Any] = {"label": "y", "epsilon": 6.0, "mechanism": mechanism, "recipe": made}
    asked |= {"pass_": ("x",)} if mechanism == "rr" else {}
    done = voile.labels.protect(rows[1000:], **asked, seed=1)
    said: dict[str, Any] = {"recipe": done.by, "mechanism": mechanism}
    good = voile.labels.estimate(done.data, **said, epsilon=6.0)
    for share in good.classes:
        low, high = share.between()
        assert 0 <= low <= share.likeliest <= high <= 1
    with pytest.raises(InvalidInput, match=r"must come from the law that is said, .* ε = 0\.3"):
        voile.labels.estimate(done.data, **said, epsilon=0.3)
