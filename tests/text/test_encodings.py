"""Text files in other encodings: read as what they say, released in UTF-8, whatever is drawn."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile.cli.app import app
from voile.errors import BadFile, InvalidInput, VoileError
from voile.jobs import run as running

WORDS = ["café", "käse", "straße", "señor", "tea", "bread", "кофе", "茶"]
"""Two that no encoding of the West can write: they are drawn all the same."""
TEXTS = ["café tea käse", "señor bread straße", "tea tea bread", "café straße señor"] * 3


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(3).normal(size=(len(WORDS), 3)).round(4)
    lines = [f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, vectors.tolist(), strict=True)]
    Path("vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def content(ending: str) -> str:
    if ending == "txt":
        return "\n".join(TEXTS) + "\n"
    if ending == "jsonl":
        return "".join(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in TEXTS)
    return "größe,text\n" + "".join(f"{row},{t}\n" for row, t in enumerate(TEXTS))


def write(name: str, encoding: str) -> str:
    data = content(name.removesuffix(".gz").rpartition(".")[2]).encode(encoding)
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


def protect(name: str, **options):
    given = {"epsilon": 0.5, "vocabulary": "vectors.txt", "seed": 5, "batch_rows": 4} | options
    passed = {} if "csv" not in name else {"pass_": "größe"}
    return voile.text.protect(name, overwrite=True, no_cache=True, **passed, **given)


def released(found) -> bytes:
    return Path(found.data).read_bytes()


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "utf-16", "mac-roman"])
@pytest.mark.parametrize("ending", ["csv", "txt", "jsonl", "csv.gz"])
def test_a_file_is_released_as_its_twin_in_utf_8_is(here: Path, encoding: str, ending: str) -> None:
    plain = released(protect(write(f"plain.{ending}", "utf-8")))
    assert released(protect(write(f"other.{ending}", encoding), encoding=encoding)) == plain


def test_drawn_words_that_the_encoding_cannot_express_are_written(here: Path) -> None:
    text = released(protect(write("in.csv", "cp1252"), encoding="cp1252")).decode("utf-8")
    assert any(word in text for word in WORDS[-2:])


def test_what_is_utf_8_is_read_as_that_whatever_is_named(here: Path) -> None:
    """So an original and its release stand side by side, and a wrong name does no harm."""
    found = protect(write("in.csv", "utf-8"), encoding="latin-1")
    assert released(found) == released(protect("in.csv"))
    legacy, again = write("legacy.csv", "cp1252"), protect("in.csv")
    use = voile.text.utility(legacy, again.data, encoding="cp1252", encoder=False)
    with pytest.raises(BadFile, match=r"legacy.csv must be UTF-8, line 1 is not .*--encoding"):
        voile.text.utility(legacy, again.data, encoder=False)
    assert use.rows == len(TEXTS)


def test_lists_of_words_too(here: Path) -> None:
    Path("watch.txt").write_bytes("käse\ncafé\n".encode("cp1252"))
    name = write("in.csv", "cp1252")
    assert protect(name, encoding="cp1252", watch="watch.txt").rows.released == len(TEXTS)
    with pytest.raises(InvalidInput, match=r"--watch must name a list of words, .*not UTF-8"):
        protect(write("in.csv", "utf-8"), watch="watch.txt")


@pytest.mark.parametrize(
    "wrong",
    ["klingon", "utf-7", "iso2022_jp", "unicode_escape", "raw_unicode_escape", "hex", "é"],
)
def test_names_that_name_no_encoding_are_refused(here: Path, wrong: str) -> None:
    with pytest.raises(InvalidInput, match="--encoding must be one that Python knows"):
        protect(write("in.csv", "cp1252"), encoding=wrong)


def test_a_wrong_encoding_is_said_by_line_and_shows_nothing(here: Path) -> None:
    Path("in.csv").write_bytes(b"id,text\n1,tea\n2,secret \x81\n")
    with pytest.raises(VoileError, match=r"in.csv must be CP1252, as --encoding says") as refused:
        voile.text.protect("in.csv", epsilon=1, vocabulary="vectors.txt", encoding="cp1252")
    assert "secret" not in str(refused.value)
    assert not list(here.glob("in.protected*"))


def test_an_interrupted_job_goes_on_in_the_same_encoding_alone(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, honest = write("in.csv", "cp1252"), running.draw_part
    whole = released(protect(name, encoding="cp1252"))

    def stop(releaser, task):
        if task.part == 2:
            raise KeyboardInterrupt
        return honest(releaser, task)

    monkeypatch.setattr(running, "draw_part", stop)
    with pytest.raises(KeyboardInterrupt):
        protect(name, encoding="cp1252")
    monkeypatch.setattr(running, "draw_part", honest)
    with pytest.raises(VoileError, match=r"interrupted job that differs in encoding"):
        protect(name, encoding="latin-1")
    again = protect(name, encoding="cp1252")
    assert again.resumed_parts == 2
    assert released(again) == whole


def test_the_command_and_its_recipe(here: Path) -> None:
    words = ["text", "protect", write("in.csv", "cp1252"), "--encoding", "cp1252", "--epsilon", "2"]
    words += ["--vocabulary", "vectors.txt", "--pass", "größe", "--seed", "5", "--no-cache"]
    done = CliRunner().invoke(app, [*words, "--save-recipe", "release.toml"])
    assert not done.exception, done.output
    first = Path("in.protected.csv").read_bytes()
    Path("in.protected.csv").unlink()
    assert 'encoding = "cp1252"' in Path("release.toml").read_text(encoding="utf-8")
    voile.run("release.toml")
    assert Path("in.protected.csv").read_bytes() == first
