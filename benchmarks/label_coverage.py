"""How often the intervals of `voile labels audit` hold, over simulated audits with a known truth.

    python benchmarks/label_coverage.py [--audits 1000]
    python benchmarks/label_coverage.py --whole 60 [--seconds 150]

Writes benchmarks/results/label_coverage.md (the first) and label_coverage_whole.md (the second).
Features take 24 values with a law of their own for each class, drawn anew in every audit, most of
them nearly sure of the label. In the first the attacker is a cross-fitted table of counts. The
second runs the whole stacked attacker of the audit, fitted anew in each of them: what the model of
each fold believes of every value is asked of the model itself, so that its true success, and the
best possible one, are finite sums in both. Audits of the second are kept one by one in a .jsonl, so
that it goes on where it stopped; `--seconds` ends it in time. Of five classes there are a third as
many audits as of two.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from voile.attackers.label_beliefs import Kept, cross_fit
from voile.attackers.label_classifier import fit_drawn, stratified
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
    beliefs, folds, tables = (_stacked if whole else _counted)(values, labels, prior, rng)
    rows = []
    for point in counted_leakage(beliefs, labels, epsilons=EPSILONS):
        law = with_features(response_law(classes, epsilon=point.epsilon), features=VALUES)
        best = attack_utility(joint, law)
        true = sum(_success(t, joint, point.epsilon) * (folds == f).mean()
                   for f, t in enumerate(tables))  # fmt: skip
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


def _counted(values, labels, prior, rng):
    """Beliefs of a table of counts, the folds, and each fold's table."""
    folds, tables = stratified(labels, parts=FOLDS, rng=rng), []
    for fold in range(FOLDS):
        seen = np.zeros((VALUES, len(prior)))
        np.add.at(seen, (values[folds != fold], labels[folds != fold]), 1)
        tables.append((seen + prior) / (seen.sum(axis=1, keepdims=True) + 1))
    return np.stack(tables)[folds, values], folds, tables


def _stacked(values, labels, prior, rng):
    """The same of the audit's own attacker; its models are kept as they are fitted."""
    names, tables = np.array([f"v{value:02d}" for value in range(VALUES)]), []

    def keeping(_, pieces, *, common):
        for fold, draws in pieces:
            rest = common.parts != fold
            model = fit_drawn(
                [column[rest] for column in common.features], common.labels[rest], draws,
                how=common.how, classes=common.classes, only=common.only,
            )  # fmt: skip
            tables.append(model.posteriors([names]))
            beliefs = model.posteriors([column[~rest] for column in common.features])
            yield beliefs, Kept(model.name, model.losses)

    found = cross_fit(
        [names[values]], labels, classes=len(prior), rng=rng, folds=FOLDS, over=keeping
    )
    return found.posteriors, found.folds, tables


def _success(table: np.ndarray, joint: np.ndarray, epsilon: float) -> float:
    """The true success of an attacker who believes this table."""
    values, labels = np.indices(joint.shape).reshape(2, -1)
    return float(attack_success(table[values], labels, epsilon=epsilon) @ joint.ravel())


def _bootstrap(success: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    values, counts = np.unique(success, return_counts=True)  # few: resampling is multinomial
    drawn = rng.multinomial(len(success), counts / len(success), size=200)
    low, high = np.quantile(drawn @ values / len(success), [0.025, 0.975])
    return float(low), float(high)


WORLDS = (
    ("2, even", (0.5, 0.5)), ("2, 95/5", (0.95, 0.05)),
    ("5, even", (0.2,) * 5), ("5, 95/5", (0.95, *(0.0125,) * 4)),
)  # fmt: skip


def jobs() -> list[tuple[str, np.ndarray, int]]:
    """Worlds and sizes; fewer than 5 records of a class the audit refuses."""
    return [
        (name, np.array(prior), count)
        for name, prior in WORLDS
        for count in SIZES
        if not (len(prior) == 5 and min(prior) < 0.02 and count < 1000)
    ]


def whole_audits(asked: argparse.Namespace) -> dict[tuple[str, int], list[np.ndarray]]:
    """Audits with the whole attacker: those that are kept, and more while there is time."""
    kept = RESULTS.with_name("label_coverage_whole.jsonl")
    found: dict[tuple[str, int], list[np.ndarray]] = {(n, c): [] for n, _, c in jobs()}
    done = set()
    for line in kept.read_text().splitlines() if kept.exists() else ():
        row = json.loads(line)
        done.add((row["world"], row["records"], row["audit"]))
        found[row["world"], row["records"]].append(np.array(row["rows"]))
    began = time.process_time()
    for audit in range(asked.whole):  # a round over all worlds at a time
        for number, (name, prior, count) in enumerate(jobs()):
            late = time.process_time() - began > asked.seconds
            dear = len(prior) > 2 and audit % 3 > 0  # five classes take thrice as long
            if (name, count, audit) in done or late or dear:
                continue
            rows = one_audit(prior, count, seeded_rng(1000 * audit + number), whole=True)
            found[name, count].append(rows)
            with kept.open("a") as file:
                row = {"world": name, "records": count, "audit": audit, "rows": rows.tolist()}
                file.write(json.dumps(row) + "\n")
    return {job: rows for job, rows in found.items() if rows}


def counted_audits(asked: argparse.Namespace) -> dict[tuple[str, int], list[np.ndarray]]:
    """Audits with a table of counts."""
    found, order = {}, [(name, count) for name, _ in WORLDS for count in SIZES]
    for name, prior, count in jobs():
        rng = seeded_rng(order.index((name, count)))
        found[name, count] = [one_audit(prior, count, rng, whole=False)
                              for _ in range(asked.audits)]  # fmt: skip
        print(name, count, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--whole", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    found = (whole_audits if asked.whole else counted_audits)(asked)
    command = f"--whole {asked.whole}" if asked.whole else f"--audits {asked.audits}"
    lines = [
        "# Do the intervals of a label audit hold?"
        + (" With the whole stacked attacker" if asked.whole else ""), "",
        f"`python benchmarks/label_coverage.py {command}`. "
        "Nominal 95 %: an interval should cover the attacker's true success at least 95 % of the "
        "time, and its lower end should lie above the best attacker's success at most 2.5 % of "
        "the time. *Width* is the mean width. The bootstrap is the percentile one that the audit "
        "had before (200 resamples).", "",
        "| classes | records | audits | ε | covers | lower end above the best | width | unexpected "
        "covers | bootstrap covers | its lower end above the best | its width |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for (name, count), rows in found.items():
        for epsilon, row in zip(EPSILONS, np.mean(rows, axis=0), strict=True):
            shown = " | ".join(f"{value:.3f}" for value in row)
            lines.append(f"| {name} | {count:,} | {len(rows):,} | {epsilon:g} | {shown} |")
    every = np.concatenate(list(found.values()))
    cover, above = every[:, :, 0].mean(axis=1), every[:, :, 1].mean(axis=1)
    lines += [
        "",
        f"All {len(every):,} audits together: {100 * cover.mean():.1f} % of intervals cover, the "
        f"lower end is above the best in {100 * above.mean():.2f} %; in "
        f"{int((every[:, :, 0].min(axis=1) < 1).sum())} audits one of the three intervals missed.",
    ]
    target = RESULTS.with_name("label_coverage_whole.md") if asked.whole else RESULTS
    target.write_text("\n".join(lines) + "\n")
    print("\n".join(lines[-12:]))


if __name__ == "__main__":
    main()
