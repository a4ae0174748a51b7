"""Tuning on laws as they are drawn from: exact beliefs, exact losses, fresh documents."""

from itertools import pairwise, product

import numpy as np
import pytest

from voile.adapt.ampl import Trial
from voile.adapt.levels import Levels, adapt, together
from voile.adapt.secrets import CLEAR, Document, Secrets, document_losses, drawn
from voile.attackers.markov import fit_markov
from voile.errors import InvalidInput
from voile.leakage.bounds import chernoff_interval, clopper_pearson
from voile.mechanisms import word_exponential
from voile.mechanisms._embedding import Embedding

ANGLES = 2 * np.pi * np.arange(4) / 4
WORDS = Embedding.of(
    np.vstack([np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]), [[2.0, 0.5], [-0.5, 3.0]]])
)
"""Four words in a circle that follow one another, and two that are only ever drawn or in clear."""


def document(rng, level=lambda place: place % 2, length=4):
    place, words = int(rng.integers(4)), []
    for _ in range(length):
        words.append(place)
        place = (place + 1) % 4 if rng.random() < 0.9 else int(rng.integers(4))
    levels = [level(word) for word in words]
    return Document(np.array([*words, 5]), np.array([*levels, CLEAR]))


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    return tuple(document(rng) for _ in range(120))


def laws_at(epsilon):
    return lambda strengths: [word_exponential(WORDS, epsilon=epsilon * a) for a in strengths]


@pytest.fixture(scope="module")
def secrets(documents):
    return Secrets.of(documents, WORDS, drawn=2, most=10)


def trial(secrets, documents, *, epsilon=1.0, **how):
    how = {"attacker": "markov", "counted": "documents"} | how
    return Trial(secrets, documents, laws_at(epsilon), epsilon, **how)


def test_a_secret_is_a_word_with_the_level_that_draws_it():
    both = Document(np.array([0, 0, 1, 2, 5]), np.array([0, 1, 1, CLEAR, 2]))
    found = Secrets.of([both] * 2, WORDS, drawn=2, most=10)
    assert list(zip(found.words, found.levels, strict=True)) == [(0, 0), (0, 1), (1, 1)]
    seen = found.observed(both, both.words)
    assert seen.sensitive.tolist() == [0, 1, 2]
    assert seen.secrets.tolist() == [0, 1, 2, CLEAR, CLEAR]
    assert found.corpus().distances()[0, 1] == 0  # one word: not a pair to tell apart
    fewer = Secrets.of([both, Document(np.array([1, 0]), np.array([1, 0]))], WORDS, drawn=2, most=2)
    assert list(zip(fewer.words, fewer.levels, strict=True)) == [(0, 0), (1, 1)]
    with pytest.raises(InvalidInput, match="at least two different ones, got 1"):
        Secrets.of([Document(np.array([0, 0]), np.array([0, 1]))], WORDS, drawn=2, most=9)


def test_tables_are_the_laws_themselves_and_the_loss_is_of_every_release(secrets):
    laws = laws_at(1.0)((0.4, 1.0))
    columns = np.array([5, 1])
    logs, losses = secrets.tables(laws, columns)
    unit = WORDS.points / np.linalg.norm(WORDS.points, axis=1, keepdims=True)
    for row, (word, level) in enumerate(zip(secrets.words, secrets.levels, strict=True)):
        exact = np.array([float(p) for p in laws[level].exact_row(int(word))])
        np.testing.assert_allclose(np.exp(logs[row]), exact[columns], rtol=1e-12)
        cost = sum(exact[y] * (1 - unit[word] @ unit[y]) / 2 for y in range(6))
        assert losses[row] == pytest.approx(cost, rel=1e-12)


def test_every_level_is_drawn_by_its_own_law_and_what_is_clear_stays(documents):
    from laws import FALSE_ALARM, p_value

    many = documents * 40
    laws = laws_at(1.0)((0.3, 2.0))
    for source in (7, np.random.Generator(np.random.PCG64(3))):
        released = drawn(many, laws, source)
        before, after = (np.concatenate(parts) for parts in ([d.words for d in many], released))
        levels = np.concatenate([d.levels for d in many])
        assert (after[levels == CLEAR] == before[levels == CLEAR]).all()
        for word in range(4):
            exact = [np.array([float(p) for p in law.exact_row(word)]) for law in laws]
            counts = np.bincount(after[(before == word) & (levels >= 0)], minlength=6)
            assert p_value(counts, exact[word % 2]) > FALSE_ALARM
            assert p_value(counts, exact[1 - word % 2]) < FALSE_ALARM


