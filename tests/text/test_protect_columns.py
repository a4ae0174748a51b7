"""`text protect` and the columns beside the text: the file, the sentence and the fault."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

from typer.testing import CliRunner

from voile.cli.app import rooms
from voile.errors import InvalidInput, VoileError
from voile.text._protect import protect

app = rooms["text"]

WORDS = ["the", "cat", "dog", "sat", "ran", "tree"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in WORDS]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "in.csv").write_text(
        "customer_email,stars,text\nann@example.org,5,The cat sat.\nbob@example.org,4,Dog ran!\n"
    )
    return tmp_path


def call(files: Path, *arguments: str) -> str:
    words = ["--vocabulary", str(files / "words.txt"), "--epsilon", "1"]
    result = CliRunner().invoke(app, ["protect", *arguments, *words])
    if result.exception is not None:
        assert isinstance(result.exception, VoileError), result.output
        raise result.exception
    return result.stdout


def test_nothing_is_written_until_every_column_is_named(files: Path) -> None:
    source = str(files / "in.csv")
    for options in ([], ["--dry-run"], ["--pass", "stars"], ["--drop", "stars"]):
        with pytest.raises(InvalidInput, match="customer_email \\(looks like e-mail") as refused:
            call(files, source, *options)
        assert "example.org" not in str(refused.value)
    assert not list(files.glob("in.protected*"))
    with pytest.raises(InvalidInput, match="--drop must name its columns"):
        call(files, source, "--drop", "all")


def test_what_is_dropped_is_gone_and_what_passes_is_said_first(files: Path) -> None:
    shown = call(files, str(files / "in.csv"), "--pass", "stars", "--drop", "customer_email")
    assert shown.startswith("IN CLEAR: the column stars.\n")
    assert "Left out: the columns customer_email." in shown
    written = (files / "in.protected.csv").read_text()
    assert "example.org" not in written
    with (files / "in.protected.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [set(row) for row in rows] == [{"stars", "text"}] * 2
    assert [row["stars"] for row in rows] == ["5", "4"]
    facts = json.loads((files / "in.protected.csv.guarantee.json").read_text())
    assert facts["columns"]["passed_in_clear"] == ["stars"]
    assert facts["columns"]["dropped"] == ["customer_email"]
    assert facts["columns"]["passed_all"] is False


def test_pass_all_is_recorded_and_takes_the_tick_from_the_report(files: Path) -> None:
    pytest.importorskip("altair", reason="the report extra is not installed")
    shown = call(files, str(files / "in.csv"), "--pass", "all", "--report", str(files / "r.html"))
    first = "IN CLEAR: the columns customer_email (looks like e-mail addresses), stars."
    assert shown.splitlines()[0] == first
    facts = json.loads((files / "in.protected.csv.guarantee.json").read_text())
    assert facts["columns"]["passed_all"] is True
    assert facts["columns"]["looks_like_identifiers"] == {"customer_email": "e-mail addresses"}
    page = (files / "r.html").read_text()
    assert first in page
    assert '<p class="verdict holds">' not in page
    assert "--pass all" in page


def test_a_file_of_text_alone_needs_no_option(files: Path) -> None:
    (files / "alone.csv").write_text("text\nThe cat sat.\n")
    (files / "alone.txt").write_text("The cat sat.\n")
    for name in ("alone.csv", "alone.txt"):
        assert "IN CLEAR" not in call(files, str(files / name))


def test_the_documents_total_is_the_releases_own(files: Path) -> None:
    (files / "sum.csv").write_text("text,document_epsilon\nThe cat,9\n")
    with pytest.raises(InvalidInput, match="neither for document_epsilon"):
        call(files, str(files / "sum.csv"))
    call(files, str(files / "sum.csv"), "--document-column")
    with (files / "sum.protected.csv").open() as file:
        assert [row["document_epsilon"] for row in csv.DictReader(file)] == ["2.0"]


def test_a_json_record_with_a_field_of_its_own_is_a_bad_row(files: Path) -> None:
    lines = ['{"text": "the cat"}'] * 1000 + ['{"text": "the dog", "mail": "ann@example.org"}']
    (files / "in.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidInput, match="line 1001: it has a field") as refused:
        call(files, str(files / "in.jsonl"))
    assert "mail" not in str(refused.value)
    call(files, str(files / "in.jsonl"), "--on-error", "skip")
    assert "example" not in (files / "in.protected.jsonl").read_text()


def test_python_callers_are_asked_too(files: Path) -> None:
    asked = {"epsilon": 1.0, "vocabulary": str(files / "words.txt"), "out": str(files / "o.csv")}
    with pytest.raises(InvalidInput, match="must be named in --pass"):
        protect(str(files / "in.csv"), **asked)
    done = protect(str(files / "in.csv"), **asked, pass_=("stars",), drop=("customer_email",))
    assert done.columns.dropped == ("customer_email",)


def test_a_header_that_holds_a_record_is_not_read_aloud(files: Path) -> None:
    (files / "bare.csv").write_text("17,Ann was diagnosed\n18,Bob was not\n")
    with pytest.raises(InvalidInput, match="must be one of") as refused:
        call(files, str(files / "bare.csv"))
    assert "diagnosed" not in str(refused.value)
