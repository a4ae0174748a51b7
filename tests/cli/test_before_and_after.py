"""What is refused before any work, and what is said when the work is cut short."""

from pathlib import Path

import numpy as np
import pytest

from in_process import voile
from voile.report import Table

LABELS = (
    "labels protect in.csv --label y --epsilon 1 --mechanism ldp --learn-from-private --out out.csv"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    rows = "".join(f"{n % 5},{'pq'[n % 2]}\n" for n in range(60))
    Path("in.csv").write_text("n,y\n" + rows)
    Path("text.csv").write_text("text\nthe cat\n")
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in ("the", "cat")]
    Path("words.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_an_interrupt_says_how_to_go_on(folder, monkeypatch):
    from voile.jobs import run

    def interrupted(*arguments, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run, "join_parts", interrupted)
        code, _, err = voile(*LABELS.split())
    assert code == 130
    assert err.splitlines()[-1] == (
        "interrupted: the finished parts are kept in out.csv.voile-job; repeat the command to "
        "continue, or delete that folder to give up"
    )
    code, _, err = voile(*LABELS.split())
    assert code == 0, err
    assert not Path("out.csv.voile-job").exists()


def test_an_interrupt_elsewhere_is_said_too(folder, monkeypatch):
    from voile import meaning

    def interrupted(epsilon):
        raise KeyboardInterrupt

    monkeypatch.setattr(meaning, "require_epsilon", interrupted)
    assert voile("explain", "--epsilon", "1") == (130, "", "interrupted\n")


@pytest.mark.parametrize("option", ["--report /proc/r.html", "--charts /proc/charts", "--report ."])
def test_a_report_that_cannot_be_written_is_refused_before_the_release(folder, option):
    code, _, err = voile(*LABELS.split(), *option.split())
    assert code == 2
    assert err.startswith("error: "), err
    assert sorted(p.name for p in folder.iterdir()) == ["in.csv", "text.csv", "words.txt"]


def test_an_output_that_exists_is_refused_before_anything_is_loaded(folder, monkeypatch):
    from voile.text import _protect, building

    def loaded(*arguments, **more):
        raise AssertionError("the vocabulary was loaded first")

    monkeypatch.setattr(_protect, "load_vocabulary", loaded)
    monkeypatch.setattr(building, "epsilon_keeping", loaded)
    Path("out.csv").write_text("kept\n")
    for strength in (("--epsilon", "1"), ("--keep", "0.2")):
        code, _, err = voile(
            "text",
            "protect",
            "text.csv",
            *strength,
            "--vocabulary",
            "words.txt",
            "--out",
            "out.csv",
        )
        assert (code, err) == (
            2, "error: 'out.csv' exists already; choose another name or --overwrite\n"
        )  # fmt: skip
    assert Path("out.csv").read_text() == "kept\n"


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("./text.csv", "the output must be another file than the input"),
        ("out.xyz", "a file must end in .csv, .tsv, .jsonl"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_is_loaded(folder, out, said):
    """The file of the vocabulary is not there: whoever opened it would say so."""
    asked = "text protect text.csv --epsilon 1 --overwrite --vocabulary none.txt --out"
    code, _, err = voile(*asked.split(), out)
    assert code == 2
    assert err.startswith(f"error: {said}"), err
    assert Path("text.csv").read_text() == "text\nthe cat\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("explane", "explain"),
        ("text protec", "protect"),
        ("protect", "text protect or places protect or labels protect"),
        ("text design", "places design"),
    ],
)
def test_a_command_that_is_not_there_names_the_one_that_is(typed, meant):
    code, _, err = voile(*typed.split())
    assert code == 2
    assert f"Did you mean {meant}?" in " ".join(err.replace("│", " ").split())
    assert "Did you mean" not in voile("text", "zzzz")[2]


def test_what_the_system_refuses_is_no_fault_of_ours(folder):
    code, _, err = voile("ledger", "show", "x" * 5000)
    assert (code, err) == (2, "error: the system refused: File name too long\n")


def test_no_cell_of_a_charts_table_is_a_formula():
    shown = Table("t", ("=a", "b"), (("=1+1", -1.5), ("@x", 2), ("-y", 3), ("+z", 4), ("w", 5)))
    assert shown.csv().split("\r\n")[:-1] == [
        "'=a,b",
        "'=1+1,-1.5",
        "'@x,2",
        "'-y,3",
        "'+z,4",
        "w,5",
    ]


def test_a_screen_is_shown_one_report_and_no_file_is_hashed_for_it(folder, monkeypatch):
    from voile.report import provenance
    from voile.text.release import TextRelease

    def hashed(*arguments):
        raise AssertionError("read again to be hashed")

    made, build = [], TextRelease._report
    monkeypatch.setattr(TextRelease, "_report", lambda self: made.append(1) or build(self))
    monkeypatch.setattr(provenance, "digest", hashed)
    options = "--epsilon 3 --vocabulary words.txt --seed 1 --out out.csv"
    code, out, err = voile("text", "protect", "text.csv", *options.split())
    assert (code, len(made)) == (0, 1), err
    assert "SEEDED: NOT FOR RELEASE." in out


def test_a_result_printed_in_python_says_that_it_is_seeded(folder):
    from voile.text import protect

    printed = str(protect("text.csv", epsilon=3, vocabulary="words.txt", seed=1, out="out.csv"))
    assert "SEEDED: NOT FOR RELEASE." in printed


def test_a_plain_release_draws_no_preview_and_compiles_for_no_worker(folder, monkeypatch):
    from voile.text import _protect, protect

    for needless in ("secure_rng", "_warm_up"):
        monkeypatch.delattr(_protect, needless)
    assert protect("text.csv", epsilon=3, vocabulary="words.txt", out="out.csv").rows.released == 1


def test_a_command_that_is_run_reads_no_line_for_a_list_of_commands(monkeypatch):
    from voile.cli import rooms

    monkeypatch.delattr(rooms, "first_sentence")
    assert voile("explain", "--epsilon", "1")[0] == 0