def test_the_same_seed_is_the_same_luck(documents):
    """Equal laws draw equal words, near laws nearly the same ones, other seeds others."""
    one, again, near, other = (
        np.concatenate(drawn(documents, laws_at(1.0)(strengths), seed))
        for strengths, seed in (((1, 1), 3), ((1, 1), 3), ((0.97, 0.97), 3), ((1, 1), 4))
    )
    assert (one == again).all()
    assert (one == near).mean() > 0.9 > (one == other).mean()


def test_beliefs_of_the_exact_attacker_are_those_of_bayes(secrets, documents, monkeypatch):
    """Over all sequences of secrets, with each place's own law, tiers and all."""
    from voile.adapt import ampl

    kept = []
    measured = ampl.measured

    def spy(attack, items, *arguments, **named):
        kept.append((attack, items))
        return measured(attack, items, *arguments, **named)

    monkeypatch.setattr(ampl, "measured", spy)
    strengths = (0.5, 1.0)
    trial(secrets, documents).check(strengths, documents[:20], what="x", failure_probability=0.05)
    ((attack, items),) = kept
    laws = laws_at(1.0)(strengths)
    told = [secrets.observed(d, d.words) for d in documents]
    chain = fit_markov([t.secrets[t.sensitive] for t in told], size=len(secrets))
    steps = chain.dense()
    released = drawn(documents[:20], laws, 1)  # the check draws with the next seed
    exact = [
        np.array([float(p) for p in laws[level].exact_row(int(word))])
        for word, level in zip(secrets.words, secrets.levels, strict=True)
    ]
    for item, releases in zip(items[:3], released[:3], strict=True):
        joint = np.zeros((4, len(secrets)))
        for states in product(range(len(secrets)), repeat=4):
            likely = chain.start[states[0]] * np.prod([steps[a, b] for a, b in pairwise(states)])
            likely *= np.prod([exact[s][y] for s, y in zip(states, releases, strict=False)])
            joint[np.arange(4), states] += likely
        found = np.exp(attack.log_posteriors([item.releases])[0])
        np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_check_is_on_fresh_documents_and_brackets_what_it_counts(secrets, documents):
    """Share and interval are of one thing, and the documents of the search are not counted."""
    rng = np.random.default_rng(9)
    fresh = [document(rng) for _ in range(60)]
    by_documents = trial(secrets, documents, epsilon=0.5)
    found = by_documents.check((1.0, 1.0), fresh, what="plain", failure_probability=0.02)
    assert found.documents == 60
    count = round(found.share * 60)
    assert found.share == count / 60
    assert (found.lower, found.upper) == clopper_pearson(count, 60, failure_probability=0.01)
    assert found.share > 0.2  # correlated text leaks more than ε
    by_triples = trial(secrets, documents, epsilon=0.5, counted="triples")
    less = by_triples.check((1.0, 1.0), fresh, what="plain", failure_probability=0.02)
    assert (less.lower, less.upper) == chernoff_interval(
        mean=less.share, clusters=60, failure_probability=0.01
    )
    assert less.share < found.share
    assert less.loss == found.loss
    _, losses = secrets.tables(laws_at(0.5)((1.0, 1.0)), np.array([0]))
    own = document_losses([secrets.observed(d, d.words) for d in fresh], losses)
    assert found.loss == pytest.approx(own.mean(), rel=1e-12)


def test_nothing_released_leaks_nothing_and_costs_what_the_best_word_costs(secrets, documents):
    rng = np.random.default_rng(9)
    fresh = [document(rng) for _ in range(60)]
    found = trial(secrets, documents).nothing(fresh, failure_probability=0.02)
    assert (found.strengths, found.share, found.upper) == (None, 0.0, 0.0)
    unit = WORDS.points / np.linalg.norm(WORDS.points, axis=1, keepdims=True)

    def cost(target, texts):
        return np.mean([np.mean((1 - unit[d.words[:4]] @ unit[target]) / 2) for d in texts])

    best = min(range(6), key=lambda target: cost(target, documents))
    assert found.loss == pytest.approx(cost(best, fresh), rel=1e-12)


