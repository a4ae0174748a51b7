"""How often the intervals of `voile labels audit` hold, over simulated audits with a known truth.

    python benchmarks/label_coverage.py [--audits 1000] [--whole 100]

Writes benchmarks/results/label_coverage.md. Features take 24 values with a law of their own for
each class, drawn anew in every audit, most of them nearly sure of the label. The attacker is a
cross-fitted table of counts, so that its true success, and the best possible, are finite sums. The
last rows run the whole stacked attacker of the audit instead (fewer times: it is fitted anew in
each). Its own true success is not known there, since a fold tells nothing of what it believes about
values that the fold does not hold; only its lower end is held against the best attacker's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from voile.attackers.label_beliefs import cross_fit
from voile.attackers.label_classifier import stratified
from voile.audit.label_counts import attack_success, counted_leakage
from voile.core.randomness import seeded_rng
from voile.leakage.labels import attack_utility, label_only_utility, response_law, with_features

RESULTS = Path(__file__).resolve().parent / "results" / "label_coverage.md"
VALUES, FOLDS = 24, 5
EPSILONS = (0.1, 1.0, 4.0)
SIZES = (200, 500, 1000, 5000)


def joint_of(prior: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """P(x, y): each value of the features belongs to a class, and is rarely seen with another."""
    classes = len(prior)
    given = rng.dirichlet(np.full(VALUES, 0.5), size=classes)
    owner = np.arange(VALUES) % classes
    given = given * np.where(owner == np.arange(classes)[:, None], 1.0, 0.02)
    return (given / given.sum(axis=1, keepdims=True)).T * prior


def one_audit(prior: np.ndarray, count: int, rng: np.random.Generator, *, whole: bool):
    """For each epsilon whether the interval covers, the lower end passes the best, and so on."""
    classes = len(prior)
    joint = joint_of(prior, rng)
    while True:
        place = rng.choice(joint.size, size=count, p=joint.ravel())
        values, labels = place // classes, place % classes
        if np.bincount(labels, minlength=classes).min() >= (2 if whole else 1) * FOLDS:
            break
    if whole:
        names = np.array([f"v{value:02d}" for value in range(VALUES)])
        found = cross_fit([names[values]], labels, classes=classes, rng=rng, folds=FOLDS)
        beliefs, folds = found.posteriors, found.folds
        tables = [_table(values, beliefs, folds == fold, classes) for fold in range(FOLDS)]
    else:
        folds = stratified(labels, parts=FOLDS, rng=rng)
        tables = []
        for fold in range(FOLDS):
            seen = np.zeros((VALUES, classes))
            np.add.at(seen, (values[folds != fold], labels[folds != fold]), 1)
            tables.append((seen + prior) / (seen.sum(axis=1, keepdims=True) + 1))
        beliefs = np.stack(tables)[folds, values]
    rows = []
    for point in counted_leakage(beliefs, labels, epsilons=EPSILONS):
        law = with_features(response_law(classes, epsilon=point.epsilon), features=VALUES)
        best = attack_utility(joint, law)
        true = sum(_success(t, joint, point.epsilon) * (folds == f).mean()
                   for f, t in enumerate(tables) if t is not None)  # fmt: skip
        low, high = _bootstrap(attack_success(beliefs, labels, epsilon=point.epsilon), rng)
        announced = label_only_utility(prior, epsilon=point.epsilon)
        rows.append(
            (
                point.total.lower <= true <= point.total.upper,
                point.total.lower > best,
                point.total.upper - point.total.lower,
                point.unexpected.lower <= true - announced <= point.unexpected.upper,
                low <= true <= high,
                low > best,
                high - low,
            )
        )
    return np.array(rows, dtype=float)


def _table(values, beliefs, here, classes):
    """What a fold's attacker believes of each value; the prior where none was in the fold."""
    table = np.full((VALUES, classes), 1.0 / classes)
    table[values[here]] = beliefs[here]
    return table


def _success(table: np.ndarray, joint: np.ndarray, epsilon: float) -> float:
    """The true success of an attacker who believes this table."""
    values, labels = np.indices(joint.shape).reshape(2, -1)
    return float(attack_success(table[values], labels, epsilon=epsilon) @ joint.ravel())


def _bootstrap(success: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    values, counts = np.unique(success, return_counts=True)  # few: resampling is multinomial
    drawn = rng.multinomial(len(success), counts / len(success), size=200)
    low, high = np.quantile(drawn @ values / len(success), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--whole", type=int, default=100)
    asked = parser.parse_args()
    worlds = [
        (name, np.array(prior))
        for name, prior in (
            ("2, even", [0.5, 0.5]), ("2, 95/5", [0.95, 0.05]),
            ("5, even", [0.2] * 5), ("5, 95/5", [0.95, *[0.0125] * 4]),
        )
    ]  # fmt: skip
    lines = [
        "# Do the intervals of a label audit hold?", "",
        f"`python benchmarks/label_coverage.py --audits {asked.audits} --whole {asked.whole}`. "
        "Nominal 95 %: an interval should cover the attacker's true success at least 95 % of the "
        "time, and its lower end should lie above the best attacker's success at most 2.5 % of "
        "the time. *Width* is the mean width. The bootstrap is the percentile one that the audit "
        "had before (200 resamples).", "",
        "| classes | records | audits | ε | covers | lower end above the best | width | unexpected "
        "covers | bootstrap covers | its lower end above the best | its width |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    jobs = [(name, prior, n, asked.audits, False) for name, prior in worlds for n in SIZES]
    jobs += [(name, prior, n, asked.whole, True) for name, prior in worlds[:2] for n in (200, 500)]
    for number, (name, prior, count, audits, whole) in enumerate(jobs):
        if len(prior) == 5 and prior.min() < 0.02 and count < 1000:
            continue  # fewer than 5 records of a class: the audit refuses
        rng = seeded_rng(number)
        found = [one_audit(prior, count, rng, whole=whole) for _ in range(audits)]
        table = np.mean(found, axis=0)
        called = f"{name}, whole attacker" if whole else name
        for epsilon, row in zip(EPSILONS, table, strict=True):
            cover, above, width, unexpected, b_cover, b_above, b_width = row
            known = ("–", "–", "–") if whole else (f"{c:.3f}" for c in (cover, unexpected, b_cover))
            covers, unexpected_covers, bootstrap_covers = known
            lines.append(
                f"| {called} | {count:,} | {audits:,} | {epsilon:g} | {covers} | {above:.3f} | "
                f"{width:.3f} | {unexpected_covers} | {bootstrap_covers} | {b_above:.3f} | "
                f"{b_width:.3f} |"
            )
        print(lines[-1], flush=True)
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
