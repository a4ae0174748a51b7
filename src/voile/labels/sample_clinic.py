"""A labelled table of patients who do not exist."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from voile.errors import CannotWrite, require

COLUMNS = ("age", "bmi", "glucose", "pulse", "sleep_hours", "smoker", "ward", "diabetic")
WARDS = ("north", "harbour", "old town")


def clinic(count: int = 600, *, seed: int = 0) -> list[dict[str, Any]]:
    """Records whose label follows from the features by a logistic law, and not quite.

    The log-odds of the diagnosis rise with glucose (mg/dl), weight and age; pulse, sleep, ward
    and smoking say next to nothing. So the features give much of the label away, as they do in
    real tables, and noise on the label alone does not help. All numbers are drawn, none is a
    measurement.

    >>> rows = clinic(600)
    >>> sum(row["diabetic"] == "yes" for row in rows)
    257
    >>> sorted(rows[0]) == sorted(COLUMNS)
    True
    """
    require(100 <= count <= 100_000, "count", "between 100 and 100000", count)
    rng = np.random.default_rng([21, seed])
    age = np.clip(rng.normal(54, 15, count), 18, 95)
    bmi = np.clip(rng.normal(26.5, 4.2, count), 16, 48)
    glucose = np.clip(
        88 + 0.25 * (age - 54) + 1.1 * (bmi - 26.5) + rng.gumbel(8, 13, count), 60, 260
    )
    odds = 0.085 * (glucose - 107) + 0.09 * (bmi - 26.5) + 0.02 * (age - 54)
    odds += 0.3 * rng.logistic(size=count)
    ill = rng.random(count) < 1 / (1 + np.exp(-odds))
    pulse, sleep = rng.normal(72, 9, count), np.clip(rng.normal(6.9, 1.1, count), 3, 11)
    smoker, ward = rng.random(count) < 0.24, rng.integers(len(WARDS), size=count)
    return [
        {
            "age": round(float(age[i])),
            "bmi": round(float(bmi[i]), 1),
            "glucose": round(float(glucose[i])),
            "pulse": round(float(pulse[i])),
            "sleep_hours": round(float(sleep[i]), 1),
            "smoker": "yes" if smoker[i] else "no",
            "ward": WARDS[ward[i]],
            "diabetic": "yes" if ill[i] else "no",
        }
        for i in range(count)
    ]


def write_clinic(path: str | Path, *, count: int = 600, seed: int = 0) -> Path:
    """The records as a CSV file with a header; the label is the column diabetic."""
    target = Path(path)
    try:
        with target.open("w", newline="", encoding="utf-8") as file:
            rows = csv.DictWriter(file, COLUMNS)
            rows.writeheader()
            rows.writerows(clinic(count, seed=seed))
    except OSError as problem:
        raise CannotWrite(f"cannot write {target}: {problem.strerror or problem}") from problem
    return target
