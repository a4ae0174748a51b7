"""The figures of the unexpected-leakage paper: what label DP leaves to who sees the features."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from voile.audit.labels import audit_labels
from voile.core.randomness import seeded_rng
from voile.labels._audit import prepared
from voile.labels._compare import compare_table
from voile.labels.compared import TradePoint
from voile.labels.reading import Reading, read_labelled
from voile.labels.table import Table
from voile.reproducing.experiment import Claim, Found, Measured, Row, Work

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
FEW = (0.1, 1.0, 8.0)
ADULT_NAMES = 15
FILE = "label_figures.jsonl"


def simulated(variance: float, *, records: int, dimensions: int, seed: int) -> Table:
    """Two classes, features N(e_y, σ·I): σ = 0.1 is high correlation, σ = 1 low (Wu et al.)."""
    rng = seeded_rng(seed)
    labels = rng.integers(2, size=records)
    features = rng.normal(scale=np.sqrt(variance), size=(records, dimensions))
    features[np.arange(records), labels] += 1.0
    return _table(features, np.where(labels == 1, "b", "a"))


def breast_cancer() -> Table:
    """Breast Cancer Wisconsin, which ships with scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return _table(data.data, data.target_names[data.target], tuple(data.feature_names))


def adult(path: Path) -> Table:
    """The Adult file, whose name does not say that it is a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder) / "adult.csv"
        named.symlink_to(path.resolve())
        reading = Reading(header=False, on_error="mask")
        return read_labelled(named, label=f"c{ADULT_NAMES}", reading=reading)


def _table(features: np.ndarray, labels: np.ndarray, names: tuple[str, ...] = ()) -> Table:
    names = names or tuple(f"x{i}" for i in range(features.shape[1]))
    columns = tuple(features[:, j].astype(float) for j in range(features.shape[1]))
    return Table("y", names, columns, labels, np.arange(len(labels)) + 2)


def true_total(variance: float, epsilon: float) -> float:
    """EAU of the best attacker on the simulation, by integration over the log-likelihood ratio.

    ln p(x|1)/p(x|0) = (x_1 − x_0)/σ is N(±1/σ, 2/σ), and the answer shifts it by ±ε.
    """
    from scipy.stats import norm

    mean, deviation = 1 / variance, np.sqrt(2 / variance)
    keep = 1 / (1 + np.exp(-epsilon))
    # Label 1: right when ratio ± ε > 0, the sign being + with probability `keep`.
    right = keep * norm.sf(-epsilon, mean, deviation)
    return float(right + (1 - keep) * norm.sf(epsilon, mean, deviation))


def integrated_total(variance: float, epsilon: float) -> float:
    """The definition, Σ_ỹ E[max_y P(y|x) R(ỹ|y)], by numerical integration."""
    from scipy.integrate import quad
    from scipy.stats import norm

    mean, deviation = 1 / variance, np.sqrt(2 / variance)
    keep = 1 / (1 + np.exp(-epsilon))

    def density(t: float) -> float:
        p = 1 / (1 + np.exp(-t))
        both = norm.pdf(t, mean, deviation) + norm.pdf(t, -mean, deviation)
        best = max(p * keep, (1 - p) * (1 - keep)) + max(p * (1 - keep), (1 - p) * keep)
        return float(0.5 * both * best)

    reach = mean + 12 * deviation
    return float(quad(density, -reach, reach, limit=400)[0])


def tables_of(work: Work) -> dict[str, Table]:
    """The paper's two simulations and its real data."""
    records, wide = (600, 20) if work.small else (2000, 100)
    return {
        "simulated high": simulated(0.1, records=records, dimensions=wide, seed=1),
        "simulated low": simulated(1.0, records=records, dimensions=wide, seed=2),
        "breast cancer": breast_cancer(),
    }


