"""Every input that ever broke something, made in code: small, and each with its reason."""

from __future__ import annotations

import gzip
import io
import random
from typing import Any

from fuzz.inputs import TOKEN, Made, parquet_file


def _parquet(**columns: Any) -> bytes:
    import pyarrow
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def _typed(values: list[Any], type_: str) -> bytes:
    import pyarrow

    made = pyarrow.array(values, eval(type_, {"pa": pyarrow}))
    return _parquet(text=["a"] * len(values), other=made)


def _damaged(seed: int) -> bytes:
    """A Parquet file with a byte of its pages changed, so that reading it fails half-way."""
    chance = random.Random(seed)
    content = parquet_file(random.Random(7))
    place = chance.randrange(4, len(content) - 8)
    return content[:place] + b"\xff" + content[place + 1 :]


CORPUS: dict[str, Made] = {
    "no line of names": Made("in.csv", f"17,{TOKEN} was diagnosed\n18,{TOKEN}\n".encode()),
    "JSON called CSV": Made("in.csv", f'{{"text": "{TOKEN}"}}\n'.encode() * 2),
    "lone surrogate": Made("in.jsonl", b'{"text": "a"}\n{"text": "\\ud83d"}\n'),
    "lone surrogate beside the text": Made("in.jsonl", b'{"text": "a", "b": ["\\udc00"]}\n'),
    "deep JSON": Made("in.jsonl", b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"),
    "deeper than is written": Made("in.jsonl", b'{"text": ' + b"[" * 900 + b"]" * 900 + b"}\n"),
    "endless number": Made("in.jsonl", b'{"text": ' + b"9" * 5000 + b"}\n"),
    "keys that come later": Made("in.jsonl", b'{"text": "a"}\n{"text": "b", "c": 1}\n'),
    "text of two lines": Made("in.jsonl", b'{"text": "a\\nb"}\n'),
    "not a number": Made("in.jsonl", b'{"text": "a", "b": NaN}\n'),
    "lone carriage return": Made("in.csv", b'text\n"a\rb"\n'),
    "carriage return outside": Made("in.csv", b"text\na\rb\n"),
    "quotation mark that never ends": Made("in.csv", b'text\n"a\nb\n'),
    "NUL": Made("in.csv", b"text\na\0b\n"),
    "empty names": Made("in.csv", b",\na,b\n"),
    "mark of the byte order": Made("in.csv", b"\xef\xbb\xbftext\na\n"),
    "Latin-1": Made("in.csv", b"text\ncaf\xe9\n"),
    "no gzip": Made("in.csv.gz", TOKEN.encode() + b",text\n"),
    "gzip cut off": Made("in.csv.gz", gzip.compress(b"text\n" + b"a\n" * 99, mtime=0)[:-9]),
    "gzip with something behind it": Made("in.csv.gz", gzip.compress(b"text\na\n") + b"xx"),
    "empty": Made("in.csv", b""),
    "no Parquet": Made("in.parquet", b"PAR1" + TOKEN.encode() + b"PAR1"),
    "Parquet decimal": Made("in.parquet", _typed([1, None], "pa.decimal128(9, 2)")),
    "Parquet date": Made("in.parquet", _typed([1, None], "pa.date32()")),
    "Parquet time": Made("in.parquet", _typed([1, None], "pa.time64('ns')")),
    "Parquet bytes": Made("in.parquet", _typed([b"\xff", None], "pa.binary()")),
    "Parquet nanoseconds": Made("in.parquet", _typed([1, None], "pa.timestamp('ns')")),
    "Parquet duration": Made("in.parquet", _typed([1, None], "pa.duration('ns')")),
    "Parquet nested": Made("in.parquet", _typed([[1], None], "pa.list_(pa.timestamp('ns'))")),
    "Parquet without rows": Made("in.parquet", _typed([], "pa.int8()")),
} | {f"damaged Parquet {seed}": Made("in.parquet", _damaged(seed)) for seed in range(12)}
