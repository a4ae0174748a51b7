"""No record fills the memory: a small zipped file may hold a line of gigabytes."""

from __future__ import annotations

import gzip
import resource
from pathlib import Path

import pytest

from voile.errors import BadFile, InvalidInput
from voile.files import lines as lines_module
from voile.jobs import open_source

MIB = 2**20


@pytest.fixture
def two_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_LONGEST_RECORD", str(2 * MIB))


def zipped(path: Path, start: bytes, filling: bytes, mebibytes: int) -> Path:
    with gzip.open(path, "wb", 1) as file:
        file.write(start)
        for _ in range(mebibytes):
            file.write(filling * (MIB // len(filling)))
    return path


@pytest.mark.parametrize(
    ("name", "start", "filling"),
    [
        ("line.csv.gz", b"text\n", b"x"),
        ("header.csv.gz", b"", b"x"),
        ("quoted.csv.gz", b'text\n"', b"x" * 63 + b"\n"),
        ("line.jsonl.gz", b'{"text": "', b"x"),
        ("line.txt.gz", b"", b"x"),
    ],
)
def test_a_record_beyond_the_limit_is_refused_before_it_is_read_whole(
    tmp_path: Path, two_mebibytes: None, name: str, start: bytes, filling: bytes
) -> None:
    path = zipped(tmp_path / name, start, filling, 128)
    assert path.stat().st_size < 2 * MIB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadFile, match="must have at most 2,097,152 bytes, it has more") as refused:
        list(open_source(path).rows())
    assert "VOILE_LONGEST_RECORD sets another limit" in str(refused.value)
    assert f"line {2 if start.startswith(b'text') else 1} " in str(refused.value)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # kibibytes
    assert grown < 64 * 1024, "an eighth of a gibibyte was read into memory"


def test_what_is_within_the_limit_is_a_record(tmp_path: Path, two_mebibytes: None) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text\n" + "x" * (2 * MIB - 1) + "\n" + '"a\nb"\n')
    assert [len(row["text"]) for _, row in open_source(path).rows()] == [2 * MIB - 1, 3]  # type: ignore[index]


def test_sixteen_mebibytes_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOILE_LONGEST_RECORD", raising=False)
    assert lines_module.longest_record() == 16 * MIB
    for wrong in ("many", "-1", "0", "1.5", "9" * 13, "１２３"):
        monkeypatch.setenv("VOILE_LONGEST_RECORD", wrong)
        with pytest.raises(InvalidInput, match="VOILE_LONGEST_RECORD must be a number of bytes"):
            lines_module.longest_record()


def test_a_piece_of_long_records_ends_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "LARGEST_TAKE", 4 * MIB)
    path = tmp_path / "in.txt"
    path.write_bytes(b"".join(bytes([97 + n % 26]) * (MIB // 2) + b"\n" for n in range(40)))
    pieces = list(open_source(path).pieces(size=1000))
    assert b"".join(piece.content for piece in pieces) == path.read_bytes()
    assert max(len(piece.content) for piece in pieces) <= 6 * MIB
    assert [piece.first for piece in pieces] == [
        1 + sum(p.content.count(b"\n") for p in pieces[:n]) for n in range(len(pieces))
    ]
    assert pieces == list(open_source(path).pieces(size=1000))
