"""A share of the inputs of `benchmarks/fuzz.py`, and every input that ever broke something."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import voile as package
from fuzz.commands import COMMANDS, check_command, prepared
from fuzz.corpus import CORPUS
from fuzz.inputs import TOKEN, made
from fuzz.oracle import check_job, check_reader
from fuzz.others import check_recipe, check_table, check_voile, ledger_address, voile_file
from in_process import voile


@pytest.mark.parametrize("block", range(4))
def test_readers(tmp_path: Path, block: int) -> None:
    answers = [check_reader(made(seed), tmp_path) for seed in range(250 * block, 250 * (block + 1))]
    assert {"read", "refused"} == set(answers)


def emptied(folder: Path) -> Path:
    for path in folder.iterdir():
        path.unlink()
    return folder


@pytest.mark.parametrize("block", range(4))
def test_jobs(tmp_path: Path, block: int) -> None:
    answers = [
        check_job(made(seed), emptied(tmp_path), seed)
        for seed in range(100_000 + 60 * block, 100_000 + 60 * (block + 1))
    ]
    assert {"released", "refused"} == set(answers)


def test_tables_and_places(tmp_path: Path) -> None:
    for seed in range(200_000, 200_300):
        check_table(made(seed), tmp_path, seed)


@pytest.mark.parametrize("name", CORPUS)
def test_every_input_that_ever_broke_something(tmp_path: Path, name: str) -> None:
    check_reader(CORPUS[name], tmp_path)
    for number in range(15):
        check_job(CORPUS[name], emptied(tmp_path), number)
    check_table(CORPUS[name], tmp_path, 0)


def saved(folder: Path) -> bytes:
    line = package.Space(np.arange(4.0).reshape(-1, 1), metric=package.metrics.euclidean(unit="km"))
    channel = package.mechanisms.exponential(line, epsilon=1.0)
    return package.save(channel, folder / "line.voile").read_bytes()


def test_mechanisms(tmp_path: Path) -> None:
    good = saved(tmp_path)
    answers = [check_voile(voile_file(good, random.Random(seed))) for seed in range(300)]
    assert "refused" in answers
    assert check_voile(good) == "loaded"


RECIPE_ROWS = "n,c,y\n" + "".join(f"{i % 7},{'ab'[i % 2]},{'pq'[i % 3 == 0]}\n" for i in range(60))


def test_recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(RECIPE_ROWS)
    from voile.labels import read_labelled
    from voile.labels.recipe_file import recipe_text
    from voile.labels.recipes import draft_recipe

    good = recipe_text(draft_recipe(read_labelled("in.csv", label="y")))
    answers = [check_recipe(good, random.Random(seed)) for seed in range(400)]
    assert "refused" in answers


@pytest.mark.parametrize("seed", range(20))
def test_ledger_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.chdir(tmp_path)
    where = ledger_address(random.Random(seed))
    code, out, err = voile("ledger", "show", where)
    assert code in (0, 1, 2), err
    assert TOKEN not in out + err


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("tools"))


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_CACHE", str(tools / "cache"))
    for seed in range(300_000, 300_000 + (3 if name == "places audit" else 12)):
        check_command(name, made(seed), tools, tmp_path)


def test_a_refused_labels_job_leaves_no_recipe(tools: Path, tmp_path: Path) -> None:
    rows = b"n,y\n" + b"1,yes\n2,no\n" * 9 + b"3,maybe\n"
    command = (
        "labels protect in.csv --label y --epsilon 1 --mechanism rr --classes yes,no --pass all"
    )
    (tmp_path / "in.csv").write_bytes(rows)
    words = [w.replace("in.csv", str(tmp_path / "in.csv")) for w in command.split()]
    code, _, err = voile(*words, "--out", tmp_path / "out.csv")
    assert (code, "line 20" in err) == (2, True), err
    assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]
