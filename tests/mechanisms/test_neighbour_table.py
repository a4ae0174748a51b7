"""The table of neighbours on disk: a function of public vectors, its owner's, whole or refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.errors import BadFile, CannotWrite
from voile.mechanisms import _neighbour_table, _neighbours, santext_plus, word_truncated_exponential
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._neighbours import delete_telling_caches, neighbours_of

pytest.importorskip("numba")

WORDS = Embedding.of(np.random.default_rng(2).normal(size=(150, 3)))


@pytest.fixture(autouse=True)
def every_table_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_neighbours, "SMALLEST_TABLE", 0)


def law(cache: Path | None, kept: int = 8):
    return word_truncated_exponential(WORDS, epsilon=2.0, neighbours=kept, cache=cache)


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def table_in(folder: Path) -> Path:
    (found,) = folder.glob("*.neighbours")
    return found


def test_whatever_was_released_the_same_bytes_lie_there(tmp_path: Path) -> None:
    for name, secrets in (("a", [3, 3, 7]), ("b", np.arange(40, 90)), ("c", [])):
        law(tmp_path / name).release(secrets, voile.seeded_rng(1))
    first = content(tmp_path / "a")
    assert first == content(tmp_path / "b") == content(tmp_path / "c")
    assert len(first) == 2  # the table, and an empty file to lock


def test_a_worker_believes_its_driver_about_this_very_file(tmp_path, monkeypatch) -> None:
    """The digest is computed once a job; a file that changed since is looked at again."""
    looked: list[str] = []
    real = _neighbour_table._digest
    monkeypatch.setattr(_neighbour_table, "_digest", lambda f: looked.append(f.name) or real(f))

    def opened_by_another_process(versions) -> int:
        _neighbour_table._CHECKED.clear()
        _neighbour_table._opened.cache_clear()
        _neighbour_table.take_as_checked(versions)
        before = len(looked)
        neighbours_of(WORDS, kept=8, cache=tmp_path)
        return len(looked) - before

    law(tmp_path)
    assert opened_by_another_process(frozenset()) == 1
    told = _neighbour_table.checked_versions()
    assert opened_by_another_process(told) == 0
    os.utime(table_in(tmp_path))
    assert opened_by_another_process(told) == 1
    with table_in(tmp_path).open("r+b") as file:
        file.seek(5000)
        file.write(b"x")
    with pytest.raises(BadFile, match="damaged"):
        opened_by_another_process(told)


def test_table_and_memory_give_the_same_draws(tmp_path: Path) -> None:
    secrets = np.arange(150).repeat(20)
    with_table, without = (law(c).release(secrets, voile.seeded_rng(1)) for c in (tmp_path, None))
    assert with_table.tolist() == without.tolist()
    rare = [
        santext_plus(WORDS, epsilon=2.0, cache=c).release(secrets, voile.seeded_rng(1)).tolist()
        for c in (tmp_path, None)
    ]
    assert rare[0] == rare[1]
    assert len(list(tmp_path.glob("*.neighbours"))) == 2  # fewer outputs are another table


def test_folder_and_files_are_the_owner_s_alone(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    for folder in (tmp_path / "new" / "neighbours", tmp_path / "open"):
        law(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}


def test_a_row_in_memory_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache, a cache that is only read, a table too large, a table not worth it."""
    laws = [law(None), word_truncated_exponential(
        WORDS, epsilon=2.0, neighbours=neighbours_of(WORDS, kept=8, cache=tmp_path))]  # fmt: skip
    monkeypatch.setattr(_neighbours, "LARGEST_TABLE", 100)
    laws.append(law(tmp_path))
    monkeypatch.setattr(_neighbours, "SMALLEST_TABLE", 2**25)
    laws.append(law(tmp_path))
    for each in laws:
        each.release([5, 6], voile.seeded_rng(1))
        assert np.flatnonzero(each.neighbours.known).tolist() == [5, 6]
    assert content(tmp_path) == {}


@pytest.mark.parametrize("where", [0, 30, 4095, 4096, 4096 + 4 * 8 * 150, -1])
def test_an_edited_table_is_refused(tmp_path: Path, where: int) -> None:
    law(tmp_path)
    path = table_in(tmp_path)
    bytes_ = bytearray(path.read_bytes())
    bytes_[where] ^= 1
    path.write_bytes(bytes_)
    with pytest.raises(BadFile, match="damaged; delete it"):
        law(tmp_path)


