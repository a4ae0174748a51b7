"""The commands with a ledger, as a user gives them: what a row costs, and every bad input."""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from voile import text as voile_text
from voile.cli.app import app
from voile.errors import BadFile, CannotWrite, InvalidInput, OverBudget, VoileError
from voile.jobs import charging as charging_module
from voile.ledger import Bill, Ledger, read_key, simple_cost

WORDS = ["the", "cat", "sat", "do", "run", "tree", "dog", "mat", "n't"]


def voile(*arguments: object, error: type[VoileError] | None = None) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    if error is not None:
        assert isinstance(done.exception, error), (done.exception, done.output)
        assert "\n" not in str(done.exception)
        return str(done.exception)
    assert done.exception is None, done.exception
    return done.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A ledger with its key, a vocabulary, and ten rows of three persons."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VOILE_LEDGER_KEY", raising=False)
    charging_module._opened.cache_clear()
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in WORDS]
    Path("words.txt").write_text("\n".join(lines) + "\n")
    texts = ["The cat sat.", "Run, dog, run!", "The mat", "...", "do run", "the dog sat", "cat"]
    rows = [(i, "abc"[i % 3], text) for i, text in enumerate(texts)]
    with open("in.csv", "w", newline="") as file:
        csv.writer(file).writerows([("id", "user", "text"), *rows])
    voile("ledger", "init", "ledger.db")
    yield tmp_path
    charging_module._opened.cache_clear()


def text(*more: object, error: type[VoileError] | None = None) -> str:
    return voile(
        "text", "protect", "in.csv", "--vocabulary", "words.txt", "--ledger", "ledger.db",
        *([] if "--drop" in more else ["--pass", "all"]),
        *([] if "--person" in more else ["--person", "user"]),
        *([] if "--epsilon" in more or "--document-epsilon" in more else ["--epsilon", "0.7"]),
        *([] if "--ledger-key" in more else ["--ledger-key", "ledger.db.key"]),
        *more, error=error,
    )  # fmt: skip


def account(person: str) -> dict:
    shown = voile("ledger", "show", "ledger.db", "--person", person, "--ledger-key",
                  "ledger.db.key", "--json")  # fmt: skip
    return json.loads(shown)["persons"][0]


def rows_of(name: str) -> list[dict[str, str]]:
    with open(name, newline="") as file:
        return list(csv.DictReader(file))


def test_a_text_charges_its_person_the_words_that_are_drawn(folder):
    shown = text("--budget", "20")
    assert "No person's releases in this ledger add up to more than 20 (ε per unit" in shown
    assert "; what stands in clear is not counted." in shown
    # a: The cat sat + ... + cat; b: Run dog run + do run; c: The mat + the dog sat
    assert [account(p)["spent"] for p in "abc"] == [2.8, 3.5, 3.5]
    assert [account(p)["rows"] for p in "abc"] == [3, 2, 2]
    assert account("a")["left"] == 17.2
    facts = json.loads(Path("in.protected.csv.guarantee.json").read_text())["ledger"]
    assert facts["rows_over_budget"] == 0
    assert "ledger.db" not in json.dumps(facts)
    told = voile("ledger", "verify", "ledger.db", "--head", "in.protected.csv.guarantee.json",
                 "--ledger-key", "ledger.db.key")  # fmt: skip
    assert "4 entries, 3 persons: chain, seals and accounts agree" in told


@pytest.mark.parametrize(
    ("options", "spent"),
    [
        (["--document-epsilon", "6", "--public-length"], {"a": 12, "b": 12, "c": 12}),
        (["--document-epsilon", "6", "--longest", "2"], {"a": 9, "b": 12, "c": 12}),
        (["--epsilon", "1", "--keep-stopwords"], {"a": 3, "b": 4, "c": 3}),
        (["--epsilon", "1", "--unknown", "drop"], {"a": 4, "b": 5, "c": 5}),
    ],
)
def test_what_is_not_drawn_is_not_charged(folder, options, spent):
    """A split budget costs that budget; stop words in clear cost nothing (and are warned of)."""
    text(*options, "--budget", "100")
    assert {p: account(p)["spent"] for p in "abc"} == spent


