"""Reading as a whole: against all sentences written out, and against the law that drew them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import voile
from voile.errors import CannotWrite, InvalidInput
from voile.mechanisms import santext_plus, word_exponential, word_truncated_exponential
from voile.mechanisms._embedding import Embedding
from voile.restoring import _windows, candidates
from voile.restoring.candidates import Candidates, Lists, normalisers
from voile.restoring.ngrams import fit_ngrams
from voile.restoring.reader import Observed, Reader

pytest.importorskip("numba")

WORDS, EDGE = 7, 7
"""Seven words, the last of them unread; then the edge of a text."""


def embedding(size: int = WORDS, seed: int = 3) -> Embedding:
    return Embedding.of(np.random.default_rng(seed).normal(size=(size, 3)))


def chain(seed: int = 4):
    rng = np.random.default_rng(seed)
    texts = [np.array([EDGE, *rng.integers(WORDS, size=6), EDGE]) for _ in range(30)]
    return fit_ngrams(texts, general=np.ones(WORDS + 1) / (WORDS + 1))


CASES = np.random.default_rng(5).dirichlet(np.ones(3), size=WORDS)


def reader(law=None, ngrams=None, **options) -> Reader:
    law = law or word_truncated_exponential(embedding(), epsilon=2.0)
    general = np.arange(1.0, WORDS + 1) / 28
    given = {"general": general, "case_shares": CASES, "edge": EDGE, "unread": WORDS - 1}
    return Reader([law], chain() if ngrams is None else ngrams, **(given | options))


def observed(*texts, known=None, cases=None) -> Observed:
    drawn = np.concatenate([np.array(text, dtype=np.int64) for text in texts])
    none = np.full(len(drawn), -1)
    return Observed(
        np.cumsum([len(text) for text in texts]),
        none if known is None else np.array(known),
        drawn,
        np.zeros(len(drawn), dtype=np.int64),
        none if cases is None else np.array(cases),
    )


def enumerated(law, ngrams, drawn, known, cases, *, triples: bool):
    """P(x_t = x | y) for all t and x, and P(y) under pairs, from every sentence there is."""
    kernel = np.exp(law.log_prob(np.arange(WORDS), np.arange(WORDS)))
    beliefs, total = np.zeros((len(drawn), WORDS + 1)), 0.0
    ranges = [range(WORDS) if k < 0 else (k,) for k in known]
    for sentence in product(*ranges):
        chance, path = 1.0, (EDGE, *sentence, EDGE)
        for t in range(1, len(path)):
            before = path[t - 2] if triples and t > 1 else None
            chance *= ngrams.following(path[t - 1], before=before)[path[t]]
        for t, x in enumerate(sentence):
            if known[t] < 0:
                chance *= kernel[x, drawn[t]] * (CASES[x, cases[t]] if cases[t] >= 0 else 1.0)
        total += chance
        for t, x in enumerate(sentence):
            beliefs[t, x] += chance
    return beliefs / total, total


@pytest.mark.parametrize("triples", [False, True])
def test_beliefs_are_those_of_all_sentences(triples: bool, monkeypatch) -> None:
    """Both passes on four places, one of them known, one with its case: to rounding."""
    from voile.restoring._passes import pair_beliefs
    from voile.restoring._triples import triple_beliefs

    law, ngrams = word_truncated_exponential(embedding(), epsilon=2.0), chain()
    drawn, known, cases = [1, 4, 0, 5], [-1, -1, 2, -1], [-1, 1, -1, 2]
    wanted, total = enumerated(law, ngrams, drawn, known, cases, triples=triples)
    kernel = np.exp(law.log_prob(np.arange(WORDS), np.arange(WORDS)))
    words = np.tile(np.arange(WORDS, dtype=np.int32), (4, 1))
    likely, widths = np.array([kernel[:, y] for y in drawn]), np.full(4, WORDS)
    for t, case in enumerate(cases):
        likely[t] *= CASES[:, case] if case >= 0 else 1.0
    words[2, 0], likely[2, 0], widths[2] = 2, 1.0, 1
    beliefs = np.zeros((4, WORDS))
    if triples:
        slots = np.full(WORDS + 1, -1, dtype=np.int32)
        triple_beliefs(words, likely, widths, EDGE, ngrams.chain, slots, beliefs)
    else:
        slots = np.full(WORDS + 1, -1, dtype=np.int32)
        hits, shares = np.empty((1, 2), dtype=np.int16), np.empty(1)  # they grow
        evidence, _, _ = pair_beliefs(
            words, likely, widths, EDGE, ngrams.chain, slots, 0.0, hits, shares, beliefs
        )  # fmt: skip
        last = sum(
            wanted_last * ngrams.following(x)[EDGE]
            for x, wanted_last in enumerate(_filtered(law, ngrams, drawn, known, cases))
        )
        assert np.exp(evidence) * last == pytest.approx(total)  # the last step is to the edge
    for t in (0, 1, 3):
        assert beliefs[t] == pytest.approx(wanted[t, :WORDS], abs=1e-12)


def test_equal_draws_of_one_word_are_one_variable() -> None:
    """Three places of one draw between known words: K counts once, each context for all three."""
    from voile.restoring._passes import pair_beliefs, tie

    law, ngrams = word_truncated_exponential(embedding(), epsilon=2.0), chain()
    kernel = np.exp(law.log_prob(np.arange(WORDS), np.arange(WORDS)))
    known, cases = [-1, 3, -1, 0, -1, 5, -1], [0, -1, 2, -1, 1, -1, -1]
    drawn, tied = [4, 0, 4, 0, 2, 0, 4], (0, 2, 6)
    wanted = np.zeros((7, WORDS))
    for x, z in product(range(WORDS), range(WORDS)):  # the tied word, and the other one
        sentence = [x, 3, x, 0, z, 5, x]
        path = (EDGE, *sentence, EDGE)
        chance = kernel[x, 4] * kernel[z, 2] * CASES[x, 0] * CASES[x, 2] * CASES[z, 1]
        for a, b in pairwise(path):
            chance *= ngrams.following(a)[b]
        for t, word in enumerate(sentence):
            wanted[t, word] += chance
    wanted /= wanted.sum(axis=1, keepdims=True)
    words = np.tile(np.arange(WORDS, dtype=np.int32), (7, 1))
    chances = np.ascontiguousarray(kernel.T)  # a list for each draw
    likely, widths = chances[drawn].copy(), np.full(7, WORDS)
    rows = np.array([-1 if k >= 0 else y for k, y in zip(known, drawn, strict=True)])
    for t, (word, case) in enumerate(zip(known, cases, strict=True)):
        if word >= 0:
            words[t, 0], likely[t, 0], widths[t] = word, 1.0, 1
        elif case >= 0:
            likely[t] *= CASES[:, case]
    slots, beliefs = np.full(WORDS + 1, -1, dtype=np.int32), np.zeros((7, WORDS))
    hits, shares = np.empty((99, 2), dtype=np.int16), np.empty(99)
    given = (widths, EDGE, ngrams.chain, slots, 0.0, hits, shares, beliefs)
    pair_beliefs(words, likely, *given)
    apart = beliefs.copy()
    assert tie(rows, chances, widths, likely, beliefs)
    pair_beliefs(words, likely, *given)
    for t in (*tied, 4):
        assert beliefs[t] == pytest.approx(wanted[t], abs=1e-12)
    assert abs(apart[0] - wanted[0]).max() > 0.05
    assert not tie(np.arange(7), chances, widths, likely, beliefs)


def _filtered(law, ngrams, drawn, known, cases):
    """P(x_L = x | y) before the text's end is known."""
    kernel = np.exp(law.log_prob(np.arange(WORDS), np.arange(WORDS)))
    belief = ngrams.following(EDGE)[:WORDS]
    for t in range(len(drawn)):
        if t:
            belief = sum(b * ngrams.following(x)[:WORDS] for x, b in enumerate(belief))
        if known[t] >= 0:
            belief = np.where(np.arange(WORDS) == known[t], belief, 0.0)
        else:
            belief = belief * kernel[:, drawn[t]]
            belief = belief * (CASES[:, cases[t]] if cases[t] >= 0 else 1.0)
        belief = belief / belief.sum()
    return belief


