"""What every mechanism must satisfy, whatever it is."""

from __future__ import annotations

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.audit import ratio, sampler
from voile.errors import ForkedGenerator, InvalidInput


def secrets_of(mechanism) -> np.ndarray:
    """Some secrets that a mechanism takes: its space's items, or points in the plane."""
    if hasattr(mechanism, "space"):
        return mechanism.space.items
    return np.random.default_rng(4).normal(size=(12, 2)) * 2


def check(mechanism) -> None:
    """Ask of a mechanism all that its kind can answer."""
    secrets = secrets_of(mechanism)
    twice = [mechanism.release(secrets, voile.seeded_rng(5)) for _ in range(2)]
    assert np.array_equal(*twice), "the generator must be the only source of randomness"
    assert len(twice[0]) == len(secrets)
    check_source(mechanism, secrets)
    assert mechanism.guarantee.epsilon > 0
    assert mechanism.guarantee.granularity.startswith("one ")
    assert isinstance(mechanism, voile.Mechanism)
    if isinstance(mechanism, voile.ExactMechanism):
        many = mechanism.release(np.repeat(secrets, 20, axis=0), voile.seeded_rng(6))
        finding = ratio(mechanism, secrets, releases=many)
        assert finding.verdict != "violated", str(finding)
        assert finding.lower >= 0.2 * mechanism.guarantee.epsilon, "wastes most of its budget"
    if isinstance(mechanism, voile.Channel):
        check_channel(mechanism)


def check_source(mechanism, secrets) -> None:
    """Nothing is drawn by a generator that came through a fork, nor by one of 32-bit words."""
    elsewhere = voile.secure_rng()
    elsewhere.bit_generator.lock._process = -1
    with pytest.raises(ForkedGenerator):
        mechanism.release(secrets, elsewhere)
    with pytest.raises(InvalidInput, match="64 random bits a word"):
        mechanism.release(secrets, np.random.Generator(np.random.MT19937(3)))


def check_channel(channel: voile.Channel) -> None:
    """Exact where a table is there: sums, certificate, and that the sampler follows it."""
    from voile.core.weights import TOTAL

    assert [sum(row) for row in channel.weights.tolist()] == [TOTAL] * len(channel.space)
    assert channel.certificate().epsilon <= channel.guarantee.epsilon
    for row in (0, len(channel.space) - 1):
        check_draws(channel.draw(np.full(40_000, row), voile.seeded_rng(row)), channel, row)


def check_draws(drawn: np.ndarray, channel: voile.Channel, row: int) -> None:
    law = channel.probabilities()[row]
    counts = np.bincount(drawn, minlength=len(law))
    assert p_value(counts, law) > FALSE_ALARM
    assert sampler(drawn, law).verdict == "open"
