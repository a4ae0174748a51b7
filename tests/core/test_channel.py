import contextlib
import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import epsilons, spaces
from voile.core.certificate import certify
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.errors import GuaranteeBroken, InvalidInput, OutsideSpace

LINE = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))


def promise(epsilon, metric=LINE.metric):
    return Guarantee(epsilon, metric, "one place", Basis.CERTIFIED)


def test_a_channel_over_its_claim_cannot_be_built():
    truth = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    allowed = math.log(8) * (1 + 1e-9)
    assert Channel.from_probabilities(LINE, truth, promise(allowed)).certificate()
    with pytest.raises(GuaranteeBroken, match="must not exceed the claim") as caught:
        Channel.from_probabilities(LINE, truth, promise(2.0))
    assert caught.value.certified == pytest.approx(math.log(8))


@given(spaces(), epsilons)
def test_exponential_keeps_its_claim_everywhere(space, epsilon):
    channel = voile.mechanisms.exponential(space, epsilon=epsilon)
    assert channel.certificate().epsilon <= epsilon


@given(spaces(), epsilons, st.floats(0.01, 100))
def test_truncation_keeps_its_claim_everywhere(space, epsilon, gamma):
    channel = voile.mechanisms.truncated_exponential(space, epsilon=epsilon, gamma=gamma)
    assert channel.certificate().epsilon <= epsilon


@given(st.integers(1, 30), epsilons)
def test_tight_mechanisms_keep_their_claim_and_spend_it(size, epsilon):
    """A bound that is met with equality leaves rounding no room: it must still hold."""
    channel = voile.mechanisms.randomised_response(list(range(size)), epsilon=epsilon)
    assert channel.certificate().epsilon <= epsilon
    if size > 1 and epsilon < 20:  # beyond, weights reach the floor: more private, not less
        assert channel.certificate().epsilon >= epsilon * (1 - 1e-5)


def test_secrets_too_close_for_integers_are_an_error():
    points = np.random.default_rng(0).random((3, 1)) * 3

    def pairs(gap):
        return voile.Space(np.vstack([points, points + gap]), metric=voile.metrics.euclidean())

    assert voile.mechanisms.exponential(pairs(1e-14), epsilon=1.0).certificate().epsilon <= 1.0
    with pytest.raises(GuaranteeBroken, match="merge or round such items"):
        voile.mechanisms.exponential(pairs(2.0**-51), epsilon=1.0)


def test_repair_mends_a_solvers_dust_and_says_how_much():
    space = voile.Space([[float(i)] for i in range(6)], metric=voile.metrics.euclidean(unit="km"))
    good = voile.mechanisms.geometric(space, epsilon=1.0).probabilities()
    dusty = good + np.random.default_rng(0).uniform(-1e-7, 1e-7, size=good.shape)
    dusty[0, 5] = 0.0  # a zero beside a non-zero: infinite before repair
    claim = promise(1.0, space.metric)
    with pytest.raises((GuaranteeBroken, InvalidInput)):
        Channel.from_probabilities(space, dusty / dusty.sum(axis=1, keepdims=True), claim)
    channel = Channel.from_probabilities(space, dusty, claim, repair=True)
    assert channel.certificate().epsilon <= 1.0
    assert 0 < channel.repair.moved < 0.01
    assert "moved" in str(channel.repair)
    assert np.abs(channel.probabilities() - good).max() < 2 * channel.repair.moved + 1e-6


def test_repair_is_not_a_licence():
    identity = np.eye(3)
    with pytest.raises(GuaranteeBroken, match="not a private mechanism with dust"):
        Channel.from_probabilities(LINE, identity, promise(1.0), repair=True)
    with pytest.raises(InvalidInput, match=">= 0 up to dust"):
        Channel.from_probabilities(LINE, identity - 0.2, promise(1.0), repair=True)


@given(spaces(most=6), st.floats(0.01, 10), st.integers(0, 2**32))
def test_repair_always_ends_inside(space, epsilon, seed):
    rng = np.random.default_rng(seed)
    base = voile.mechanisms.exponential(space, epsilon=epsilon).probabilities()
    dusty = np.maximum(base + rng.uniform(-1e-6, 1e-6, size=base.shape), 0)
    # Duplicates made to differ, or dust as large as the allowance, are refused.
    with contextlib.suppress(GuaranteeBroken):
        channel = Channel.from_probabilities(
            space, dusty, promise(epsilon, space.metric), repair=True
        )
        assert channel.certificate().epsilon <= epsilon


def test_release_takes_items_and_gives_outputs():
    channel = voile.mechanisms.exponential(LINE, epsilon=50.0, outputs=np.array([[0.1], [2.1]]))
    released = channel.release([[0.0], [2.0], [0.0]], voile.seeded_rng(0))
    assert released.tolist() == [[0.1], [2.1], [0.1]]
    assert channel.log_prob([[0.0]], [[0.1], [2.1]]).shape == (1, 2)


def test_a_stranger_is_refused_and_not_repeated():
    words = voile.Space(["yes", "no"], metric=voile.metrics.discrete())
    channel = voile.mechanisms.exponential(words, epsilon=1.0)
    with pytest.raises(OutsideSpace) as caught:
        channel.release(["yes", "hunter2"], voile.seeded_rng(0))
    assert "hunter2" not in str(caught.value)
    assert "position 1" in str(caught.value)


def test_positions_out_of_range_are_refused():
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    with pytest.raises(InvalidInput, match="positions below 3"):
        channel.draw([-1], voile.seeded_rng(0))


