"""Audits spread over processes: the same figures as in one, and every piece of work is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from label_files import write_rows

# ── labels ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """100 records: a number that speaks of the label, and a category that does not."""
    rng = np.random.default_rng(2)
    state = rng.integers(2, size=100)
    rows: list[list[object]] = [
        [f"{rng.normal(2.0 * y):.3f}", rng.choice(["north", "south"]), y] for y in state
    ]
    return write_rows(tmp_path / "people.csv", ["dose", "town", "state"], rows)


def test_a_comparison_of_labels_is_the_same_in_two_processes(people: Path) -> None:
    pytest.importorskip("sklearn")
    from voile.labels import compare

    def compared(jobs: int) -> dict[str, object]:
        return compare(
            people, label="state", seed=1, label_epsilon=(1.0, 3.0), record_epsilon=(), repeats=2,
            jobs=jobs,
        ).to_dict()  # fmt: skip

    assert compared(2) == compared(1)


def test_repeats_of_a_comparison_are_splits_of_their_own(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repeats with one seed would agree with each other, and state no error."""
    pytest.importorskip("sklearn")
    from voile.core.randomness import seeded_rng
    from voile.labels import _compare as comparing

    real, seeds, found = comparing.one_repeat, [], []

    def noted(asked, seed):  # type: ignore[no-untyped-def]
        seeds.append(seed)
        found.append(real(asked, seed))
        return found[-1]

    monkeypatch.setattr(comparing, "one_repeat", noted)
    table = comparing.read_labelled(people, label="state")
    got = comparing.compare_table(
        table, rng=seeded_rng(1), label_epsilons=[1.0], record_epsilons=[], repeats=3
    )
    assert len(set(seeds)) == 3
    point = got.points[0]
    one = [repeat.scores["label DP", 1.0].aucs[point.analyst] for repeat in found]
    assert point.auc == np.mean(one)
    assert len(set(one)) == 3
    assert point.auc_error == pytest.approx(np.std(one, ddof=1) / np.sqrt(3))


def test_an_audit_of_labels_is_the_same_in_two_processes(people: Path) -> None:
    pytest.importorskip("sklearn")
    from voile.labels import audit

    def audited(jobs: int) -> dict[str, object]:
        found = audit(people, label="state", epsilon=(0.5, 2.0), seed=1, jobs=jobs)
        return found.to_dict()

    alone = audited(1)
    assert audited(2) == alone
    assert len({share["nats"] for share in alone["features"]}) > 1  # type: ignore[attr-defined]


def test_each_feature_is_judged_by_its_own_columns() -> None:
    """Answers of pieces go back to the feature that asked, whatever order they came in."""
    pytest.importorskip("sklearn")
    from voile.attackers.label_classifier import FitDraws, fit_drawn
    from voile.attackers.label_reading import read_as
    from voile.audit.label_classes import mean_area
    from voile.audit.label_features import feature_shares, fit_half, information
    from voile.core.randomness import seeded_rng

    rng = seeded_rng(5)
    labels = rng.integers(2, size=200).astype(np.intp)
    features = [rng.normal(size=200) + labels * shift for shift in (0.0, 3.0, 1.0)]
    halved = fit_half(features, labels, classes=2, rng=seeded_rng(6))
    shares = feature_shares(halved, names=["a", "b", "c"], rng=seeded_rng(7), alone=2, shuffles=3)
    again = seeded_rng(7)
    fitting, counting, truth = halved.fitting, halved.counting, halved.truth
    prior = np.bincount(labels[fitting]) / len(fitting)

    def told(table: list[np.ndarray]) -> float:
        return information(halved.model.posteriors(table), truth, prior)

    counted = [values[counting] for values in features]
    lost = []
    for at, values in enumerate(counted):
        mixed = [
            told([*counted[:at], values[again.permutation(len(truth))], *counted[at + 1 :]])
            for _ in range(3)
        ]
        lost.append(told(counted) - np.mean(mixed))
    assert {s.name: s.lost for s in shares} == dict(zip("abc", lost, strict=True))
    expected = {}
    for feature in np.argsort(-np.array(lost), kind="stable")[:2]:
        draws = FitDraws.of(labels[fitting], rng=again)
        part = features[feature]
        model = fit_drawn([part[fitting]], labels[fitting], draws, how=(read_as(part),), classes=2)
        beliefs = model.posteriors([part[counting]])
        told_alone = information(beliefs, truth, prior)
        expected["abc"[feature]] = (told_alone, mean_area(beliefs, truth))
    assert {s.name: (s.nats, s.auc) for s in shares if s.nats is not None} == expected


# ── places ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def design():  # type: ignore[no-untyped-def]
    pytest.importorskip("numba")
    pytest.importorskip("pyproj")
    import voile

    return voile.places.design(
        cells=(3, 4), task_count=6, epsilon=0.5, method="spline", bound=False
    )


