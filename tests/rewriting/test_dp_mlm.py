"""DP-MLM by enumeration on a tiny masked model."""

import itertools

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.errors import InvalidInput
from voile.rewriting.dp_mlm import dp_mlm

BOUNDS = (-2.0, 6.0)


@pytest.mark.parametrize("epsilon", [1.0, 15.0, 400.0])
def test_the_bound_holds_for_all_pairs_of_texts(masked, public, epsilon):
    """All texts of two words, all releases of two words: sums to 1, within 2ε, nothing sampled."""
    rewriter = dp_mlm(masked, epsilon=epsilon, bounds=BOUNDS, max_words=2)
    names = rewriter.spellings
    assert len(set(names)) == len(names)
    releases = [" ".join(pair) for pair in itertools.product(names, repeat=2)]
    law = np.array(
        [rewriter.log_likelihood([text] * len(releases), releases) for text in public[:6]]
    )
    assert np.exp(law).sum(axis=1) == pytest.approx(np.ones(6), abs=1e-9)
    gaps = (law[:, None] - law[None]).max()
    assert gaps <= rewriter.text_guarantee.epsilon == 2 * rewriter.guarantee.epsilon
    assert gaps > 0.02 * epsilon


def test_a_drift_of_all_logits_changes_nothing(masked, monkeypatch):
    rewriter = dp_mlm(masked, epsilon=15.0, bounds=BOUNDS)
    names = rewriter.spellings
    before = rewriter.log_likelihood(["red"] * len(names), names)
    still = type(rewriter)._logits
    monkeypatch.setattr(
        type(rewriter), "_logits", lambda self, jobs: ((p, x - 5) for p, x in still(self, jobs))
    )
    assert rewriter.log_likelihood(["red"] * len(names), names) == pytest.approx(before, abs=1e-6)
    assert not dp_mlm(masked, epsilon=15.0, fidelity="as_released").sampler.aligned


def test_draws_follow_the_law(masked):
    rewriter = dp_mlm(masked, epsilon=15.0, bounds=BOUNDS)
    drawn = rewriter.rewrite(["red"] * 3000, voile.seeded_rng(2)).texts
    names = rewriter.spellings
    law = np.exp(rewriter.log_likelihood(["red"] * len(names), names))
    counts = np.bincount([names.index(word) for word in drawn], minlength=len(names))
    assert p_value(counts, law / law.sum()) > FALSE_ALARM


def test_equal_texts_are_read_once_and_drawn_apart(masked, monkeypatch):
    rewriter = dp_mlm(masked, epsilon=15.0, bounds=BOUNDS)
    texts = ["red cat", "blue dog", "red cat"] * 1000
    seen = []
    each = type(rewriter)._logits
    monkeypatch.setattr(
        type(rewriter), "_logits", lambda self, jobs: seen.append(len(jobs)) or each(self, jobs)
    )
    drawn = rewriter.rewrite(texts, voile.seeded_rng(2))
    assert seen == [4]
    assert drawn.units == [2] * 3000
    names = rewriter.spellings
    for which, n in ((0, 0), (1, 1), (2, 1)):
        words = [text.split(" ")[n] for text in drawn.texts[which::3]]
        counts = np.bincount([names.index(word) for word in words], minlength=len(names))
        source = texts[which].split(" ")
        other = "cat" if n == 0 else source[0]
        pairs = [f"{name} {other}" if n == 0 else f"{other} {name}" for name in names]
        law = np.exp(rewriter.log_likelihood([texts[which]] * len(pairs), pairs))
        assert p_value(counts, law / law.sum()) > FALSE_ALARM
    first, third = drawn.texts[0::3], drawn.texts[2::3]
    assert sum(a == b for a, b in zip(first, third, strict=True)) < 900  # not one draw for both


def test_sound_leaves_nothing_in_clear_and_released_does(masked):
    """The planted leak is the published default: stop words and punctuation pass through."""
    text = "The red cat , and the dog !"
    rng = voile.seeded_rng(3)
    released = dp_mlm(masked, epsilon=0.01, bounds=BOUNDS, fidelity="as_released")
    outs = [released.rewrite([text], rng).texts[0].split() for _ in range(20)]
    assert all(out[3] == "," and out[4] == "and" and out[7] == "!" for out in outs)
    assert released.guarantee.basis == "claimed"
    assert any("stop words" in item for item in released.guarantee.outside)
    sound = dp_mlm(masked, epsilon=0.01, bounds=BOUNDS)
    found = sound.rewrite([text], rng)
    assert found.units == [8]
    assert not any(t in sound.spellings for t in masked.tokenizer.all_special_tokens)
    changed = [sound.rewrite([text], rng).texts[0].split(" ")[3] != "," for _ in range(40)]
    assert sum(changed) > 30
    assert sound.guarantee.basis == "proved"
    assert sound.guarantee.granularity == "one drawn word"


