"""For each mechanism a plausible mistake, and the check that catches it."""

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, draws_needed, p_value
from voile.audit import certificate, sampler
from voile.core import weights as integer
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.errors import GuaranteeBroken

LINE = voile.Space([[float(i)] for i in range(8)], metric=voile.metrics.euclidean())
GRID = voile.Space(
    [[float(i), float(j)] for i in range(4) for j in range(4)], metric=voile.metrics.euclidean()
)
LABELS = voile.Space(list(range(8)), metric=voile.metrics.discrete())

# name: (space, the mechanism at a strength, how much stronger the liar is than it claims)
TOO_STRONG = {
    "exponential": (LINE, lambda s: voile.mechanisms.exponential(LINE, epsilon=s), 2),
    "truncated_exponential": (
        LINE,
        lambda s: voile.mechanisms.truncated_exponential(LINE, epsilon=s, gamma=3.0),
        2,
    ),
    "randomised_response": (
        LABELS,
        lambda s: voile.mechanisms.randomised_response(range(8), epsilon=s),
        1.001,
    ),
    "geometric": (LINE, lambda s: voile.mechanisms.geometric(LINE, epsilon=s), 1.001),
    "tight_constraints": (
        GRID,
        lambda s: voile.mechanisms.tight_constraints(GRID, epsilon=s),
        1.001,
    ),
    "planar_laplace_grid": (
        GRID,
        lambda s: voile.mechanisms.planar_laplace_grid(GRID, epsilon=s),
        1.1,
    ),
    "calibrated": (
        LINE,
        lambda s: voile.mechanisms.calibrated(
            lambda t: voile.mechanisms.exponential(LINE, epsilon=t), epsilon=s
        ),
        1.001,
    ),
}


@pytest.mark.parametrize("name", TOO_STRONG)
def test_a_strength_above_the_claim(name):
    """ε doubled where the mechanism leaves slack, a thousandth more where it has none."""
    space, build, factor = TOO_STRONG[name]
    claim = 1.5
    assert certificate(space, build(claim).weights, claim=claim).verdict == "holds"
    liar = build(claim * factor)
    assert certificate(space, liar.weights, claim=claim).verdict == "violated"
    with pytest.raises(GuaranteeBroken):
        liar.restated(epsilon=claim)


def test_a_remap_that_looks_at_the_secret():
    """Post-processing may not depend on the secret: a row mapped by a map of its own."""
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    table = channel.weights.copy()
    table[3] = table[3][::-1]
    assert certificate(LINE, table, claim=1.0).verdict == "violated"


def test_tiers_that_claim_the_mean_of_their_strengths():
    built = [voile.mechanisms.exponential(LINE, epsilon=s) for s in (4.0, 0.5)]
    both = voile.mechanisms.tiered(built, levels=[0, 1] * 4)
    with pytest.raises(GuaranteeBroken):
        both.restated(epsilon=2.25)


def test_a_zero_beside_a_non_zero():
    law = voile.mechanisms.geometric(LINE, epsilon=1.0).probabilities().copy()
    law[0, 7] = 0.0
    law /= law.sum(axis=1, keepdims=True)
    promise = Guarantee(1.0, LINE.metric, "one number", Basis.CERTIFIED)
    with pytest.raises(GuaranteeBroken, match="ε = inf"):
        Channel.from_probabilities(LINE, law, promise)


def test_rows_rounded_to_three_digits():
    """What a table printed in a paper keeps of a tight mechanism."""
    law = voile.mechanisms.geometric(LINE, epsilon=1.0).probabilities().round(3)
    law /= law.sum(axis=1, keepdims=True)
    weights = integer.quantise(np.log(law), floor=20)
    assert certificate(LINE, weights, claim=1.0).verdict == "violated"


def test_a_biased_sampler():
    """One percent of the draws replaced by the truth."""
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    law = channel.probabilities()[2]
    bias = 0.99 * law + 0.01 * np.eye(8)[2]
    count = max(draws_needed(law, bias), 1_200_000)
    rng = voile.seeded_rng(4)
    honest = channel.draw(np.full(count, 2), rng)
    told = np.random.default_rng(5).random(count) < 0.01
    liar = np.where(told, 2, honest)
    assert p_value(np.bincount(honest, minlength=8), law) > FALSE_ALARM
    assert sampler(honest, law).verdict == "open"
    assert p_value(np.bincount(liar, minlength=8), law) < FALSE_ALARM
    assert sampler(liar, law).verdict == "violated"


def test_a_sampler_that_draws_the_impossible():
    law = np.array([0.5, 0.5, 0.0])
    draws = np.array([0, 1] * 500 + [2])
    assert p_value(np.bincount(draws, minlength=3), law) == 0.0
    assert sampler(draws, law).verdict == "violated"


def misplaced_boundaries(draw, weights):
    """How many of the outermost targets of each output a sampler gives to another output."""
    cumulative = np.cumsum(weights, dtype=np.uint64)
    starts = np.concatenate([np.zeros(1, dtype=np.uint64), cumulative[:-1]])
    outputs = np.flatnonzero(weights)
    targets = np.concatenate([starts[outputs], cumulative[outputs] - np.uint64(1)])
    found = draw(weights[None], np.zeros(len(targets), dtype=np.intp), targets)
    return int((found != np.concatenate([outputs, outputs])).sum())


def float_decided(weights, rows, targets):
    """The same draw with the running sum and the target as doubles."""
    cumulative = np.cumsum(weights / float(integer.TOTAL), axis=1)
    uniform = targets / float(integer.TOTAL)
    return (uniform[:, None] >= cumulative[rows]).sum(axis=1)


def integer_decided(weights, rows, targets):
    return integer.columns_at(np.cumsum(weights, axis=1, dtype=np.uint64), rows, targets)


@pytest.mark.parametrize("space", [LINE, GRID], ids=["few draws", "many draws"])
def test_a_draw_decided_by_a_float(space):
    """Doubles cannot tell neighbouring targets apart: mass moves between outputs, unseen by χ².

    Few draws and many draws take different ways through the sampler; both are held to the bounds.
    """
    weights = voile.mechanisms.exponential(space, epsilon=3.0).weights[5]
    assert misplaced_boundaries(integer_decided, weights) == 0
    assert misplaced_boundaries(float_decided, weights) > 0