@pytest.mark.parametrize(
    ("long", "common", "often"), [(1, 512, 99), (99, 4, 1), (1, 4, 1), (1, 3, 5), (99, 512, 1)]
)
def test_lists_bits_and_dense_rows_say_the_same(long, common, often, monkeypatch) -> None:
    """How the pairs of a word are held decides about speed alone."""
    from voile.restoring import ngrams as module

    texts = observed([1, 4, 0, 5, 2, 2], [3], known=[-1, -1, 3, -1, -1, -1, -1])
    plain = [reader().read(texts, serving=serving) for serving in (False, True)]
    for name, value in {"_LONG": long, "_COMMON": common, "_OFTEN": often}.items():
        monkeypatch.setattr(module, name, value)
    tables = chain().chain
    assert bool(len(tables.bits)) == (long == 1 or often < 9)
    assert bool(len(tables.dense)) == (often < 9)
    for before, serving in zip(plain, (False, True), strict=True):
        after = reader().read(texts, serving=serving)
        assert np.array_equal(before.words, after.words)
        assert after.evidence == pytest.approx(before.evidence, rel=1e-12)


def test_likeliest_and_least_loss_are_chosen_from_the_beliefs() -> None:
    law, ngrams = word_exponential(embedding(), epsilon=1.0), chain()
    drawn = [1, 4, 0, 5]
    wanted, _ = enumerated(law, ngrams, drawn, [-1] * 4, [-1] * 4, triples=True)
    read = reader(law, ngrams).read(observed(drawn), serving=False).words
    assert read.tolist() == wanted[:, : WORDS - 1].argmax(axis=1).tolist()
    points = law.embedding.points / np.linalg.norm(law.embedding.points, axis=1)[:, None]
    losses = -(wanted[:, :WORDS] @ points) @ points.T
    losses[:, WORDS - 1] = np.inf
    least = reader(law, ngrams).read(observed(drawn), serving=True).words
    assert least.tolist() == losses.argmin(axis=1).tolist()


