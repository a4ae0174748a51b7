"""Figure 1 of the unexpected-leakage paper: what label DP leaves to who sees the features."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from voile.audit.labels import audit_labels
from voile.core.randomness import seeded_rng
from voile.labels._audit import prepared
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


def tables_of(work: Work) -> dict[str, Table]:
    """The paper's two simulations and its real data, and Adult where its file is."""
    records, wide = (600, 20) if work.small else (2000, 100)
    tables = {
        "simulated high": simulated(0.1, records=records, dimensions=wide, seed=1),
        "simulated low": simulated(1.0, records=records, dimensions=wide, seed=2),
        "breast cancer": breast_cancer(),
    }
    found = None if work.small else work.file("adult", "adult.data")
    return tables if found is None else tables | {"adult": adult(found)}


def shown(tables: Mapping[str, Table]) -> str:
    """The tables and their sizes in words."""
    return ", ".join(
        f"{name} ({len(t):,} records, {len(t.names)} features)" for name, t in tables.items()
    )


def named(figure: int, name: str, table: Table) -> Row:
    """What a cell of a figure goes by."""
    return {"figure": figure, "data": name, "records": len(table), "features": len(table.names)}


def leakages(work: Work, tables: Mapping[str, Table]) -> list[Row]:
    """Each table attacked at each ε: what ε announces, and what the attacker reached."""
    epsilons = FEW if work.small else EPSILONS
    rows = []
    for name, table in tables.items():
        found = work.cell(FILE, named(1, name, table), partial(_audited, table, epsilons))
        rows += [{"data": name, "alone": found["alone"]} | point for point in found["points"]]
    return rows


def truth(data: str, epsilon: float) -> float | None:
    """The best attacker's success where the law of the data is known."""
    variance = {"simulated high": 0.1, "simulated low": 1.0}.get(data)
    return None if variance is None else true_total(variance, epsilon)


def figure_1(work: Work) -> Found:
    """Total leakage against what ε announces."""
    tables = tables_of(work)
    rows = leakages(work, tables)
    measured = []
    for r in rows:
        if r["epsilon"] in FEW:
            true = truth(r["data"], r["epsilon"])
            beside = f"{r['expected']:.3f} announced" + (
                "" if true is None else f", {true:.3f} true"
            )
            what = f"{r['data']}, ε = {r['epsilon']:g}: attacker's accuracy"
            measured.append(Measured(what, r["total"], r["lower"], r["upper"], beside))
    gap = {(r["data"], r["epsilon"]): r["total"] - r["expected"] for r in rows}
    least = min(r["epsilon"] for r in rows)
    leaks = all(r["lower"] > r["expected"] for r in rows if r["epsilon"] <= 1)
    return Found(
        f"{shown(tables)}; P(y|x) cross-fitted instead of asked of GPT-4o",
        measured,
        [
            Claim("label DP at ε ≤ 1 gives away more than it announces", leaks),
            Claim("more so where features and label are closer",
                  gap["simulated high", least] > gap["simulated low", least]),
        ],
    )  # fmt: skip


def _audited(table: Table, epsilons: tuple[float, ...]) -> Row:
    columns, _, labels = prepared(table)
    found = audit_labels(columns, labels, classes=2, epsilons=epsilons, rng=seeded_rng(5))
    return {
        "alone": found.at[0].features_alone,
        "points": [
            {"epsilon": p.epsilon, "expected": p.expected, "total": p.total.value,
             "lower": p.total.lower, "upper": p.total.upper}
            for p in found.at
        ],
    }  # fmt: skip
