import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.attackers.attack import Observed, SequenceAttack, hidden
from voile.attackers.bayes import joint_bayes
from voile.attackers.learning import learned_beside
from voile.attackers.markov import fit_markov, markov_attack
from voile.audit.documents import thinned
from voile.audit.posterior import posterior, supremum, verdicts
from voile.errors import InvalidInput

COIN = np.log([[0.72, 0.28], [0.28, 0.72]])
CORRELATED = np.array([[0.01, 0.49], [0.49, 0.01]])


def read(attack, releases):
    return attack.log_posteriors([np.asarray(releases)])[0]


def believed_before(attack, length):
    return read(attack, [-1] * length)


def random_law(rng, size, outputs):
    law = rng.dirichlet(np.ones(outputs), size=size) + 1e-3
    return np.log(law / law.sum(axis=1, keepdims=True))


def test_golden_joint_leakage():
    """mPL paper, section 2.4 and appendix C.1: 0.94446 alone, 1.84568 together."""
    attack = joint_bayes(COIN, CORRELATED)
    shift = read(attack, np.array([0, 1])) - believed_before(attack, 2)
    assert abs(shift[0, 0] - shift[0, 1]) == pytest.approx(np.log(0.256032 / 0.040432))
    assert abs(shift[0, 0] - shift[0, 1]) == pytest.approx(1.84568, abs=5e-6)
    alone = COIN[0, 0] - COIN[1, 0]
    assert alone == pytest.approx(0.94446, abs=5e-6)


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(1, 4), st.integers(0, 2**32))
def test_forward_backward_is_bayes_on_the_chains_joint_prior(size, length, seed):
    """Two constructions of one posterior."""
    rng = np.random.default_rng(seed)
    chain = fit_markov([rng.integers(size, size=30)], size=size, strength=0.5)
    law = random_law(rng, size, 4)
    step = chain.dense()
    joint = chain.start
    for position in range(1, length):
        joint = joint[..., None] * step.reshape([1] * (position - 1) + [size, size])
    exact = joint_bayes(law, joint / joint.sum())
    attack = markov_attack(law, chain)
    releases = rng.integers(4, size=length)
    assert np.allclose(read(attack, releases), read(exact, releases), atol=1e-9)
    assert np.allclose(believed_before(attack, length), believed_before(exact, length), atol=1e-9)


def test_both_are_sequence_attacks():
    chain = fit_markov([[0, 1, 0]], size=2)
    assert isinstance(markov_attack(COIN, chain), SequenceAttack)
    assert isinstance(joint_bayes(COIN, CORRELATED), SequenceAttack)


def test_sequences_of_all_lengths_at_once():
    rng = np.random.default_rng(1)
    chain = fit_markov([rng.integers(6, size=100)], size=6)
    attack = markov_attack(random_law(rng, 6, 9), chain)
    sequences = [rng.integers(9, size=n) for n in (1, 7, 3)]
    together = attack.log_posteriors(sequences)
    for sequence, found in zip(sequences, together, strict=True):
        assert np.allclose(found, read(attack, sequence))


def test_an_unreleased_position_is_inferred_from_its_neighbours():
    chain = fit_markov([[0, 1] * 200], size=2, strength=0.01)
    attack = markov_attack(COIN, chain)
    known = np.exp(read(attack, np.array([0, -1, 0])))
    assert known[1, 1] > 0.85  # between two likely zeros stands a one
    nothing = read(attack, np.array([-1, -1]))
    assert np.allclose(nothing, believed_before(attack, 2))


def test_a_thousand_steps_do_not_underflow():
    rng = np.random.default_rng(2)
    chain = fit_markov([rng.integers(50, size=500)], size=50)
    attack = markov_attack(random_law(rng, 50, 50) * 3, chain)
    beliefs = read(attack, rng.integers(50, size=1000))
    assert np.isfinite(beliefs).all()
    assert np.allclose(np.exp(beliefs).sum(axis=1), 1)


def test_the_smoothed_chain_is_the_formula():
    chain = fit_markov([[0, 1, 0, 1, 2]], size=3, strength=2.0)
    frequency = np.array([3, 3, 2]) / 8  # one count added to each
    expected = np.array([[0, 2, 0], [1, 0, 1], [0, 0, 0]]) / np.array([[2], [2], [1]])
    weight = np.array([2 / 4, 2 / 4, 2 / 2])
    table = (1 - weight)[:, None] * expected + weight[:, None] * frequency
    assert np.allclose(chain.dense(), table)
    beliefs = np.random.default_rng(0).random((4, 3))
    assert np.allclose(chain.forward(beliefs), beliefs @ table)
    assert np.allclose(chain.backward(beliefs), beliefs @ table.T)


