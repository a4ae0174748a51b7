"""What reading a release as a whole brings: words right, meaning, and what is learned from it.

`python benchmarks/text_restore.py` writes `results/text_restore.md`. With `--choose` the same is
measured on texts that are not counted (other parts of the training sets, other data), from which
the output of each use and the threshold of fit were chosen; it writes `text_restore_chosen.md`.
With `--speed` words a second are measured beside those of an earlier commit, in one run.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from voile.core.randomness import seeded_rng
from voile.leakage.text_tasks import macro_f1
from voile.mechanisms._neighbours import cache_folder
from voile.restoring.candidates import normalisers
from voile.text.building import build_protector
from voile.text.consistent import draw_words
from voile.text.language_prior import LanguagePrior, public_prior
from voile.text.prior_choice import with_expected
from voile.text.settings import TextSettings
from voile.text.vocabularies import Vocabulary
from voile.text.vocabulary_files import glove
from voile.text.word_frequencies import word_frequencies

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Texts:
    """Public texts, private ones with their labels, and clean ones to test a classifier on."""

    name: str
    public: Sequence[str]
    private: Sequence[str]
    labels: Sequence[str]
    tests: Sequence[str]
    test_labels: Sequence[str]


@dataclass(frozen=True)
class Row:
    """One way to release: the share of words that are right, their mean cosine, F1, fits."""

    texts: str
    epsilon: float
    way: str
    right: float
    cosine: float
    f1: float
    gain: float | None = None
    fits: bool | None = None


def snips(part: str) -> tuple[list[str], list[str]]:
    folder = DATA / "snips" / part
    return tuple((folder / name).read_text().splitlines() for name in ("seq.in", "label"))  # type: ignore[return-value]


def ag_news() -> tuple[list[str], list[str]]:
    with (DATA / "ag_news" / "test.csv").open(newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) == 3]
    return [f"{row[1]}. {row[2]}" for row in rows], [row[0] for row in rows]


def imdb(part: str) -> tuple[list[str], list[str]]:
    with gzip.open(DATA / "imdb" / f"{part}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def first_words(text: str, count: int) -> str:
    return " ".join(text.split()[:count])


def amazon(kind: str) -> list[str]:
    with gzip.open(DATA / "amazon" / f"{kind}-train.tsv.gz", "rt", newline="") as file:
        return [max(row, key=len) for row in csv.reader(file, delimiter="\t") if row]


def counted() -> Iterator[tuple[Texts, Sequence[str], tuple[float, ...]]]:
    """The tables of the result: each with public text of another kind."""
    train, _ = snips("train")
    test, labels = snips("test")
    dev, dev_labels = snips("dev")
    news, topics = ag_news()
    order = np.random.default_rng(1).permutation(len(news)).tolist()
    shuffled, kinds = [news[i] for i in order], [topics[i] for i in order]
    reviews, _ = imdb("train")
    private, stars = imdb("test")
    chosen = np.random.default_rng(2).permutation(len(private)).tolist()
    order = np.random.default_rng(3).permutation(len(reviews))[:5000].tolist()
    public = [reviews[i] for i in order]
    yield Texts("SNIPS", train, test, labels, dev, dev_labels), public[:800], (3.0, 4.0)
    yield (
        Texts("AG News", shuffled[:5000], shuffled[5000:5300], kinds[5000:5300],
              shuffled[6000:7500], kinds[6000:7500]),
        train, (4.0, 3.0),
    )  # fmt: skip
    yield (
        Texts("IMDB", public, [first_words(private[i], 50) for i in chosen[:300]],
              [stars[i] for i in chosen[:300]], [private[i] for i in chosen[300:1300]],
              [stars[i] for i in chosen[300:1300]]),
        shuffled[:4000], (4.0, 3.0),
    )  # fmt: skip


def not_counted() -> Iterator[tuple[Texts, Sequence[str], tuple[float, ...]]]:
    """Where output and threshold were chosen: a part of SNIPS's training set, reviews of goods."""
    train, labels = snips("train")
    order = np.random.default_rng(5).permutation(len(train)).tolist()
    texts, kinds = [train[i] for i in order], [labels[i] for i in order]
    books, kitchen = amazon("books"), amazon("kitchen")
    yield (
        Texts("SNIPS, held-out training part", texts[2000:], texts[:700], kinds[:700],
              texts[700:1400], kinds[700:1400]),
        books[:400], (3.0, 4.0),
    )  # fmt: skip
    yield (
        Texts("Amazon, books and kitchen", books[:1000] + kitchen[:1000],
              [first_words(t, 60) for t in books[1000:1200] + kitchen[1000:1200]],
              ["books"] * 200 + ["kitchen"] * 200, books[1200:1600] + kitchen[1200:1600],
              ["books"] * 400 + ["kitchen"] * 400),
        texts[:9000], (3.0,),
    )  # fmt: skip