def test_with_pairs_alone_the_likeliest_word_is_that_of_all_sentences() -> None:
    """More candidates than are weighed again with triples: without triples, none is cut off."""
    size = 24
    edge, rng = size, np.random.default_rng(6)
    law = word_exponential(embedding(size), epsilon=0.3)
    seen = [np.array(pair) for pair in rng.integers(size + 1, size=(300, 2))]
    ngrams = fit_ngrams(seen, general=np.ones(size + 1) / (size + 1))
    assert len(ngrams.triple_columns) == 0
    kernel = np.exp(law.log_prob(np.arange(size), np.arange(size)))
    follows = np.array([ngrams.following(word) for word in range(size + 1)])
    edges = {"edge": edge, "unread": size - 1, "case_shares": np.ones((size, 3))}
    given = reader(law, ngrams, general=np.ones(size) / size, **edges)
    texts = rng.integers(size, size=(60, 2))
    wanted = []
    for one, two in texts:
        chances = follows[edge, :size, None] * follows[:size, :size] * follows[:size, edge]
        chances = chances * kernel[:, one, None] * kernel[:, two]
        wanted += [chances.sum(axis=axis)[: size - 1].argmax() for axis in (1, 0)]
    read = given.read(observed(*texts.tolist()), serving=False).words
    assert size > _windows.REFINED
    assert read.tolist() == wanted


def test_where_the_unknown_word_is_likeliest_a_draw_that_is_kept_often_stays() -> None:
    """At a large ε nothing but the unknown word can have been drawn as it: the draw is left."""
    unknown = WORDS - 1
    sharp, blunt = (word_exponential(embedding(), epsilon=e) for e in (40.0, 0.01))
    often = fit_ngrams([np.full(50, unknown)], general=np.ones(WORDS + 1) / (WORDS + 1))
    assert reader(sharp, often).read(observed([unknown]), serving=False).words.tolist() == [-1]
    assert reader(sharp, often).read(observed([unknown]), serving=True).words.tolist() == [-1]
    assert reader(blunt, often).read(observed([unknown]), serving=False).words[0] >= 0


def test_without_context_the_frequencies_decide() -> None:
    law = word_exponential(embedding(), epsilon=1.0)
    kernel = np.exp(law.log_prob(np.arange(WORDS), np.arange(WORDS)))
    general = np.arange(1.0, WORDS + 1) / 28
    best = (general[:, None] * kernel)[: WORDS - 1].argmax(axis=0)
    read = reader(law).read(observed(list(range(WORDS))), serving=False)
    assert read.plain.tolist() == best.tolist()
    summed = np.log((general[:, None] * kernel).sum(axis=0)).sum()
    assert read.evidence[0, 1] == pytest.approx(summed)


