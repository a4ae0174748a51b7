"""Labels that two numbers together or the writing of a cell decide: an audit must see both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

pytest.importorskip("sklearn")

from label_files import write_rows
from voile import labels
from voile.attackers.label_beliefs import cross_fit
from voile.attackers.label_linear import PenalisedLinear
from voile.attackers.label_pairs import MOST_NUMBERS, telling_pairs
from voile.attackers.label_reading import Block, learn_block, read_as
from voile.attackers.label_spelling import as_written, spelling_of
from voile.audit.finding import Verdict
from voile.core.randomness import seeded_rng
from voile.labels.spellings import odd_cells
from voile.labels.values import column_of

COUNT = 800
MOST = binom.isf(1e-9, COUNT, 0.5) / COUNT


def right(features: list[Any], truth: Any, only: str | None = None) -> float:
    found = cross_fit(features, truth, classes=2, rng=seeded_rng(3), folds=3, only=only)
    return float((found.posteriors.argmax(axis=1) == truth).mean())


def stays(rng: Any, sign: int = 1) -> tuple[list[Any], Any]:
    """Two days far apart from each other's; the label is whether they differ by more than ten."""
    came = rng.integers(3_000, size=COUNT).astype(float)
    stay = rng.choice([3.0, 5.0, 7.0, 13.0, 15.0, 18.0], size=COUNT)
    return [came, sign * came + stay], (stay > 10).astype(np.intp)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("only", [None, "boosted trees", "logistic regression"])
def test_a_difference_and_a_sum_of_two_numbers_are_read(sign: int, only: str | None) -> None:
    assert right(*stays(seeded_rng(1), sign), only=only) > 0.97


def test_what_a_difference_of_noise_says_is_nothing() -> None:
    rng = seeded_rng(2)
    features, _ = stays(rng)
    assert right([*features, rng.normal(size=COUNT)], rng.integers(2, size=COUNT)) < MOST


def test_a_linear_label_of_many_numbers_needs_its_penalty() -> None:
    """Nine nearly equal numbers, so no pairs are tried; the usual penalty sees little."""
    from sklearn.linear_model import LogisticRegression

    rng = seeded_rng(4)
    whole = rng.normal(size=(COUNT, 1))
    rows = whole + 0.02 * rng.normal(size=(COUNT, 9))
    truth = ((rows[:, :4].mean(axis=1) - rows[:, 4:8].mean(axis=1)) > 0).astype(np.intp)
    half = COUNT // 2
    usual = LogisticRegression().fit(rows[:half], truth[:half])
    assert usual.score(rows[half:], truth[half:]) < 0.8
    chosen = PenalisedLinear(0).fit(rows[:half], truth[:half])
    assert chosen.penalty >= 100
    assert (chosen.predict_proba(rows[half:]).argmax(axis=1) == truth[half:]).mean() > 0.93


def test_noise_keeps_a_strong_penalty() -> None:
    rng = seeded_rng(5)
    rows, truth = rng.normal(size=(300, 40)), rng.integers(2, size=300)
    assert PenalisedLinear(0).fit(rows, truth).penalty <= 1.0


def blocks_of(columns: list[Any], truth: Any) -> list[Block]:
    return [learn_block(read_as(values), values, truth, 0)[0] for values in columns]


def test_pairs_are_few_and_of_few_numbers() -> None:
    features, truth = stays(seeded_rng(1))
    (pair,) = telling_pairs(blocks_of(features, truth), truth)
    assert (pair.first, pair.second, pair.sign) == (0, 1, -1)
    many = [*features, *seeded_rng(2).normal(size=(MOST_NUMBERS - 1, COUNT))]
    assert telling_pairs(blocks_of(many, truth), truth) == ()


# ── spelling ───────────────────────────────────────────────────────────────────────────────────

