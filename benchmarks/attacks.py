"""Old attacks and new ones on the same trials: how much of a text each of them shows.

    python benchmarks/attacks.py --only atis sst-2; … --only snips adept --trials 600
    python benchmarks/attacks.py --only time --trials 10000

Each row is kept in results/attacks.jsonl as it comes and not run again. Run from the root of a
checkout that has shared/data beside it. Word mechanisms on ATIS, SNIPS and SST-2, on texts that
were not looked at while the attacks were built (of SST-2, none was), candidates uniform, of any
length and of equal length; ADePT on ATIS. Each bound
is at 1 %: on all guesses (the paper's form), and on the guesses an attack is sure of. "Of
likelihood" is the strongest attack that does not know the law, against the one that does. `time` is
one word mechanism on ATIS with as many trials as the paper has, for the CPU seconds of each attack.
Writes results/attacks.md.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import voile
from voile.attackers.attribution_alignment import Alignment
from voile.attackers.attribution_channel import LearnedChannel
from voile.attackers.attribution_embedding import NearestEmbedding
from voile.attackers.attribution_likelihood import Likelihood
from voile.attackers.attribution_pairwise import Pairwise
from voile.attackers.attribution_shadow import Shadow
from voile.attackers.attribution_shape import Shape
from voile.attackers.attribution_surface import Overlap, TfIdf
from voile.audit.distinguishing import attribute, stacked
from voile.audit.games import plan
from voile.rewriting.workshop import Workshop
from voile.text.rewriters import MECHANISMS, Rewriters

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OUT = Path(__file__).parent / "results" / "attacks.md"
KEPT = OUT.with_suffix(".jsonl")
LOOKED_AT = 2000
"""Texts that attacks were built while looking at: none of them is counted."""
OLD = ("embedding", "tf-idf", "overlap", "shape")
ATTACKS = (*OLD, "alignment", "shadow", "channel", "pairwise", "stack", "likelihood")


def texts_of(name: str) -> list[str]:
    if name == "sst-2":
        with gzip.open(DATA / "sst2" / "train.tsv.gz", "rt", encoding="utf-8") as file:
            found = [row["sentence"] for row in csv.DictReader(file, delimiter="\t")]
    else:
        found = (DATA / name / "train" / "seq.in").read_text("utf-8").splitlines()
    distinct = list(dict.fromkeys(text.strip() for text in found if len(text.split()) >= 3))
    order = np.random.default_rng(1).permutation(len(distinct))[LOOKED_AT : LOOKED_AT + 2000]
    return [distinct[i] for i in order]


Shown = dict[str, tuple[float, float, float]]


def row_of(rewriters, which, epsilon, game, *, budget) -> tuple[Shown, dict[str, float]]:
    """What each attack shows and takes, and the CPU seconds of rewriting, which are not in it."""
    prepared = rewriters.prepare(MECHANISMS.find(which), epsilon)
    began = time.process_time()
    drawn = prepared.draw(game.sources, voile.seeded_rng(11))
    released = prepared.read(drawn)
    released_in, asked_in = time.process_time() - began, 0.0
    asking, spent = voile.seeded_rng(12), 0.0

    @cache
    def release(texts: tuple[str, ...]) -> list[str]:
        nonlocal spent, asked_in
        began = time.process_time()
        made = prepared.rewrite(list(texts), asking)
        spent += time.process_time() - began
        asked_in += time.process_time() - began
        return made

    attacks = [
        (NearestEmbedding(rewriters.encoder), released),
        (TfIdf(), released),
        (Overlap(), released),
        (Shape(), released),
        (Alignment(rewriters.word_vectors), released),
        (Shadow(release, budget=budget), released),
        (LearnedChannel(release, rewriters.word_vectors, budget=budget), released),
        (Pairwise(rewriters.encoder), released),
    ]
    rng, found = voile.seeded_rng(13), []
    for attack, seen in attacks:
        began, spent = time.process_time(), 0.0
        one = attribute(game, seen, attack, rng=rng)
        found.append((one, time.process_time() - began - spent))
    began = time.process_time()
    together = stacked(game, [one for one, _ in found], rng=rng)
    if together is not None:
        found.append((together, time.process_time() - began))
    if prepared.log_likelihood is not None:
        began = time.process_time()
        one = attribute(game, drawn, Likelihood(prepared.log_likelihood, batch=10**7), rng=rng)
        found.append((one, time.process_time() - began))
    shown = {one.attack: (one.estimate.lower, one.sure.lower, took) for one, took in found}
    return shown, {"trials": released_in, "asked": asked_in}


def told(one: dict[str, Any]) -> str:
    row = one["attacks"]
    cells = [f"{row[a][0]:.2f} / {row[a][1]:.2f}" if a in row else "–" for a in ATTACKS]
    most = {attack: max(low, sure) for attack, (low, sure, _) in row.items()}
    old = max(most[attack] for attack in OLD)
    blind = max(value for attack, value in most.items() if attack != "likelihood")
    known = share_of_likelihood(one)
    share = "–" if known is None else f"{known:.0%}"
    return "| " + " | ".join(
        [one["data"], one["mechanism"], f"{one['epsilon']:g}", "equal" if one["equal"] else "any",
         f"{one['trials']:,}", *cells,
         f"{max(row[a][0] for a in OLD):.2f} → {old:.2f} → {blind:.2f}", share]
    ) + " |"  # fmt: skip


def wanted(only: list[str], trials: int) -> Iterator[dict[str, Any]]:
    """The rows: word mechanisms on each data set, then ADePT."""
    for name in ("atis", "snips", "sst-2"):
        for equal in (False, True):
            for which, epsilon in (("tem", 0.5), ("tem", 1.0), ("tem", 2.0), ("madlib", 10.0)):
                if name in only:
                    yield {"data": name, "mechanism": which, "epsilon": epsilon, "equal": equal,
                           "trials": trials}  # fmt: skip
    for epsilon in (50.0, 100.0, 250.0) if "adept" in only else ():
        yield {"data": "atis", "mechanism": "adept", "epsilon": epsilon, "equal": False,
               "trials": trials}  # fmt: skip
    if "time" in only:
        yield {"data": "atis", "mechanism": "tem", "epsilon": 1.0, "equal": False, "trials": trials}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=["atis", "snips", "sst-2", "adept"])
    asked = parser.parse_args()
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    stocks: dict[bool, Rewriters] = {}
    for todo in wanted(asked.only, asked.trials):
        if any(all(row[name] == value for name, value in todo.items()) for row in rows):
            continue
        pool, neural = texts_of(todo["data"]), todo["mechanism"] == "adept"
        if neural not in stocks:
            stocks[neural] = Rewriters(Workshop(public=pool[60:1560])) if neural else Rewriters()
        game = plan(
            pool[:60] if neural else pool, trials=todo["trials"], temperature=0.0,
            equal_length=todo["equal"], rng=voile.seeded_rng(0),
        )  # fmt: skip
        budget = 24_000 if neural else 20_000
        found, rewriting = row_of(
            stocks[neural], todo["mechanism"], todo["epsilon"], game, budget=budget
        )
        rows.append(todo | {"attacks": found, "rewriting": rewriting})
        with KEPT.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(told(rows[-1]), flush=True)
        write(rows)
    write(rows)


def share_of_likelihood(one: dict[str, Any]) -> float | None:
    """The strongest attack that does not know the law, against the one that does."""
    most = {attack: max(low, sure) for attack, (low, sure, _) in one["attacks"].items()}
    known = most.pop("likelihood", None)
    return max(most.values()) / known if known else None


def timed(rows: list[dict[str, Any]]) -> str:
    """The row of as many trials as the paper has: what rewriting and what attacks took."""
    for row in rows:
        if row["trials"] >= 10_000:
            spent = {name: values[2] for name, values in row["attacks"].items()}
            each = ", ".join(f"{name} {value:.1f}" for name, value in spent.items())
            return (
                f"\n{row['trials']:,} trials of {row['mechanism']} on {row['data']}, all attacks: "
                f"{sum(spent.values()):.0f} CPU seconds ({each}) beyond rewriting, which took "
                f"{row['rewriting']['trials']:.0f} for the trials and "
                f"{row['rewriting']['asked']:.0f} for what attacks asked.\n"
            )
    return ""


def write(rows: list[dict[str, Any]]) -> None:
    """The table of all rows that were kept, and what the attacks took."""
    head = ["data", "mechanism", "ε", "lengths", "trials", *ATTACKS, "old → old, sure → all",
            "of likelihood"]  # fmt: skip
    spent = {a: sum(row["attacks"][a][2] for row in rows if a in row["attacks"]) for a in ATTACKS}
    took = ", ".join(f"{name} {value:.0f}" for name, value in spent.items() if value >= 0.5)
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *map(told, rows)]
    weak = [row for row in rows if (share_of_likelihood(row) or 1.0) < 0.7]
    below = "; ".join(f"{r['data']}, {r['mechanism']} at ε = {r['epsilon']:g}, "
                      f"{'equal' if r['equal'] else 'any'} lengths" for r in weak)  # fmt: skip
    OUT.write_text(
        "# What each attack shows of one text, on the same trials\n\n"
        "By `python benchmarks/attacks.py`, from the rows in attacks.jsonl: uniform candidates, "
        "k = 2, one seed. A cell: ε_emp at least, by all guesses / by the guesses it is sure of "
        "(threshold chosen on a third of the trials, counted on the others), each at 1 %. Fitted "
        "attacks and the stack are counted on two thirds. The last columns: strongest old attack "
        "in the paper's form → the same where sure → the strongest of all that do not know the "
        "law; and the latter against the likelihood attack. A data set that is not in the table "
        "was not run.\n\n" + "\n".join(lines) + "\n\n"
        f"Below 70 % of the likelihood attack: {below or 'none'}.\n\n"
        f"CPU seconds of the attacks, rewriting left out: {took}. Sentence vectors are made once "
        "a release and kept; the first attack that asks pays.\n" + timed(rows),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
