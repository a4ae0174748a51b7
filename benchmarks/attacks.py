"""Old attacks and new ones on the same trials: how much of a text each of them shows.

    python benchmarks/attacks.py [--trials 3000] [--quick]

Run from the root of a checkout that has shared/data beside it. Word mechanisms on ATIS, SNIPS and
SST-2 (nothing was chosen on SST-2), candidates uniform, of any length and of
equal length; ADePT on ATIS. Each bound is at 1 %: on all guesses (the paper's form), and on the
guesses an attack is sure of. "Of likelihood" is the strongest attack that does not know the law,
against the one that does. Writes results/attacks.md.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from pathlib import Path

import numpy as np

import voile
from voile.attackers.attribution_alignment import Alignment
from voile.attackers.attribution_embedding import NearestEmbedding
from voile.attackers.attribution_likelihood import Likelihood
from voile.attackers.attribution_pairwise import Pairwise
from voile.attackers.attribution_shadow import Shadow
from voile.attackers.attribution_shape import Shape
from voile.attackers.attribution_surface import Overlap, TfIdf
from voile.audit.distinguish import attribute, stacked
from voile.audit.games import plan
from voile.rewriting.workshop import Workshop
from voile.text.rewriters import MECHANISMS, Rewriters

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OUT = Path(__file__).parent / "results" / "attacks.md"
OLD = ("embedding", "tf-idf", "overlap", "shape")


def texts_of(name: str) -> list[str]:
    if name == "sst-2":
        with gzip.open(DATA / "sst2" / "train.tsv.gz", "rt", encoding="utf-8") as file:
            found = [row["sentence"] for row in csv.DictReader(file, delimiter="\t")]
    else:
        found = (DATA / name / "train" / "seq.in").read_text("utf-8").splitlines()
    distinct = list(dict.fromkeys(text.strip() for text in found if len(text.split()) >= 3))
    order = np.random.default_rng(1).permutation(len(distinct))[:2000]
    return [distinct[i] for i in order]


def row_of(rewriters, which, epsilon, game, *, budget) -> dict[str, tuple[float, float, float]]:
    prepared = rewriters.prepare(MECHANISMS.find(which), epsilon)
    drawn = prepared.draw(game.sources, voile.seeded_rng(11))
    released = prepared.read(drawn)
    asking = voile.seeded_rng(12)
    attacks = [
        (NearestEmbedding(rewriters.encoder), released),
        (TfIdf(), released),
        (Overlap(), released),
        (Shape(), released),
        (Alignment(rewriters.word_vectors), released),
        (Shadow(lambda texts: prepared.rewrite(texts, asking), budget=budget), released),
        (Pairwise(rewriters.encoder), released),
    ]
    rng, found = voile.seeded_rng(13), []
    for attack, seen in attacks:
        began = time.process_time()
        one = attribute(game, seen, attack, rng=rng)
        found.append((one, time.process_time() - began))
    together = stacked(game, [one for one, _ in found], rng=rng)
    if together is not None:
        found.append((together, 0.0))
    if prepared.log_likelihood is not None:
        one = attribute(game, drawn, Likelihood(prepared.log_likelihood, batch=10**7), rng=rng)
        found.append((one, 0.0))
    return {one.attack: (one.estimate.lower, one.sure.lower, took) for one, took in found}


def told(name: str, which: str, epsilon: float, equal: bool, row: dict) -> str:
    cells = [f"{low:.2f} / {sure:.2f}" for low, sure, _ in row.values()]
    most = {attack: max(low, sure) for attack, (low, sure, _) in row.items()}
    old = max(most[attack] for attack in OLD)
    blind = max(value for attack, value in most.items() if attack != "likelihood")
    known = most.get("likelihood")
    share = "–" if not known else f"{blind / known:.0%}"
    length = "equal" if equal else "any"
    return "| " + " | ".join(
        [name, which, f"{epsilon:g}", length, *cells, *(["–"] if known is None else []),
         f"{max(row[a][0] for a in OLD):.2f} → {old:.2f} → {blind:.2f}", share]
    ) + " |"  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=3000)
    parser.add_argument("--quick", action="store_true", help="SNIPS alone, few trials")
    asked = parser.parse_args()
    trials = 600 if asked.quick else asked.trials
    attacks = [*OLD, "alignment", "shadow", "pairwise", "stack", "likelihood"]
    head = ["data", "mechanism", "ε", "lengths", *attacks, "old → old, sure → all", "of likelihood"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    rewriters, seconds = Rewriters(), dict.fromkeys(attacks, 0.0)
    names = ("snips",) if asked.quick else ("atis", "snips", "sst-2")
    for name in names:
        pool = texts_of(name)
        for equal in (False, True):
            game = plan(
                pool, trials=trials, temperature=0.0, equal_length=equal, rng=voile.seeded_rng(0)
            )
            for which, epsilon in (("tem", 0.5), ("tem", 1.0), ("tem", 2.0), ("madlib", 10.0)):
                row = row_of(rewriters, which, epsilon, game, budget=20_000)
                for attack, (_, _, took) in row.items():
                    seconds[attack] += took
                lines.append(told(name, which, epsilon, equal, row))
                print(lines[-1], flush=True)
    if not asked.quick:
        pool = texts_of("atis")
        public = pool[60:1560]
        neural = Rewriters(Workshop(public=public))
        game = plan(pool[:60], trials=trials, temperature=0.0, rng=voile.seeded_rng(0))
        for epsilon in (50.0, 100.0, 250.0):
            row = row_of(neural, "adept", epsilon, game, budget=24_000)
            lines.append(told("atis", "adept", epsilon, False, row))
            print(lines[-1], flush=True)
    if asked.quick:
        return
    took = ", ".join(f"{name} {value:.0f}" for name, value in seconds.items() if value >= 0.5)
    OUT.write_text(
        "# What each attack shows of one text, on the same trials\n\n"
        f"`python benchmarks/attacks.py --trials {trials}`: {trials:,} trials a row, uniform "
        "candidates, k = 2. A cell: ε_emp at least, by all guesses / by the guesses it is sure of "
        "(threshold chosen on a third of the trials, counted on the others), each at 1 %. Fitted "
        "attacks and the stack are counted on two thirds. The last columns: strongest old attack "
        "in the paper's form → the same where sure → the strongest of all that do not know the "
        "law; and the latter against the likelihood attack.\n\n" + "\n".join(lines) + "\n\n"
        f"CPU seconds of all rows of words: {took}. Sentence vectors are made once a release and "
        "kept; the first attack that asks pays.\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