def directions(words: Vocabulary) -> np.ndarray:
    lengths = np.sqrt(words.embedding.squared_norms)[:, None]
    return words.embedding.points / np.where(lengths > 0, lengths, 1)


def remapped(law, prior: np.ndarray, drawn: np.ndarray, aims: np.ndarray) -> np.ndarray:
    """The per-word remap of `--remap`, for the words that were drawn."""
    scale = prior / normalisers(law, cache=cache_folder().with_name("normalisers"))
    likely = np.flatnonzero(prior > 0)
    words, which = np.unique(drawn, return_inverse=True)
    targets = words.copy()
    for start in range(0, len(words), 128):
        rows = words[start : start + 128]
        table = np.exp(-np.minimum(law.rate * np.sqrt(law.embedding.squared(rows)), law.cap))
        means = (table * scale) @ aims
        targets[start : start + 128] = likely[(means @ aims[likely].T).argmax(axis=1)]
    return targets[which]


def measure(
    texts: Texts,
    other: Sequence[str],
    epsilon: float,
    *,
    words: Vocabulary,
    seed: int = 0,
    uses: Sequence[str] = ("reading", "retrieval"),
    quick: bool = False,
) -> Iterator[Row]:
    """All ways for one set of texts and one epsilon; the draws are the same for all."""
    settings = TextSettings("text", epsilon, restore="reading", misfit="ignore")
    priors: dict[str, LanguagePrior] = {
        "public text of its kind": public_prior(list(texts.public), None, words),
        "public text of another kind": public_prior(list(other), None, words),
    }
    aims = directions(words)
    protector = build_protector(settings, words, priors["public text of its kind"])
    plans = protector.plan(list(texts.private))
    before, drawn = draw_words(protector, plans, seeded_rng(seed))

    def row(way: str, after: np.ndarray, **more) -> Row:
        known = before < words.unknown
        right = float((before == after)[known].mean())
        cosine = float((aims[before] * aims[after]).sum(axis=1)[known].mean())
        start, released = 0, []
        for plan in plans:
            end = start + len(plan.drawn)
            made = protector._assembled(plan, before[start:end], after[start:end], None)
            released.append(re.sub(r"[.,!?;:()\"]", " ", made.text).lower())
            start = end
        tests = [re.sub(r"[.,!?;:()\"]", " ", text).lower() for text in texts.tests]
        f1 = macro_f1(released, texts.labels, tests=tests, test_labels=texts.test_labels)
        return Row(texts.name, epsilon, way, right, cosine, f1, **more)

    yield row("originals", before)
    yield row("as drawn", drawn)
    (law,) = protector.laws
    by_rank, by_list = words.frequencies(), word_frequencies(words).shares.copy()
    by_list[words.unknown] = 0
    remaps = {
        "by rank": by_rank,
        "of wordfreq": by_list,
        "of public text of its kind": priors["public text of its kind"].frequencies,
    }
    for name, prior in {} if quick else remaps.items():
        yield row(f"remap, frequencies {name}", remapped(law, prior, drawn, aims))
    for name, prior in priors.items():
        made = build_protector(settings, words, prior)
        prior = with_expected(prior, made)
        judged = build_protector(replace(settings, misfit="drawn"), words, prior)
        for use in uses:
            # one reader, so that its candidates are found once
            made.restorer.use = use
            after, read = made.restorer.read(plans, drawn)
            gains, counts = (np.array([getattr(r, n) for r in read]) for n in ("gain", "words"))
            fits = judged.restorer._fits(gains, counts)
            share = gains.sum() / counts.sum() / prior.expected.mean
            output = "least expected loss" if use == "retrieval" else "likeliest word"
            yield row(f"whole texts, {output}, {name}", after, gain=float(share), fits=fits)


def speed(texts: Texts, words: Vocabulary, epsilon: float) -> list[dict[str, float | str]]:
    """Words a second of CPU time, the candidates of the drawn words known, pairs alone and not."""
    settings = TextSettings("text", epsilon, restore="reading", misfit="ignore")
    whole = public_prior(list(texts.public), None, words)
    pairs = replace(
        whole.ngrams,
        triple_starts=np.zeros_like(whole.ngrams.triple_starts),
        triple_columns=whole.ngrams.triple_columns[:0],
        triple_shares=whole.ngrams.triple_shares[:0],
        triple_back=np.ones_like(whole.ngrams.triple_back),
    )
    found = []
    for way, ngrams in (("pairs", pairs), ("pairs and triples", whole.ngrams)):
        protector = build_protector(settings, words, replace(whole, ngrams=ngrams))
        plans = protector.plan(list(texts.private))
        _, drawn = draw_words(protector, plans, seeded_rng(0))
        times = []
        for _ in range(4):  # the first finds candidates, and compiles
            start = time.process_time()
            after, _ = protector.restorer.read(plans, drawn)
            times.append(time.process_time() - start)
        found.append(
            {"texts": texts.name, "epsilon": epsilon, "way": way, "words": len(drawn),
             "rate": len(drawn) / min(times[1:]),
             "answers": hashlib.sha256(after.astype(np.int64).tobytes()).hexdigest()}
        )  # fmt: skip
    return found


