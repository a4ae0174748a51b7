"""What every frequency oracle must satisfy, by the sum over all of its releases."""

import numpy as np
import pytest

from voile.estimate import supported_frequencies


def check_law(oracle, releases):
    """`releases` are all there are: the law sums to 1, is tight, and supports as it says."""
    secrets = oracle.space.items
    logs = oracle.log_prob(secrets, releases)
    law = np.exp(logs)
    assert law.sum(axis=1) == pytest.approx(np.ones(len(secrets)), abs=1e-9)
    worst = (logs[:, None, :] - logs[None, :, :]).max()
    assert worst <= oracle.guarantee.epsilon + 1e-12
    assert worst >= 0.999 * oracle.guarantee.epsilon
    supports = np.array([oracle.support(one[None]) for one in np.asarray(releases)])
    expected = np.full((len(secrets), len(secrets)), oracle.other)
    np.fill_diagonal(expected, oracle.own)
    assert law @ supports == pytest.approx(expected, abs=1e-9)


def check_draws(oracle, releases, rng):
    """The sampler follows the law: 200,000 draws against the law of every release."""
    from laws import FALSE_ALARM, p_value

    drawn = np.asarray(oracle.release([oracle.space.items[1]] * 100_000, rng))
    known = {tuple(row): i for i, row in enumerate(np.asarray(releases).tolist())}
    counts = np.bincount([known[tuple(row)] for row in drawn.tolist()], minlength=len(known))
    law = np.exp(oracle.log_prob([oracle.space.items[1]], releases))[0]
    assert p_value(counts, law) > FALSE_ALARM


def check_estimates(oracle, rng):
    """Shares of a skewed population lie within 6 standard errors of the closed form."""
    size = len(oracle.space)
    population = np.arange(1, size + 1) / (size * (size + 1) / 2)
    secrets = np.repeat(oracle.space.items, np.round(20_000 * population).astype(int))
    found = supported_frequencies(oracle, oracle.release(secrets, rng))
    truth = np.round(20_000 * population) / len(secrets)
    p, q = oracle.own, oracle.other
    variance = (q * (1 - q) + truth * (p - q) * (1 - p - q)) / (p - q) ** 2 / len(secrets)
    assert (np.abs(found.shares - truth) < 6.5 * np.sqrt(variance)).all()
    wrong = (oracle.support(oracle.release(secrets, rng)) / len(secrets) - q) / (p - q) ** 2
    assert (np.abs(wrong - truth) > 6.5 * np.sqrt(variance)).any()  # a planted debias factor