def test_rows_beyond_the_budget_are_refused_masked_or_dropped(folder):
    said = text("--budget", "3", error=OverBudget)
    assert said.startswith("line 6: the budget of its person does not cover this row")
    assert not list(folder.glob("in.protected*"))
    assert account("b")["spent"] == 0
    shown = text("--budget", "3", "--over-budget", "mask", "--out", "masked.csv")
    assert "2 rows were beyond their budget and are masked." in shown
    assert [row["id"] for row in rows_of("masked.csv")] == ["0", "1", "2", "3", "", "", "6"]
    assert account("b")["rows"] == 1
    shown = text("--over-budget", "drop", "--out", "dropped.csv")
    # Only what costs no more than is left: 1.6 of c's for "The mat", and "..." costs nothing.
    assert [row["id"] for row in rows_of("dropped.csv")] == ["2", "3"]
    facts = json.loads(Path("dropped.csv.guarantee.json").read_text())
    assert (facts["rows"]["released"], facts["ledger"]["rows_over_budget"]) == (2, 5)
    assert "whole" in voile("ledger", "verify", "ledger.db", "--json")


def test_labels_charge_what_adds_up_over_records(folder):
    rng = np.random.default_rng(1)
    with open("people.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "weight", "state"])
        for i in range(60):
            writer.writerow([i % 5, round(float(rng.normal(70, 9)), 1), "ill" if i % 3 else "well"])
    common = ["labels", "protect", "people.csv", "--label", "state", "--person", "who",
              "--ledger", "ledger.db", "--ledger-key", "ledger.db.key"]  # fmt: skip
    voile(
        *common, "--epsilon", "0.5", "--mechanism", "rr", "--budget", "5", "--over-budget", "drop",
        "--classes", "ill,well", "--pass", "weight",
    )  # fmt: skip
    assert account("3") | {"meaning": ""} == {
        "person": "3", "rows": 10, "spent": 5.0, "left": 0.0, "meaning": "",
    }  # fmt: skip
    assert "who" not in rows_of("people.protected.csv")[0]  # not handed on
    said = voile(*common, "--epsilon", "1", "--mechanism", "ldp", "--out", "ldp.csv",
                 "--learn-from-private", error=InvalidInput)  # fmt: skip
    assert "of another metric: it counts ε per" in said
    assert "one label" in said
    assert "one record" in said
    assert not Path("ldp.csv").exists()
    voile("ledger", "init", "second.db", "--ledger-key", "ledger.db.key", "--budget", "4")
    facts = json.loads(
        voile(*common[:-3], "second.db", *common[-2:], "--epsilon", "1", "--mechanism", "ldp",
              "--over-budget", "drop", "--json", "--out", "ldp.csv", "--learn-from-private")
    )  # fmt: skip
    assert facts["ledger"]["rows_over_budget"] == 60 - 5 * 4
    assert facts["ledger"]["counts"].endswith("for one record")


def test_places_charge_the_mechanisms_epsilon(folder):
    from voile.places._design import design
    from voile.places.projection import Projection

    design(
        cells="3x3", task_count=4, epsilon=0.8, method="laplace", bound=False,
        out=folder / "city.voile",
    )  # fmt: skip
    lat, lon = Projection(45.0, 5.0).to_degrees(np.zeros((40, 2)))
    with open("trips.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [
                ("user", "lat", "lon"),
                *((i % 2, a, b) for i, (a, b) in enumerate(zip(lat, lon, strict=True))),
            ]
        )
        csv.writer(file).writerow((1, "nowhere", 5))
    shown = voile("places", "protect", "trips.csv", "--mechanism", "city.voile", "--person", "user",
                  "--budget", "8", "--ledger", "ledger.db", "--ledger-key", "ledger.db.key",
                  "--over-budget", "drop", "--on-error", "skip", "--batch-rows", "7",
                  "--drop", "user")  # fmt: skip
    assert "20 rows were beyond their budget and are left out." in shown
    assert (account("0")["rows"], account("1")["spent"]) == (10, 8.0)
    assert len(rows_of("trips.protected.csv")) == 20
    assert "e^8" in account("1")["meaning"]


