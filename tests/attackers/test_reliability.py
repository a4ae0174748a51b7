import numpy as np
import pytest

from voile.attackers.reliability import best_temperature, reliability
from voile.errors import InvalidInput


def coin_beliefs(rng, count, sharpen=1.0):
    """True posteriors of random coins, and what happened; `sharpen` > 1 lies about confidence."""
    p = rng.uniform(0.5, 0.99, size=count)
    truth = (rng.random(count) > p).astype(int)
    scores = np.column_stack([np.log(p), np.log1p(-p)]) * sharpen
    return scores - np.logaddexp(scores[:, :1], scores[:, 1:]), truth


def test_an_honest_attacker_passes_and_an_overconfident_one_is_caught():
    rng = np.random.default_rng(0)
    honest = reliability(*coin_beliefs(rng, 5000))
    assert honest.trustworthy
    assert honest.calibration_error < 0.03
    liar = reliability(*coin_beliefs(rng, 5000, sharpen=4.0))
    assert not liar.trustworthy
    assert liar.overconfidence > 0.1
    assert "do not trust" in str(liar)


def test_temperature_undoes_sharpening():
    rng = np.random.default_rng(1)
    beliefs, truth = coin_beliefs(rng, 20_000, sharpen=4.0)
    temperature = best_temperature(beliefs, truth)
    assert temperature == pytest.approx(4.0, rel=0.1)
    scaled = beliefs / temperature
    scaled -= np.logaddexp(scaled[:, :1], scaled[:, 1:])
    assert reliability(scaled, truth).trustworthy


def test_bins_add_up():
    found = reliability(*coin_beliefs(np.random.default_rng(2), 777))
    assert sum(count for _, _, count in found.bins) == found.count == 777


def test_bad_input():
    with pytest.raises(InvalidInput):
        reliability(np.zeros((0, 2)), np.zeros(0, dtype=int))
    with pytest.raises(InvalidInput):
        reliability(np.zeros((3, 2)), np.zeros(2, dtype=int))