Write = Callable[[bool, Any], str]
WRITTEN: dict[str, Write] = {
    "a nought in front": lambda y, rng: ("0" if y else "") + str(rng.integers(10, 99)),
    "a blank behind": lambda y, rng: str(rng.choice(["a", "b", "c"])) + " " * y,
    "decimals": lambda y, rng: f"{rng.uniform(1, 9):.{2 if y else 1}f}",
    "a word for missing": lambda y, rng: "3" if rng.random() < 0.1 else ("NA" if y else ""),
    "an even number": lambda y, rng: str(2 * rng.integers(10**8) + y),
    "the last letter": lambda y, rng: f"A{rng.integers(10**6)}{rng.choice(list('MNO'[y::2]))}",
}


def spelt(path: Any, write: Write, *, of_label: bool = True) -> Any:
    rng = np.random.default_rng(6)
    rows = []
    for _ in range(COUNT):
        ill = bool(rng.random() < 0.5)
        rows.append([write(ill if of_label else bool(rng.random() < 0.5), rng), "ny"[ill]])
    return write_rows(path, ["cell", "label"], rows)


@pytest.mark.parametrize("how", WRITTEN)
def test_how_a_cell_is_written_is_read(how: str, tmp_path: Any) -> None:
    file = spelt(tmp_path / "spelt.csv", WRITTEN[how])
    found = labels.audit(file, label="label", epsilon=(0.1,), on_error="mask")
    assert found.verdict is Verdict.VIOLATED
    told = {share.name: share for share in found.features}["cell as written"]
    assert told.read == "how it is written"
    assert told.auc is not None
    assert told.auc > 0.9
    assert "their spelling was read too" in str(found.report())


def test_spelling_that_says_nothing_shows_nothing(tmp_path: Any) -> None:
    file = spelt(tmp_path / "spelt.csv", WRITTEN["decimals"], of_label=False)
    found = labels.audit(file, label="label", epsilon=(0.1,))
    assert found.epsilons[0].features_alone < MOST
    assert found.verdict is Verdict.OPEN


def test_cells_that_are_all_written_alike_are_not_read_twice() -> None:
    for cells in (["1", "2", "10"] * 9, ["1.0", "2.5"] * 9, ["1.50", "2.25"] * 9, [" a", " b"] * 9,
                  [1, 2.5, 3] * 9, ["a", ""] * 9, [None, 2.0] * 9):  # fmt: skip
        assert odd_cells(cells, column_of(cells)) is None
    for cells in (["1", "1.0"] * 9, ["7", "07"] * 9, ["a", "b "] * 9, ["", "NA", "x"] * 9):
        assert odd_cells(cells, column_of(cells)) is not None


def test_odd_cells_have_a_spelling() -> None:
    odd = ["", " ", "ü\ud800", "\x00", "0" * 99, "-0.5", "N/A", "🙂 "]
    table = spelling_of(as_written(np.array(odd)))
    assert table.shape == (len(odd), 9)
    assert np.isfinite(table).all()


def audited(path: Any, header: list[str], rows: list[list[Any]]) -> Any:
    return labels.audit(write_rows(path / "f.csv", header, rows), label="y", epsilon=(1.0,))


def test_that_two_columns_of_many_names_agree_is_read(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    rows = []
    for i in range(900):
        came, left = (f"ward {n}" for n in rng.integers(300, size=2))
        rows.append([came, came if i % 2 else left, "p" if i % 2 else "q"])
    found = audited(tmp_path, ["came", "left", "y"], rows)
    assert found.epsilons[0].features_alone > 0.98
    assert found.features[0].name == "came is left"


def test_numbers_that_were_rounded_are_read(tmp_path: Any) -> None:
    weights = np.random.default_rng(4).normal(80, 12, size=900).tolist()
    label = ["q", "p"]
    rounded = [[round(x, i % 2), label[i % 2]] for i, x in enumerate(weights)]
    found = audited(tmp_path, ["weight", "y"], rounded)
    assert found.epsilons[0].features_alone > 0.9
    assert "weight as written" in {share.name for share in found.features}
    alike = [[round(x, 1), label[i % 2]] for i, x in enumerate(weights)]
    found = audited(tmp_path, ["weight", "y"], alike)
    assert "weight as written" not in {share.name for share in found.features}