def speeds(asked: argparse.Namespace) -> None:
    """Words a second now and before, in one run, and whether the answers are the same."""
    now, before = [], []
    for texts, _, epsilons in counted():
        for epsilon in sorted(epsilons) if asked.only in texts.name else ():
            now += speed(texts, glove(), epsilon)
    if asked.before == "self":
        print(json.dumps(now))
        return
    if asked.before == "none":
        write_speeds(now, asked.only)
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", asked.before, "src"], check=True,
                                capture_output=True, cwd=Path(__file__).parents[1])  # fmt: skip
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        run = [sys.executable, __file__, "--speed", "--before", "self", "--only", asked.only]
        place = {**os.environ, "PYTHONPATH": f"{folder}/src"}
        said = subprocess.run(run, check=True, capture_output=True, text=True, env=place)
        before = json.loads(said.stdout.splitlines()[-1])
    lines = [
        "# Reading a release as a whole: speed",
        "",
        f"`python benchmarks/text_restore.py --speed --only '{asked.only}' --before "
        f"{asked.before}`: the same texts, draws and priors with the code of that commit and with "
        "this one, in one run; CPU time of "
        "one core, candidates known, on a machine shared with other work. Words a second.",
        "",
        "| texts | ε | prior | words | before | now | times | same answers |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for old, new in zip(before, now, strict=True):
        same = "yes" if old["answers"] == new["answers"] else "NO"
        lines.append(
            f"| {new['texts']} | {new['epsilon']:g} | {new['way']} | {new['words']:,} | "
            f"{old['rate']:,.0f} | {new['rate']:,.0f} | {new['rate'] / old['rate']:.1f} | {same} |"
        )
    (RESULTS / "text_restore_speed.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def write_speeds(found: list[dict[str, float | str]], only: str) -> None:
    """Words a second of this code alone, and what triples cost."""
    lines = [
        "# Reading a release as a whole: speed of pairs, and of triples",
        "",
        f"`python benchmarks/text_restore.py --speed --before none --only '{only}'`: CPU time of "
        "one core, candidates known, the fastest of three runs, on a machine shared with other "
        "work. “Pairs” has no triples; what is read with triples is read with pairs first.",
        "",
        "| texts | ε | prior | words | words a second | times the time of pairs |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    alone = {(row["texts"], row["epsilon"]): row["rate"] for row in found if row["way"] == "pairs"}
    for row in found:
        times = alone[row["texts"], row["epsilon"]] / row["rate"]
        lines.append(
            f"| {row['texts']} | {row['epsilon']:g} | {row['way']} | {row['words']:,} | "
            f"{row['rate']:,.0f} | {times:.2f} |"
        )
    (RESULTS / "text_restore_pairs.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--only", default="", help="texts whose name holds this")
    parser.add_argument("--quick", action="store_true", help="without the remaps")
    parser.add_argument("--speed", action="store_true", help="speed alone, beside --before")
    parser.add_argument(
        "--before", default="60585bc", help="a commit to compare the speed with, or none"
    )
    asked = parser.parse_args()
    if asked.speed:
        speeds(asked)
        return
    words = glove()
    name = "text_restore_chosen" if asked.choose else "text_restore"
    lines = [
        f"# Reading a release as a whole{' (not counted)' if asked.choose else ''}",
        "",
        f"`python benchmarks/text_restore.py{' --choose' if asked.choose else ''}`; TEM over "
        "50,000 words of GloVe 50d, one seed, the same draws in every row. Words right and mean "
        "cosine are over words of the vocabulary; F1 is that of a classifier trained on the "
        "release and tested on clean texts. “Fit” is what context gains there, as a share of what "
        "it gains on held-out public text through the same law.",
        "",
        "| texts | ε | released | words right | cosine | F1 | fit |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for texts, other, epsilons in not_counted() if asked.choose else counted():
        if asked.only and asked.only not in texts.name:
            continue
        for epsilon in epsilons:
            for row in measure(texts, other, epsilon, words=words, quick=asked.quick):
                fit = "" if row.gain is None else f"{row.gain:.2f}{'' if row.fits else ', refused'}"
                lines.append(
                    f"| {row.texts} | {row.epsilon:g} | {row.way} | {row.right:.3f} | "
                    f"{row.cosine:.3f} | {row.f1:.3f} | {fit} |"
                )
                print(lines[-1], flush=True)
        size = f"{len(texts.public):,} public texts, {len(texts.private):,} private ones"
        lines.append(f"| | | *{texts.name}: {size}, {len(texts.tests):,} to test on* | | | | |")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
