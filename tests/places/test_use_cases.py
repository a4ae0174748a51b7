"""Places from Python: the same as the commands, tables in and out, and Ctrl-C."""

from __future__ import annotations

import csv
import json
import os
import pickle
import signal
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile.cli.app import rooms
from voile.core.randomness import seeded_rng
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.places import public_map as map_module
from voile.places.charts import loss_chart
from voile.places.design_report import _tables, design_notes
from voile.places.designs import places_design_from_record
from voile.progress import heard_by

app = rooms["places"]

pytest.importorskip("pyproj")
pytest.importorskip("numba")
BOX = (45.0, 5.0, 45.05, 5.06)
QUICK = {"box": BOX, "cells": (2, 3), "epsilon": 0.8, "bound": False}
RUNS = ("seconds", "bound_seconds", "resumed_parts", "output", "repeat", "saved")
"""What differs between two runs."""


@pytest.fixture(scope="module")
def design():
    return voile.places.design(method="laplace", **QUICK)


@pytest.fixture
def city(design, tmp_path):
    return voile.save(design, tmp_path / "city.voile")


@pytest.fixture
def trips(tmp_path):
    path = tmp_path / "trips.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["trip", "lat", "lon"])
        writer.writerows((i // 5, 45.0 + i / 1000, 5.01 + i / 2000) for i in range(40))
    return path


def shifted(trips, path):
    """Other people's trips: ten metres aside, under other names."""
    header, *rows = trips.read_text().splitlines()
    parted = (row.split(",") for row in rows)
    moved = (f"q{name},{float(lat) + 1e-4:.6f},{lon}" for name, lat, lon in parted)
    path.write_text("\n".join([header, *moved, ""]))
    return path


def command(*words):
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def alike(found, told):
    """The JSON of a result and what the command printed, but for how long they took."""
    one, other = ({k: v for k, v in d.items() if k not in RUNS} for d in (found.to_dict(), told))
    assert json.loads(json.dumps(one)) == other


# ── the command is the function ────────────────────────────────────────────────────────────────


def test_a_design_is_the_same_from_python_and_from_the_command_line(tmp_path):
    how = {"method": "bilinear", "metric": "l1", "bound_sweeps": 40, "sweep": (0.4,)}
    found = voile.places.design(box=BOX, cells="2x3", epsilon=0.8, **how)
    told = command(
        "design", "--box", ",".join(map(str, BOX)), "--cells", "2x3", "--epsilon", "0.8",
        "--method", "bilinear", "--metric", "l1", "--bound-sweeps", "40",
        "--sweep", "0.4", "--out", tmp_path / "d.voile",
    )  # fmt: skip
    alike(found, told)
    assert told["saved"] == str(tmp_path / "d.voile")
    assert [row["epsilon"] for row in told["sweep"]] == [0.4, 0.8]
    assert told["certificate"] <= 0.8


def test_a_release_an_audit_and_a_picture_are_too(city, trips, tmp_path):
    pytest.importorskip("vl_convert")
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    found = voile.places.protect(trips, mechanism=city, pass_=("trip",), seed=2, out=str(here))
    told = command(
        "protect", trips, "--mechanism", city, "--pass", "trip", "--seed", "2", "--out", there
    )
    alike(found, told)
    assert here.read_bytes() == there.read_bytes()
    beside = json.loads((tmp_path / "here.csv.guarantee.json").read_text())
    assert beside["guarantee"]["epsilon"] == 0.8
    assert beside["rows"]["released"] == 40
    public = shifted(trips, tmp_path / "public.csv")
    audited = voile.places.audit(
        city, against=(trips, here), trace="trip", public=public, places=20, seed=1
    )
    words = ("audit", city, "--against", trips, here, "--trace", "trip", "--places", "20",
             "--public", public)  # fmt: skip
    alike(audited, command(*words, "--seed", "1"))
    assert "--against trips.csv here.csv" in audited.report().provenance.command
    shown = voile.places.show(city, at=(45.01, 5.02), out=tmp_path / "a")
    told = command("show", city, "--at", "45.01,5.02", "--out", tmp_path / "a")
    alike(shown, told)
    assert (tmp_path / "a.html").exists()
    assert voile.places.show(city, at=(45.01, 5.02), out=None).png is None


def test_an_unknown_option_is_told_the_near_one():
    with pytest.raises(TypeError, match="did you mean bound_sweeps"):
        voile.places.design(epsilon=1.0, bound_sweep=3)


# ── what a design is ───────────────────────────────────────────────────────────────────────────


def test_a_design_prints_three_lines_and_shows_its_report(design, tmp_path):
    lines = repr(design).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 120
    assert lines[0] == "PlacesDesign: Laplace on a box of 4.7 × 5.6 km, straight lines"
    assert lines[1].startswith("ε = 0.8 per km, proved 0.8")
    assert "6 places can be reported" in lines[2]
    pytest.importorskip("vl_convert")
    assert "<iframe" in design._repr_html_()
    design.report(tmp_path / "page.html")
    assert "A mechanism for places" in (tmp_path / "page.html").read_text()
    assert "Whatever is reported is one of 6 places" in str(design)


def test_a_loaded_design_is_the_one_that_was_saved(design, tmp_path):
    kept = voile.load(voile.save(design, tmp_path / "one.voile"))
    again = voile.places.design(method="laplace", out=tmp_path / "two.voile", **QUICK)
    assert again.saved == str(tmp_path / "two.voile")
    for loaded in (kept, voile.load(tmp_path / "two.voile")):
        assert loaded.solved.loss == design.solved.loss
        assert loaded.guarantee == design.guarantee
        alike(loaded, json.loads(json.dumps(design.to_dict())))
        points = [(45.01, 5.02)] * 50
        drawn = [d.release(points, rng=seeded_rng(3)) for d in (loaded, design)]
        assert drawn[0] == drawn[1]


def test_a_loaded_design_tells_its_own_certificate_and_not_the_files(design, tmp_path):
    kind, meta, arrays = design.to_record()

    class Forged:
        def __init__(self, **facts):
            self.meta = meta | {"facts": meta["facts"] | facts}

        def to_record(self):
            return kind, self.meta, arrays

    forged = voile.load(voile.save(Forged(certificate=0.1, basis="certified"), tmp_path / "f"))
    assert forged.facts.basis == "proved"
    assert forged.facts.certificate == design.certificate()
    with pytest.raises(BadFile, match="words and numbers"):
        voile.load(voile.save(Forged(losses="none"), tmp_path / "g"))
    with pytest.raises(BadFile, match="words and numbers"):
        voile.load(voile.save(Forged(loss="nan"), tmp_path / "h"))
    with pytest.raises(BadFile, match="at least its lower bound"):
        voile.load(voile.save(Forged(loss=0.001, lower_bound=1.0), tmp_path / "i"))
    alike = voile.load(voile.save(Forged(loss=1.0, lower_bound=1.0 + 1e-9), tmp_path / "j"))
    assert alike.facts.gap == 0.0


def test_a_file_whose_map_cannot_be_is_refused(design):
    _, meta, arrays = design.to_record()
    prior, count = np.asarray(arrays["prior"]), len(arrays["places"])
    for name, wrong in (
        ("places", np.zeros((count, 3))),
        ("places", np.full((count, 2), np.inf)),
        ("prior", prior[:-1]),
        ("prior", 0.0 * prior),
        ("prior", np.where(np.arange(count) == 1, -1.0, prior)),
        ("prior", np.where(np.arange(count) == 1, np.nan, prior)),
        ("prior", np.where(np.arange(count) == 1, np.inf, prior)),
        ("streets", np.array([[0, count]])),
        ("streets", np.array([[-1, 0]])),
    ):
        with pytest.raises(BadFile, match=name):
            places_design_from_record(meta, {**arrays, name: wrong})


def test_bounds_of_a_design_are_said_as_bounds(design):
    """What none goes below is rounded down, what is at most so much is rounded up."""
    facts = replace(design.facts, loss=2.0, lower_bound=1.99996, stretch=1 + 0.00012101)
    said = " ".join(design_notes(facts))
    assert "goes below 1.999 km" in said
    assert "lengthens distances by 0.013 % at most" in said
    rows = dict(row[:2] for row in _tables(facts)[0].rows)
    assert rows["lower bound (km)"] == 1.999
    chart = loss_chart({"a": 2.0}, method="a", lower_bound=1.99996)
    assert "lower bound, 1.999." in chart.alt


def test_a_design_travels_without_its_call(design):
    assert design._call is not None
    again = pickle.loads(pickle.dumps(design))
    assert again._call is None
    assert again.guarantee == design.guarantee


def test_several_epsilons_are_several_designs(tmp_path):
    found = voile.places.design(
        **QUICK | {"epsilon": (0.4, 0.8)}, method="laplace", out=tmp_path / "town.voile"
    )
    assert [one.guarantee.epsilon for one in found.designs] == [0.4, 0.8]
    assert voile.load(tmp_path / "town-0.4.voile").guarantee.epsilon == 0.4
    assert "2 mechanisms" in repr(found)


# ── tables in, tables out ──────────────────────────────────────────────────────────────────────

ROWS = {"who": ["a", "b", "c"], "lat": [45.01, 45.02, 45.03], "lon": [5.01, 5.02, 5.03]}


def are_outputs(design, pairs):
    """Whether each pair is an output, to six digits as files have them or to a float32's."""
    outputs = np.column_stack(design.output_degrees)
    return all(np.abs(outputs - pair).max(axis=1).min() < 1e-5 for pair in np.asarray(pairs))


def test_pandas_frames_keep_their_index_and_types(design):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS).astype({"lat": "float32"})
    before = frame.copy()
    found = design.release(frame)
    assert list(found.columns) == ["lat", "lon"]  # nothing passes in clear by itself
    assert found.index.equals(frame.index)
    assert found.dtypes.to_dict() == {"lat": np.float32, "lon": np.float64}
    whole = design.release(frame, pass_="all")
    assert list(whole.columns) == list(frame.columns)
    assert whole["who"].tolist() == ROWS["who"]
    assert frame.equals(before)
    released = voile.places.protect(frame, mechanism=design, pass_=("who",))
    assert type(released.data) is pandas.DataFrame
    assert released.data.index.equals(frame.index)
    assert released.data.dtypes.to_dict() == frame.dtypes.to_dict()
    assert released.columns.passed_in_clear == ("who",)
    assert str(released).startswith("IN CLEAR: the column who")
    assert are_outputs(design, released.data[["lat", "lon"]].to_numpy(dtype=float))
    with pytest.raises(InvalidInput, match="got neither for"):
        voile.places.protect(frame, mechanism=design)


@pytest.mark.parametrize("keys", [[7, 3, 5], ["a", "b", "c"], [4930123456, 4930123457, 4930123458]])
def test_an_index_that_is_no_row_count_passes_only_by_name(design, keys):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({name: ROWS[name] for name in ("lat", "lon")}, index=keys)
    assert design.release(frame).index.tolist() == [0, 1, 2]
    assert design.release(frame, pass_="all").index.tolist() == keys
    assert design.release(frame, pass_=("index",)).index.tolist() == keys
    rows = pandas.DataFrame(ROWS).loc[[0, 2]]  # what a filter left
    assert design.release(rows).index.tolist() == [0, 2]


def test_polars_and_arrow_tables_stay_what_they_are(design):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = polars.DataFrame(ROWS, schema_overrides={"lon": polars.Float32})
    for made in (
        design.release(frame, pass_=("who",)),
        voile.places.protect(frame, mechanism=design, pass_="all").data,
    ):
        assert made.schema == frame.schema
        assert made["who"].to_list() == ROWS["who"]
    table = pyarrow.table(ROWS)
    for made in (
        design.release(table, pass_="all"),
        voile.places.protect(table, mechanism=design, pass_="all").data,
    ):
        assert made.schema == table.schema


def test_lists_and_arrays_of_pairs(design):
    pairs = list(zip(ROWS["lat"], ROWS["lon"], strict=True))
    for found in (design.release(pairs), voile.places.protect(pairs, mechanism=design).data):
        assert type(found) is list
        assert are_outputs(design, found)
    array = design.release(np.array(pairs))
    assert array.shape == (3, 2)
    assert array.dtype == float


@pytest.mark.parametrize("places", [[(45.0,)], [["x", "y"]], 7, [(45.0, float("nan"))]])
def test_what_are_no_places_is_refused_with_a_sentence(design, places):
    with pytest.raises(InvalidInput) as caught:
        design.release(places)
    assert "nan" not in str(caught.value)


def test_other_names_of_columns(design):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [45.01], "x": [5.02]})
    with pytest.raises(InvalidInput, match="got 'lat'"):
        design.release(frame)
    assert list(design.release(frame, lat="y", lon="x").columns) == ["y", "x"]


