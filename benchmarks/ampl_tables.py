"""Tables 1 and 3 and Figures 3, 4, 8, 9 of the mPL paper, on AG News and IMDB.

    python benchmarks/ampl_tables.py run [--seeds 4] [--jobs 2] [--data ../shared/data]
    python benchmarks/ampl_tables.py tables

`run` appends one line a cell to results/ampl_tables.jsonl and skips what is there already, so that
it can be stopped and started again; `tables` writes results/ampl_tables.md and the charts from
those lines. The lines say their CPU seconds, and the tables sum them. Needs the
extras `neural` and `ner`, and `ag_news/test.csv` and `imdb/train.csv.gz` under --data.

Sizes (the paper's in brackets): 1,000 documents a seed, their first 20 words (all); 300 candidates
(all sensitive words); GloVe 50d (100d); at most 12 epochs of batches of
16, fewer where the held-out loss stalls. Documents fall into blocks: the first is
for adapting the strengths, and each seed then has a block of its own, split 60/20/20, with fresh
draws and a fresh attacker. So seeds are independent trials, and no strength was chosen on the
documents it is judged on. Within a seed all strengths share documents, split, random numbers and
initial weights: differences are paired.

Beliefs come from the cross-entropy head; `--head embedding` is the paper's (mean squared error and
a Gaussian softmax), whose calibrated beliefs are so flat that hardly anything violates.

`markov` is an attacker that the paper lacks: it knows the law, and how sensitive words follow one
another in the block for adapting, and computes the posterior exactly (forward–backward). It has no
luck and no error of its own. `AmPL-X` is AmPL against it: violations counted over documents, one
percentage point of them worth one percent of EM's loss after the remap.

`nothing` is a control that the paper lacks: sensitive words are drawn uniformly, so that releases
carry nothing and the true leakage is 0. What is counted as a violation there is the attacker's
own error.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gzip
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from voile.adapt.ampl import (
    evaluator,
    expected_loss,
    level_laws,
    perturbed,
    similarity_loss,
)
from voile.adapt.levels import Levels, adapt
from voile.attackers.attack import Observed, SequenceAttack
from voile.attackers.chain import chain_attacker, sensitive_only, word_chain
from voile.attackers.corpus import Corpus
from voile.attackers.readers import fit_reader
from voile.attackers.reliability import held_out
from voile.audit.documents import measured, split
from voile.leakage.posterior import posterior_leakage
from voile.text import glove
from voile.text.sequences import corpus, read_words
from voile.text.tiers import sensitive_tiers

RESULTS = Path(__file__).parent / "results"
DATASETS = ("ag_news", "imdb")
LEARNED = ("rnn", "lstm", "transformer")
ATTACKERS = (*LEARNED, "markov")
EPSILONS = (0.3, 0.4, 0.5)
DOCUMENTS, LONGEST, CANDIDATES, EPOCHS, BATCH = 1000, 20, 300, 12, 16
MOST_ROUNDS, MOST_EXACT_ROUNDS, LOWEST = 6, 30, 0.1
SHARES = (0.1, 0.3, 0.6, 1.0)
GRID = (0.1, 0.55, 1.0)
EM, NOTHING = (1.0, 1.0), (0.0, 0.0)
EDGES = np.linspace(0, 1.2, 61)
Strengths = tuple[float, float]
Line = dict[str, Any]


def first_words(text: str) -> str:
    """Enough of a text for its first words, cut at a space: what follows is never read."""
    return " ".join(text.split()[: LONGEST + 10])


def read(dataset: str, data: Path) -> list[str]:
    """All documents in a fixed random order."""
    if dataset == "ag_news":
        with (data / "ag_news" / "test.csv").open(newline="") as file:
            texts = [f"{title}. {body}" for _, title, body in csv.reader(file)]
    else:
        with gzip.open(data / "imdb" / "train.csv.gz", "rt", newline="") as file:
            texts = [row["text"].replace("<br />", " ") for row in csv.DictReader(file)]
    order = np.random.default_rng(0).permutation(len(texts))
    return [first_words(texts[n]) for n in order]


@lru_cache(maxsize=2)
def whole_corpus(dataset: str, data: Path, seeds: int) -> Corpus:
    """Block 0 for adapting and one block a seed, with one list of candidates."""
    words = glove(top=50_000)
    tiers = sensitive_tiers(words, sensitive="pii,poii", pipeline=None)
    texts = read(dataset, data)[: DOCUMENTS * (seeds + 1)]
    sequences = read_words(texts, words, tiers=tiers)
    return corpus(sequences, sequences, words, longest=LONGEST, most_candidates=CANDIDATES)


def block(texts: Corpus, number: int) -> Corpus:
    """The documents of one block."""
    chosen = texts.sequences[number * DOCUMENTS : (number + 1) * DOCUMENTS]
    return dataclasses.replace(texts, sequences=chosen)


def prior_of(texts: Corpus) -> np.ndarray:
    """Shares of the candidates in the block for adapting, smoothed: what a public prior is."""
    secrets = np.concatenate([item.secrets[item.sensitive] for item in texts.sequences])
    counts = np.bincount(secrets, minlength=len(texts.candidates)) + 1
    return np.asarray(counts / counts.sum())


class Cells:
    """Lines of results by their key; a cell that is there is not computed again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = {self.key(line["cell"]): line for line in map(json.loads, lines)}

    @staticmethod
    def key(cell: Line) -> str:
        """A cell's settings as one string."""
        return json.dumps(cell, sort_keys=True)

    def get(self, **cell: Any) -> Line | None:
        """The line of a cell, if it was computed."""
        return self.known.get(self.key(cell))

    def put(self, found: Line, **cell: Any) -> Line:
        """Keep a cell's answer, in memory and at the end of the file."""
        line = {"cell": cell, **found}
        self.known[self.key(cell)] = line
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return line


