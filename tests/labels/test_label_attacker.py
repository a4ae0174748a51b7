"""An attacker who reads codes, dates and text as an analyst would, and cheats nowhere."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

pytest.importorskip("sklearn")

import voile
from voile.attackers import label_reading
from voile.attackers.label_beliefs import cross_fit
from voile.attackers.label_dates import dates_of, parts_of
from voile.attackers.label_reading import Kind, read_as
from voile.audit.finding import Verdict
from voile.audit.label_classes import alarms, area, class_leakage
from voile.core.randomness import seeded_rng

RECORDS = 3000


def flipped(labels: np.ndarray, truth: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(labels)) < truth, labels, 1 - labels)


def written(path: Path, **columns: np.ndarray) -> Path:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return path


def codes_that_decide(rng: np.random.Generator, truth: float = 0.952):
    """300 codes, each with its label, which a record has with this probability."""
    codes = rng.integers(300, size=RECORDS)
    return codes, flipped(rng.integers(2, size=300)[codes], truth, rng)


def notes_that_tell(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every note is its own, and two words of each tell the label."""
    names = rng.choice(["Anna", "Bert", "Carl", "Dora"], size=len(labels)).tolist()
    days = rng.integers(10_000, size=len(labels)).tolist()
    found = np.where(labels == 1, "malignant", "benign").tolist()
    return np.array(
        [f"{n} seen on day {d}; biopsy was {w}" for n, d, w in zip(names, days, found, strict=True)]
    )


def test_codes_that_decide_the_label_are_read(tmp_path):
    """300 codes, truth 0.952: an attacker with 31 categories and the rest as others saw 0.574."""
    rng = seeded_rng(1)
    codes, labels = codes_that_decide(rng)
    names = np.array([f"K{code:04d}" for code in codes])
    path = written(tmp_path / "codes.csv", code=names, other=rng.normal(size=RECORDS), y=labels)
    found = voile.labels.audit(path, label="y", epsilon=(0.1,))
    assert found.epsilons[0].features_alone > 0.93
    assert found.verdict is Verdict.VIOLATED
    first = found.features[0]
    assert (first.name, first.read) == ("code", "300 codes")


def test_codes_that_are_numbers_are_read_as_codes_too():
    rng = seeded_rng(2)
    codes, labels = codes_that_decide(rng)
    column = 1000.0 + 37 * codes
    assert str(read_as(column)) == "a number and as 300 codes"
    beliefs = cross_fit([column], labels, classes=2, rng=rng, folds=3)
    assert (beliefs.posteriors.argmax(axis=1) == labels).mean() > 0.93


def test_a_note_that_tells_the_label_is_read_and_nobody_is_told_to_drop_it(tmp_path):
    """Truth 1.000; read as names nearly unique to each record it gave 0.510 and "open"."""
    rng = seeded_rng(3)
    labels = rng.integers(2, size=1500)
    notes = notes_that_tell(labels, rng)
    path = written(tmp_path / "notes.csv", note=notes, other=rng.normal(size=1500), y=labels)
    found = voile.labels.audit(path, label="y", epsilon=(0.1,))
    assert found.epsilons[0].features_alone > 0.99
    assert found.verdict is Verdict.VIOLATED
    assert found.features[0].read == "words of free text"
    told = " ".join(found.notes)
    assert "'note' is nearly unique to each record: it was read as words of free text" in told
    assert "drop" not in str(found.report())


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%Y%m%d"])
def test_a_date_that_tells_the_label_is_read(form):
    """A week-end or not, truth 0.966: as names, each seen about once, it gave 0.535."""
    rng = seeded_rng(4)
    days = np.datetime64("2012-01-01") + rng.integers(3650, size=RECORDS)
    weekend = ((days.astype("int64") + 3) % 7 >= 5).astype(np.intp)
    labels = flipped(weekend, 0.966, rng)
    column = np.array([day.strftime(form) for day in days.astype(object)])
    if form == "%Y%m%d":
        column = column.astype(float)  # as the reader of files sees it
    assert read_as(column).kind is Kind.DATE
    beliefs = cross_fit([column], labels, classes=2, rng=rng, folds=3)
    assert (beliefs.posteriors.argmax(axis=1) == labels).mean() > 0.95


def test_dates_and_their_parts():
    found = dates_of(np.array(["2024-02-29", "2023-12-31T18:30:00", "gone"] + ["2024-01-01"] * 97))
    assert found is not None
    assert np.isnan(found[2])
    year, month, day, week, nth, hour = parts_of(found)[1, 1:]
    assert (year, month, day, week, nth, hour) == (2023, 12, 31, 6, 365, 18)
    assert parts_of(found)[0, 1:6].tolist() == [2024, 2, 29, 3, 60]
    assert np.isnan(parts_of(found)[2]).all()
    for no_dates in (["C50.9", "E11.2"], ["12", "7"], ["anna", "bert"], ["2024-01-01", "x", "y"]):
        assert dates_of(np.array(no_dates)) is None


def test_a_spelling_tells_where_each_code_is_its_own():
    """Every code occurs once; its first letter tells."""
    rng = seeded_rng(5)
    labels = rng.integers(2, size=1200)
    first = np.where(labels == 1, "C", "E").tolist()
    column = np.array([f"{a}{i:05d}" for a, i in zip(first, rng.permutation(1200), strict=True)])
    assert read_as(column).kind is Kind.CODES
    beliefs = cross_fit([column], labels, classes=2, rng=rng, folds=3)
    assert (beliefs.posteriors.argmax(axis=1) == labels).mean() > 0.98


