"""Small labelled files whose truth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from label_files import write_rows


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """400 records: one number and one category that speak of the label, one that does not."""
    return _records(tmp_path / "patients.csv", 12)


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """As many other records of the same law."""
    return _records(tmp_path / "public.csv", 13)


@pytest.fixture
def recipe(public: Path, tmp_path: Path) -> Path:
    """A recipe made from the public records, cells and all."""
    pytest.importorskip("sklearn")
    from voile import labels

    labels.recipe(public, out=tmp_path / "public.json", label="state")
    return tmp_path / "public.json"


def _records(path: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    ill = rng.random(400) < 0.4
    weight = np.round(rng.normal(70 + 12 * ill, 8), 1)
    smokes = np.where(rng.random(400) < np.where(ill, 0.8, 0.3), "yes", "no")
    town = rng.choice(["north", "south", "west"], size=400)
    rows = [
        [w, s, t, "ill" if y else "well"]
        for w, s, t, y in zip(weight, smokes, town, ill, strict=True)
    ]
    return write_rows(path, ["weight", "smokes", "town", "state"], rows)
