"""What adapted strengths (AmPL) leak and cost on AG News and IMDB, beside what is simpler.

    python benchmarks/ampl_tables.py run ag_news [--data ../shared/data]
    python benchmarks/ampl_tables.py run imdb   # its ε = 3 with --no-cap
    python benchmarks/ampl_tables.py learned
    python benchmarks/ampl_tables.py tables

`run` appends a line a cell to results/ampl_tables.jsonl and skips what is there; `tables` writes
results/ampl_tables.md from the lines. Needs the extras `ner` and `text` (and `neural` for
`learned`), and `ag_news/test.csv` and `imdb/train.csv.gz` under --data.

Everything is measured on the laws that `voile text protect --mechanism word-exponential
--tiers pii,poii` draws from, over 50,001 words (GloVe 50d), without a remap. The attacker is exact:
it knows the law and how sensitive words follow one another in the 800 documents of the search
(forward–backward on a Markov chain), so that what it finds has no error of training in it.

Sizes (the paper's in brackets): first 30 words of a document (all), the 300 most frequent secrets
(all sensitive words). Strengths are chosen on 800 documents and judged on three blocks of 500 that
nothing was chosen on. All methods share documents and random numbers: differences are paired.

Methods: EM: strengths 1, 1. AmPL-U, AmPL-I, AmPL: a compass search of at most 12 rounds that
lowers the loss alone, moves the strength of names alone, or moves both; of the rounds within 5 % of
documents the cheapest is taken, or else the best sum of violations and loss. `even`: both strengths
lowered together until 5 % of the documents hold a violation. `even at AmPL's loss`: lowered
together until they cost what AmPL costs. `capped`: lowered together until the *proved* worst joint
leakage under the chain is at most ε. `nothing`: one word in place of every secret.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from voile.adapt.ampl import Trial
from voile.adapt.joint import capped
from voile.adapt.levels import Levels, adapt, meets, together
from voile.adapt.secrets import Document, Secrets
from voile.errors import InvalidInput
from voile.leakage.bounds import bernstein_interval, clopper_pearson
from voile.text.building import build_protector, load_vocabulary
from voile.text.options import Words
from voile.text.tuned_release import documents_of, laws_at, tuned_settings

RESULTS = Path(__file__).parent / "results"
NAMES = {"ag_news": "AG News", "imdb": "IMDB"}
EPSILONS = (0.5, 1.5, 3.0)
SEARCH, FRESH, BLOCKS, WORDS, SECRETS, DELTA = 800, 500, 3, 30, 300, 0.05
METHODS = (
    "EM", "AmPL-U", "AmPL-I", "AmPL", "even", "even at AmPL's loss", "capped", "nothing",
)  # fmt: skip
Line = dict[str, Any]


def read(dataset: str, data: Path) -> list[str]:
    """All documents in a fixed random order, cut at a space after their first words."""
    if dataset == "ag_news":
        with (data / "ag_news" / "test.csv").open(newline="") as file:
            texts = [f"{title}. {body}" for _, title, body in csv.reader(file)]
    else:
        with gzip.open(data / "imdb" / "train.csv.gz", "rt", newline="") as file:
            texts = [row["text"].replace("<br />", " ") for row in csv.DictReader(file)]
    order = np.random.default_rng(0).permutation(len(texts))[: SEARCH + BLOCKS * FRESH]
    return [" ".join(texts[n].split()[: WORDS + 10]) for n in order]


class World:
    """The documents of a data set as the release reads them, and trials on them."""

    def __init__(self, dataset: str, data: Path) -> None:
        texts = read(dataset, data)
        self.settings = tuned_settings(texts, "text", 1.0, "word-exponential", Words(), None)
        self.vocabulary = load_vocabulary(self.settings)
        protector = build_protector(self.settings, self.vocabulary)
        found = documents_of(protector, texts, longest=WORDS)
        self.known: tuple[Document, ...] = tuple(found[:SEARCH])
        self.blocks = [found[SEARCH + k * FRESH :][:FRESH] for k in range(BLOCKS)]
        self.secrets = Secrets.of(self.known, self.vocabulary.embedding, drawn=2, most=SECRETS)
        self.laws = laws_at(self.settings, self.vocabulary)

    def trial(self, epsilon: float, **how: Any) -> Trial:
        """The exact attacker at an epsilon; strengths are factors of it."""
        how = {"attacker": "markov", "counted": "documents"} | how
        laws = self.laws
        return Trial(
            self.secrets,
            self.known,
            lambda s: laws(tuple(epsilon * value for value in s)),
            epsilon,
            **how,
        )

    def length(self) -> int:
        """The most secrets in a document."""
        every = (*self.known, *(d for block in self.blocks for d in block))
        return max(len(self.secrets.observed(d, d.words).sensitive) for d in every)


def chosen(world: World, epsilon: float, *, cap: bool) -> Line:
    """What each method chooses on the documents of the search."""
    began = time.process_time()
    trial = world.trial(epsilon)
    kept: dict[tuple[float, ...], tuple[float, float]] = {}

    def evaluate(strengths: tuple[float, ...]) -> tuple[float, float]:
        if strengths not in kept:
            kept[strengths] = trial.evaluate(strengths)
        return kept[strengths]

    def loss_at(strengths: tuple[float, ...]) -> float:
        return trial.expected_loss(strengths)

    found: dict[str, Any] = {"EM": (1.0, 1.0)}
    alone = Levels(start=(1.0, 1.0), free=(True, True), privacy_weight=0.0)
    state = adapt(alone, lambda s: (0.0, loss_at(s)), most_rounds=12)
    found["AmPL-U"] = state.best.strengths
    for name, free in (("AmPL-I", (True, False)), ("AmPL", (True, True))):
        levels = Levels(start=(1.0, 1.0), free=free)
        state = adapt(levels, evaluate, most_rounds=12)
        best = meets(state.rounds, delta=DELTA) or state.best
        found[name] = best.strengths
    alike = together(levels, evaluate, state.rounds, delta=DELTA, most_rounds=7)
    found["even"] = (meets(alike, delta=DELTA) or alike[-1]).strengths
    low, high, wanted = 0.0, 1.0, loss_at(found["AmPL"])
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if loss_at((middle, middle)) > wanted else (low, middle)
    found["even at AmPL's loss"] = (high, high)
    joint: Line = {"length": world.length(), "plain": None, "capped": None}
    if not cap:
        seconds = round(time.process_time() - began, 1)
        return {"strengths": found, "joint": joint, "searched": len(kept), "seconds": seconds}
    try:
        strength, bound = capped(trial, cap=epsilon, length=world.length(), lowest=0.01)
        found["capped"] = (strength, strength)
        joint["capped"] = bound.joint
    except InvalidInput:
        found["capped"] = None
    joint["plain"] = trial.joint((1.0, 1.0), length=world.length()).joint
    seconds = round(time.process_time() - began, 1)
    return {"strengths": found, "joint": joint, "searched": len(kept), "seconds": seconds}


def judged(world: World, epsilon: float, strengths: Any, block: int) -> Line:
    """A method on a block that nothing was chosen on, document by document."""
    began = time.process_time()
    trial = world.trial(epsilon, seed=10 + block)
    if strengths is None:
        found = trial.nothing(world.blocks[block], failure_probability=0.05)
        return {"loss": found.loss, "any": [], "triples": 0.0, "largest": 0.0, "seconds": 0.0}
    measured = trial.measure(tuple(strengths), world.known, world.blocks[block], seed=10 + block)
    return {
        "loss": float(measured.losses.mean()),
        "any": (measured.shares > 0).astype(int).tolist(),
        "triples": float(measured.shares.mean()),
        "largest": measured.largest,
        "seconds": round(time.process_time() - began, 1),
    }


def lines() -> list[Line]:
    """What was computed so far."""
    path = RESULTS / "ampl_tables.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def put(**line: Any) -> Line:
    """Keep a line."""
    with (RESULTS / "ampl_tables.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    print({k: v for k, v in line.items() if k != "any"}, flush=True)
    return line


def run(options: argparse.Namespace) -> None:
    """Choose and judge, epsilon by epsilon."""
    world = World(options.dataset, options.data)
    for epsilon in EPSILONS:
        cell = {"dataset": options.dataset, "epsilon": epsilon}
        known = [x for x in lines() if all(x.get(k) == v for k, v in cell.items())]
        choice = next((x for x in known if x["kind"] == "chosen"), None)
        choice = choice or put(kind="chosen", **cell, **chosen(world, epsilon, cap=options.cap))
        there = {(x["method"], x["block"]) for x in known if x["kind"] == "judged"}
        for block in range(BLOCKS):
            for method in METHODS:
                strengths = choice["strengths"].get(method)
                if (method, block) in there or (strengths is None and method != "nothing"):
                    continue
                found = judged(world, epsilon, strengths, block)
                put(kind="judged", **cell, method=method, block=block, **found)


def learned(options: argparse.Namespace) -> None:
    """The LSTM that starts at its prior against EM, beside the exact attacker's count."""
    import torch

    torch.set_num_threads(1)
    world = World("ag_news", options.data)
    for epsilon in (3.0,):
        began = time.process_time()
        trial = world.trial(epsilon, attacker="lstm", counted="triples", epochs=6)
        found = trial.check((1.0, 1.0), world.blocks[0], what="EM", failure_probability=0.05)
        put(kind="learned", dataset="ag_news", epsilon=epsilon, share=found.share,
            lower=found.lower, upper=found.upper, gain=found.gain, shown=found.shown,
            seconds=round(time.process_time() - began, 1))  # fmt: skip