def guess_cosine(attack: SequenceAttack, items: list[Observed], texts: Corpus) -> float:
    """Mean cosine between the expected vector under the beliefs and the true word's."""
    vectors = texts.candidate_vectors()
    cosines = []
    for start in range(0, len(items), 32):
        part = [item for item in items[start : start + 32] if len(item.sensitive)]
        if not part:
            continue
        tables = attack.log_posteriors([item.releases for item in part])
        for item, table in zip(part, tables, strict=True):
            guess = np.exp(table[item.sensitive]) @ vectors
            truth = vectors[item.secrets[item.sensitive]]
            norms = np.linalg.norm(guess, axis=1) * np.linalg.norm(truth, axis=1)
            cosines.append((guess * truth).sum(axis=1) / norms)
    return float(np.concatenate(cosines).mean())


def measure(
    texts: Corpus,
    *,
    public: Corpus,
    attacker: str,
    epsilon: float,
    strengths: Strengths,
    seed: int,
    head: str,
    share: float = 1.0,
) -> Line:
    """Perturb a block, train on (a share of) its training part, measure on its test part."""
    began = time.process_time()
    rng = np.random.default_rng(seed)
    uniforms = [rng.random(len(item.sensitive)) for item in texts.sequences]
    law = level_laws(texts, epsilon=epsilon, strengths=strengths)
    items = perturbed(texts, law, uniforms, texts.sequences)
    attack: SequenceAttack
    if attacker == "markov":
        test = sensitive_only(texts, items)  # nothing is trained: all documents can judge
        attack = chain_attacker(law, word_chain(public, public.sequences))
    else:
        training, validation, test = split(items, seed=seed)
        training = training[: max(10, round(share * len(training)))]
        attack = fit_reader(
            attacker, texts, training, validation, head=head, epochs=EPOCHS, batch=BATCH, seed=seed
        )
    leakage = measured(attack, test, texts, epsilons=EPSILONS, delta=0.5).leakage
    own = EPSILONS.index(epsilon)
    believed = held_out(attack, test)
    return {
        "violations": [float(f"{v:.6g}") for v in leakage.shares.mean(axis=0)],
        "documents_ppb": np.rint(1e9 * leakage.shares[:, own]).astype(int).tolist(),
        "triples": leakage.triples,
        "releases": leakage.releases,
        "largest": round(leakage.supremum, 4),
        "histogram": np.histogram(leakage.sample, EDGES)[0].tolist(),
        "accuracy": round(believed.accuracy, 5),
        "confidence": round(believed.confidence, 5),
        "cosine": round(guess_cosine(attack, test, texts), 5),
        "seconds": round(time.process_time() - began, 2),
    }