def test_an_audit_takes_tables_too(design):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    released = voile.places.protect(frame, mechanism=design, pass_="all").data
    found = voile.places.audit(design, against=(frame, released), places=20)
    assert found.files.rows == 3


# ── refused before anything is done ────────────────────────────────────────────────────────────


def test_an_output_that_exists_is_refused_before_anything_is_read(city, tmp_path, monkeypatch):
    def never(*given, **named):
        raise AssertionError("something was read")

    there = tmp_path / "there.voile"
    there.touch()
    monkeypatch.setattr("voile.places._design.public_map", never)
    for epsilon, out in ((0.8, there), ((0.8, 1.0), tmp_path / "more.voile")):
        (tmp_path / "more-1.voile").touch()
        with pytest.raises(CannotWrite, match="exists already"):
            voile.places.design(**QUICK | {"epsilon": epsilon}, out=out)
    assert map_module.public_map is not never
    monkeypatch.setattr("voile.places._protect.open_source", never)
    monkeypatch.setattr("voile.places.blurring.design_bytes", never)
    with pytest.raises(CannotWrite, match="exists already"):
        voile.places.protect(tmp_path / "none.csv", mechanism=city, out=str(there))


def test_what_is_in_memory_goes_to_no_file(design, tmp_path):
    with pytest.raises(InvalidInput, match="comes back as"):
        voile.places.protect([(45.0, 5.0)], mechanism=design, out=str(tmp_path / "o.csv"))


