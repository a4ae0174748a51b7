"""Generators of input files, each from one number: the same number, the same bytes.

Every value holds `TOKEN`, which stands for what is private: no message may repeat it.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import string
from dataclasses import dataclass
from typing import Any

TOKEN = "Zq7"
NAMES = ("text", "id", "lat", "lon", "person", "note", "y")
ODD = ["", " ", ",", '"', '""', "\n", "\r", "\r\n", "\0", "\t", ";", "=1+1", "@x", "é", "\u2028"]
ODD += ["\U0001f600", "\ufeff", "e\u0301" * 5, "\x1b[31m", "' or 1=1", "NaN", "1e400", "-0", "９"]


@dataclass(frozen=True)
class Made:
    """A file's name and bytes."""

    name: str
    content: bytes


def word(chance: random.Random) -> str:
    """A private value: letters, numbers, signs."""
    kind = chance.randrange(6)
    if kind == 0:
        return TOKEN + chance.choice(ODD)
    if kind == 1:
        return f"{TOKEN} {chance.choice(ODD)} {TOKEN}"
    if kind == 2:
        return f"{chance.uniform(-200, 200):.6f}"
    letters = "".join(chance.choices(string.ascii_letters + " .", k=chance.randrange(12)))
    return TOKEN + letters


def header(chance: random.Random) -> list[str]:
    """Column names, as a rule; sometimes a record in their place, or the same name twice."""
    kind = chance.randrange(12)
    if kind == 0:
        return [word(chance) for _ in range(chance.randrange(1, 4))]
    if kind == 1:
        return ["text", "text"]
    if kind == 2:
        return ["", "text"]
    names = chance.sample(NAMES, chance.randrange(1, 5))
    return names if "text" in names else ["text", *names]


def csv_file(chance: random.Random) -> bytes:
    """CSV with quotation marks, blank lines, short and long rows, and bytes that are no text."""
    names = header(chance)
    end = chance.choice(["\n", "\r\n", "\n", "\r"])
    lines = [",".join(names)]
    for _ in range(chance.randrange(8)):
        width = len(names) + (chance.choice([-1, 1, 5]) if chance.random() < 0.1 else 0)
        cells = [word(chance) for _ in range(max(0, width))]
        if chance.random() < 0.8:
            cells = [_quoted(cell) for cell in cells]
        lines.append(",".join(cells))
        if chance.random() < 0.1:
            lines.append("")
    return _spoiled((end.join(lines) + end).encode("utf-8", "surrogatepass"), chance)


def _quoted(cell: str) -> str:
    special = any(sign in cell for sign in ',"\n\r')
    return '"' + cell.replace('"', '""') + '"' if special else cell


def value(chance: random.Random, depth: int = 0) -> Any:
    """A JSON value."""
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind == 0:
        return None
    if kind == 1:
        return chance.choice([True, False, 0, -1, 2**70, 1.5, float("nan"), float("inf"), 1e-300])
    if kind < 6:
        return word(chance)
    if kind == 6:
        return [value(chance, depth + 1) for _ in range(chance.randrange(3))]
    if kind == 7:
        return {word(chance): value(chance, depth + 1) for _ in range(chance.randrange(3))}
    return "\ud83d" if chance.random() < 0.3 else word(chance)


def jsonl_file(chance: random.Random) -> bytes:
    """JSON lines: objects of changing keys, other values, half objects, lone surrogates, depth."""
    lines = []
    names = chance.sample(NAMES, chance.randrange(1, 4))
    for _ in range(chance.randrange(8)):
        kind = chance.randrange(14)
        if kind == 0:
            lines.append(json.dumps(value(chance)))
        elif kind == 1:
            lines.append(json.dumps({"text": word(chance)})[: chance.randrange(12)])
        elif kind == 2:
            deep = chance.choice([5, 99, 101, 3000])
            lines.append('{"text": ' + "[" * deep + "]" * deep + "}")
        elif kind == 3:
            lines.append(f'{{"text": "{TOKEN}", "text": 1}}')
        elif kind == 4:
            lines.append('{"text": ' + "9" * chance.choice([10, 5000]) + "}")
        elif kind == 5:
            lines.append("")
        else:
            row = {"text": word(chance)} | {name: value(chance) for name in names}
            lines.append(json.dumps(row, ensure_ascii=chance.random() < 0.5))
    return _spoiled("\n".join(lines).encode("utf-8", "surrogatepass"), chance)