def test_plus_deletes_and_inserts(masked):
    rewriter = dp_mlm(masked, epsilon=10.0, bounds=BOUNDS, plus=True, max_words=20)
    text = " ".join(["red", "cat"] * 10)
    found = rewriter.rewrite([text] * 4, voile.seeded_rng(5))
    lengths = [len(t.split(" ")) for t in found.texts]
    assert len(set(lengths)) > 1
    assert found.units == lengths
    # 20 words: mean 20·0.95·1.15 ≈ 21.9, deviation below 3
    assert 14 < np.mean(lengths) < 30
    assert rewriter.text_guarantee.epsilon == 40 * rewriter.guarantee.epsilon <= 400
    with pytest.raises(InvalidInput, match="plus must be off"):
        rewriter.log_likelihood(["red"], ["cat"])


def test_long_and_empty_texts(masked):
    rewriter = dp_mlm(masked, epsilon=10.0, bounds=BOUNDS, max_words=5)
    found = rewriter.rewrite(["red " * 9, "", "cat"], voile.seeded_rng(1))
    assert found.cut == 1
    assert found.units == [5, 0, 1]
    assert found.texts[1] == ""
    impossible = rewriter.log_likelihood(["red cat", "red"], ["red", "no-such-word"])
    assert np.isneginf(impossible).all()


def test_needs_a_mask(masked, causal):
    bare = type(causal)(causal.model, type("T", (), {"mask_token_id": None})(), 8)
    with pytest.raises(InvalidInput, match="masked language model"):
        dp_mlm(bare, epsilon=1.0)


@pytest.mark.parametrize("law", ["mixture", "public"])
def test_laws_without_clipping_hold_for_all_pairs_of_texts(masked, public, law):
    """The public law reads the words released so far: its bound is that of the whole release."""
    rewriter = dp_mlm(masked, epsilon=3.0, law=law, max_words=2)
    names = rewriter.spellings
    releases = [" ".join(pair) for pair in itertools.product(names, repeat=2)]
    table = np.array([rewriter.log_likelihood([t] * len(releases), releases) for t in public[:6]])
    assert np.exp(table).sum(axis=1) == pytest.approx(np.ones(6), abs=1e-9)
    gaps = (table[:, None] - table[None]).max()
    assert 0.5 < gaps <= rewriter.text_guarantee.epsilon == 2 * rewriter.guarantee.epsilon <= 6.0
    drawn = rewriter.rewrite([public[1], public[7]] * 1500, voile.seeded_rng(2)).texts
    for which in (0, 1):
        counts = np.array([drawn[which::2].count(release) for release in releases])
        assert counts.sum() == 1500
        law_here = np.exp(table[1]) if which == 0 else None
        if law_here is not None:
            assert p_value(counts, law_here / law_here.sum()) > FALSE_ALARM


def test_a_public_law_that_reads_the_text_is_caught(masked, public, monkeypatch):
    """Planted: the words of the text stand where those released so far should."""
    rewriter = dp_mlm(masked, epsilon=0.5, law="public", max_words=2)
    names = rewriter.spellings
    releases = [" ".join(pair) for pair in itertools.product(names, repeat=2)]

    def gaps():
        rows = [rewriter.log_likelihood([t] * len(releases), releases) for t in public[:6]]
        return float((np.array(rows)[:, None] - np.array(rows)[None]).max())

    assert gaps() <= 1.0
    honest = type(rewriter)._beside
    monkeypatch.setattr(
        type(rewriter), "_beside", lambda self, jobs, unread: honest(self, jobs, jobs)
    )
    assert gaps() > 1.0


def test_the_public_law_takes_long_and_empty_texts_but_no_plus(masked):
    rewriter = dp_mlm(masked, epsilon=3.0, law="public", max_words=5)
    found = rewriter.rewrite(["red " * 9, "", "cat"], voile.seeded_rng(1))
    assert found.units == [5, 0, 1]
    assert found.cut == 1
    assert "how many words a text has" in rewriter.guarantee.outside
    with pytest.raises(InvalidInput, match="with plus"):
        dp_mlm(masked, epsilon=1.0, law="public", plus=True)