def test_what_is_built_cannot_be_changed():
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    with pytest.raises(ValueError, match="read-only"):
        channel.weights[0, 0] = 0
    with pytest.raises(AttributeError):
        channel.guarantee = promise(0.1)


def test_weights_are_the_channels_own():
    """Neither the array it was built from, nor its base, nor a flag changes what was certified."""
    base = voile.mechanisms.exponential(LINE, epsilon=1.0).weights.copy()
    channel = Channel(LINE, LINE.items, base[:], promise(1.0))
    before = channel.weights.tolist()
    base[:] = 0
    assert channel.weights.tolist() == before
    for change in (
        lambda: channel.weights.__setitem__((0, 0), 0),
        lambda: channel.weights.setflags(write=True),
        lambda: channel.weights.view().setflags(write=True),
        lambda: channel.outputs.__setitem__(0, 5.0),
        lambda: channel.space.items.__setitem__(0, 5.0),
    ):
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
            change()


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
@pytest.mark.parametrize(
    "channel",
    [
        voile.mechanisms.exponential(LINE, epsilon=1.0),
        voile.mechanisms.randomised_response(["yes", "no"], epsilon=1.0),
    ],
    ids=["line", "labels"],
)
def test_a_copy_is_read_only_and_certified_again(channel, again, monkeypatch):
    found = again(channel)
    assert np.array_equal(found.weights, channel.weights)
    assert found.guarantee == channel.guarantee
    for array in (found.weights, found.outputs, found.space.items):
        assert not array.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.weights.setflags(write=True)
    from voile.core import channel as module

    asked = []
    monkeypatch.setattr(module, "certify", lambda *given: asked.append(given) or certify(*given))
    again(channel)
    assert len(asked) == 1


def test_a_forged_pickle_is_refused():
    """Another table in the pickle of a channel meets the certificate, as in a file."""
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    build, (space, outputs, _, guarantee, repair) = channel.__reduce__()
    identity = (np.eye(3) * (2**62 - 2) + 1).astype(np.uint64)
    identity += np.array([[0], [0], [0]], dtype=np.uint64)
    identity[np.arange(3), np.arange(3)] = 2**62 - 2
    with pytest.raises(GuaranteeBroken):
        build(space, outputs, identity, guarantee, repair)


@pytest.mark.parametrize(
    "rows",
    [[0.9], ["1"], [True], [None], [1.0], np.array([1.0]), [[0]], 0, [2**64 - 1], [-1], [3],
     np.array([1], dtype=object), [1 + 0j], np.array(["2020-01-01"], dtype="M8[D]")],
    ids=repr,
)  # fmt: skip
def test_only_whole_positions_are_drawn(rows):
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    with pytest.raises(InvalidInput, match="rows must be"):
        channel.draw(rows, voile.seeded_rng(0))
    with pytest.raises(InvalidInput, match="mapping must be"):
        channel.merged(rows, [[0.0]])


def test_positions_of_any_width_are_drawn():
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        assert len(channel.draw(np.array([0, 2], dtype=kind), voile.seeded_rng(0))) == 2
    assert len(channel.draw([], voile.seeded_rng(0))) == 0


@pytest.mark.parametrize("table", [[[1, 2]], np.zeros((3, 3)), np.zeros((3, 3), dtype=object)])
def test_weights_of_another_kind_are_refused(table):
    with pytest.raises(InvalidInput, match="weights must be"):
        Channel(LINE, LINE.items, table, promise(1.0))


@pytest.mark.parametrize(
    "epsilon", [np.float32(0.5), np.float64(0.5), np.int64(1), np.uint8(1), 1, Fraction(1, 2)]
)
def test_any_real_number_is_an_epsilon(epsilon):
    plain = voile.mechanisms.exponential(LINE, epsilon=float(epsilon))
    found = voile.mechanisms.exponential(LINE, epsilon=epsilon)
    assert np.array_equal(found.weights, plain.weights)
    assert type(found.guarantee.epsilon) is float


def test_a_claim_can_be_lowered_only_as_far_as_the_certificate():
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    assert channel.restated(epsilon=0.7).guarantee.epsilon == 0.7
    with pytest.raises(GuaranteeBroken):
        channel.restated(epsilon=0.6)


def test_a_channel_wants_the_metric_of_its_space():
    channel = voile.mechanisms.exponential(LINE, epsilon=1.0)
    metres = promise(1.0, voile.metrics.euclidean(unit="m"))
    with pytest.raises(InvalidInput, match="space's metric"):
        Channel(LINE, channel.outputs, channel.weights.copy(), metres)


@pytest.mark.parametrize(
    "epsilon", [0, -1.0, math.inf, math.nan, "1", True, None, 1j, np.bool_(True), 10**400, [1.0]]
)
def test_an_epsilon_that_is_none(epsilon):
    with pytest.raises(InvalidInput, match="epsilon must be a finite number > 0"):
        voile.mechanisms.exponential(LINE, epsilon=epsilon)


def test_one_secret_and_a_hundred_thousand_outputs():
    alone = voile.Space([[0.0]], metric=voile.metrics.euclidean())
    outputs = np.arange(100_000.0)[:, None]
    channel = voile.mechanisms.exponential(alone, epsilon=0.001, outputs=outputs)
    assert channel.certificate().epsilon == 0
    assert channel.draw(np.zeros(5, dtype=int), voile.seeded_rng(1)).shape == (5,)