@pytest.fixture(scope="module")
def trips(design, tmp_path_factory):  # type: ignore[no-untyped-def]
    """Sixty traces of ten steps, and a release of them."""
    from voile.places._protect import protect
    from voile.storage import save

    folder = tmp_path_factory.mktemp("trips")
    low, high = design.box
    lat, lon = design.projection.to_degrees(
        np.random.default_rng(5).uniform(low, high, (600, len(low)))
    )
    rows = [
        [i // 10, f"{a:.6f}", f"{b:.6f}"] for i, (a, b) in enumerate(zip(lat, lon, strict=True))
    ]
    before = write_rows(folder / "trips.csv", ["trip", "lat", "lon"], rows)
    save(design, folder / "city.voile")
    after = folder / "released.csv"
    protect(before, mechanism=folder / "city.voile", out=str(after), pass_="all", seed=1)
    return before, after


@pytest.fixture(scope="module")
def others(design):  # type: ignore[no-untyped-def]
    """Public trips of other people."""
    lat, lon = design.projection.to_degrees(
        np.random.default_rng(6).uniform(*design.box, (400, len(design.box[0])))
    )
    pairs = enumerate(zip(lat.tolist(), lon.tolist(), strict=True))
    return [{"trip": i // 10, "lat": a, "lon": b} for i, (a, b) in pairs]


def test_an_audit_of_places_is_the_same_in_two_processes_and_in_parts(
    design, trips, others, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    import voile
    from voile.places import trace_attack

    monkeypatch.setattr(trace_attack, "_AT_ONCE", 50)  # five traces each, or there were one part
    how = {"against": trips, "trace": "trip", "public": others, "side": "2km"}

    def audited(jobs: int) -> object:
        return voile.places.audit(design, **how, places=300, seed=4, jobs=jobs).to_dict()

    alone = audited(1)
    assert alone["files"]["traces"]["traces"] == 60  # type: ignore[index]
    assert audited(2) == alone
    monkeypatch.undo()
    whole = voile.places.audit(design, **how, places=10).files.traces
    guessed = alone["files"]["traces"]["guess_error_m"]  # type: ignore[index]
    assert guessed == pytest.approx(whole.guess_error_m, rel=1e-12)


def test_every_block_of_close_pairs_is_drawn_once_and_counts(
    design, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    import voile
    from voile.audit import map_ratios

    for highest in range(3):  # whichever block holds the worst pair
        seen: list[tuple[int, int, int]] = []

        def block_of(design, *, pairs, seed, block, highest=highest, seen=seen):  # type: ignore[no-untyped-def]
            seen.append((pairs, seed, block))
            return 9.0 if block == highest else 0.1

        monkeypatch.setattr(map_ratios, "_close_block", block_of)
        found = voile.places.audit(design, places=500, seed=7)
        assert found.findings[2].lower == 9.0
        assert found.violated
        assert seen == [(4096, 7, 0), (4096, 7, 1), (10_000 - 2 * 4096, 7, 2)]


def test_blocks_of_close_pairs_hold_different_pairs(design) -> None:  # type: ignore[no-untyped-def]
    from voile.audit.map_ratios import close_blocks

    blocks = close_blocks(3 * 4096, seed=0)
    assert len({block(design) for block in blocks}) == 3


def test_blocks_of_random_places_hold_all_pairs(design, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    from voile.audit import map_ratios as ratios

    low, high = design.box
    points = ratios.snapped(design, np.random.default_rng(3).uniform(low, high, (70, 2)))
    logs = ratios.log_law(design, points)
    gaps = np.abs(logs[:, None] - logs[None]).max(axis=2)
    pairs = np.triu_indices(70, k=1)
    ratio = gaps[pairs] / design.apart(points[pairs[0]], points[pairs[1]])
    monkeypatch.setattr(ratios, "ROWS", 16)
    blocks = [block(design) for block in ratios.random_blocks(70, seed=3)]
    assert sum(count for _, _, count in blocks) == 70 * 69 // 2
    largest, above = ratios.random_ratio(blocks)
    assert largest == pytest.approx(ratio.max(), rel=1e-9)
    assert above == 0
    assert ratios.random_ratio([(1.0, 1, 10), (2.0, 2, 10)]) == (2.0, 0.15)


def test_a_law_with_one_bad_neighbourhood_is_caught_by_close_pairs(design) -> None:  # type: ignore[no-untyped-def]
    """A fault in a fiftieth of the map, whichever block comes upon it."""
    from voile.audit.map_ratios import close_blocks
    from voile.places.designs import PlacesDesign

    low, high = design.box
    corner = low + (high - low) / 7

    class Faulty:
        guarantee, p = design.mechanism.guarantee, design.mechanism.p
        outputs, grid = design.mechanism.outputs, design.mechanism.grid
        resolution, snap = design.mechanism.resolution, design.mechanism.snap

        def probabilities(self, places):  # type: ignore[no-untyped-def]
            law = design.mechanism.probabilities(places)
            bent = law ** np.where((places < corner).all(axis=1), 1.5, 1.0)[:, None]
            return bent / bent.sum(axis=1, keepdims=True)

    class Liar(PlacesDesign):
        box = design.box

    liar = Liar(
        Faulty(), design.projection, design.places, design.prior, design.streets, design.facts
    )
    assert all(block(liar) > 0.5 for block in close_blocks(2 * 4096, seed=0))
