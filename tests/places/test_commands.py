"""Design, protect, audit, show: from the command line on real files, and bad input."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile.cli.app import rooms
from voile.core.randomness import keyed_rng
from voile.errors import BadFile, GuaranteeBroken, InvalidInput
from voile.jobs import Batch, ColumnsInClear, open_source
from voile.places._protect import protect
from voile.places.city import synthetic_city
from voile.places.coordinates import DEGREES
from voile.places.designs import PlacesDesign
from voile.places.loading import load_design
from voile.places.outside import Outside
from voile.places.projection import Projection
from voile.places.releaser import PlacesReleaser, SavedDesign
from voile.progress import Step, heard_by
from voile.storage import load, save

app = rooms["places"]

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("places")


@pytest.fixture(scope="module")
def designed(folder):
    """A small design for the made-up city, saved."""
    told: list[Step] = []
    with heard_by(told.append):
        voile.places.design(
            cells="4x5", task_count=10, epsilon=0.5, method="spline", bound=False,
            against_aipo=True, out=folder / "city.voile",
        )  # fmt: skip
    assert "made-up city" in told[1].what
    assert any("gap" in step.what and step.total == 100 for step in told)
    return folder / "city.voile"


@pytest.fixture(scope="module")
def trips(folder):
    rng = np.random.default_rng(5)
    lat, lon = Projection(45.0, 5.0).to_degrees(rng.uniform((-9, -7), (9, 7), (600, 2)))
    path = folder / "trips.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["trip", "lat", "lon"])
        writer.writerows(
            (i // 10, f"{a:.6f}", f"{b:.6f}") for i, (a, b) in enumerate(zip(lat, lon, strict=True))
        )
    return path


def test_design_facts(designed):
    made = load(designed)
    assert isinstance(made, PlacesDesign)
    facts = made.facts
    assert facts.certificate <= 0.5
    assert 0 < facts.loss < facts.losses["AIPO"]
    assert set(made.to_dict()) >= {"method", "loss", "certificate", "lower_bound", "gap", "seconds"}


def test_design_by_command_prints_json(folder):
    done = runner.invoke(
        app,
        [
            "design",
            "--epsilon",
            "0.4",
            "--cells",
            "3x4",
            "--method",
            "bilinear",
            "--task-count",
            "8",
            "--json",
            "--out",
            str(folder / "small.voile"),
        ],
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["certificate"] <= 0.4
    assert 0 < facts["lower_bound"] < facts["loss"]
    assert facts["gap"] == pytest.approx(facts["loss"] / facts["lower_bound"] - 1)


def test_design_of_a_box_with_public_points_in_l1(folder):
    path = folder / "public.csv"
    path.write_text("lat,lon\n" + "48.86,2.35\n" * 20)
    done = runner.invoke(
        app,
        [
            "design",
            "--epsilon",
            "0.8",
            "--box",
            "48.8,2.25,48.92,2.43",
            "--cells",
            "4x4",
            "--metric",
            "l1",
            "--prior",
            str(path),
            "--method",
            "bilinear",
            "--no-bound",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "(certified)" in done.stdout
    assert "this design" in done.stdout


def test_protect_writes_only_outputs_and_says_what_is_in_clear(designed, trips, folder):
    found = protect(trips, mechanism=designed, out=folder / "out.csv", pass_=["trip"])
    assert found.rows.released == 600
    assert found.columns.passed_in_clear == ("trip",)
    assert found.randomness == "secure"
    assert "ε = 0.5 per km" in found.explanation[0]
    assert found.data == str(folder / "out.csv")
    made = load_design(designed)
    lat, lon = made.projection.to_degrees(np.asarray(made.mechanism.outputs))
    allowed = {(f"{a:.6f}", f"{b:.6f}") for a, b in zip(lat, lon, strict=True)}
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["lat"], row["lon"]) for row in rows} <= allowed
    assert [row["trip"] for row in rows] == [str(i // 10) for i in range(600)]
    assert json.loads((folder / "out.csv.guarantee.json").read_text())["rows"]["released"] == 600


def test_seeded_release_repeats_and_is_stamped(designed, trips, folder):
    one = runner.invoke(
        app,
        [
            "protect",
            str(trips),
            "--mechanism",
            str(designed),
            "--seed",
            "3",
            "--pass",
            "trip",
            "--out",
            str(folder / "a.csv"),
        ],
    )
    assert one.exit_code == 0
    assert "SEEDED: NOT FOR RELEASE." in one.stdout
    protect(trips, mechanism=designed, out=folder / "b.csv", seed=3, pass_="all")
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text()


def test_bad_rows_follow_the_policy(designed, folder):
    path = folder / "bad.csv"
    path.write_text("lat,lon\n45.0,5.0\nnowhere,5.0\n45.01,500\n")
    with pytest.raises(InvalidInput, match="line 3") as caught:
        protect(path, mechanism=designed, out=folder / "bad-out.csv")
    assert "nowhere" not in str(caught.value)
    assert not (folder / "bad-out.csv").exists()
    found = protect(path, mechanism=designed, out=folder / "bad-out.csv", on_error="skip")
    assert (found.rows.released, found.rows.skipped) == (1, 2)


def test_swapped_columns_and_another_city_are_refused(designed, trips, folder):
    with pytest.raises(InvalidInput, match="swapped"):
        protect(trips, mechanism=designed, out=folder / "s.csv", lat="lon", lon="lat", pass_="all")
    with pytest.raises(InvalidInput, match="got 'latitude'"):
        protect(trips, mechanism=designed, out=folder / "s.csv", lat="latitude")
    with pytest.raises(BadFile):
        protect(trips, mechanism=trips, out=folder / "s.csv")


def test_places_outside_are_counted(designed, folder):
    path = folder / "edge.csv"
    path.write_text("lat,lon\n" + "45.0,5.0\n" * 30 + "45.2,5.0\n")
    found = protect(path, mechanism=designed, out=folder / "edge-out.csv")
    assert found.places_outside_the_map == 1


def test_each_part_has_a_secure_key_of_its_own(designed):
    """One key gives one release, whoever draws it; another key another one."""
    known = ColumnsInClear(shown={"lat": "lat", "lon": "lon"})
    saved = SavedDesign(str(designed), designed.read_bytes())
    batch = Batch(0, [{"lat": "45.0", "lon": "5.0"}] * 200)

    def released(key):
        releaser = PlacesReleaser(saved, DEGREES, Outside.FEW, known)
        return releaser.draw(releaser.plan(batch), np.ones(200, dtype=bool), keyed_rng(key)).columns

    assert released(3) == released(3) != released(4)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_numbers_stay_numbers(designed, tmp_path, ending):
    """A file whose coordinates are numbers is released with numbers, in columns of their type."""
    rows = [{"id": i, "lat": 45.0 + i / 1e4, "lon": 5.0} for i in range(40)]
    path = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet as parquet

        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / f"out.{ending}"
    protect(path, mechanism=designed, out=out, batch_rows=15, pass_=("id",))
    released = [row for _, row in open_source(out).rows()]
    assert [row["id"] for row in released] == list(range(40))
    assert all(isinstance(row["lat"], float) and isinstance(row["lon"], float) for row in released)
    assert {(row["lat"], row["lon"]) for row in released} != {(r["lat"], r["lon"]) for r in rows}


def test_audit_of_a_design(designed):
    found = voile.places.audit(designed, places=200)
    verdicts = [str(f.verdict) for f in found.findings]
    assert verdicts[0] == "holds"
    assert "violated" not in verdicts
    attack = found.attack
    assert 0 < attack.with_prior <= attack.without_prior
    assert attack.with_prior <= attack.blind


def test_audit_against_files_and_traces(designed, trips, folder):
    protect(trips, mechanism=designed, out=folder / "rel.csv", seed=1, pass_="all")
    others = np.random.default_rng(6).uniform((44.95, 4.9), (45.05, 5.1), (300, 2))
    rows = "".join(f"{i // 10},{a:.6f},{b:.6f}\n" for i, (a, b) in enumerate(others))
    (folder / "others.csv").write_text("trip,lat,lon\n" + rows)
    done = runner.invoke(
        app,
        [
            "audit",
            str(designed),
            "--against",
            str(trips),
            str(folder / "rel.csv"),
            "--trace",
            "trip",
            "--public",
            str(folder / "others.csv"),
            "--side",
            "2km",
            "--places",
            "100",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "Forward–backward over" in done.stdout
    assert "reads whole traces" in done.stdout
    with pytest.raises(InvalidInput, match="--public must name"):
        voile.places.audit(designed, against=(trips, folder / "rel.csv"), trace="trip", places=10)
    with pytest.raises(InvalidInput, match="goes with --against"):
        voile.places.audit(designed, trace="trip", places=10)
    found = voile.places.audit(designed, against=(trips, folder / "rel.csv"), places=10).files
    assert found.rows == 600
    assert found.not_an_output == 0
    # The raw places in place of a release are found out.
    with pytest.raises(InvalidInput, match="not outputs"):
        voile.places.audit(designed, against=(trips, trips), places=10)


def test_audit_finds_a_law_that_is_not_the_certified_one(designed):
    """A liar: certified splines, but draws twice as sharp."""
    made = load_design(designed)

    class Sharp:
        guarantee, p = made.mechanism.guarantee, made.mechanism.p
        outputs, grid = made.mechanism.outputs, made.mechanism.grid
        resolution = made.mechanism.resolution

        def probabilities(self, places):
            table = made.mechanism.probabilities(places) ** 2
            return table / table.sum(axis=1, keepdims=True)

        def snap(self, places):
            return np.asarray(places)

    from voile.audit.map_ratios import random_blocks, random_ratio

    class Liar(PlacesDesign):
        box = made.box

    liar = Liar(Sharp(), made.projection, made.places, made.prior, made.streets, made.solved)
    blocks = random_blocks(100, seed=0)
    assert random_ratio([block(liar) for block in blocks])[0] > 0.5


def test_show_writes_a_picture_and_a_page(designed, folder):
    pytest.importorskip("vl_convert")
    done = runner.invoke(
        app, ["show", str(designed), "--at", "45.01,5.02", "--out", str(folder / "here")]
    )
    assert done.exit_code == 0, done.output
    assert (folder / "here.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "here.html").read_text()
    assert "A person stands at the cross" in page
    assert "ε = 0.5 per km" in page


def test_a_tampered_design_is_refused(designed, folder):
    made = load_design(designed)
    kind, meta, arrays = made.to_record()
    arrays["inner_coefficients"] = arrays["inner_coefficients"] * 1.0
    arrays["inner_coefficients"][0, 0] *= 3

    class Tampered:
        def to_record(self):
            return kind, meta, arrays

    save(Tampered(), folder / "tampered.voile")
    with pytest.raises(GuaranteeBroken):
        load(folder / "tampered.voile")


def test_comparison_lists_all_methods():
    found = voile.places.design(cells="3x4", task_count=6, epsilon=0.6, compare=True)
    rows = {row.method: row for row in found.methods}
    assert rows["best"].loss <= rows["Laplace + remap"].loss
    assert rows["(f) smooth spline"].loss < rows["AIPO"].loss
    assert rows["lower bound"].loss <= rows["best"].loss
    assert "loses least at ε = 0.6" in repr(found)
    private = [name for name in rows if "not private" not in name and "bound" not in name]
    assert all(rows[name].supremum <= 0.6 for name in private)


def test_a_comparison_that_is_stopped_keeps_what_there_is():
    """Each method is told when it is solved, and the one that is cut short is left out."""
    from voile.interrupts import Keeping, stopped_by
    from voile.progress import heard_by

    keeping, parts = Keeping(), []

    def hear(step):
        if step.part is not None:
            parts.append(step.part)
            keeping.asked = len(parts) == 3

    with heard_by(hear), stopped_by(keeping):
        found = voile.places.design(cells="3x4", task_count=6, epsilon=0.6, compare=True)
    assert found.methods == tuple(parts)
    assert len(parts) == 3
    assert found.stopped
    assert "stopped" in " ".join(found._report().notes)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "0"], "epsilon must be"),
        (["--epsilon", "-1"], "epsilon must be"),
        (["--epsilon", "5000"], "at most 100 per km"),
        (["--epsilon", "1", "--cells", "1x1"], "two cells"),
        (["--epsilon", "1", "--cells", "big"], "ROWSxCOLUMNS"),
        (["--epsilon", "1", "--task-count", "0"], "at least 1"),
        (["--epsilon", "1", "--box", "49,2,48"], "4 numbers"),
        (["--epsilon", "1", "--method", "magic"], "one of best"),
        (["--epsilon", "1", "--method", "smooth-spline"], "is now `spline`"),
        (["--epsilon", "1", "--box", "49,2,48,3"], "south < north"),
        (["--epsilon", "1", "--roads", "/nowhere.graphml"], "no file"),
    ],
)
def test_bad_arguments_give_one_clear_line(words, message):
    done = runner.invoke(app, ["design", *words])
    assert done.exit_code != 0
    assert message in str(done.exception)


def test_a_bad_choice_is_told_the_good_ones():
    done = runner.invoke(app, ["design", "--epsilon", "1", "--metric", "l7"])
    assert done.exit_code == 2
    assert "linf" in done.stderr
    with pytest.raises(InvalidInput, match="l2, l1 or linf"):
        voile.places.design(epsilon=1.0, metric="l7")


def test_city_coordinates_are_on_the_map():
    network, _ = synthetic_city(seed=0, columns=8, rows=6)
    lat, lon = network.projection.to_degrees(network.points)
    assert 44.9 < lat.mean() < 45.1
    assert 4.9 < lon.mean() < 5.1