def test_bad_input_is_one_clear_line_and_nothing_is_released(folder, monkeypatch):
    def refused(*more: object, error: type[VoileError] = InvalidInput) -> str:
        said = text(*more, error=error)
        assert not list(folder.glob("in.protected*"))
        return said

    assert "must set its --budget" in refused()
    assert "--person must be one of id, user, text" in refused("--person", "who", "--budget", "3")
    assert "budget must be" in refused("--budget", "-1")
    assert "what a seed draws must not be released" in refused("--budget", "9", "--seed", "1")
    with pytest.raises(InvalidInput, match="--over-budget must be refuse, mask or drop"):
        voile_text.protect(
            "in.csv", epsilon=1.0, vocabulary="words.txt", pass_="all", ledger="ledger.db",
            person="user", ledger_key="ledger.db.key", budget=9.0, over_budget="shrug",
        )  # fmt: skip
    assert "no ledger" in refused("--budget", "9", "--ledger", "typo.db", error=BadFile)
    assert "cannot be read" in refused("--budget", "9", "--ledger-key", "none", error=BadFile)
    voile("ledger", "init", "other.db")
    assert "must be the one" in refused("--budget", "9", "--ledger-key", "other.db.key")
    said = voile("text", "protect", "in.csv", "--epsilon", "1", "--ledger", "ledger.db",
                 "--person", "user", "--vocabulary", "words.txt", "--pass", "all",
                 error=InvalidInput)  # fmt: skip
    assert "a ledger needs its key" in said
    said = voile("text", "protect", "in.csv", "--epsilon", "1", "--person", "user",
                 "--vocabulary", "words.txt", "--pass", "all", error=InvalidInput)  # fmt: skip
    assert "must go with --ledger" in said
    Path("in.csv").write_text("id,user,text\n1,a,cat\n2,,dog\n")
    assert "line 3: the column 'user' names no person" in refused("--budget", "9")
    assert account("a")["spent"] == 0
    monkeypatch.setenv("VOILE_LEDGER_KEY", "ledger.db.key")  # in place of --ledger-key
    voile("text", "protect", "in.csv", "--epsilon", "1", "--ledger", "ledger.db", "--person",
          "user", "--vocabulary", "words.txt", "--on-error", "skip", "--budget", "9",
          "--pass", "all")  # fmt: skip


