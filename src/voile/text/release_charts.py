"""Charts of a release of text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voile.core.rounding import at_most
from voile.jobs.release import Spending
from voile.report.charts_common import bar_chart, guarantee_chart
from voile.report.drawing import percent
from voile.report.model import Chart
from voile.text.promise import Level

if TYPE_CHECKING:
    from voile.text.release import TextRelease


def release_charts(release: TextRelease) -> list[Chart]:
    """What the weakest law does to words, and what documents spent."""
    weakest = release.weakest
    found: list[Chart] = []
    if weakest is not None and weakest.epsilon is not None:
        found += _kept_charts(weakest)
        if release.nearest.median:  # as far as the nearest word typically is, and no further
            weak = replace(release.guarantee, epsilon=weakest.epsilon)
            found.append(guarantee_chart(weak, farthest=release.nearest.median))
    return found + ([_document_chart(release.spent[0])] if release.counts is not None else [])


def _kept_charts(weakest: Level) -> list[Chart]:
    seen = weakest.expected
    if seen is None or seen.attacker is None or seen.attacker_without is None:
        return []
    rows = [("a word is kept", seen.kept)]
    rows += [
        (f"{group.most[0][0]} ({group.kind}) is kept", group.most[0][1])
        for group in weakest.watched
        if group.most
    ]
    rows += [
        ("best attacker names it", seen.attacker),
        ("… without the release", seen.attacker_without),
    ]
    return [
        bar_chart(
            rows,
            name="kept",
            title=f"What ε = {at_most(weakest.epsilon or 0.0, digits=4)} does to {weakest.title}",
            alt=(
                f"By public word frequencies, a word is kept {percent(seen.kept)} of the time. The "
                f"best attacker among the {seen.candidates:,} most frequent words names the right "
                f"one {percent(seen.attacker)} of the time, and {percent(seen.attacker_without)} "
                "without any release. Between them, the watched word of each class that is kept "
                "most."
            ),
            axis="share of words",
            columns=("what", "share"),
            shares=True,
        )
    ]


def _document_chart(spent: Spending) -> Chart:
    half, most, largest = (
        float(at_most(value, digits=4))
        for value in (spent.median, spent.nine_in_ten, spent.largest)
    )
    return bar_chart(
        [
            ("half of them, at most", half),
            ("nine in ten, at most", most),
            ("all, at most", largest),
        ],
        name="documents",
        title="What a whole document spends",
        alt=(
            f"The epsilons of a document's draws together: at most {half:.4g} for half of the "
            f"documents, {most:.4g} for nine in ten, {largest:.4g} for all."
        ),
        axis="ε of one document",
        columns=("documents", "ε"),
    )