def keeping(size, ratio):
    """The law that keeps a secret, more often than any other by this factor."""
    law = np.ones((size, size)) + np.diag(np.full(size, ratio - 1.0))
    return np.log(law / law.sum(axis=1, keepdims=True))


def released(rng, secrets, law):
    return [np.array([rng.choice(len(law), p=np.exp(law[x])) for x in s]) for s in secrets]


@pytest.mark.parametrize("seed", range(3))
def test_words_without_an_order_teach_no_chain(seed):
    """Neighbours say nothing, so that nothing moves beyond the words' own releases.

    A chain that trusts what it has counted a few times finds leakage that is not there.
    """
    rng = np.random.default_rng(seed)
    words = [rng.integers(60, size=12) for _ in range(200)]
    law, epsilon = keeping(60, np.exp(4.0)), 4.0
    fresh = released(rng, [rng.integers(60, size=12) for _ in range(60)], law)
    found = {}
    for strength in (None, 1.0):
        attack = markov_attack(law, fit_markov(words, size=60, strength=strength))
        audit = posterior(attack, fresh, 1 - np.eye(60), epsilons=[1.1 * epsilon], delta=0.05)
        found[strength] = (audit.leakage.shares > 0).mean()
    assert found[None] == 0
    assert found[1.0] > 0.5


def test_words_in_an_order_teach_it():
    """Each follows the one before nine times in ten: that is counted, and believed."""
    rng = np.random.default_rng(0)

    def walk():
        states = [int(rng.integers(8))]
        for _ in range(15):
            last = states[-1]
            states.append((last + 1) % 8 if rng.random() < 0.9 else int(rng.integers(8)))
        return np.array(states)

    chain = fit_markov([walk() for _ in range(300)], size=8)
    truth = 0.9 * np.roll(np.eye(8), 1, axis=1) + 0.1 / 8
    assert np.abs(chain.dense() - truth).max() < 0.05
    assert chain.smoothing.max() < 0.05


def test_copies_of_a_sequence_vouch_for_nothing():
    """What was read a hundred times over is left out together."""
    rng = np.random.default_rng(1)
    words = [rng.integers(40, size=10) for _ in range(60)]
    once = fit_markov(words, size=40)
    often = fit_markov([*words, *words[:21] * 100], size=40)  # not by fives
    assert once.smoothing.min() > 0.8
    assert often.smoothing.min() > 0.8


def test_steps_that_never_return_vouch_for_nothing():
    """Everybody's name stands once beside another's: that a pair was seen is no law of pairs."""
    chain = fit_markov([[2 * n, 2 * n + 1] for n in range(20)], size=40)
    assert chain.smoothing.min() > 0.99


def test_the_audit_finds_the_correlation_and_says_open_without_it():
    every = [np.array(pair) for pair in itertools.product([0, 1], repeat=2)] * 20
    bad = posterior(
        joint_bayes(COIN, CORRELATED), every, 1 - np.eye(2), epsilons=[1.0, 3.0], delta=0.05
    )
    assert [f.verdict for f in bad.findings] == ["violated", "open"]
    assert bad.leakage.supremum == pytest.approx(1.84568, abs=5e-6)
    fine = posterior(
        joint_bayes(COIN, np.full((2, 2), 0.25)), every, 1 - np.eye(2), epsilons=[1.0], delta=0.05
    )
    assert fine.findings[0].verdict == "open"  # never "holds": another attacker may do more
    assert fine.findings[0].lower == 0.0
    assert fine.groups_to_certify[0] == 104
    assert supremum(bad.leakage, claim=1.0).verdict == "violated"
    assert supremum(fine.leakage, claim=1.0).verdict == "open"


def test_only_sensitive_positions_count():
    seen = [np.array([0, 1]), np.array([1, 0])]
    attack = joint_bayes(COIN, CORRELATED)
    audit = posterior(
        attack, seen, 1 - np.eye(2), epsilons=[1.0], delta=0.1,
        sensitive=[np.array([0]), np.array([], dtype=int)],
    )  # fmt: skip
    assert audit.leakage.releases == 1
    with pytest.raises(InvalidInput, match="for each sequence"):
        posterior(attack, seen, 1 - np.eye(2), epsilons=[1.0], delta=0.1, sensitive=[])
    nobody = [np.array([], dtype=int)] * 2
    with pytest.raises(InvalidInput, match="at least one release"):
        posterior(attack, seen, 1 - np.eye(2), epsilons=[1.0], delta=0.1, sensitive=nobody)


def test_hiding_leaves_the_caller_s_sequence_alone():
    mine = np.array([3, 4, 5])
    assert hidden(mine, np.array([1])).tolist() == [3, -1, 5]
    assert mine.tolist() == [3, 4, 5]


