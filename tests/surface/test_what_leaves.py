"""What a call from Python leaves behind: in pages, commands, pickles and claims."""

import pickle
import stat
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")
pytest.importorskip("pandas")

import pandas

from voile import text
from voile.core.guarantee import Basis
from voile.errors import InvalidInput
from voile.mechanisms import word_exponential
from voile.report.provenance import spelled
from voile.text.reading import texts_of, values_of

SECRET = "Ann Secretname"
WORDS = ["ann", "has", "hiv", "the", "cat", "sat"]


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in 2 * rng.normal(size=4)) for w in WORDS]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    return {"epsilon": 2.0, "vocabulary": "words.txt"}


def test_a_page_about_data_in_memory_is_its_owners_alone(asked, tmp_path):
    pytest.importorskip("altair", reason="the report extra is not installed")
    done = text.protect([f"{SECRET} has HIV"], **asked, preview=1)
    done.report("with.html")
    assert SECRET in (tmp_path / "with.html").read_text()
    assert stat.S_IMODE((tmp_path / "with.html").stat().st_mode) == 0o600
    assert SECRET not in pickle.dumps(done).decode("latin-1")
    without = text.protect([f"{SECRET} has HIV"], **asked)
    without.report("without.html")
    told = (tmp_path / "without.html").read_text() + repr(without) + str(without)
    assert SECRET not in told + str(without.to_dict()) + without._repr_html_()


def test_the_name_of_a_series_stands_in_no_command(asked):
    texts = ["the cat sat", "ann has hiv"] * 40
    label = pandas.Series(["a", "b"] * 40, name=SECRET)
    found = text.utility(texts, texts, label=label, encoder=False)
    assert SECRET not in spelled(found._call)


def test_scalars_of_numpy_are_numbers_in_the_command(asked):
    done = text.protect(["the cat"], **{**asked, "epsilon": np.float32(3)}, seed=np.int64(4))
    assert done.repeat.startswith("voile text protect <list> --epsilon 3 ")
    assert done.repeat.endswith("--seed 4")


def test_an_index_of_large_numbers_is_a_column_to_be_named(asked):
    frame = pandas.DataFrame({"text": ["the cat", "ann sat"]}, index=[4915112345678, 4915187654321])
    with pytest.raises(InvalidInput, match="got neither for index"):
        text.protect(frame, **asked)
    dropped = text.protect(frame, **asked, drop="index").data
    assert list(dropped.index) == [0, 1]


class Liar:
    """An identity that copies an honest guarantee."""

    def __init__(self, space, epsilon, answer):
        self.guarantee = replace(
            word_exponential(space, epsilon=epsilon).guarantee, basis=Basis.PROVED
        )
        self.answer = answer

    def release(self, secrets, rng):
        return self.answer(secrets)


def law(answer):
    def mine(space, *, epsilon):
        return Liar(space, epsilon, answer)

    return mine


def test_a_law_of_your_own_is_claimed_whatever_it_says(asked):
    done = text.protect(["the cat sat"], **asked, mechanism=law(list))
    assert done.data == ["the cat sat"]
    assert done.guarantee.basis is Basis.CLAIMED
    assert "(per unit, claimed)" in str(done)
    assert "✓" not in str(done)
    assert any("of your own" in item for item in done.guarantee.outside)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (law(lambda secrets: ["a"] * len(secrets)), "must release one of"),
        (law(lambda secrets: [0]), "must release one of"),
        (law(lambda secrets: [10**6] * len(secrets)), "must release one of"),
        (law(lambda secrets: 1 / 0), "failed with ZeroDivisionError"),
        (lambda space, *, epsilon: None, "must return a mechanism"),
        (lambda space: None, r"a function \(space, \*, epsilon\) .* it takes \(space\);"),
        (lambda text, epsilon, rng: text, r"takes \(text, epsilon, rng\); .* text compare"),
        (lambda text, epsilon: text.upper(), r"takes \(text, epsilon\); .* text compare"),
        (lambda space, *, epsilon, **more: 1 / 0, "failed with ZeroDivisionError"),
    ],
)
def test_a_law_that_does_not_answer_is_one_clear_line(asked, mechanism, said):
    with pytest.raises(InvalidInput, match=said):
        text.protect(["the cat sat"], **asked, mechanism=mechanism)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"seed": -3}, "seed must be"),
        ({"seed": True}, "--seed must be a whole number"),
        ({"preview": -1}, "--preview must be >= 0"),
        ({"keep_stopwords": "no"}, "--keep-stopwords must be true or false"),
        ({"dry_run": "false"}, "--dry-run must be true or false"),
        ({"drop": None}, "--drop must be names"),
        ({"out": "x.csv"}, "comes back as .data"),
    ],
)
def test_an_odd_value_is_refused_before_anything_is_done(asked, option, said, tmp_path):
    with pytest.raises(InvalidInput, match=said):
        text.protect(["the cat sat"], **asked, **option)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["words.txt"]


def test_one_name_is_one_column_and_not_its_letters(asked):
    frame = pandas.DataFrame({"text": ["the cat"], "a": [1], "b": [2], "ab": [3]})
    with pytest.raises(InvalidInput, match="got neither for column 2, column 3"):
        text.protect(frame, **asked, pass_="ab")


def test_no_tick_stands_above_an_index_of_keys(asked):
    frame = pandas.DataFrame({"text": ["the cat", "ann sat", "the ann"]}, index=[3, 1007, 88213])
    done = text.protect(frame, **asked)
    assert list(done.data.index) == [3, 1007, 88213]
    assert done.columns.passed_in_clear == ("the index",)
    assert "IN CLEAR: the index." in str(done)
    assert "✓" not in str(done)
    assert "✓" in str(text.protect(frame, **asked, drop="index"))
    with pytest.raises(InvalidInput, match="got neither for index"):
        text.protect(frame[::-1], **asked)


def test_of_a_series_only_its_index_is_asked_about(asked):
    notes = pandas.Series(["the cat sat", "ann has hiv"], index=["x", "y"], name="my note")
    with pytest.raises(InvalidInput, match="got neither for index;"):
        text.protect(notes, **asked)
    released = text.protect(notes, **asked, drop="index").data
    assert (released.name, list(released.index)) == ("my note", [0, 1])
    assert list(text.protect(notes, **asked, pass_="index").data.index) == ["x", "y"]


def test_texts_and_labels_in_a_series_are_its_values_and_not_its_index(asked):
    keys = [f"key {number}" for number in range(80)]
    texts = pandas.Series(["the cat sat", "ann has hiv"] * 40, index=keys, name="note")
    assert texts_of(texts) == list(texts)
    assert values_of(texts, texts, "label", rows=80) == list(texts)


def test_a_series_is_its_own_column_whatever_its_name(asked):
    notes = pandas.Series(["the cat sat", "ann has hiv"], name="my note")
    released = text.protect(notes, **asked).data
    assert (released.name, len(released)) == ("my note", 2)


def test_a_released_series_is_read_back_beside_its_index(asked, tmp_path):
    """An index of names is no second column to choose from: whoever reads texts reads these."""
    keys = [f"key {number}" for number in range(80)]
    notes = pandas.Series(["the cat sat", "ann has hiv"] * 40, index=keys, name="note")
    done = text.protect(notes, **asked, pass_="index")
    given = {"guarantee": done, "vocabulary": "words.txt"}
    (tmp_path / "public.txt").write_text("the cat has sat\nann sat\n" * 40)
    assert list(text.restore(done.data, public="public.txt", **given).data.index) == keys
    assert text.estimate(done.data, **given).texts == 80
