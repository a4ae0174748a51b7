"""The demo's text room: release messages, see what they are good for, read them, adapt."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from voile.demo.known import Known
from voile.demo.reader_results import Adapted, Read
from voile.demo.steps import Event, Plan, step
from voile.text._calibrate import calibrate
from voile.text._protect import protect
from voile.text._utility import TextUtility, utility
from voile.text.calibration import Calibration
from voile.text.reading import texts_of
from voile.text.release import TextRelease
from voile.text.sample_messages import messages, names_and_places, write_messages
from voile.text.sentences import odds_sentences

EPSILON = 3.5
MESSAGES = 400
TARGET = 0.1
"""Names that a reader of whole messages may get: one in ten."""
PASSED, DROPPED = ("topic", "tone", "region"), ("id", "customer")
"""Columns of the messages that are released in clear, and those that are left out."""


def text_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Protect, measure, audit twice, adapt on public text, protect again."""
    original, released = folder / "messages.csv", folder / "messages.protected.csv"
    write_messages(original, count=MESSAGES)
    write_messages(folder / "public.csv", count=MESSAGES, seed=1)
    listed = folder / "names.txt"
    listed.write_text("\n".join(sorted(names_and_places())) + "\n", encoding="utf-8")
    yield from _first_release(original, released, seed)
    known = Known(listed, epsilon=EPSILON, count=MESSAGES)
    first = yield from step(
        Plan(
            "text",
            "Audit: how much does a reader of whole messages get back?",
            lambda: Read(known.read(original, released)),
            "A reader of the demo's own, exact: it knows the mechanism and has read other "
            "messages. `voile text audit` trains one for a release by any tool; it needs "
            "voile[neural].",
        ),
        Read.sentences,
    )
    yield from _told_apart(folder / "pairs.csv", original, released, seed)
    adapted = yield from step(
        Plan(
            "text",
            "Adapt: turn names down until a reader gets one in ten at most",
            partial(known.adapt, target=TARGET),
            "Against the same reader of the demo's own. `voile text tune` adapts against another "
            "attacker and another count; with a network it needs voile[neural].",
        ),
        Adapted.sentences,
    )
    strengths = (*adapted.chosen.strengths, 1.0)
    tuned = folder / "messages.tuned.csv"
    yield from _second_release(original, tuned, listed, strengths, seed)
    yield from step(
        Plan(
            "text",
            "Audit again: what does the same reader get of it?",
            lambda: Read(known.read(original, tuned, strengths=strengths), first.reading),
            "The reader of the demo's own, as above.",
        ),
        Read.sentences,
    )
    yield from step(
        Plan(
            "text",
            "And is it still good for topics?",
            partial(utility, original, tuned, label="topic", encoder=False),
        ),
        partial(_utility_sentences, "Topic"),
    )


def _first_release(original: Path, released: Path, seed: int | None) -> Iterator[Event]:
    """All words at the same ε, and what a model still learns from them."""
    yield from step(
        Plan(
            "text",
            f"Protect {MESSAGES} made-up support messages, word by word",
            partial(
                protect,
                str(original),
                column="text",
                epsilon=EPSILON,
                pass_=PASSED,
                drop=DROPPED,
                seed=seed,
                overwrite=True,
            ),
        ),
        _release_sentences,
    )
    for label, told, title in (
        ("topic", "Topic", "What is it still good for? Sort messages by topic, trained on it"),
        ("region", "Home", "And what not? Tell where a writer lives, trained on it"),
    ):
        work = partial(utility, original, released, label=label, encoder=False)
        yield from step(Plan("text", title, work), partial(_utility_sentences, told))


def _second_release(
    original: Path, tuned: Path, listed: Path, strengths: tuple[float, ...], seed: int | None
) -> Iterator[Event]:
    """Names, words close to names and the rest, each at its own strength."""
    yield from step(
        Plan(
            "text",
            "Protect again with these strengths",
            partial(
                protect,
                str(original),
                epsilon=EPSILON,
                tiers="pii,poii",
                alpha=tuple(f"{strength!r}" for strength in strengths),
                pipeline=str(listed),
                out=str(tuned),
                pass_=PASSED,
                drop=DROPPED,
                seed=seed,
                overwrite=True,
            ),
        ),
        lambda done: _release_sentences(done)[:1],
    )


def _told_apart(pairs: Path, original: Path, released: Path, seed: int | None) -> Iterator[Event]:
    """Originals and releases in one file, as for a tool that is known by its output alone."""
    before, after = (texts_of(path, "text") for path in (original, released))
    with pairs.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([("text", "released"), *zip(before, after, strict=True)])
    yield from step(
        Plan(
            "text",
            "Audit: which of two messages does a release come from?",
            partial(
                calibrate,
                pairs,
                released="released",
                attacks=("tf-idf", "overlap"),
                temperature=0.0,
                seed=seed or 0,
            ),
        ),
        _told_apart_sentences,
    )


def _release_sentences(done: TextRelease) -> list[str]:
    assert done.counts is not None  # it was no dry run
    words, changed = done.counts.words, done.counts.changed / done.counts.words
    return [
        f"{words:,} words drawn anew from {done.vocabulary.words:,}, {100 * changed:.0f} % of them "
        "changed; e-mails, phones, cards became placeholders.",
        *odds_sentences(done),
    ]


def _utility_sentences(told: str, found: TextUtility) -> Iterator[str]:
    assert found.accuracy is not None  # a label was given
    assert found.baseline is not None
    yield (
        f"{told} of {found.test_rows} other messages: {100 * found.accuracy.value:.0f} % right "
        f"after training on the release, {100 * found.baseline.value:.0f} % on the originals, "
        "25 % by guessing."
    )


def _told_apart_sentences(found: Calibration) -> Iterator[str]:
    best = found.strongest
    words = float(np.median([len(message.text.split()) for message in messages(MESSAGES)]))
    yield (
        f"{100 * best.successes / best.trials:.0f} % of {best.trials} right by {best.attack}: an "
        f"empirical ε of at least {best.at_least:.2f} for one text (ceiling {best.ceiling:.2f} "
        f"with so few). The nominal one, word by word, is about {EPSILON * words:.0f}."
    )