def test_tuning_lowers_the_leakage_and_stands_beside_what_is_simpler(secrets, documents):
    how = trial(secrets, documents, epsilon=0.5)
    levels = Levels(start=(1.0, 1.0), free=(True, True), privacy_weight=5.0, first_step=0.45)
    state = adapt(levels, how.evaluate, most_rounds=8)
    assert state == adapt(levels, how.evaluate, most_rounds=8)
    assert state.best.violation < 0.3 * state.rounds[0].violation
    alike = together(levels, how.evaluate, state.rounds, delta=0.1)
    assert {round_.strengths[0] for round_ in alike} == {round_.strengths[1] for round_ in alike}
    assert alike[0] is state.rounds[0]
    kept = [round_ for round_ in alike if round_.violation <= 0.1]
    assert len(alike) == 5
    assert kept
    losses = [r.utility_loss for r in sorted(alike, key=lambda r: -r.strengths[0])]
    assert losses == sorted(losses)


def test_a_trained_attacker_knows_the_law_too(secrets, documents):
    torch = pytest.importorskip("torch", reason="the neural extra is not installed")
    torch.set_num_threads(1)
    how = trial(secrets, documents, epsilon=4.0, attacker="rnn", counted="triples", epochs=3)
    found = how.check((1.0, 1.0), documents[:60], what="plain", failure_probability=0.05)
    assert found.shown
    assert found.gain > 0.1


def test_bad_names_are_told(secrets, documents):
    with pytest.raises(
        InvalidInput, match="attacker must be one of rnn, lstm, transformer, minilm, mark"
    ):
        trial(secrets, documents, attacker="oracle")
    with pytest.raises(InvalidInput, match="counted must be triples or documents"):
        trial(secrets, documents, counted="words")


def test_no_release_of_these_words_exceeds_the_joint_bound(secrets, documents):
    """All releases of up to three secrets, over the whole vocabulary, against the trial's bound."""
    from scipy import sparse

    from voile.attackers.markov import MarkovPrior, markov_attack

    how = trial(secrets, documents, epsilon=1.0)
    for strength, length in ((1.0, 3), (0.4, 2)):
        bound = how.joint((strength, strength), length=length)
        logs, _ = secrets.tables(laws_at(1.0)((strength, strength)), np.arange(6))
        told = [secrets.observed(d, d.words) for d in documents]
        chain = fit_markov([t.secrets[t.sensitive] for t in told], size=len(secrets))
        dense = MarkovPrior(chain.start, sparse.csr_array(chain.dense()), np.zeros(len(secrets)))
        attack = markov_attack(logs, dense)
        every = [np.array(y) for y in product(range(6), repeat=length)]
        shift = (
            np.array(attack.log_posteriors(every)) - attack.log_posteriors([every[0] * 0 - 1])[0]
        )
        distances = secrets.corpus().distances()
        apart = distances > 0
        moved = np.abs(shift[..., :, None] - shift[..., None, :])[..., apart] / distances[apart]
        assert moved.max() <= bound.joint + 1e-9
        assert bound.joint < 1.6 * moved.max()
    with pytest.raises(InvalidInput, match="equal in all tiers"):
        how.joint((0.5, 1.0), length=2)


def test_strengths_are_capped_by_the_proof(secrets, documents):
    from voile.adapt.joint import capped

    how = trial(secrets, documents, epsilon=1.0)
    plain = how.joint((1.0, 1.0), length=4)
    strength, bound = capped(how, cap=0.5 * plain.joint, length=4)
    assert bound.joint <= 0.5 * plain.joint
    assert bound == how.joint((strength, strength), length=4)
    assert 0.3 < strength < 0.7
    nearly = how.joint((1.05 * strength, 1.05 * strength), length=4)
    assert nearly.joint > 0.5 * plain.joint, "no more than needed is given up"
    assert capped(how, cap=2 * plain.joint, length=4) == (1.0, plain)
    with pytest.raises(InvalidInput, match="cap must be at least"):
        capped(how, cap=1e-4, length=4)
