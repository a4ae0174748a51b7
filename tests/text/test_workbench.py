"""Previews, laws and curves before a release: what they show is what a release does."""

from dataclasses import replace

import numpy as np
import pytest

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.leakage.words import best_guess, kept_chances, kept_share
from voile.text.options import Names, Restoring, Words
from voile.text.pieces_shown import shown_texts
from voile.text.released import ReleasedText
from voile.text.workbench import open_bench

TEXTS = [
    "Dear Dr Smith, my HIV+ test is on Monday; write to ada@example.org or call (202) 555-0148.",
    "I don't know why the invoice of qxzzy was paid twice in Boston.",
    "",
    "Please cancel it. Thanks!",
]


@pytest.fixture(scope="module")
def bench():
    return open_bench([{"text": text} for text in TEXTS], "text", words=Words(top=2000))


def test_pieces_join_to_the_text_and_to_its_release(bench):
    protector = bench.at(4.0)
    shown = shown_texts(protector, TEXTS, seeded_rng(7))
    released = protector.release_texts(TEXTS, seeded_rng(7))
    for text, pieces, answer in zip(TEXTS, shown, released, strict=True):
        assert "".join(piece.before for piece in pieces.pieces) == text
        assert isinstance(answer, ReleasedText)
        after = "".join(piece.after for piece in pieces.pieces)
        assert after.replace(" ", "") == answer.text.replace(" ", "")


def test_a_piece_says_what_became_of_it(bench):
    first, *_ = shown_texts(bench.at(4.0), TEXTS, seeded_rng(7))
    fates = {piece.before: piece.fate for piece in first.pieces}
    assert fates["ada@example.org"] == fates["(202) 555-0148"] == "placeholder"
    for piece in first.pieces:
        if piece.fate == "kept":
            assert piece.after.lower() == piece.before.lower()
        if piece.fate in ("kept", "drawn"):
            assert piece.word >= 0
            assert piece.level == 0
        if piece.fate == "between":
            assert not any(map(str.isalnum, piece.before))
    assert "+" not in "".join(piece.after for piece in first.pieces), "signs at words are left out"


def test_what_stands_in_clear_is_said_to(bench):
    clear = open_bench(
        [{"text": TEXTS[1]}], "text", words=Words(top=2000, keep_stopwords=True, unknown="drop")
    )
    (shown,) = clear.preview(3.0)
    fates = {piece.before.strip(): piece.fate for piece in shown.pieces}
    assert fates["the"] == "clear"
    dropped = [piece for piece in shown.pieces if "qxzzy" in piece.before]
    assert [piece.fate for piece in dropped] == ["dropped"]
    assert "qxzzy" not in dropped[0].after


def test_a_preview_is_repeatable_and_another_seed_draws_anew(bench):
    assert bench.preview(2.0, seed=3) == bench.preview(2.0, seed=3)
    assert bench.preview(2.0, seed=3) != bench.preview(2.0, seed=4)


def test_the_law_of_a_word_is_the_law_it_is_drawn_by(bench):
    word = bench.vocabulary.positions["monday"]
    shown = bench.law(word, 0, 4.0)
    law = bench.at(4.0).laws[0]
    exact = np.exp(law.log_prob([word], np.arange(len(bench.vocabulary.embedding)))[0])
    assert shown.word == "monday"
    assert shown.kept == pytest.approx(exact[word], rel=1e-12)
    assert [p for _, p in shown.likeliest] == pytest.approx(np.sort(exact)[::-1][:8], rel=1e-12)
    assert 1 - 1e-9 <= exact.sum() <= 1 + 1e-9
    ordered = np.cumsum(np.sort(exact)[::-1])
    assert ordered[shown.nine_in_ten - 1] >= 0.9 > ordered[shown.nine_in_ten - 2]


def test_curves_are_the_exact_figures_at_each_strength(bench):
    curves = bench.curves()
    frequencies = bench.vocabulary.frequencies()
    watched = bench._watched()
    for place in (0, 12, 20, 32):
        law = bench.at(curves.epsilons[place]).laws[0]
        assert curves.kept[place] == pytest.approx(kept_share(law, frequencies), rel=1e-4)
        exact = float(kept_chances(law, watched).max())
        assert curves.watched[place] == pytest.approx(exact, rel=1e-4)
    assert all(a <= b + 1e-6 for a, b in zip(curves.kept, curves.kept[1:], strict=False))
    assert all(a >= b - 1e-6 for a, b in zip(curves.moved, curves.moved[1:], strict=False))
    epsilons, success = bench.reader()
    for place in (0, 6, 16):
        law = bench.at(epsilons[place]).laws[0]
        assert success[place] == pytest.approx(best_guess(law, frequencies)[0], rel=1e-4)


