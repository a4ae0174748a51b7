"""No command prints a record: of a file without a line of names, or of JSON called CSV."""

import json

import numpy as np
import pytest

from in_process import voile
from voile.jobs import charging as charging_module
from voile.places._design import design

TOKENS = ("Wilhelmina", "diagnosed", "52.51", "13.40", "HIVpos", "4711")
RECORD = ["4711", "Wilhelmina was diagnosed in March", "52.5163", "13.4050", "HIVpos"]
AS_CSV = "\n".join(",".join([*RECORD[:-1], f"{RECORD[-1]}{n}"]) for n in range(30)) + "\n"
AS_JSON = (
    json.dumps(dict(zip(("id", "note", "north", "east", "hiv"), RECORD, strict=True))) + "\n"
) * 30

COMMANDS = {
    "text protect": "text protect FILE --epsilon 1 --vocabulary words.txt --out out.csv",
    "person": "text protect FILE --column COLUMN --epsilon 1 --vocabulary words.txt --out out.csv "
    "--ledger ledger.db --ledger-key ledger.db.key --person who --budget 3",
    "text utility": "text utility FILE FILE --no-encoder",
    "text utility label": "text utility FILE FILE --no-encoder --column COLUMN --label class",
    "text membership": "text membership FILE FILE --label class",
    "text audit": "text audit FILE FILE",
    "text tune": "text tune FILE --epsilon 1 --data public",
    "text compare": "text compare FILE --mechanisms tem --epsilon 1",
    "text calibrate": "text calibrate FILE --released after",
    "places protect": "places protect FILE --mechanism city.voile --out out.csv",
    "places audit": "places audit city.voile --places 10 --against FILE FILE",
    "places utility": "places utility FILE FILE --poi FILE --loss FILE",
    "places follow": "places follow FILE FILE --epsilon 1 --trace COLUMN --public FILE",
    "places design": "places design --epsilon 1 --prior FILE",
    "places tasks": "places design --epsilon 1 --tasks FILE",
    "roads": "places design --epsilon 1 --roads roads",
    "labels protect": "labels protect FILE --label class --epsilon 1 --out out.csv",
    "labels audit": "labels audit FILE --label class",
    "labels compare": "labels compare FILE --label class",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("private")
    rng = np.random.default_rng(2)
    words = ["the", "cat", "sat", "do", "run", "tree"]
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in words]
    (made / "words.txt").write_text("\n".join(lines) + "\n")
    design(cells="3x3", task_count=4, epsilon=0.5, method="laplace", out=made / "city.voile")
    charging_module._opened.cache_clear()
    assert voile("ledger", "init", made / "ledger.db")[0] == 0
    yield made
    charging_module._opened.cache_clear()


@pytest.mark.parametrize("content", [AS_CSV, AS_JSON], ids=["no names", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_token_of_a_record_is_printed(name, content, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("VOILE_CACHE", str(folder / "cache"))
    (folder / "private.csv").write_text(content)
    (folder / "roads").mkdir(exist_ok=True)
    for half in ("points", "edges"):
        (folder / "roads" / f"{half}.csv").write_text(content)
    column = content.split("\n", 1)[0].split(",")[1].replace('"', "")
    words = [
        w.replace("FILE", "private.csv").replace("COLUMN", column) for w in COMMANDS[name].split()
    ]
    code, out, err = voile(*words)
    assert code == 2, err
    assert "error: " in err
    shown = (out + err).replace(column, "") if "COLUMN" in COMMANDS[name] else out + err
    assert not [token for token in TOKENS if token in shown], shown
    assert not (folder / "out.csv").exists()


def test_a_file_that_is_called_gzip_and_is_none_shows_no_byte_of_it(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "plain.csv.gz").write_text("Wilhelmina,4711\n")
    code, out, err = voile("text", "protect", "plain.csv.gz", "--epsilon", "1")
    assert (code, out) == (2, "")
    assert err == "error: plain.csv.gz is no gzip file, or a damaged one\n"
