"""Learned attackers, held against the exact one on data where the truth is known."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="the neural extra is not installed")

import torch

from voile.attackers.attack import Observed, SequenceAttack, hidden
from voile.attackers.learned import fit_learned
from voile.attackers.markov import MarkovPrior, markov_attack
from voile.attackers.networks import EmbeddingHead, lstm, rnn, transformer
from voile.attackers.reliability import reliability
from voile.attackers.residual import clearly_positive, fit_residual
from voile.errors import InvalidInput
from voile.leakage.posterior import belief_shift, posterior_leakage

SIZE, LENGTH = 5, 6


@pytest.fixture(autouse=True)
def one_thread():
    """Tests run side by side; threads of their own would only get in each other's way."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def world(seed=0):
    """A strongly correlated chain, a blunt channel, and vectors for candidates and releases."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    step = np.roll(np.eye(SIZE), 1, axis=1) * 0.85 + 0.15 / SIZE
    chain = MarkovPrior(np.full(SIZE, 1 / SIZE), sparse.csr_array(step), np.zeros(SIZE))
    angles = 2 * np.pi * np.arange(SIZE) / SIZE
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    law = np.exp(-0.5 * distances)
    law /= law.sum(axis=1, keepdims=True)
    return rng, chain, law, vectors, distances


def draw(rng, chain, law, count):
    step = chain.dense()
    items = []
    for _ in range(count):
        states = [rng.choice(SIZE, p=chain.start)]
        for _ in range(LENGTH - 1):
            states.append(rng.choice(SIZE, p=step[states[-1]]))
        secrets = np.array(states)
        releases = np.array([rng.choice(SIZE, p=law[s]) for s in secrets])
        items.append(Observed(releases, secrets, np.arange(LENGTH)))
    return items


def divergence(attack, exact, items):
    """Mean KL(exact ‖ learned) over positions."""
    sequences = [item.releases for item in items]
    mine = np.concatenate(attack.log_posteriors(sequences))
    true = np.concatenate(exact.log_posteriors(sequences))
    return float((np.exp(true) * (true - mine)).sum(axis=1).mean())


def fitted(count, *, body=lstm, seed=0, law_known=True, epochs=25):
    rng, chain, law, vectors, _ = world(seed)
    training, validation = draw(rng, chain, law, count), draw(rng, chain, law, count // 3)
    return fit_residual(
        training, validation, releases=np.eye(SIZE), body=body, width=32, epochs=epochs,
        candidates=candidates_of(vectors), log_law=np.log(law) if law_known else None,
    )  # fmt: skip


def candidates_of(vectors):
    return np.hstack([vectors, np.eye(SIZE)])


@pytest.fixture(scope="module")
def test_items():
    rng, chain, law, _, _ = world(99)
    return draw(rng, chain, law, 200)


@pytest.fixture(scope="module")
def exact():
    _, chain, law, _, _ = world()
    return markov_attack(np.log(law), chain)


def test_it_nears_the_exact_posterior_as_data_grow(exact, test_items):
    """Proposition 5, shown: the divergence falls, and with it the error of the leakage."""
    few, many = fitted(60), fitted(1500)
    assert isinstance(many, SequenceAttack)
    kl_few, kl_many = divergence(few, exact, test_items), divergence(many, exact, test_items)
    assert kl_many < 0.5 * kl_few
    assert kl_many < 0.05
    *_, distances = world()

    def leakage(attack):
        sequences = [item.releases for item in test_items]
        before = attack.log_posteriors([hidden(s, slice(None)) for s in sequences])
        after = attack.log_posteriors(sequences)
        shifts = [belief_shift(a, b) for a, b in zip(after, before, strict=True)]
        return posterior_leakage(iter(shifts), distances, epsilons=[1.0]).violation_shares[0]

    truth = leakage(exact)
    assert truth > 0.02  # correlation does break the per-record bound here
    assert abs(leakage(many) - truth) < 0.6 * abs(leakage(few) - truth)


@pytest.mark.parametrize("body", [rnn, lstm, transformer])
def test_every_reader_beats_the_single_release(body, exact, test_items):
    """Reading the neighbours pays: much of the way from one release to the exact posterior."""
    attack = fitted(1500, body=body, law_known=False)
    _, _, law, _, _ = world()
    beliefs = np.concatenate(attack.log_posteriors([item.releases for item in test_items]))
    truth = np.concatenate([item.secrets for item in test_items])
    found = reliability(beliefs, truth)
    posterior = law / law.sum(axis=0)
    seen = np.concatenate([item.releases for item in test_items])
    alone = -np.log(posterior[truth, seen]).mean()
    best = reliability(
        np.concatenate(exact.log_posteriors([item.releases for item in test_items])), truth
    ).log_loss
    assert found.log_loss < alone - 0.5 * (alone - best)
    assert found.trustworthy, str(found)


def test_the_papers_head(test_items):
    """Embedding by squared error, beliefs by distance to it, calibrated."""
    rng, chain, law, vectors, _ = world()
    training, validation = draw(rng, chain, law, 600), draw(rng, chain, law, 200)
    candidates = torch.as_tensor(vectors, dtype=torch.float32)
    attack = fit_learned(
        training, validation, releases=vectors, body=lstm, head=EmbeddingHead(candidates), width=32
    )
    beliefs = np.concatenate(attack.log_posteriors([item.releases for item in test_items]))
    truth = np.concatenate([item.secrets for item in test_items])
    found = reliability(beliefs, truth)
    assert found.trustworthy, str(found)
    assert found.log_loss < np.log(SIZE)
    # The same attacker, made four times as sure, is caught.
    sharp = beliefs * 8
    sharp -= np.log(np.exp(sharp).sum(axis=1, keepdims=True))
    assert not reliability(sharp, truth).trustworthy


def test_beliefs_are_probabilities_and_never_zero(test_items):
    attack = fitted(60, epochs=2)
    tables = attack.log_posteriors([test_items[0].releases, test_items[1].releases[:2]])
    assert [table.shape for table in tables] == [(LENGTH, SIZE), (2, SIZE)]
    for table in tables:
        assert np.allclose(np.exp(table).sum(axis=1), 1)
        assert np.isfinite(table).all()


def test_padding_does_not_change_beliefs(test_items):
    attack = fitted(60, epochs=2)
    short = test_items[0].releases[:2]
    alone = attack.log_posteriors([short])[0]
    beside = attack.log_posteriors([short, test_items[1].releases])[0]
    assert np.allclose(alone, beside, atol=1e-5)


def test_a_seed_repeats_and_leaves_torch_s_own_state_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    one = fitted(40, epochs=2)
    assert torch.equal(torch.rand(1), expected)
    again = fitted(40, epochs=2)
    assert (one.scale, one.gain) == (again.scale, again.gain)
    assert all(map(torch.equal, one.change.parameters(), again.change.parameters()))


def test_no_sensitive_words():
    rng, chain, law, vectors, _ = world()
    items = [
        Observed(item.releases, item.secrets, np.array([], dtype=int))
        for item in draw(rng, chain, law, 5)
    ]
    with pytest.raises(InvalidInput, match="no sensitive words found"):
        fit_residual(
            items, items, releases=np.eye(SIZE), body=rnn, candidates=candidates_of(vectors)
        )


def test_releases_that_carry_nothing_leave_it_at_its_prior(test_items):
    """What the network of before got wrong: it claimed leakage of its own making."""
    rng, chain, law, vectors, distances = world()
    nothing = np.full_like(law, 1 / SIZE)
    parts = [draw(rng, chain, nothing, count) for count in (300, 100, 200)]
    attack = fit_residual(
        *parts[:2], releases=np.eye(SIZE), body=lstm, width=32, candidates=candidates_of(vectors)
    )
    assert attack.gain == 0.0
    shifts = []
    for item in parts[2]:
        unseen = hidden(item.releases, item.sensitive)
        after, before = attack.log_posteriors([item.releases, unseen], [item.sensitive] * 2)
        shifts.append(belief_shift(after, before))
    shares = posterior_leakage(iter(shifts), distances, epsilons=[0.3]).violation_shares
    assert shares[0] == 0.0
    shut = replace(attack, scale=0.0)
    after, before = shut.log_posteriors([item.releases, unseen], [item.sensitive] * 2)
    assert np.array_equal(after, before), "an attacker that found nothing is its prior"


def test_fresh_noise_is_asked_for_each_epoch():
    rng, chain, law, vectors, _ = world()
    training, asked = draw(rng, chain, law, 60), []

    def redraw(noise):
        asked.append(noise.random())
        return training

    fit_residual(
        training, training[:20], releases=np.eye(SIZE), body=rnn, width=16, epochs=3,
        candidates=candidates_of(vectors), redraw=redraw,
    )  # fmt: skip
    assert len(set(asked)) == len(asked) >= 3


def test_a_network_without_a_clear_gain_has_no_say():
    """Student's test at its level, on gains that nothing was chosen on: counted over many games."""
    rng = np.random.default_rng(5)
    trials, few = 20_000, 12
    gains = rng.normal(size=(trials, few))
    wrong = np.mean([clearly_positive(one) for one in gains[:4000]])
    # 40 are expected of 4,000; more than 80 would be 6 deviations
    assert wrong < 0.02
    assert np.mean([clearly_positive(one + 2) for one in gains[:500]]) > 0.95
    assert not clearly_positive(np.zeros(0))
    assert not clearly_positive(np.array([3.0]))
    assert not clearly_positive(np.zeros(9))


def test_a_known_law_needs_no_learning(test_items):
    """With the gate shut, beliefs are Bayes' rule on the place's own release and the prior."""
    attack = replace(fitted(60, epochs=1), scale=0.0)
    _, _, law, _, _ = world()
    item = test_items[0]
    after, before = attack.log_posteriors(
        [item.releases, hidden(item.releases, item.sensitive)], [item.sensitive] * 2
    )
    expected = before + np.log(law[:, item.releases].T)
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(after, expected, atol=1e-4)