@pytest.mark.parametrize("make", [word_exponential, word_truncated_exponential])
def test_chances_are_the_law_and_what_is_left_out_is_bounded(make, monkeypatch) -> None:
    size = 60
    law = make(embedding(size), epsilon=3.0, neighbours=8)
    prior = np.random.default_rng(1).dirichlet(np.ones(size))
    monkeypatch.setattr(candidates, "COMMON", 12)
    lists = Lists(10)
    found = Candidates(law, prior, normalisers(law), lists)
    rows = found.rows(np.arange(size))
    kernel = np.exp(law.log_prob(np.arange(size), np.arange(size)))
    for y, row in enumerate(rows):
        width = lists.widths[row]
        chosen, chances = lists.words[row, :width], lists.chances[row, :width]
        assert len(set(chosen.tolist())) == width
        assert chances == pytest.approx(kernel[chosen, y], rel=1e-10)
        mass = prior * kernel[:, y]
        missed = 1 - mass[chosen].sum() / mass.sum()
        assert missed <= lists.left_out[row] + 1e-12
        looked_at = {*np.argsort(kernel[y], kind="stable")[-8:].tolist(), *chosen.tolist()}
        best = max(looked_at, key=lambda x: mass[x])
        assert best in chosen
    assert np.array_equal(found.rows(np.array([5, 2, 5])), rows[[5, 2, 5]])


def test_a_list_that_holds_every_word_leaves_nothing_out() -> None:
    law = word_exponential(embedding(), epsilon=1.0)
    lists = Lists(WORDS)
    Candidates(law, np.ones(WORDS) / WORDS, normalisers(law), lists).rows(np.arange(WORDS))
    assert lists.left_out[: lists.count] == pytest.approx(0, abs=1e-12)


def test_normalisers_are_kept_and_repaired(tmp_path, monkeypatch) -> None:
    law = word_truncated_exponential(embedding(70), epsilon=2.0)
    monkeypatch.setattr(candidates, "_BLOCK_ROWS", 16)
    exact = [float(1 / law.exact_row(word)[word]) for word in range(70)]
    first = normalisers(law, cache=tmp_path)
    assert first == pytest.approx(exact, rel=1e-12)
    (kept,) = tmp_path.glob("*.npy")
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(b"nonsense")
    assert np.array_equal(normalisers(law, cache=tmp_path), first)
    assert np.array_equal(normalisers(law, cache=tmp_path), first)
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite):
        normalisers(law, cache=tmp_path / "file")


def test_windows_of_a_long_text_hardly_show(monkeypatch) -> None:
    """Around the seam of two windows a long text is read as a shorter one that has none there."""
    drawn = np.random.default_rng(8).integers(WORDS, size=3000)
    seam = _windows.WINDOW
    read = reader().read(observed(drawn), serving=False).words
    around = reader().read(observed(drawn[seam - 450 : seam + 450]), serving=False).words
    assert np.array_equal(around[250:650], read[seam - 200 : seam + 200])


def test_texts_without_words_and_single_words() -> None:
    edge = reader()
    nothing = Observed(*(np.empty(0, dtype=np.int64) for _ in range(5)))
    assert len(edge.read(nothing, serving=False).words) == 0
    one = edge.read(observed([], [3], []), serving=True)
    assert one.words.shape == (1,)
    signs = observed([0, 0], known=[EDGE, EDGE])
    assert edge.read(signs, serving=False).words.tolist() == [-1, -1]


def test_a_law_that_cannot_release_every_word_is_refused() -> None:
    law = santext_plus(embedding(60), epsilon=2.0)
    with pytest.raises(InvalidInput, match="every word"):
        Candidates(law.law, np.ones(60), np.ones(60), Lists(4))


def test_reading_is_a_function_of_the_draws() -> None:
    law = word_truncated_exponential(embedding(), epsilon=2.0)
    drawn = law.release(np.arange(WORDS), voile.seeded_rng(1)).tolist()
    once, again = (reader(law).read(observed(drawn), serving=True) for _ in range(2))
    assert np.array_equal(once.words, again.words)