@pytest.mark.parametrize("length", [0, 100, 4096, 15_000, -1])
def test_a_truncated_table_is_refused(tmp_path: Path, length: int) -> None:
    law(tmp_path)
    path = table_in(tmp_path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(BadFile, match="damaged; delete it"):
        law(tmp_path)


def test_what_others_may_write_is_refused(tmp_path: Path) -> None:
    law(tmp_path)
    for path, mode in ((table_in(tmp_path), 0o620), (table_in(tmp_path), 0o602), (tmp_path, 0o770)):
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        with pytest.raises(BadFile, match=r"writable by nobody else.*chmod go-w"):
            law(tmp_path)
        path.chmod(before)
    law(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    empty.chmod(0o777)
    with pytest.raises(BadFile, match="writable by nobody else"):
        law(empty)
    assert not list(empty.iterdir())


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to give a file away"
)
def test_what_somebody_else_owns_is_refused(tmp_path: Path) -> None:
    law(tmp_path)
    for path in (table_in(tmp_path), tmp_path):
        os.chown(path, 65534, -1)
        with pytest.raises(BadFile, match="got owner 65534"):
            law(tmp_path)
        os.chown(path, 0, -1)
    law(tmp_path)


MAKING = """
import sys
import numpy as np
from voile.mechanisms import _neighbours, word_truncated_exponential
from voile.mechanisms._embedding import Embedding
_neighbours.SMALLEST_TABLE = 0
words = Embedding.of(np.random.default_rng(2).normal(size=(150, 3)))
word_truncated_exponential(words, epsilon=2.0, neighbours=8, cache=sys.argv[1])
"""


def test_processes_at_once_make_one_table(tmp_path: Path) -> None:
    """All wait for the one that has the lock; what one that was killed left behind goes."""
    law(tmp_path / "alone")
    tmp_path.joinpath("many").mkdir(mode=0o700)
    left = tmp_path / "many" / f".{table_in(tmp_path / 'alone').name}.1"
    left.write_bytes(b"half a table")
    command = [sys.executable, "-c", MAKING, str(tmp_path / "many")]
    workers = [subprocess.Popen(command) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0] * 3
    assert content(tmp_path / "many") == content(tmp_path / "alone")


def test_a_failing_disk_leaves_nothing_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotWrite, match="No space left on device; set VOILE_CACHE"):
        law(tmp_path)
    monkeypatch.undo()
    assert not [p for p in tmp_path.iterdir() if p.suffix != ".lock"]
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(_neighbours, "SMALLEST_TABLE", 0)
    with pytest.raises(CannotWrite, match=r"VOILE_CACHE.*--no-cache"):
        law(tmp_path / "a file" / "below")


def test_progress_counts_all_rows(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    made = {"kept": 8, "cache": tmp_path, "fill": True}
    for _ in range(2):  # the second finds it there
        neighbours_of(WORDS, progress=lambda done, rows: told.append((done, rows)), **made)
    assert told == [(0, 150), (64, 150), (128, 150), (150, 150)]


def test_caches_that_list_private_words_are_deleted_with_a_sentence(tmp_path: Path) -> None:
    law(tmp_path)
    kept = content(tmp_path)
    assert delete_telling_caches(tmp_path) == ""
    for old in ("0123456789abcdef01234567-1024", "0123456789abcdef01234567-1024-abcdef01"):
        (tmp_path / old).mkdir()
        for name in ("index.i32", "squared.i64", "checks.u64"):
            (tmp_path / old / name).write_bytes(b"x")
    assert "deleted 2 caches of an earlier version" in delete_telling_caches(tmp_path)
    assert content(tmp_path) == kept
    assert delete_telling_caches(tmp_path / "absent") == ""


@given(st.integers(0, 2**32), st.integers(2, 400), st.integers(1, 300), st.booleans())
@settings(max_examples=40)
def test_rows_are_the_nearest_with_ties_in_order(
    seed: int, size: int, kept: int, few: bool
) -> None:
    """Against a plain sort; with room for few candidates, so that bounds are guessed and missed."""
    from voile.mechanisms import _neighbour_kernels as kernels

    rng = np.random.default_rng(seed)
    words = Embedding.of(rng.integers(-2, 3, size=(size, 2 + seed % 5)).astype(float))
    outputs = np.arange(size) if few else np.flatnonzero(rng.random(size) < 0.7)
    if not len(outputs):
        outputs = np.array([size - 1])
    near = neighbours_of(words, kept=kept, outputs=outputs)
    asked = np.flatnonzero(rng.random(size) < 0.8)
    near.ensure(asked)
    assert kernels.EVERY > 1
    for word in asked:
        squared = words.squared(np.array([word]), outputs)[0]
        order = np.lexsort((np.arange(len(outputs)), squared))[: near.index.shape[1]]
        assert near.index[word].tolist() == order.tolist()
        assert near.squared[word].tolist() == squared[order].tolist()


@pytest.mark.parametrize("twins", [0, 100, 9000])
def test_large_vocabularies_with_many_words_at_one_place(twins: int) -> None:
    """Bounds from a sample; 9,000 words at one place are more than there is room for."""
    points = np.random.default_rng(5).integers(-500, 500, size=(12_000, 6)) / 64
    points[40 : 40 + twins] = points[3]
    words = Embedding.of(points)
    near = neighbours_of(words, kept=30)
    asked = np.array([0, 3, 41, 11_999, 700])
    near.ensure(asked)
    for word in asked:
        squared = words.squared(np.array([word]))[0]
        order = np.argsort(squared, kind="stable")[:30]
        assert near.index[word].tolist() == order.tolist()
        assert near.squared[word].tolist() == squared[order].tolist()