def test_failure_probability_is_shared_over_the_epsilons():
    attack = joint_bayes(COIN, CORRELATED)
    seen = [np.array([0, 1])] * 10
    one = posterior(attack, seen, 1 - np.eye(2), epsilons=[1.0], delta=0.1)
    assert one.findings[0].failure_probability == pytest.approx(0.01)
    two = posterior(attack, seen, 1 - np.eye(2), epsilons=[1.0, 2.0], delta=0.1)
    assert two.findings[0].failure_probability == pytest.approx(0.005)
    assert verdicts(two.leakage, delta=0.1).findings == two.findings


@pytest.mark.parametrize(
    "call",
    [
        lambda: joint_bayes(COIN, np.full((2, 3), 1 / 6)),
        lambda: joint_bayes(COIN, np.full((2, 2), 0.3)),
        lambda: read(joint_bayes(COIN, CORRELATED), [0]),
        lambda: fit_markov([], size=3),
        lambda: fit_markov([[0, 5]], size=3),
        lambda: fit_markov([[0, 1]], size=2, strength=0.0),
        lambda: markov_attack(COIN, fit_markov([[0, 1]], size=3)),
        lambda: read(markov_attack(COIN, fit_markov([[0, 1]], size=2)), []),
    ],
)
def test_bad_input(call):
    with pytest.raises(InvalidInput):
        call()


def test_measuring_some_positions_hides_all_of_them_and_is_right_on_average():
    """What is counted may be thinned; what the attacker's prior does not see may not."""
    rng = np.random.default_rng(3)
    law = rng.dirichlet(np.ones(4), size=4) + 0.05
    law /= law.sum(axis=1, keepdims=True)
    chain = fit_markov([rng.integers(4, size=9) for _ in range(30)], size=4)
    attack = markov_attack(np.log(law), chain)
    seen = [rng.integers(4, size=5) for _ in range(12)]
    secret = [np.array([0, 1, 3])] * 12
    distances = np.abs(np.arange(4)[:, None] - np.arange(4.0))

    def shares(counted=None):
        found = posterior(attack, seen, distances, epsilons=[0.3], delta=0.5, sensitive=secret,
                          counted=counted)  # fmt: skip
        return found.leakage.shares[:, 0]

    one_each = [shares([np.array([p])] * 12) for p in secret[0]]
    np.testing.assert_allclose(np.mean(one_each, axis=0), shares(), atol=1e-12)
    with pytest.raises(InvalidInput, match="counted must pick positions"):
        shares([np.array([0])])


def test_thinning_keeps_every_document_and_spends_what_it_may():
    positions = [np.arange(n) for n in (1, 12, 7, 3)]
    for most in (4, 5, 9, 14, 22, 23, 100):
        kept = thinned(positions, most=most)
        assert all(len(k) >= 1 and set(k) <= set(p) for k, p in zip(kept, positions, strict=True))
        assert sum(map(len, kept)) <= max(most, 4)
        assert all(list(k) == sorted(set(k)) for k in kept)
    assert [len(k) for k in thinned(positions, most=14)] == [1, 5, 5, 3]
    assert thinned(positions, most=23) == positions


def test_what_neighbours_bring_is_a_bet_that_pays_one_on_average():
    """If each word's own release says all there is, the bet is fair whatever the chain believes."""
    rng = np.random.default_rng(4)
    law, size = random_law(rng, 3, 4), 3
    wrong = fit_markov([rng.integers(size, size=9) for _ in range(20)], size=size, strength=0.1)
    alone, chain = markov_attack(law, wrong.alone()), markov_attack(law, wrong)
    paid = 0.0
    for secrets in itertools.product(range(size), repeat=2):
        for releases in itertools.product(range(4), repeat=2):
            truth = Observed(np.array(releases), np.array(secrets), np.arange(2))
            weight = np.prod(wrong.start[list(secrets)]) * np.exp(law[secrets, releases].sum())
            found = learned_beside(chain, alone, [truth])
            own = read(chain, truth.releases)[np.arange(2), truth.secrets]
            other = read(alone, truth.releases)[np.arange(2), truth.secrets]
            assert found.gain == pytest.approx((own - other).mean())
            assert found.p_value == pytest.approx(min(1, 1 / np.exp(own - other).mean()))
            paid += weight * float(np.exp(own - other).mean())
    assert paid == pytest.approx(1)


def test_neighbours_that_say_much_are_shown_to():
    rng = np.random.default_rng(5)
    words = [(int(rng.integers(6)) + np.arange(8)) % 6 for _ in range(120)]
    law = keeping(6, 5.0)
    chain = fit_markov(words[:60], size=6)
    items = [
        Observed(r, w, np.arange(8))
        for r, w in zip(released(rng, words[60:], law), words[60:], strict=True)
    ]
    attack, alone = markov_attack(law, chain), markov_attack(law, chain.alone())
    assert learned_beside(attack, alone, items).shown(1e-9)
    assert learned_beside(alone, attack, items).p_value == 1