def adapted(texts: Corpus, *, epsilon: float, head: str) -> Line:
    """EM's, and those that AmPL and its variants choose on the block for adapting.

    The violation share is the mean over the three attackers: a defender does not know which one
    will read, and a single training is so noisy that the search would follow its noise.
    """
    began = time.process_time()
    public = block(texts, 0)
    each = [
        evaluator(public, epsilon=epsilon, attacker=attacker, head=head, epochs=EPOCHS, batch=BATCH)
        for attacker in LEARNED
    ]
    exact = evaluator(public, epsilon=epsilon, attacker="markov", counted="documents")

    @cache
    def all_attackers(strengths: tuple[float, ...]) -> tuple[float, float]:
        found = np.array([evaluate(strengths) for evaluate in each])
        return float(found[:, 0].mean()), float(found[0, 1])

    loss, prior = similarity_loss(public), prior_of(public)

    def only_utility(strengths: tuple[float, ...]) -> tuple[float, float]:
        law = level_laws(public, epsilon=epsilon, strengths=strengths)
        return 0.0, expected_loss(law, loss, prior, remapped=True)

    found: dict[str, list[float]] = {"EM": list(EM), "nothing": list(NOTHING)}
    rounds = {}
    relative = 1 / only_utility(EM)[1]
    for name, free, weights, evaluate, most in (
        ("AmPL-U", (True, True), (0.0, 1.0), only_utility, MOST_EXACT_ROUNDS),
        ("AmPL-I", (True, False), (1.0, 1.0), all_attackers, MOST_ROUNDS),
        ("AmPL", (True, True), (1.0, 1.0), all_attackers, MOST_ROUNDS),
        ("AmPL-X", (True, True), (1.0, relative), exact, MOST_EXACT_ROUNDS),
    ):
        levels = Levels(
            start=EM, free=free, privacy_weight=weights[0], utility_weight=weights[1],
            lowest=LOWEST, first_step=0.45,
        )  # fmt: skip
        state = adapt(levels, evaluate, most_rounds=most)
        found[name] = list(state.best.strengths)
        rounds[name] = [[*r.strengths, r.violation, r.utility_loss] for r in state.rounds]
    seconds = round(time.process_time() - began, 2)
    return {"strengths": found, "rounds": rounds, "seconds": seconds}


def utility(texts: Corpus, *, epsilon: float, strengths: Strengths) -> Line:
    """Exact expected losses of a law, as it is and remapped, under the public prior.

    Also exact: how many different words the remap leaves, and the largest leakage of a single
    release to somebody who knows the law.
    """
    public = block(texts, 0)
    law = level_laws(public, epsilon=epsilon, strengths=strengths)
    loss, prior = similarity_loss(public), prior_of(public)
    targets = ((prior[:, None] * law).T @ loss).argmin(axis=1)
    single = posterior_leakage(np.log(law).T, public.distances(), epsilons=[epsilon])
    return {
        "plain": expected_loss(law, loss, prior, remapped=False),
        "remapped": expected_loss(law, loss, prior, remapped=True),
        "words_left": len(np.unique(targets)),
        "single_release": single.supremum,
    }


def computed(cell: Line, data: Path, blocks: int) -> Line:
    """The answer of one cell, of whatever kind; run in a process of its own."""
    import torch

    torch.set_num_threads(1)
    texts = whole_corpus(cell["dataset"], data, blocks)
    if cell["kind"] == "adapt":
        return adapted(texts, epsilon=cell["epsilon"], head=cell["head"])
    strengths = (cell["strengths"][0], cell["strengths"][1])
    if cell["kind"] == "utility":
        return utility(texts, epsilon=cell["epsilon"], strengths=strengths)
    return measure(
        block(texts, 1 + cell["seed"]),
        public=block(texts, 0),
        attacker=cell["attacker"],
        epsilon=cell["epsilon"],
        strengths=strengths,
        seed=cell["seed"],
        head=cell["head"],
        share=cell["share"],
    )


