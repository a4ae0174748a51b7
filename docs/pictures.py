"""The pictures of the explanation pages, drawn from real computations.

Run `python docs/pictures.py` with the extra dev; it writes the SVG files in docs/assets. Nothing in
them is drawn by hand, and every run draws the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

ASSETS = Path(__file__).with_name("assets")
INK, GREY, BLUE, RED, GREEN = "#333333", "#9aa0a6", "#2a6f97", "#b5332e", "#3f7d4e"


def figure(columns: int = 1, *, width: float = 6.4, height: float = 3.6) -> tuple[Any, Any]:
    """A figure with plain axes, and its axes."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "voile", "svg.fonttype": "path", "font.size": 9})
    drawn = Figure(figsize=(width, height), layout="constrained")
    axes = drawn.subplots(1, columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return drawn, axes if columns > 1 else axes[0]


def saved(drawn: Any, name: str) -> Path:
    """Write one picture, without a date, so that equal runs give equal files."""
    path = ASSETS / f"{name}.svg"
    drawn.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    return path


def lipschitz() -> Path:
    """Two rows of a channel on a logarithmic scale: never further apart than ε times distance."""
    import voile

    corners = np.arange(0, 6.01, 0.25)[:, None]
    line = voile.Space(corners, metric=voile.metrics.euclidean(unit="km"))
    channel = voile.mechanisms.tight_constraints(line, epsilon=1.5, granularity="one place")
    logs = np.log(channel.probabilities())
    first, second = 8, 12
    drawn, (left, right) = figure(2, width=8.2)
    for row, colour in ((first, BLUE), (second, RED)):
        where = f"a person at {corners[row, 0]:g} km"
        left.step(corners[:, 0], np.exp(logs[row]), where="mid", color=colour, label=where)
    left.set(xlabel="reported place (km)", ylabel="probability")
    left.legend(frameon=False)
    gap = 1.5 * abs(corners[first, 0] - corners[second, 0])
    right.axhspan(-gap, gap, color=GREEN, alpha=0.12)
    right.plot(corners[:, 0], logs[first] - logs[second], "o-", ms=3, color=INK)
    right.annotate("±ε·d, what is promised", (0.1, gap), xytext=(0, 4), color=GREEN,
                   textcoords="offset points")  # fmt: skip
    right.set(xlabel="reported place (km)", ylabel="log-odds that a report tells", ylim=(-2.2, 2.2))
    return saved(drawn, "lipschitz")


def rounded_tables() -> Path:
    """What rounding a table of probabilities does to its epsilon; integers keep it."""
    import voile

    places = np.linspace(0, 12, 49)[:, None]
    line = voile.Space(places, metric=voile.metrics.euclidean(unit="km"))
    channel = voile.mechanisms.exponential(line, epsilon=2.0)
    exact = channel.probabilities()
    digits = np.arange(3, 15)
    worst = []
    for count in digits:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.round(exact, count))
            gaps = np.abs(logs[:, None] - logs[None]).max(axis=2)
        gaps = np.where(np.isnan(gaps), np.inf, gaps)
        apart = line.distances() + np.eye(len(places))
        worst.append(float((gaps / apart)[~np.eye(len(places), dtype=bool)].max()))
    drawn, axis = figure()
    finite = np.isfinite(worst)
    top = 1.25 * max(np.array(worst)[finite].max(), 2.0)
    axis.plot(digits[finite], np.array(worst)[finite], "o-", color=RED, label="rounded table")
    axis.plot(digits[~finite], np.full((~finite).sum(), top), "^", color=RED, clip_on=False,
              label="infinite: a zero beside a non-zero")  # fmt: skip
    certified = channel.certificate().epsilon
    axis.axhline(certified, color=GREEN, label=f"integer weights: {certified:.4f}")
    axis.axhline(2.0, color=INK, ls=":", label="claimed")
    axis.set(xlabel="decimal digits of the table", ylabel="tight ε per km", ylim=(0, top))
    axis.legend(frameon=False, loc="lower right")
    return saved(drawn, "rounded-tables")


def whole_map() -> Path:
    """Log-probabilities along a line through the city, and their slopes."""
    design = _design()
    low, high = design.box
    xs = np.linspace(low[0], high[0], 401)
    line = np.column_stack([xs, np.full(len(xs), -2.0)])
    logs = np.log(design.mechanism.probabilities(line))
    chosen = np.unique(logs[::66].argmax(axis=1))[:5]
    drawn, (left, right) = figure(2, width=8.2)
    for output, colour in zip(chosen, (BLUE, RED, GREEN, INK, GREY), strict=False):
        left.plot(xs, logs[:, output], color=colour)
        slope = np.gradient(logs[:, output], xs)
        right.plot(xs, slope, color=colour, lw=1)
    left.set(xlabel="km east", ylabel="ln p of five outputs")
    epsilon = design.guarantee.epsilon
    for sign in (-1, 1):
        right.axhline(sign * epsilon, color=INK, ls=":")
    right.set(xlabel="km east", ylabel="slope per km (dotted: ±ε)", ylim=(-1, 1))
    return saved(drawn, "whole-map")


