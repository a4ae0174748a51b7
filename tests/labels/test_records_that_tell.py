"""Records that may not be recoded, left out or emptied, since that would tell their label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from label_files import write_rows
from voile import labels, ledger
from voile.errors import InvalidInput

pytest.importorskip("sklearn")

HEADER = ["who", "kind", "other", "state"]


def people(path: Any, seed: int, *, gaps: bool = False, nobody: bool = False) -> Any:
    """400 records; a kind or a name is missing of most who are well, if so asked."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(400):
        ill = rng.random() < 0.5
        gone = not ill and rng.random() < 0.8
        kind = "" if gaps and gone else rng.choice(["a", "b"])
        who = "" if nobody and gone else f"p{i}"
        rows.append([who, kind, rng.choice(["p", "q"]), "ill" if ill else "well"])
    return write_rows(path, HEADER, rows)


def recipe(tmp_path: Any, mechanism: str, **how: bool) -> Any:
    public = people(tmp_path / "public.csv", 1, **how)
    return labels.recipe(public, label="state", mechanism=mechanism, drop=("who",), overwrite=True)


@pytest.mark.parametrize("policy", ["fail", "skip", "mask"])
def test_cf_stops_at_a_value_that_its_population_does_not_have(policy: str, tmp_path: Any) -> None:
    """Its bound is about P(cell | label) of the recipe's records, and a gap is in none of them."""
    file = people(tmp_path / "private.csv", 2, gaps=True)
    asked: dict[str, Any] = {"label": "state", "epsilon": 1.0, "drop": ("who",), "overwrite": True,
                             "out": str(tmp_path / "o.csv"), "on_error": policy}  # fmt: skip
    with pytest.raises(InvalidInput, match=r"no code for that \(1\d\d of the records") as caught:
        labels.protect(file, mechanism="cf", recipe=recipe(tmp_path, "cf"), **asked)
    assert "make the recipe from public records that have such values" in str(caught.value)
    assert not (tmp_path / "o.csv").exists()
    known = recipe(tmp_path, "cf", gaps=True)
    assert labels.protect(file, mechanism="cf", recipe=known, **asked).records == 400


@pytest.mark.parametrize("mechanism", ["ldp", "sample"])
def test_where_the_bound_holds_for_any_input_it_is_coded(mechanism: str, tmp_path: Any) -> None:
    file = people(tmp_path / "private.csv", 2, gaps=True)
    done = labels.protect(
        file, label="state", epsilon=1.0, mechanism=mechanism, recipe=recipe(tmp_path, mechanism),
        drop=("who",), on_error="mask", out=str(tmp_path / "o.csv"),
    )  # fmt: skip
    assert done.records == 400


@pytest.mark.parametrize("policy", ["fail", "skip", "mask"])
def test_a_record_of_nobody_stops_a_memo_and_a_ledger(policy: str, tmp_path: Any) -> None:
    file = people(tmp_path / "private.csv", 3, nobody=True)
    asked: dict[str, Any] = {"label": "state", "epsilon": 1.0, "mechanism": "sample",
                             "recipe": recipe(tmp_path, "sample"), "person": "who",
                             "out": str(tmp_path / "o.csv"), "on_error": policy}  # fmt: skip
    with pytest.raises(InvalidInput, match="'who' names no person; name everybody"):
        labels.protect(file, memo=str(tmp_path / "memo.json"), **asked)
    key = str(tmp_path / "l.key")
    ledger.init(str(tmp_path / "l.db"), budget=10.0, ledger_key=key)
    kept: dict[str, Any] = {"ledger": str(tmp_path / "l.db"), "ledger_key": key}
    with pytest.raises(InvalidInput, match="'who' names no person; name everybody"):
        labels.protect(file, **kept, **asked)
    assert not (tmp_path / "o.csv").exists()
    everybody = people(tmp_path / "private.csv", 3)
    assert labels.protect(everybody, **kept, **asked).rows.released == 400
