"""Draws a second: voile's TEM against mldp-text's and against plain NumPy, same text and vectors.

    export OPENBLAS_NUM_THREADS=1
    python benchmarks/words_speed.py --peer /path/to/venv/bin/python [--tokens 300000]

The peer is an interpreter with `mldp-text` installed, in an environment of its own; without it
that column is left out. Words are those of IMDB reviews (../shared/data/imdb, or --data), vectors
GloVe 6B 50d for all three. One process, one thread. Writes benchmarks/results/words_speed.md.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import voile
from voile.mechanisms import word_truncated_exponential
from voile.mechanisms._neighbours import neighbours_of
from voile.text import Vocabulary, glove
from voile.text.tokens import Tokenizer

EPSILONS = (1, 2, 3, 4, 6, 8, 16, 32)
PEER = """
import json, sys, time
import numpy as np
from gensim.models import KeyedVectors
from mldp_text.mechanisms import TEM
folder, count = sys.argv[1], int(sys.argv[2])
words = open(folder + "/words.txt", encoding="utf-8").read().split("\\n")
vectors = KeyedVectors(vector_size=50)
vectors.add_vectors(words, np.load(folder + "/vectors.npy"))
text = json.load(open(folder + "/text.json"))[:count]
answer = {}
for epsilon in json.loads(sys.argv[3]):
    law = TEM(epsilon, embedding_matrix=vectors, dim=50, vocab=words)
    law.replace_word(text[0])
    start = time.perf_counter()
    for word in text:
        law.replace_word(word)
    answer[epsilon] = len(text) / (time.perf_counter() - start)
print("RESULT" + json.dumps(answer))
"""


def tokens_of(path: Path, words: Vocabulary, count: int) -> np.ndarray:
    tokenizer = Tokenizer(words)
    found: list[int] = []
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            found += [p.position for p in tokenizer.split(row["text"]) if not isinstance(p, str)]
            if len(found) >= count:
                break
    return np.array(found[:count])


def peer_speed(python: Path, words: Vocabulary, tokens: np.ndarray) -> dict[int, float]:
    """Words a second of mldp-text's TEM, 15 words for each epsilon."""
    known = tokens[tokens < words.unknown]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "words.txt").write_text("\n".join(words.words), "utf-8")
        vectors = words.embedding.points[:-1] * words.embedding.step
        np.save(Path(folder) / "vectors.npy", vectors.astype(np.float32))
        text = [words.words[i] for i in known[:15]]
        (Path(folder) / "text.json").write_text(json.dumps(text))
        command = [str(python), "-c", PEER, folder, "15", json.dumps(EPSILONS)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(line for line in shown.splitlines() if line.startswith("RESULT"))
    return {int(k): v for k, v in json.loads(line.removeprefix("RESULT")).items()}


def gumbel_speed(words: Vocabulary, tokens: np.ndarray, epsilon: float) -> float:
    """Plain NumPy: distances to all words, Gumbel noise, argmax, a token at a time."""
    vectors = words.embedding.points * words.embedding.step
    gamma = 2 / epsilon * np.log(0.999 * (len(vectors) - 1) / 0.001)
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for token in tokens:
        distances = np.minimum(np.linalg.norm(vectors - vectors[token], axis=1), gamma)
        (rng.gumbel(scale=2 / epsilon, size=len(vectors)) - distances).argmax()
    return len(tokens) / (time.perf_counter() - start)


def whole_table(words: Vocabulary) -> str:
    """The cold start of a release: neighbours of all words, written, then checked and opened."""
    with tempfile.TemporaryDirectory() as folder:
        started, used = time.perf_counter(), time.process_time()
        neighbours_of(words.embedding, cache=Path(folder), fill=True)
        wall, spent = time.perf_counter() - started, time.process_time() - used
        size = max(path.stat().st_size for path in Path(folder).iterdir())
    return (
        f"Whole table, cold: {wall:.1f} s wall, {spent:.1f} s of processor time on "
        f"{os.cpu_count()} cores, {size / 1e6:.0f} MB, once for the vocabulary."
    )


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--peer", type=Path)
    options.add_argument("--data", type=Path)
    options.add_argument("--tokens", type=int, default=300_000)
    chosen = options.parse_args()
    here = Path(__file__).resolve().parent
    data = chosen.data or here.parent.parent / "shared" / "data" / "imdb"
    lines = [
        "# Words a second, one core",
        "",
        f"`python benchmarks/words_speed.py --peer … --tokens {chosen.tokens}` with "
        "OPENBLAS_NUM_THREADS=1. TEM over GloVe 6B 50d, words of IMDB reviews, secure generator, "
        "1,024 neighbours a word, found before.",
    ]
    for top in (50_000, None):
        words = glove(top=top)
        tokens = tokens_of(data / "train.csv.gz", words, chosen.tokens if top else 60_000)
        used = np.unique(tokens)
        if not top:  # finding neighbours among 400,000 words takes minutes: a part will do
            used = np.unique(np.random.default_rng(0).choice(tokens, 20_000))[:1500]
            tokens = tokens[np.isin(tokens, used)]
        near = neighbours_of(words.embedding)
        near.ensure(used[:1])
        start = time.perf_counter()
        near.ensure(used)
        finding = len(used) / (time.perf_counter() - start)
        peer = peer_speed(chosen.peer, words, tokens) if chosen.peer and top else {}
        lines += [
            "",
            f"## {len(words):,} words",
            "",
            f"Neighbours: {finding:,.0f} words/s, {len(used):,} distinct words, once; "
            f"{len(tokens):,} draws for each ε.",
            *(["", whole_table(words)] if top else []),
            "",
            "| ε | kept | voile | NumPy Gumbel | mldp-text | voile / NumPy | voile / mldp-text |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for epsilon in EPSILONS:
            law = word_truncated_exponential(words.embedding, epsilon=epsilon, neighbours=near)
            rng = voile.secure_rng()
            law.release(tokens[:1000], rng)
            start = time.perf_counter()
            drawn = law.release(tokens, rng)
            speed = len(tokens) / (time.perf_counter() - start)
            plain = gumbel_speed(words, tokens[: 40 if top else 8], epsilon)
            other = peer.get(epsilon)
            lines.append(
                f"| {epsilon} | {(drawn == tokens).mean():.3f} | {speed:,.0f} | {plain:,.0f} | "
                f"{f'{other:.2f}' if other else '–'} | {speed / plain:,.0f}× | "
                f"{f'{speed / other:,.0f}×' if other else '–'} |"
            )
            print(lines[-1], flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lines += ["", f"Peak memory of the whole run: {peak:.2f} GB."]
    (here / "results").mkdir(exist_ok=True)
    (here / "results" / "words_speed.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