def figure_1(work: Work) -> Found:
    """Total leakage against what ε announces."""
    tables = tables_of(work)
    epsilons = FEW if work.small else EPSILONS
    rows = []
    for name, table in tables.items():
        setting = {"figure": 1, "data": name, "records": len(table), "features": len(table.names)}
        found = work.cell(FILE, setting, partial(_audited, table, epsilons))
        rows += [{"data": name} | point for point in found["points"]]
    truth = {"simulated high": 0.1, "simulated low": 1.0}
    measured = [
        Measured(
            f"{r['data']}, ε = {r['epsilon']:g}: attacker's accuracy", r["total"], r["lower"],
            r["upper"], f"{r['expected']:.3f} announced"
            + (f", {true_total(truth[r['data']], r['epsilon']):.3f} true"
               if r["data"] in truth else ""),
        )
        for r in rows if r["epsilon"] in FEW
    ]  # fmt: skip
    gap = {(r["data"], r["epsilon"]): r["total"] - r["expected"] for r in rows}
    least = min(epsilons)
    leaks = all(r["lower"] > r["expected"] for r in rows if r["epsilon"] <= 1)
    return Found(
        ", ".join(f"{n} ({len(t):,} records, {len(t.names)} features)" for n, t in tables.items())
        + "; P(y|x) cross-fitted instead of asked of GPT-4o",
        measured,
        [
            Claim("label DP at ε ≤ 1 gives away more than it announces", leaks),
            Claim("more so where features and label are closer",
                  gap["simulated high", least] > gap["simulated low", least]),
        ],
    )  # fmt: skip


def figure_2(work: Work) -> Found:
    """Use against leakage, label DP beside local DP."""
    tables = tables_of(work)
    if work.small:
        tables = {"simulated high": simulated(0.1, records=400, dimensions=2, seed=4),
                  "breast cancer": tables["breast cancer"]}  # fmt: skip
    measured, beaten, better = [], [], []
    for name, table in tables.items():
        setting = {"figure": 2, "data": name, "records": len(table), "features": len(table.names)}
        row = work.cell(FILE, setting, partial(_compared, table, small=work.small))
        points = [TradePoint(**point) for point in row["points"]]
        for p in points:
            if p.mechanism != "label DP-CF":
                half = 2 * p.auc_error
                what = f"{name}: {p.mechanism} at ε = {p.epsilon:g}, leakage {p.leakage:.3f}: AUC"
                measured.append(Measured(what, p.auc, p.auc - half, p.auc + half))
        label = {p.epsilon: p for p in points if p.mechanism == "label DP"}
        local = [p for p in points if p.mechanism == "local DP"]
        beaten.append(any(_beats(p, label[0.1]) for p in local))
        better.append(all(not _beats(p, label[e]) for p in local for e in label if e >= 1))
    return Found(
        ", ".join(f"{n} ({len(t):,} records, {len(t.names)} features)" for n, t in tables.items())
        + f"; {3 if work.small else 5} splits, analysts who know the noise",
        measured,
        [
            Claim("at equal leakage label DP at ε ≥ 1 is the more useful", all(better)),
            Claim("local DP beats label DP at ε = 0.1 where features tell the label", any(beaten)),
        ],
    )


def _beats(one: TradePoint, other: TradePoint) -> bool:
    """No more leakage, and an AUC that is higher by two standard errors of the difference."""
    apart = 2 * float(np.hypot(one.auc_error, other.auc_error))
    return one.leakage <= other.leakage + 0.005 and one.auc > other.auc + apart


def _audited(table: Table, epsilons: tuple[float, ...]) -> Row:
    columns, _, labels = prepared(table)
    found = audit_labels(columns, labels, classes=2, epsilons=epsilons, rng=seeded_rng(5))
    return {
        "points": [
            {"epsilon": p.epsilon, "expected": p.expected, "total": p.total.value,
             "lower": p.total.lower, "upper": p.total.upper}
            for p in found.at
        ]
    }  # fmt: skip


def _compared(table: Table, *, small: bool) -> Row:
    few = {"label_epsilons": (8.0, 1.0, 0.1), "record_epsilons": (8.0, 2.0)} if small else {}
    found = compare_table(table, rng=seeded_rng(11), repeats=3 if small else 5, **few)  # type: ignore[arg-type]
    return {"points": [vars(p) for p in found.points]}