# ── Ctrl-C ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def hears_interrupts():
    """As from a terminal: a shell's background job ignores SIGINT, and so would what it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupting(at):
    """A listener that presses Ctrl-C once, at a step whose words begin like this."""
    left = [1]

    def hear(step):
        if left[0] and step.what.startswith(at) and (step.done or 0) > 0:
            left[0] -= 1
            os.kill(os.getpid(), signal.SIGINT)

    return hear


SOLVED = {"box": BOX, "cells": (2, 3), "epsilon": 0.8}


@pytest.mark.usefixtures("hears_interrupts")
@pytest.mark.parametrize(
    ("at", "method", "during"),
    [
        ("solving: (f)", "best", "solving"),
        ("solving: (e)", "bilinear", "solving"),
        ("lower bound", "bilinear", "the lower bound"),
    ],
)
def test_an_interrupt_keeps_the_best_so_far(at, method, during, tmp_path):
    out = tmp_path / "best.voile"
    with heard_by(interrupting(at)):
        found = voile.places.design(**SOLVED, method=method, bound_sweeps=60, out=out)
    assert found.solved.stopped == during
    assert found.certificate() <= 0.8
    assert found.facts.loss > 0
    assert f"Stopped by Ctrl-C during {during}" in str(found)
    assert voile.load(out).solved.stopped == during
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    whole = voile.places.design(**SOLVED, method=method, bound_sweeps=60)
    assert whole.solved.stopped == ""
    assert whole.facts.loss <= found.facts.loss * (1 + 1e-9)
    if during == "solving":
        assert found.facts.lower_bound is None
    else:  # some parts of a bound are a bound
        assert 0 < found.facts.lower_bound < whole.facts.lower_bound


@pytest.mark.usefixtures("hears_interrupts")
def test_a_second_interrupt_stops_and_so_does_one_before_there_is_anything():
    first = interrupting("solving")

    def twice(step):
        if signal.getsignal(signal.SIGINT).__self__.asked:
            os.kill(os.getpid(), signal.SIGINT)
        first(step)

    def only_then(step):
        if step.what.startswith(("solving", "coarse")):
            twice(step)

    with heard_by(only_then), pytest.raises(KeyboardInterrupt):
        voile.places.design(**SOLVED, bound=False)

    def at_once(step):
        if step.what == "reading the map":
            os.kill(os.getpid(), signal.SIGINT)

    with heard_by(at_once), pytest.raises(KeyboardInterrupt):
        voile.places.design(**SOLVED)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("hears_interrupts")
def test_an_interrupt_on_the_command_line_saves_the_best_so_far(tmp_path, monkeypatch):
    from voile.optimise import lower_bounds

    def pressed(*given, **named):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(lower_bounds._Dual, "ascend", pressed)
    told = command(
        "design", "--box", ",".join(map(str, BOX)), "--cells", "2x3", "--epsilon", "0.8",
        "--method", "laplace", "--bound-sweeps", "60", "--out",
        tmp_path / "d.voile",
    )  # fmt: skip
    assert told["stopped"] == "the lower bound"
    assert (tmp_path / "d.voile").exists()


def test_progress_has_stages_gaps_and_bounds():
    told = []
    with heard_by(told.append):
        made = voile.places.design(**SOLVED, bound_sweeps=60, against_aipo=True)
    words = [step.what for step in told]
    assert words[0] == "reading the map"
    for stage in ("Laplace + remap: loss", "solving: (f) smooth spline on", "coarse pass", "AIPO"):
        assert any(stage in what for what in words), stage
    assert any("gap" in step.what and step.total == 100 for step in told)
    bounds = [step for step in told if " so far" in step.what]
    assert [(step.done, step.total) for step in bounds] == [(0, 60), (20, 60), (40, 60)]
    assert all("gap" in step.what for step in bounds)
    (line,) = [step.what for step in told if step.stays]  # the design comes first
    assert f"loss {made.facts.loss:.4f} km" in line
    assert words.index(line) < min(i for i, what in enumerate(words) if "AIPO" in what)


def test_the_design_is_saved_before_it_is_compared(tmp_path, monkeypatch):
    """Whoever ends the process while the bound is computed has the certified design."""
    from voile.places import solve

    def dies(*given, **named):
        raise MemoryError

    monkeypatch.setattr(solve, "lower_bound", dies)
    out = tmp_path / "first.voile"
    with pytest.raises(MemoryError):
        voile.places.design(**SOLVED, method="laplace", out=out)
    kept = voile.load(out)
    assert kept.certificate() <= 0.8
    assert kept.facts.lower_bound is None
