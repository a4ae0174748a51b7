"""A cf release of which columns were left out is read by those that are there."""

from __future__ import annotations

from typing import Any

import pytest

from voile import labels
from voile.errors import InvalidInput

pytest.importorskip("sklearn")


def released(patients: Any, recipe: Any, tmp_path: Any, *drop: str) -> Any:
    asked: dict[str, Any] = {"label": "state", "epsilon": 3.0, "mechanism": "cf", "seed": 4}
    out = str(tmp_path / "r.csv")
    return labels.protect(patients, recipe=recipe, drop=drop, out=out, overwrite=True, **asked)


def test_shares_and_tables_come_from_the_columns_that_are_there(
    patients: Any, recipe: Any, tmp_path: Any
) -> None:
    whole = released(patients, recipe, tmp_path)
    before = labels.estimate(whole.output, recipe=recipe)
    release = released(patients, recipe, tmp_path, "town")
    found = labels.estimate(release.output, recipe=recipe)
    assert found.vouched
    assert found.classes == before.classes  # the label's own channel, the same draws
    model = labels.learn(release.output, recipe=recipe, test=patients)
    assert model.auc is not None
    assert model.auc > 0.7


def test_without_any_feature_the_classes_are_left(
    patients: Any, recipe: Any, tmp_path: Any
) -> None:
    release = released(patients, recipe, tmp_path, "weight", "smokes", "town")
    found = labels.estimate(release.output, recipe=recipe)
    assert (len(found.classes), found.features, found.table) == (2, (), ())
    with pytest.raises(InvalidInput, match="a model needs features, and all were left out"):
        labels.learn(release.output, recipe=recipe)
    with pytest.raises(InvalidInput, match="1 of its 4 columns are missing"):
        labels.estimate(
            [{"weight": 70, "smokes": "yes", "state": "ill"}] * 200, recipe=recipe, epsilon=1.0,
            mechanism="ldp",
        )  # fmt: skip
