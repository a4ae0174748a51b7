"""How often the intervals of `voile text estimate` hold the true share of a word (AG News).

    python benchmarks/text_estimate.py [--news test.csv] [--texts 1500] [--epsilon 3 4]

Descriptions of news items are drawn word by word with TEM under a fixed seed, and the shares of the
200 words that are commonest in *public* text (not chosen by what is counted) are estimated from the
draws alone. Writes benchmarks/results/text_estimate.md.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from voile.core.randomness import seeded_rng
from voile.text.building import build_protector, load_vocabulary
from voile.text.laws import LAWS
from voile.text.options import Words
from voile.text.settings import TextSettings
from voile.text.word_frequencies import word_frequencies
from voile.text.word_shares import KEPT, word_shares, word_table

HERE = Path(__file__).parent
WORDS = 200


def row(texts: list[str], epsilon: float) -> str:
    """One ε: what comes out as itself, errors before and after, and coverage."""
    began = time.process_time()
    settings = TextSettings("text", epsilon, LAWS.find("tem"), Words(), cache="read")
    words = load_vocabulary(settings)
    protector = build_protector(settings, words)
    law, plans = protector.laws[0], protector.plan(texts)
    true = np.concatenate([[token.position for token in plan.drawn] for plan in plans])
    whose = np.concatenate([[i] * len(plan.drawn) for i, plan in enumerate(plans)])
    drawn = law.release(true, seeded_rng(3))
    public = word_frequencies(words).shares
    seen, real = (np.bincount(each, minlength=len(public)) for each in (drawn, true))
    apart = [np.argsort(-each, kind="stable")[:KEPT] for each in (seen, public)]
    table = word_table(law, np.concatenate(apart), public)
    found = word_shares(table, drawn, whose, resamples=40, seed=0)
    asked = np.argsort(-public, kind="stable")[:WORDS]
    shares = real[asked] / len(true)
    told = np.array([found.of([word], 0.95) for word in asked])
    inside = ((told[:, 1] <= shares) & (shares <= told[:, 2])).mean()
    return (
        f"| {epsilon:g} | {len(true):,} | {100 * found.kept:.0f} % | "
        f"{100 * np.abs(seen[asked] / len(true) - shares).mean():.3f} | "
        f"{100 * np.abs(told[:, 0] - shares).mean():.3f} | {100 * inside:.1f} % | "
        f"{time.process_time() - began:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--news", type=Path, default=HERE.parents[1] / "shared/data/ag_news/test.csv"
    )
    parser.add_argument("--texts", type=int, default=1500)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[3.0, 4.0])
    asked = parser.parse_args()
    with asked.news.open(encoding="utf-8") as file:
        texts = [line[2] for line in csv.reader(file)][: asked.texts]
    lines = [
        "# Shares of words from a released text (AG News)", "",
        f"`python benchmarks/text_estimate.py --texts {asked.texts}`. Mean error is over the "
        f"{WORDS} words that are commonest in public text, in points of a hundred; an interval "
        "(95 %, 40 resamples of texts) should hold the true share of these texts.", "",
        "| ε | drawn words | come out as themselves | error of what was released | of the estimate "
        "| intervals that hold | CPU s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(row(texts, epsilon) for epsilon in asked.epsilon), "",
        "How many words stand apart in the table and how many steps EM takes were looked at on "
        "this same file while they were settled. The rows say what `text estimate` does here; "
        "they are no test on text that it has not seen.",
    ]  # fmt: skip
    (HERE / "results" / "text_estimate.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