def innocent(rng: np.random.Generator):
    """Codes, notes and dates that have nothing to do with the label."""
    labels = rng.integers(2, size=1200)
    codes = np.array([f"K{code}" for code in rng.integers(300, size=1200)])
    notes = notes_that_tell(rng.integers(2, size=1200), rng)
    days = (np.datetime64("2012-01-01") + rng.integers(3650, size=1200)).astype(str)
    return [codes, notes, days], labels


def seen_in_the_innocent() -> float:
    features, labels = innocent(seeded_rng(6))
    beliefs = cross_fit(features, labels, classes=2, rng=seeded_rng(7), folds=3)
    return float((beliefs.posteriors.argmax(axis=1) == labels).mean())


MOST = binom.isf(1e-9, 1200, 0.5) / 1200


def test_what_says_nothing_shows_nothing():
    assert seen_in_the_innocent() < MOST


def test_an_encoding_that_saw_the_counted_labels_is_caught(monkeypatch):
    """The planted bug: means of the label by code are taken over all records, the counted too."""
    features, labels = innocent(seeded_rng(6))
    everything = {str(code): labels[features[0] == code].mean() for code in np.unique(features[0])}

    def cheating(values, labels, seed):
        def encode(others):
            table = np.array([[everything.get(str(value), 0.5)] for value in others])
            return table, table

        return encode(values), encode

    monkeypatch.setitem(label_reading._WAYS, Kind.CODES, cheating)
    assert seen_in_the_innocent() > MOST


def test_means_by_code_never_see_the_records_own_label(monkeypatch):
    """Codes that occur twice: a mean with the own label would tell it in the fitted records."""
    rng = seeded_rng(8)
    codes = np.repeat([f"K{i}" for i in range(300)], 2)
    labels = rng.integers(2, size=600)
    (_, dense), _ = label_reading._coded(codes, labels, 0)
    assert abs(np.corrcoef(dense[:, 0], labels)[0, 1]) < 0.3
    everything = [(np.arange(600), np.arange(600))]
    monkeypatch.setattr(label_reading, "_folds", lambda labels, seed: everything)
    (_, dense), _ = label_reading._coded(codes, labels, 0)
    assert np.corrcoef(dense[:, 0], labels)[0, 1] > 0.6


# ── rare classes ───────────────────────────────────────────────────────────────────────────────


def test_a_rare_class_is_picked_out_at_few_false_alarms():
    rng = seeded_rng(9)
    labels = (rng.random(20_000) < 0.02).astype(np.intp)
    score = np.where(labels == 1, rng.random(20_000) < 0.5, False) * 0.9 + 0.05 * rng.random(20_000)
    folds = rng.integers(5, size=20_000)
    rare = class_leakage(np.column_stack([1 - score, score]), labels, folds)[1]
    for found, alarm, rate in (
        (rare.found_1, rare.alarms_1, 0.01), (rare.found_01, rare.alarms_01, 0.001)
    ):  # fmt: skip
        assert found.lower <= 0.5 + 0.5 * rate  # half are beyond all others
        assert found.upper >= 0.5
        assert alarm.upper > rate / 3
        assert alarm.lower < 1.5 * rate
    assert rare.lift == pytest.approx(0.5 / (0.02 * 0.5 + 0.98 * 0.01), rel=0.3)
    assert rare.number == 2


def test_alarms_are_set_by_other_folds():
    """Scores that are higher in one fold raise alarms there: its own others did not set them."""
    score = np.concatenate([np.arange(100.0), 1000 + np.arange(100.0)])
    member = np.zeros(200, dtype=np.bool_)
    folds = np.repeat([0, 1], 100)
    raised = alarms(score, member, folds, 0.01)
    assert not raised[:100].any()
    assert raised[100:].all()


def test_a_value_that_a_fold_scores_a_little_higher_raises_no_alarms_there():
    """Three values that many have, scored anew in each fold, and one that members alone have."""
    folds = np.repeat(np.arange(5), 100)
    value = np.tile(np.repeat([0.2, 0.3, 0.4, 0.95], [30, 30, 35, 5]), 5)
    score = value + 0.001 * folds
    member = value == 0.95
    for rate in (0.01, 0.001):
        assert (alarms(score, member, folds, rate) == member).all()


def test_area_is_the_chance_of_the_right_order():
    score = np.array([0.1, 0.4, 0.4, 0.8])
    member = np.array([False, False, True, True])
    assert area(score, member) == (1 + 0.5 + 1 + 1) / 4
    assert area(score, np.ones(4, dtype=np.bool_)) == 0.5


# ── a real file ────────────────────────────────────────────────────────────────────────────────


def test_the_most_telling_feature_of_adult_is_ranked_first(tmp_path, shared_data):
    """Relationship, c8; by accuracy alone it was ranked tenth."""
    named = tmp_path / "adult.csv"
    lines = (shared_data / "adult" / "adult.data").read_text().splitlines(keepends=True)
    named.write_text("".join(lines[:4000]))
    reading = {"header": False, "on_error": "mask", "drop": ("c3", "c13", "c14")}
    found = voile.labels.audit(named, label="c15", epsilon=(1.0,), **reading)
    assert {share.name for share in found.features[:2]} == {"c8", "c6"}  # and marital status
    assert found.auc > 0.9
    assert found.nats > 0.2
    assert any("not attacked, because you left them out: c3" in note for note in found.notes)