def tables(_: argparse.Namespace) -> None:
    """The page from the lines."""
    every = lines()
    out = ["# Strengths of tiers: what they leak to an exact attacker, and cost", ""]
    out += [(RESULTS / "ampl_findings.md").read_text().rstrip(), "", "## How", ""]
    out += ["```text", *(__doc__ or "").strip().splitlines(), "```", ""]
    for dataset, name in NAMES.items():
        for epsilon in EPSILONS:
            out += table(every, dataset, name, epsilon)
    out += attacked(every)
    seconds = sum(line.get("seconds", 0) for line in every)
    out += [f"{seconds / 60:.0f} minutes of CPU in all.", ""]
    (RESULTS / "ampl_tables.md").write_text("\n".join(out))


def table(every: list[Line], dataset: str, name: str, epsilon: float) -> list[str]:
    """One data set at one epsilon."""
    here = [x for x in every if x["dataset"] == dataset and x["epsilon"] == epsilon]
    choice = next((x for x in here if x["kind"] == "chosen"), None)
    if choice is None:
        return []
    by = {
        method: sorted(
            (x for x in here if x["kind"] == "judged" and x["method"] == method),
            key=lambda x: x["block"],
        )
        for method in METHODS
    }
    joint = choice["joint"]
    out = [
        f"## {name}, ε = {epsilon:g}",
        "",
        "| method | strengths | documents with a violation, % (95 %) | over EM, points (95 %) | "
        "triples, ppm | largest leakage | loss | over nothing, % |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    free = np.mean([x["loss"] for x in by["nothing"]])
    plain = np.concatenate([x["any"] for x in by["EM"]])
    for method, found in by.items():
        if not found:
            out.append(f"| {method} | not run | | | | | | |")
            continue
        loss = np.mean([x["loss"] for x in found])
        strengths = choice["strengths"].get(method)
        shown = "–" if strengths is None else ", ".join(f"{s:.3g}" for s in strengths)
        values = np.concatenate([x["any"] for x in found]) if strengths else np.zeros(len(plain))
        low, high = clopper_pearson(int(values.sum()), len(values), failure_probability=0.05)
        left, right = bernstein_interval(values - plain, low=-1, high=1, failure_probability=0.05)
        beside = (
            ""
            if method == "EM"
            else f"{100 * (values - plain).mean():+.1f} ({100 * left:+.1f} to {100 * right:+.1f})"
        )
        share = (
            f"{100 * values.mean():.1f} ({100 * low:.1f} to {100 * high:.1f})" if strengths else "0"
        )
        ppm = 1e6 * np.mean([x["triples"] for x in found])
        largest = max(x["largest"] for x in found)
        out.append(
            f"| {method} | {shown} | {share} | {beside} | {ppm:.2g} | {largest:.2f} | {loss:.4f} | "
            f"{100 * (loss / free - 1):+.1f} |"
        )
    adapted, even = (
        np.concatenate([x["any"] for x in by[method]]) for method in ("AmPL", "even at AmPL's loss")
    )
    if choice["strengths"]["AmPL"] != choice["strengths"]["even at AmPL's loss"]:
        worse, differ = int((adapted > even).sum()), int((adapted != even).sum())
        low, high = clopper_pearson(worse, differ, failure_probability=0.05)
        out += [
            "",
            f"AmPL against strengths lowered together at its loss: in {worse} of the {differ} "
            "documents in which one violates and the other does not, it is AmPL that does "
            f"({100 * low:.0f} to {100 * high:.0f} %, where 50 % would be even).",
        ]
    if joint["plain"] is None:
        return [*out, ""]
    capped_at = "none" if joint["capped"] is None else f"{joint['capped']:.3g}"
    out += [
        "",
        f"Proved worst joint leakage under the chain, documents of at most {joint['length']} "
        f"secrets: EM {joint['plain']:.3g}, capped {capped_at}.",
        "",
    ]
    return out


def attacked(every: list[Line]) -> list[str]:
    """The learned attacker's lines."""
    found = [x for x in every if x["kind"] == "learned"]
    if not found:
        return []
    out = [
        "## A learned attacker on the same release (EM, AG News, one block)",
        "",
        "| ε | triples above ε, ppm: LSTM | exact | gained over shuffled releases, nats a secret |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for line in found:
        exact = next(
            x for x in every
            if x["kind"] == "judged" and x["method"] == "EM" and x["block"] == 0
            and x["dataset"] == "ag_news" and x["epsilon"] == line["epsilon"]
        )  # fmt: skip
        told = "" if line["shown"] else " (not shown)"
        out.append(
            f"| {line['epsilon']:g} | {1e6 * line['share']:.3g} | {1e6 * exact['triples']:.3g} | "
            f"{line['gain']:.3g}{told} |"
        )
    return [*out, ""]


def main() -> None:
    """Parse and do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("dataset", choices=tuple(NAMES))
    running.add_argument("--no-cap", dest="cap", action="store_false", help="no joint bound")
    running.set_defaults(do=run)
    commands.add_parser("learned").set_defaults(do=learned)
    commands.add_parser("tables").set_defaults(do=tables)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
