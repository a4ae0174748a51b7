"""How often the bound of an attacker who may abstain is wrong, where the true ε is known.

    python benchmarks/attack_coverage.py [--games 1000]

Games over all inputs of randomised response and of the exponential mechanism at ε = 1, attacked by
likelihood; 300 trials each, a third to choose the threshold on. A bound at 1 % may exceed ε in 1 %
of the games. Beside it the planted bug: the threshold chosen on the trials that are counted, on a
release that tells nothing. Writes results/attack_coverage.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import voile
from voile.attackers.attribution import guesses
from voile.audit.abstaining import from_kept, margins, surest
from voile.leakage.bounds import clopper_pearson

OUT = Path(__file__).parent / "results" / "attack_coverage.md"
TRIALS, CHOOSING, EPSILON, FAILURE = 300, 100, 1.0, 0.01


def law_of(name: str, size: int) -> np.ndarray:
    """Probabilities, a row for each input; its largest ratio is e^ε."""
    if name == "randomised response":
        weights = np.where(np.eye(size, dtype=bool), np.exp(EPSILON), 1.0)
    else:
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (size - 1)
        weights = np.exp(-EPSILON / 2 * apart)
    return weights / weights.sum(axis=1, keepdims=True)


def played(law: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What the likelihood attack got right, and by what margin."""
    columns = rng.integers(len(law), size=TRIALS)
    running = law.cumsum(axis=1)
    drawn = (rng.random(TRIALS)[:, None] > running[columns]).sum(axis=1).clip(max=len(law) - 1)
    scores = np.log(law[:, drawn].T)
    return guesses(scores, rng) == columns, margins(scores)


def planted(rng: np.random.Generator) -> bool:
    """Whether a threshold chosen on the counted trials shows something where there is nothing."""
    right, margin = rng.random(TRIALS) < 0.5, rng.random(TRIALS)
    counts = np.cumsum(right[np.argsort(-margin)])
    bounds = (
        from_kept(int(counts[n - 1]), n, TRIALS, candidates=2, failure_probability=FAILURE)
        for n in range(20, TRIALS + 1, 7)
    )
    return max(bounds) > 0


def row(what: str, wrong: int, games: int, mean: float | None) -> str:
    """One line of the table."""
    low, high = clopper_pearson(wrong, games, failure_probability=0.05)
    shown = "–" if mean is None else f"{mean:.3f}"
    return f"| {what} | {wrong} of {games:,} | {low:.4f} – {high:.4f} | {shown} |"


def main() -> None:
    """Play, count, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    games = parser.parse_args().games
    began, lines = time.process_time(), []
    choosing = np.arange(TRIALS) < CHOOSING
    for name in ("randomised response", "exponential mechanism"):
        for size in (2, 4, 10):
            law = law_of(name, size)
            for form, drawn in (("odds", True), ("rates", False)):
                bounds = []
                for seed in range(games):
                    right, margin = played(law, voile.seeded_rng(seed))
                    bounds.append(
                        surest(right, margin, choosing, candidates=size, drawn=drawn,
                               failure_probability=FAILURE).lower
                    )  # fmt: skip
                wrong = sum(bound > EPSILON for bound in bounds)
                lines.append(row(f"{name}, {size} inputs, {form}", wrong, games,
                                 float(np.mean(bounds))))  # fmt: skip
    bad = sum(planted(voile.seeded_rng(seed)) for seed in range(games))
    lines.append(
        row("planted: the threshold chosen on counted trials, true ε = 0", bad, games, None)
    )
    OUT.write_text(
        "# How often the bound of an attacker who may abstain is wrong\n\n"
        f"By `python benchmarks/attack_coverage.py --games {games}`: ε = 1, {TRIALS} trials a "
        f"game, {CHOOSING} of them to choose the threshold on; each bound at 1 %. *Odds*: exact on "
        "the kept trials; *rates*: both error rates. The interval is of the share of wrong bounds "
        "(95 %).\n\n| law | bound above ε | share | mean bound |\n| --- | ---: | ---: | ---: |\n"
        + "\n".join(lines)
        + f"\n\n{time.process_time() - began:.0f} CPU seconds.\n",
        encoding="utf-8",
    )
    print(OUT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
