"""A recipe that was made from the private records is known again, whatever these lie in."""

from __future__ import annotations

import csv
import gzip
import json
from typing import Any

import numpy as np
import pytest

from label_files import write_rows
from voile import labels
from voile.errors import InvalidInput
from voile.files.source import open_source
from voile.labels.origin import origin_of
from voile.labels.recipe_file import load_recipe

HEADER = ["salary", "town", "label"]


def rows_of(seed: int, count: int = 300) -> list[list[Any]]:
    rng = np.random.default_rng(seed)
    pay, towns = rng.integers(20_000, 60_000, count), rng.choice(["paris", "rome"], count)
    return [[int(p), t, "yn"[p % 2]] for p, t in zip(pay, towns, strict=True)]


@pytest.fixture
def file(tmp_path: Any) -> Any:
    return write_rows(tmp_path / "sal.csv", HEADER, rows_of(1))


def records(file: Any) -> list[dict[str, Any]]:
    with open(file) as opened:
        return list(csv.DictReader(opened))


def as_frame(file: Any) -> Any:
    return pytest.importorskip("pandas").read_csv(file)


def shuffled(file: Any) -> Any:
    return as_frame(file).sample(frac=1, random_state=1).reset_index(drop=True)


def with_a_column(file: Any) -> Any:
    return as_frame(file).assign(extra=1)


def other_types(file: Any) -> Any:
    return as_frame(file).astype({"salary": "float32"})


def compressed(file: Any) -> Any:
    found = file.with_name("sal.csv.gz")
    found.write_bytes(gzip.compress(file.read_bytes()))
    return found


def as_lines(file: Any) -> Any:
    found = file.with_name("sal.jsonl")
    rows = [row | {"salary": float(row["salary"])} for row in reversed(records(file))]
    found.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return found


@pytest.mark.parametrize(
    "same", [as_frame, shuffled, with_a_column, other_types, compressed, as_lines, records]
)
def test_the_same_records_are_known_in_any_order_and_format(same: Any, file: Any) -> None:
    made = labels.recipe(file, label="label", mechanism="ldp")
    asked = {"label": "label", "epsilon": 1, "mechanism": "ldp", "recipe": made}
    asked |= {"drop": ("extra",)} if same is with_a_column else {}
    with pytest.raises(InvalidInput, match="was made from this very file"):
        labels.protect(same(file), **asked)
    assert labels.protect(same(file), **asked, learn_from_private=True).guarantee.basis == "claimed"


def test_other_records_are_not_taken_for_them(file: Any, tmp_path: Any) -> None:
    made = labels.recipe(file, label="label", mechanism="ldp", out=tmp_path / "r.json")
    assert load_recipe(tmp_path / "r.json").made_from == made.content.made_from
    rows = rows_of(1)
    changed = [[rows[0][0] + 2, *rows[0][1:]], *rows[1:]]
    swapped = [[*rows[0][:2], rows[1][2]], [*rows[1][:2], rows[0][2]], *rows[2:]]
    swapped = swapped if rows[0][2] != rows[1][2] else changed
    for others in (changed, swapped, rows[1:], [*rows, rows[0]], [*rows[1:], rows[1]], rows_of(2)):
        other = write_rows(tmp_path / "other.csv", HEADER, others)
        assert not made.content.made_from.is_of(open_source(other))
    assert not made.content.made_from.is_of(open_source([{"town": "rome", "label": "y"}]))


def test_a_digest_is_of_all_records_at_once(file: Any) -> None:
    """One hash of 64 digits, whatever the number of records: no row can be looked up by itself."""
    found = origin_of(open_source(file), ("label", "town", "salary"))
    assert (len(found.digest), found.columns, found.records) == (
        64, ("label", "salary", "town"), 300
    )  # fmt: skip
    body = json.loads(json.dumps(vars(found)))
    assert set(body) == {"digest", "columns", "records"}