def blur() -> Path:
    """Where a person may be reported, over the streets of the made-up city."""
    design = _design()
    place = design.projection.to_km(np.array([45.0]), np.array([5.0]))
    law = design.mechanism.probabilities(place)[0]
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    drawn, axis = figure(width=6.4, height=4.9)
    ends = design.places[design.streets].round(2)
    broken = np.concatenate([ends, np.full((len(ends), 1, 2), np.nan)], axis=1).reshape(-1, 2)
    axis.plot(broken[:, 0], broken[:, 1], color="#cfd2d6", lw=0.5, zorder=1)
    shown = law > 1e-3
    axis.scatter(*outputs[shown].T, s=1500 * law[shown], color=BLUE, alpha=0.75, zorder=2, lw=0)
    axis.plot(*place[0], "P", ms=11, color=RED, mec="white", zorder=3)
    axis.set(aspect="equal", xlabel="km east", ylabel="km north")
    return saved(drawn, "blur")


def words() -> Path:
    """What an epsilon does to words: the share kept, and what the best attacker names."""
    from voile.leakage.words import best_guess, kept_share
    from voile.mechanisms import word_truncated_exponential
    from voile.mechanisms._neighbours import neighbours_of
    from voile.text import glove

    vocabulary = glove(top=10_000)
    near = neighbours_of(vocabulary.embedding)
    frequencies = vocabulary.frequencies()
    epsilons = np.arange(1.0, 8.1, 0.5)
    kept, named, before = [], [], 0.0
    for epsilon in epsilons:
        law = word_truncated_exponential(vocabulary.embedding, epsilon=epsilon, neighbours=near)
        kept.append(kept_share(law, frequencies))
        success, before = best_guess(law, frequencies, candidates=1000)
        named.append(success)
    drawn, axis = figure()
    axis.plot(epsilons, kept, "o-", ms=3, color=BLUE, label="words released as they were")
    axis.plot(epsilons, named, "s-", ms=3, color=RED, label="named by the best attacker")
    axis.axhline(before, color=INK, ls=":", label="named without a release")
    axis.set(xlabel="ε for one word (TEM, 10,000 words of GloVe)", ylabel="share of words")
    axis.legend(frameon=False)
    return saved(drawn, "words")


def labels() -> Path:
    """Expected and unexpected leakage of the made-up clinic's label."""
    import tempfile

    import voile
    from voile.labels.sample_clinic import write_clinic

    with tempfile.TemporaryDirectory() as folder:
        table = write_clinic(Path(folder) / "clinic.csv", count=2000)
        epsilons = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
        at = voile.labels.audit(table, label="diabetic", epsilon=epsilons).epsilons
    where = [point.epsilon for point in at]
    drawn, axis = figure()
    expected, total = [p.expected for p in at], [p.total.value for p in at]
    axis.fill_between(where, expected, total, color=RED, alpha=0.15, label="unexpected")
    axis.plot(where, total, "o-", ms=3, color=RED, label="guessed, seeing the features")
    axis.plot(where, expected, "s-", ms=3, color=INK, label="announced by ε")
    axis.axhline(at[0].features_alone, color=BLUE, ls="--", lw=1, label="features alone")
    axis.set(xscale="log", xlabel="ε of the label", ylabel="labels guessed right")
    axis.set_xticks(where, [f"{e:g}" for e in where])
    axis.minorticks_off()
    axis.legend(frameon=False)
    return saved(drawn, "labels")


def ceilings() -> Path:
    """What a share of right guesses shows, and the most that so many trials can show."""
    from voile.audit.empirical import ceiling, from_successes

    drawn, axis = figure()
    for trials, colour in ((100, GREY), (1000, BLUE), (10_000, RED)):
        shares = np.linspace(0.5, 1.0, 101)
        lower = [
            from_successes(round(share * trials), trials, candidates=2).lower for share in shares
        ]
        axis.plot(shares, lower, color=colour, label=f"{trials:,} trials")
        axis.axhline(ceiling(trials, candidates=2), color=colour, ls=":", lw=1)
    axis.set(xlabel="right guesses out of two texts", ylabel="ε of one text, at least")
    axis.legend(frameon=False, title="dotted: the ceiling", loc=(0.05, 0.4))
    return saved(drawn, "ceilings")


def _design() -> Any:
    """The mechanism of the tutorial: the made-up city at ε = 0.8 per km."""
    import tempfile

    import voile
    from voile.places.sample_trips import write_city, write_crowd

    with tempfile.TemporaryDirectory() as folder:
        roads, crowd = write_city(Path(folder) / "city"), write_crowd(Path(folder) / "crowd.csv")
        return voile.places.design(
            roads=roads, prior=crowd, cells="6x8", task_count=20, epsilon=0.8, bound=False
        )  # fmt: skip


if __name__ == "__main__":
    ASSETS.mkdir(exist_ok=True)
    for draw in (lipschitz, rounded_tables, whole_map, blur, words, labels, ceilings):
        print(draw())
