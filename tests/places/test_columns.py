"""Columns beside places: each is passed or dropped by name, and what passes is said first."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

import voile
from voile.cli.app import rooms
from voile.errors import InvalidInput

app = rooms["places"]

pytest.importorskip("pyproj")
runner = CliRunner()
HEAD = ("email", "pickup", "lat", "lon", "stop")
MAIL = "ada@example.org"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("columns")
    voile.places.design(
        box=(45.0, 5.0, 45.05, 5.05), cells="2x3", epsilon=1.0, method="laplace", bound=False,
        out=made / "town.voile",
    )  # fmt: skip
    with (made / "trips.csv").open("w", newline="") as file:
        csv.writer(file).writerow(HEAD)
        csv.writer(file).writerows(
            (MAIL, f"2024-05-01 08:{i:02d}", 45.0 + i / 1000, 5.02, i % 3) for i in range(40)
        )
    return made


def protect(folder, *words):
    command = ["protect", str(folder / "trips.csv"), "--mechanism", str(folder / "town.voile")]
    return runner.invoke(app, [*command, "--out", str(folder / "out.csv"), "--overwrite", *words])


def test_nothing_is_released_until_every_column_is_named(folder):
    done = protect(folder)
    assert isinstance(done.exception, InvalidInput)
    said = str(done.exception)
    assert "email (looks like e-mail addresses), pickup" in said
    assert MAIL not in said
    assert not (folder / "out.csv").exists()
    with pytest.raises(InvalidInput, match="got neither for"):
        voile.places.protect(
            folder / "trips.csv", mechanism=folder / "town.voile", out=folder / "out.csv"
        )
    done = protect(folder, "--pass", "lat", "--drop", "email,pickup,stop")
    assert "it is what is protected" in str(done.exception)


def test_what_passes_is_said_first_recorded_and_never_green(folder):
    page = folder / "page.html"
    done = protect(folder, "--pass", "pickup,stop", "--drop", "email", "--report", str(page))
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("IN CLEAR: the columns pickup")
    assert lines[1].startswith("Times IN CLEAR (pickup) narrow places down")
    assert "Left out: the columns email" in lines
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["pickup", "lat", "lon", "stop"]
    assert MAIL not in (folder / "out.csv").read_text()
    saved = json.loads((folder / "out.csv.guarantee.json").read_text())
    assert saved["columns"]["passed_in_clear"] == ["pickup", "stop"]
    assert saved["columns"]["dropped"] == ["email"]
    assert saved["times_in_clear"] == ["pickup"]
    assert not saved["columns"]["passed_all"]
    shown = page.read_text()
    assert "IN CLEAR: the columns pickup" in shown
    assert "Times IN CLEAR (pickup)" in shown
    assert 'class="verdict open"' in shown
    assert 'class="verdict holds"' not in shown


def test_all_may_pass_and_that_is_recorded(folder):
    done = protect(folder, "--pass", "all")
    assert done.exit_code == 0, done.output
    assert "email (looks like e-mail addresses)" in done.stdout.splitlines()[0]
    saved = json.loads((folder / "out.csv.guarantee.json").read_text())
    assert saved["columns"]["passed_all"]
    assert saved["columns"]["looks_like_identifiers"]["email"] == "e-mail addresses"


def test_without_other_columns_nothing_is_said_and_it_holds(folder):
    page = folder / "page.html"
    done = protect(folder, "--drop", "email,pickup,stop", "--report", str(page))
    assert done.exit_code == 0, done.output
    assert "IN CLEAR" not in done.stdout
    assert "Times IN CLEAR" not in done.stdout
    assert 'class="verdict holds"' in page.read_text()


def test_a_field_that_only_later_records_have_is_a_bad_row(folder):
    """JSON lets a record have a field of its own, which nobody named."""
    path = folder / "trips.jsonl"
    rows = [{"lat": 45.02, "lon": 5.02} for _ in range(1200)]
    rows[1100]["name"] = "Ada"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InvalidInput, match="line 1101") as caught:
        voile.places.protect(path, mechanism=folder / "town.voile", out=folder / "out.jsonl")
    assert "Ada" not in str(caught.value)
    assert not (folder / "out.jsonl").exists()