def wanted(cells: Cells, seeds: int, head: str) -> list[Line]:
    """The cells of the tables and figures, the first seed of every setting before the second."""
    listed: list[Line] = []

    def want(dataset: str, attacker: str, epsilon: float, strengths: Strengths, seed: int, *,
             share: float = 1.0, head: str = head) -> None:  # fmt: skip
        listed.append({"kind": "utility", "dataset": dataset, "epsilon": epsilon,
                       "strengths": list(strengths)})  # fmt: skip
        listed.append({"kind": "cell", "dataset": dataset, "attacker": attacker,
                       "epsilon": epsilon, "strengths": list(strengths), "seed": seed,
                       "head": head, "share": share})  # fmt: skip

    for seed in range(seeds):
        for epsilon in EPSILONS:
            for dataset in DATASETS:
                line = cells.get(kind="adapt", dataset=dataset, epsilon=epsilon, head=head)
                chosen = line["strengths"].values() if line else ()
                for one, two in [EM, NOTHING, *chosen]:
                    for attacker in ATTACKERS:
                        want(dataset, attacker, epsilon, (one, two), seed)
        for strengths in (EM, NOTHING) if seed < 3 else ():
            for share in SHARES:
                want("ag_news", "lstm", 0.5, strengths, seed, share=share)
        if seed == 0:
            for one in GRID:
                for two in GRID:
                    want("ag_news", "transformer", 0.5, (one, two), 0)
            for attacker in LEARNED:
                for strengths in (EM, NOTHING):
                    want("ag_news", attacker, 0.3, strengths, 0, head="embedding")
    # The exact attacker takes a second a cell and answers most: it goes first.
    return sorted(listed, key=lambda cell: cell.get("attacker", "markov") != "markov")


def run(options: argparse.Namespace) -> None:
    """Adapt the strengths, then all cells, in processes that share the documents read once."""
    began = time.time()
    for dataset in DATASETS:
        whole_corpus(dataset, options.data, options.blocks)
    cells = Cells(RESULTS / "ampl_tables.jsonl")
    pool = ProcessPoolExecutor(options.jobs, mp_context=get_context("fork"))

    def compute(listed: list[Line]) -> None:
        missing = {Cells.key(cell): cell for cell in listed if cells.get(**cell) is None}
        waiting = {
            pool.submit(computed, cell, options.data, options.blocks): cell
            for cell in missing.values()
        }
        for done in as_completed(waiting):
            line = cells.put(done.result(), **waiting[done])
            shown = line.get("violations") or line.get("strengths") or line.get("words_left")
            print(f"{time.time() - began:6.0f} s {line['cell']} {shown}", flush=True)

    with pool:
        if options.adapt:
            compute([{"kind": "adapt", "dataset": d, "epsilon": e, "head": options.head}
                     for e in EPSILONS for d in DATASETS])  # fmt: skip
        compute(wanted(cells, options.seeds, options.head))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("--jobs", type=int, default=2)
    running.add_argument(
        "--no-adapt", dest="adapt", action="store_false", help="EM and the control alone"
    )
    running.add_argument("--seeds", type=int, default=4)
    running.add_argument("--blocks", type=int, default=4, help="blocks read beside the first")
    running.add_argument("--head", choices=("candidates", "embedding"), default="candidates")
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    running.add_argument("--data", type=Path, default=default)
    running.set_defaults(do=run)
    writing = commands.add_parser("tables")
    writing.set_defaults(do=lambda options: tables())
    options = parser.parse_args()
    options.do(options)


def tables() -> None:
    """Markdown and charts from the lines."""
    from ampl_report import write

    write(RESULTS, Cells(RESULTS / "ampl_tables.jsonl").known.values())


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