def test_meaning_lost_is_the_expected_distance_over_a_blind_draw(bench):
    """By the exact law of every word that stands for a share, in doubles."""
    from voile.leakage.words import representative_words

    curves, place = bench.curves(), 16
    law = bench.at(curves.epsilons[place]).laws[0]
    rows, counts = np.unique(
        representative_words(bench.vocabulary.frequencies(), 256), return_counts=True
    )
    every = np.arange(len(bench.vocabulary.embedding))
    distances = law.embedding.metric.pairwise(rows, every)
    chances = np.exp(law.log_prob(rows, every))
    expected = counts @ (chances * distances).sum(axis=1) / (counts @ distances.mean(axis=1))
    assert curves.moved[place] == pytest.approx(float(expected), rel=1e-4)


def test_the_weakest_level_is_what_curves_speak_of():
    plain = open_bench(TEXTS, "text", words=Words(top=500))
    listed = Names(tiers="pii", alpha=("0.5", "2"))
    pytest.importorskip("spacy")
    tiers = open_bench(TEXTS, "text", words=Words(top=500), names=listed)
    assert tiers.factor == 2.0
    assert tiers.curves().kept[0] > plain.curves().kept[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"column": "body"}, "one of text"),
        ({"mechanism": "madlib"}, "tem or"),
        (
            {"names": Names(pseudonyms=True), "restoring": Restoring(restore="reading")},
            "--restore must not go with --pseudonyms",
        ),
        (
            {"words": Words(remap=True), "restoring": Restoring(restore="reading")},
            "--restore must not go with --remap",
        ),
        ({"restoring": Restoring(public="none.txt")}, "--public must go with"),
    ],
)
def test_what_cannot_be_shown_is_refused(given, said):
    with pytest.raises(InvalidInput, match=said):
        open_bench([{"text": "a b"}], given.pop("column", "text"), **given)


def test_stand_ins_are_shown_where_their_names_stood(tmp_path):
    """The pieces join to the text and to what a release with the same seed says."""
    listed = tmp_path / "names.txt"
    listed.write_text("Ada Byron\nOslo\nSmith\n")
    texts = [
        "Dr Ada Byron of Oslo met Smith; Ada wrote to ada@example.org, then Byron called.",
        "Nothing here.",
        "Ask Smith's sister in Oslo.",
    ]
    names = Names(pseudonyms=True, pipeline=str(listed))
    bench = open_bench(texts, "text", words=Words(top=500), names=names)
    shown = bench.preview(4.0, seed=5)
    released = bench.at(4.0).release_texts(texts, seeded_rng(5))
    for text, pieces, answer in zip(texts, shown, released, strict=True):
        assert "".join(piece.before for piece in pieces.pieces) == text
        after = "".join(piece.after for piece in pieces.pieces)
        assert after.replace(" ", "") == answer.text.replace(" ", "")
    stood = [piece for piece in shown[0].pieces if piece.fate == "stand-in"]
    assert {"ada@example.org", "Oslo", "Smith"} <= {piece.before for piece in stood}
    assert not any(piece.after == piece.before for piece in stood)
    assert all(piece.word < 0 for piece in stood)


def test_a_remap_follows_the_draws_and_costs_them_nothing():
    bench = open_bench(TEXTS, "text", words=Words(top=500, remap=True))
    plain = open_bench(TEXTS, "text", words=Words(top=500))
    assert bench.preview(4.0, seed=5) == plain.preview(4.0, seed=5), "while the strength is open"
    shown = bench.preview(4.0, seed=5, remap=True)
    targets = bench.remapped(4.0).laws[0].targets
    place = bench.vocabulary.positions
    for before, after in zip(plain.preview(4.0, seed=5), shown, strict=True):
        for one, other in zip(before.pieces, after.pieces, strict=True):
            if one.word >= 0 and one.after.lower() in place:
                assert place[other.after.lower()] == targets[place[one.after.lower()]]
    assert bench.figures(4.0) == plain.figures(4.0)


def test_stop_words_in_clear_count_as_kept_and_as_named(bench):
    listed = [{"text": text} for text in TEXTS]
    clear = open_bench(listed, "text", words=Words(top=2000, keep_stopwords=True))
    share = clear.clear_share
    assert 0.2 < share < 0.9
    assert bench.clear_share == 0
    plain, found = bench.figures(2.0, reader=True), clear.figures(2.0, reader=True)
    assert plain.kept < share < found.kept
    assert plain.named < share < found.named < 1
    assert found.worst == plain.worst, "no watched word is a stop word"
    curves = clear.curves()
    exact = clear.figures(curves.epsilons[20], reader=True)
    assert curves.kept[20] == pytest.approx(exact.kept, rel=1e-4)
    assert clear.reader()[1][10] == pytest.approx(exact.named, rel=1e-4)


def test_a_watched_stop_word_in_clear_is_kept_always():
    clear = open_bench(TEXTS, "text", words=Words(top=500, keep_stopwords=True))
    clear = replace(clear, settings=replace(clear.settings, watch=("the",)))
    figures = clear.figures(2.0)
    assert (figures.worst, figures.worst_word) == (1.0, "the")
    assert set(clear.curves().watched) == {1.0}
