"""What released places are still good for, losses of one's own, and maps of rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.places.geodesy import geodesic_km
from voile.places.point_charts import before_after_map, error_map
from voile.places.usefulness import area_difference, nearest_kept, own_loss

pytest.importorskip("pyproj")
pytest.importorskip("numba")
BOX = (45.0, 5.0, 45.05, 5.06)
QUICK = {"box": BOX, "cells": (3, 4), "epsilon": 0.8, "bound": False}


@pytest.fixture(scope="module")
def design():
    return voile.places.design(method="laplace", **QUICK)


@pytest.fixture(scope="module")
def rows(design):
    before = [(45.0 + i / 1000, 5.0 + i / 1000) for i in range(40)]
    return before, design.release(before, rng=voile.seeded_rng(1))


def test_areas_are_counted_exactly():
    rng = np.random.default_rng(0)
    before, after = rng.uniform(0, 5, (300, 2)), rng.uniform(0, 5, (300, 2))
    table = np.zeros((2, 5, 5))
    for kind, points in enumerate((before, after)):
        for x, y in points:
            table[kind, int(x), int(y)] += 1
    found = area_difference(before, after, side=1.0)
    assert found == pytest.approx(np.abs(table[0] - table[1]).sum() / 600)
    assert area_difference(before, before, side=1.0) == 0
    assert area_difference(before, before + 100, side=1.0) == 1
    assert area_difference(before, before[::-1], side=1.0) == 0  # counts, not rows


def test_the_nearest_are_counted_exactly():
    rng = np.random.default_rng(1)
    public, before = rng.uniform(0, 9, (30, 2)), rng.uniform(0, 9, (50, 2))
    after = before + rng.normal(0, 1, before.shape)

    def nearest(point, k):
        return set(np.argsort(np.linalg.norm(public - point, axis=1))[:k].tolist())

    for k in (1, 4):
        pairs = zip(before, after, strict=True)
        plain = np.mean([len(nearest(a, k) & nearest(b, k)) / k for a, b in pairs])
        assert nearest_kept(before, after, public, k=k) == pytest.approx(plain)
    with pytest.raises(InvalidInput, match="between 1 and 30"):
        nearest_kept(before, after, public, k=31)


def test_an_audit_says_what_is_left(design, rows, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef north(a, b):\n    return np.abs(a[:, 0] - b[:, 0]) * 111\n"
    )
    found = voile.places.audit(
        design, against=rows, places=50, poi=rows[0][::5], nearest=2, area="500m",
        loss=f"{tmp_path / 'mine.py'}:north",
    )  # fmt: skip
    use = found.files.use
    apart = np.abs(np.array(rows[0])[:, 0] - np.array(rows[1])[:, 0]) * 111
    assert use.own_loss == pytest.approx(apart.mean())
    assert use.area_km == 0.5
    assert 0 < use.nearest_kept < 1
    text = str(found)
    assert "nearest places" in text
    assert "Your own loss" in text
    json.dumps(found.to_dict())


def test_rows_are_mapped_only_where_their_owner_asks(design, rows, tmp_path):
    pytest.importorskip("vl_convert")
    plain = voile.places.audit(design, against=rows, places=50)
    asked = voile.places.audit(design, against=rows, places=50, preview=True)
    names = [
        [chart.name for chart in found.report(tmp_path / "r.html").charts]
        for found in (plain, asked)
    ]
    assert "before-after" not in names[0]
    assert names[1][0] == "before-after"
    assert "do not hand it on" in (tmp_path / "r.html").read_text()
    assert not {"points", "before"} & set(asked.to_dict())


def test_maps_say_what_they_show(design, rows):
    pytest.importorskip("altair")
    errors = error_map(design, size=6)
    values = [row[2] for row in errors.data.rows]
    middle = np.array([[row[0], row[1]] for row in errors.data.rows])
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    law = design.mechanism.probabilities(middle)
    again = (law * np.linalg.norm(outputs[None] - middle[:, None], axis=2)).sum(axis=1)
    assert np.allclose(values, again, atol=0.002)
    km = [design.projection.to_km(*np.array(part).T) for part in rows]
    shown = before_after_map(*km, box=design.box, streets=np.zeros((0, 2, 2)))
    assert len(shown.data.rows) == 80
    assert f"{np.linalg.norm(km[0] - km[1], axis=1).mean():.2f} km" in shown.alt


def test_a_design_is_solved_for_a_loss_of_one_s_own():
    def north(places, outputs):
        return np.abs(places[:, None, 0] - outputs[None, :, 0]) * 111.2

    mine = voile.places.design(method="laplace-remap", loss=north, **QUICK)
    plain = voile.places.design(method="laplace-remap", **QUICK)
    table = north(
        *(
            np.stack(mine.projection.to_degrees(p), axis=1)
            for p in (mine.places, np.asarray(mine.mechanism.outputs, dtype=float))
        )
    )
    cost = [d.mechanism.expected_loss(d.places, table, d.prior) for d in (mine, plain)]
    assert mine.solved.loss == pytest.approx(cost[0], rel=1e-6)
    assert cost[0] <= cost[1] * (1 + 1e-9)
    assert "a loss of one's own" in str(mine)


def test_a_loss_may_be_a_table(design, rows, tmp_path):
    """Of four places and three outputs; any other place counts as the nearest of those."""
    rng = np.random.default_rng(3)
    before, after = (np.array(part)[:count] for part, count in zip(rows, (4, 3), strict=True))
    costs = rng.uniform(0, 5, (4, 3)).round(3)
    lines = ["from_lat,from_lon,to_lat,to_lon,loss"]
    lines += [
        ",".join(map(str, (*before[a], *after[b], costs[a, b]))) for a in range(4) for b in range(3)
    ]
    path = tmp_path / "costs.csv"
    path.write_text("\n".join(lines) + "\n")
    made = own_loss(str(path))
    apart = [
        geodesic_km(*(np.repeat(p[:, None], len(q), 1)[..., k].ravel() for k in (0, 1)),
                    *(np.repeat(q[None], len(p), 0)[..., k].ravel() for k in (0, 1)))
        .reshape(len(p), len(q)).argmin(axis=1)
        for p, q in ((np.array(rows[0]), before), (np.array(rows[1]), after))
    ]  # fmt: skip
    assert np.allclose(made(*map(np.array, rows)), costs[apart[0], apart[1]])
    assert np.allclose(made(*map(np.array, rows), pairs=True), costs[apart[0]][:, apart[1]])
    found = voile.places.audit(design, against=rows, loss=str(path), places=20)
    assert found.files.use.own_loss == pytest.approx(costs[apart[0], apart[1]].mean())
    mine = voile.places.design(method="laplace-remap", loss=str(path), **QUICK)
    assert mine.solved.loss <= costs.max()
    for lost, said in (
        (lines[:-1], "1 pairs have none"),
        ([*lines[:-1], lines[-1] + "x"], "numbers"),
    ):
        path.write_text("\n".join(lost) + "\n")
        with pytest.raises(InvalidInput, match=said):
            own_loss(str(path))


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda a, b: np.zeros(3), "of shape"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "finite"),
        (lambda a, b: -np.ones((len(a), len(b))), "below 0"),
        (lambda a: a, "must take two arrays"),
        ("nowhere.py:cost", "Python file"),
        (3, "must be a function"),
    ],
)
def test_a_loss_that_is_none_is_refused(loss, said):
    with pytest.raises(InvalidInput, match=said):
        voile.places.design(method="laplace", loss=loss, **QUICK)