def text_file(chance: random.Random) -> bytes:
    """Lines of text, or any bytes."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(200))
    end = chance.choice(["\n", "\r\n", "\r"])
    lines = [word(chance) for _ in range(chance.randrange(8))]
    return _spoiled((end.join(lines) + chance.choice(["", end])).encode(), chance)


def parquet_file(chance: random.Random) -> bytes:
    """Parquet with columns of many types, nothings, names that come twice, and damage."""
    import pyarrow
    import pyarrow.parquet

    count = chance.choice([0, 1, 3, 7])
    columns = [("text", pyarrow.array([word(chance) for _ in range(count)], pyarrow.string()))]
    for number in range(chance.randrange(4)):
        name = "text" if chance.random() < 0.05 else f"note{number}"
        columns.append((name, _arrow(chance, count)))
    if chance.random() < 0.3:
        columns[0] = ("text", _arrow(chance, count))
    table = pyarrow.Table.from_arrays([c for _, c in columns], [n for n, _ in columns])
    out = io.BytesIO()
    compression = chance.choice(["snappy", "none", "gzip", "zstd"])
    pyarrow.parquet.write_table(table, out, compression=compression)
    return _spoiled(out.getvalue(), chance, 0.15)


def _arrow(chance: random.Random, count: int) -> Any:
    import pyarrow as pa

    whole = [chance.choice([None, 0, 1, chance.randrange(2**31)]) for _ in range(count)]
    small = [None if n is None else n % 86_399 for n in whole]
    texts = [chance.choice([None, word(chance)]) for _ in range(count)]
    types = [
        pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.date32(), pa.date64(),
        pa.time32("s"), pa.time64("ns"), pa.timestamp("ns"), pa.timestamp("us", tz="UTC"),
        pa.duration("ns"), pa.decimal128(20, 3), pa.decimal256(50, 3), pa.null(),
    ]  # fmt: skip
    kind = chance.randrange(len(types) + 9)
    if kind < len(types):
        chosen = types[kind]
        if pa.types.is_null(chosen):
            return pa.nulls(count)
        if pa.types.is_boolean(chosen):
            return pa.array([None if n is None else bool(n % 2) for n in whole], chosen)
        if pa.types.is_int8(chosen):
            return pa.array([None if n is None else n % 100 for n in whole], chosen)
        if pa.types.is_date64(chosen):
            return pa.array([None if n is None else n * 86_400_000 for n in small], chosen)
        if pa.types.is_float16(chosen) or pa.types.is_floating(chosen):
            return pa.array([None if n is None else float(n % 1000) for n in whole], chosen)
        if pa.types.is_decimal(chosen):
            return pa.array(small, pa.int64()).cast(pa.decimal128(19, 0)).cast(chosen)
        return pa.array(small, chosen)
    raw = [None if t is None else t.encode() for t in texts]
    made = [
        lambda: pa.array(raw, pa.binary()),
        lambda: pa.array([None if n is None else b"ab" for n in whole], pa.binary(2)),
        lambda: pa.array(texts, pa.large_string()),
        lambda: pa.array(texts, pa.string()).dictionary_encode(),
        lambda: pa.array([None if t is None else [t, None] for t in texts], pa.list_(pa.string())),
        lambda: pa.array([{"a": t} for t in texts], pa.struct([("a", pa.string())])),
        lambda: pa.array([[n] for n in whole], pa.list_(pa.timestamp("ns"))),
        lambda: pa.array([[("k", t)] for t in texts], pa.map_(pa.string(), pa.string())),
        lambda: pa.array([[r] for r in raw], pa.list_(pa.binary())),
    ]
    return made[kind - len(types)]()


def _spoiled(content: bytes, chance: random.Random, share: float = 0.1) -> bytes:
    """The content, or the content with a byte changed, put in, or cut off."""
    if not content or chance.random() > share:
        return b"\xef\xbb\xbf" + content if chance.random() < 0.03 else content
    place, kind = chance.randrange(len(content)), chance.randrange(3)
    if kind == 0:
        return content[:place]
    byte = bytes([chance.randrange(256)])
    return content[:place] + byte + content[place + (kind == 1) :]


def zipped(content: bytes, chance: random.Random) -> bytes:
    """Gzip: whole, in two members, damaged, with something behind it, or none."""
    kind = chance.randrange(8)
    if kind == 0:
        half = len(content) // 2
        return gzip.compress(content[:half], 1, mtime=0) + gzip.compress(content[half:], 1, mtime=0)
    if kind == 1:
        return gzip.compress(content, 1, mtime=0) + TOKEN.encode()
    if kind == 2:
        return content
    return _spoiled(gzip.compress(content, 1, mtime=0), chance, 0.3)


def table_file(chance: random.Random, kind: str) -> bytes:
    """A table as users have it, places, persons and classes in it; sometimes a cell goes wrong."""
    wrong = chance.choice([0.0, 0.0, 0.02, 0.2])
    rows = []
    for _ in range(chance.randrange(4, 30)):
        row: dict[str, Any] = {
            "text": f"the cat {TOKEN}",
            "lat": f"{45 + chance.uniform(-0.05, 0.05):.6f}",
            "lon": f"{5 + chance.uniform(-0.05, 0.05):.6f}",
            "person": f"{TOKEN}{chance.randrange(5)}",
            "n": str(chance.randrange(9)),
            "y": chance.choice(["yes", "no"]),
        }
        rows.append({k: word(chance) if chance.random() < wrong else v for k, v in row.items()})
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    lines = [list(rows[0]), *([_quoted(cell) for cell in row.values()] for row in rows)]
    return "".join(",".join(cells) + "\n" for cells in lines).encode()


GENERATORS = {
    "csv": csv_file,
    "jsonl": jsonl_file,
    "txt": text_file,
    "parquet": parquet_file,
}


def made(seed: int) -> Made:
    """The file of this number."""
    chance = random.Random(seed)
    if chance.random() < 0.15:
        kind = chance.choice(["csv", "csv", "jsonl"])
        content = table_file(chance, kind)
    else:
        kind = chance.choices(list(GENERATORS), weights=[6, 5, 2, 3])[0]
        content = GENERATORS[kind](chance)
    if kind != "parquet" and chance.random() < 0.2:
        return Made(f"in.{kind}.gz", zipped(content, chance))
    return Made(f"in.{kind}", content)