def command(*more: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    arguments = [sys.executable, "-m", "voile", "text", "protect", "in.csv", "--vocabulary",
                 "words.txt", "--epsilon", "1", "--person", "user", "--budget", "9",
                 "--pass", "all", "--ledger-key", "ledger.db.key", *more]  # fmt: skip
    return subprocess.run(arguments, capture_output=True, text=True, **options)  # type: ignore[call-overload, no-any-return]


def test_a_full_disk_is_told_and_nothing_is_released(folder):
    """No file may grow beyond 8 kB: the system's own refusal, at the ledger's first write."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    done = command("--ledger", "ledger.db", preexec_fn=limited)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().startswith("error: the ledger ledger.db cannot be used: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(folder.glob("in.protected*"))
    assert account("a")["spent"] == 0
    assert '"whole": true' in voile("ledger", "verify", "ledger.db", "--json")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_read_only_ledger_is_told(folder):
    """A child that may read the file and not write it."""
    text("--budget", "20")
    charging_module._opened.cache_clear()
    key = read_key("ledger.db.key")
    for path in (folder, folder.parent, folder.parent.parent):
        path.chmod(0o755)
    Path("ledger.db").chmod(0o644)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing was said"
        try:
            os.setgid(65534)
            os.setuid(65534)
            with Ledger("ledger.db", key) as ledger:
                ledger.charge("job", 0, ["a"], Bill.listed([simple_cost(1.0)]))
        except CannotWrite as problem:
            said = str(problem)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    assert said.startswith("the ledger ledger.db cannot be used: ")
    assert "nothing more is released" in said
    assert account("a")["spent"] == 2.8


def test_a_server_that_does_not_answer_is_told(folder):
    pytest.importorskip("psycopg")
    address = "postgresql://voile:swordfish@127.0.0.1:9/ledger"
    done = command("--ledger", address)
    assert done.returncode == 2
    assert "the ledger on PostgreSQL cannot be used" in done.stderr
    assert "swordfish" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(folder.glob("in.protected*"))


def test_the_same_on_a_server(folder, postgres):
    voile("ledger", "init", postgres, "--ledger-key", "ledger.db.key", "--budget", "3")
    voile("text", "protect", "in.csv", "--vocabulary", "words.txt", "--epsilon", "0.7", "--person",
          "user", "--ledger", postgres, "--ledger-key", "ledger.db.key", "--over-budget", "drop",
          "--batch-rows", "3", "--pass", "all")  # fmt: skip
    assert [row["id"] for row in rows_of("in.protected.csv")] == ["0", "1", "2", "3", "6"]
    facts = json.loads(voile("ledger", "show", postgres, "--json"))
    assert (facts["rows"], facts["people"]) == (5, 3)
    assert "whole" in voile("ledger", "verify", postgres, "--ledger-key", "ledger.db.key", "--json")
    assert len(voile("ledger", "export", postgres).splitlines()) == 4


def test_a_person_is_charged_though_the_column_is_left_out(folder):
    said = voile("text", "protect", "in.csv", "--vocabulary", "words.txt", "--ledger", "ledger.db",
                 "--person", "user", "--epsilon", "0.7", "--budget", "20", "--ledger-key",
                 "ledger.db.key", error=InvalidInput)  # fmt: skip
    assert "user (looks like keys)" in said
    text("--budget", "20", "--drop", "id,user")
    assert set(rows_of("in.protected.csv")[0]) == {"text"}
    assert account("a")["spent"] == 2.8


def test_show_and_export(folder):
    assert "Nothing was charged yet" in voile("ledger", "show", "ledger.db")
    text("--budget", "20")
    shown = voile("ledger", "show", "ledger.db")
    assert "3 persons, 7 releases charged; the most that one has spent is 3.5" in shown
    shown = voile("ledger", "show", "ledger.db", "--person", "b", "--person", "nobody",
                  "--ledger-key", "ledger.db.key")  # fmt: skip
    assert ["b", "2", "3.5", "16.5"] in [line.split() for line in shown.splitlines()]
    assert ["nobody", "0", "0", "20"] in [line.split() for line in shown.splitlines()]
    assert "needs its key" in voile("ledger", "show", "ledger.db", "--person", "b",
                                    error=InvalidInput)  # fmt: skip
    voile("ledger", "export", "ledger.db", "--out", "accounts.csv")
    assert sorted(row["spent"] for row in rows_of("accounts.csv")) == ["2.8", "3.5", "3.5"]
    assert "exists already" in voile("ledger", "export", "ledger.db", "--out", "accounts.csv",
                                     error=CannotWrite)  # fmt: skip
    lines = [
        json.loads(line)
        for line in voile("ledger", "export", "ledger.db", "--entries").split("\n")
        if line
    ]
    assert [line["event"] for line in lines] == ["opened", "terms", "charged", "finished"]
    assert sum(charge["rows"] for charge in lines[2]["charges"]) == 7


def test_making_a_ledger(folder):
    assert "a file 'ledger.db' already" in voile("ledger", "init", "ledger.db", error=CannotWrite)
    assert Path("ledger.db.key").exists()  # the key it had is kept
    voile("ledger", "init", "none/ledger.db", error=CannotWrite)
    assert "--ledger-key" in voile("ledger", "init", "postgresql://x/y", error=InvalidInput)
    assert "must go with --budget" in voile("ledger", "init", "b.db", "--budget-delta", "0.1",
                                            error=InvalidInput)  # fmt: skip
    assert not Path("b.db.key").exists()
