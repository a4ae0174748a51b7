"""The demo's text room: release messages, see what they are good for, read them, adapt."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from voile.adapt.levels import Levels, Round, adapt, frontier, meets
from voile.core.arrays import Indices
from voile.demo.readers import Knowledge, Reading, names_evaluator, read_release
from voile.demo.steps import Event, Found, Plan, seeded
from voile.mechanisms import word_truncated_exponential
from voile.mechanisms._neighbours import cache_folder, neighbours_of
from voile.mechanisms._word_law import WordLaw
from voile.text._calibrate import calibrate
from voile.text._protect import protect
from voile.text._utility import utility
from voile.text.reading import texts_of
from voile.text.sample_messages import messages, names_and_places, write_messages
from voile.text.sentences import odds_sentences
from voile.text.sequences import corpus, read_words
from voile.text.settings import TextSettings, load_vocabulary
from voile.text.tiers import tiers
from voile.text.vocabularies import Vocabulary

EPSILON = 3.5
MESSAGES = 400
TARGET = 0.1
"""Names that a reader of whole messages may get: one in ten."""
LONGEST = 80
ROUNDS = 5
PASSED, DROPPED = ("topic", "tone", "region"), ("id", "customer")
"""Columns of the messages that are released in clear, and those that are left out."""


def text_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Protect, measure, audit twice, adapt on public text, protect again."""
    original, released = folder / "messages.csv", folder / "messages.protected.csv"
    write_messages(original, count=MESSAGES)
    write_messages(folder / "public.csv", count=MESSAGES, seed=1)
    listed = folder / "names.txt"
    listed.write_text("\n".join(sorted(names_and_places())) + "\n", encoding="utf-8")
    yield from _protected(original, released, seed)
    yield from _useful(original, released)
    known = _Known(load_vocabulary(TextSettings("text", EPSILON)), listed)
    yield from _read(known, original, released)
    yield from _told_apart(folder, original, released, seed)
    yield from _adapted(known, original, folder / "messages.tuned.csv", seed)


def _protected(original: Path, released: Path, seed: int | None) -> Iterator[Event]:
    command = (
        f"voile text protect messages.csv --column text --epsilon {EPSILON:g} "
        f"--pass {','.join(PASSED)} --drop {','.join(DROPPED)}{seeded(seed)} --overwrite"
    )
    plan = Plan("text", f"Protect {MESSAGES} made-up support messages, word by word", command)
    yield plan
    done = protect(
        str(original), column="text", epsilon=EPSILON, pass_=PASSED, drop=DROPPED, seed=seed,
        overwrite=True,
    )  # fmt: skip
    assert done.counts is not None  # it was no dry run
    words, changed = done.counts.words, done.counts.changed / done.counts.words
    guarantee = done.guarantee
    yield Found(
        plan,
        (
            f"{words:,} words drawn anew from {done.vocabulary.words:,}, "
            f"{100 * changed:.0f} % of them changed; e-mails, phones, cards became placeholders.",
            *odds_sentences(done),
        ),
        {"words": words, "changed": changed, "epsilon": EPSILON, "basis": str(guarantee.basis),
         "metric": guarantee.metric.name, "outside": list(guarantee.outside)},
    )  # fmt: skip


def _useful(original: Path, released: Path) -> Iterator[Event]:
    asked = {
        "topic": "What is it still good for? Sort messages by topic, trained on it",
        "region": "And what not? Tell where a writer lives, trained on it",
    }
    told = {"topic": "Topic", "region": "Home"}
    for label, title in asked.items():
        command = (
            f"voile text utility messages.csv messages.protected.csv --label {label} --no-encoder"
        )
        plan = Plan("text", title, command)
        yield plan
        found = utility(original, released, label=label, encoder=False)
        kept, before = (
            value.value if value is not None else float("nan")
            for value in (found.accuracy, found.baseline)
        )
        yield Found(
            plan,
            (
                f"{told[label]} of {found.test_rows} other messages: {100 * kept:.0f} % right "
                f"after training on the release, {100 * before:.0f} % on the originals, 25 % by "
                "guessing.",
            ),
            {label: kept, f"{label}_original": before, "test_rows": found.test_rows},
        )


class _Known:
    """The vocabulary, its tiers by the list of names, and public messages to learn from."""

    def __init__(self, words: Vocabulary, listed: Path) -> None:
        self.words = words
        close = tiers(words, pipeline=str(listed)).close
        self.levels: Indices = np.where(close, 1, 2).astype(np.intp)
        self.levels[[words.positions[name] for name in sorted(names_and_places())]] = 0
        near = neighbours_of(words.embedding, cache=cache_folder())
        self.neighbours = near
        texts = [message.text for message in messages(MESSAGES, seed=1)]
        self.public = [sequence.words[:LONGEST] for sequence in read_words(texts, words)]

    def build(self, epsilon: float) -> WordLaw:
        return word_truncated_exponential(
            self.words.embedding, epsilon=epsilon, neighbours=self.neighbours
        )

    def knowledge(self, count: int | None = None) -> Knowledge:
        return Knowledge.of(self.public[:count], vocabulary=len(self.levels))

    def reading(self, original: Path, released: Path, laws: tuple[WordLaw, ...]) -> Reading:
        before, after = (texts_of(path, "text") for path in (original, released))
        texts = corpus(
            read_words(before, self.words),
            read_words(after, self.words),
            self.words,
            longest=LONGEST,
            most_candidates=len(self.levels),
        )
        return read_release(texts, laws, self.knowledge(), levels=self.levels)


def _read(known: _Known, original: Path, released: Path) -> Iterator[Event]:
    plan = Plan(
        "text",
        "Audit: how much does a reader of whole messages get back?",
        None,
        "A reader of the demo's own, exact: it knows the mechanism and has read other messages. "
        "`voile text audit` trains one for a release by any tool; it needs voile[neural].",
    )
    yield plan
    found = known.reading(original, released, (known.build(EPSILON),))
    yield Found(
        plan,
        (
            f"Of {found.words:,} words: {100 * found.blind:.0f} % named blindly, "
            f"{100 * found.alone:.0f} % from each word's own release, {100 * found.whole:.0f} % by "
            "reading whole messages.",
            f"Of {found.names:,} names and places: {100 * found.names_read:.0f} %. The bound for "
            "one word holds; context adds what it does not count.",
        ),
        {"reading": asdict(found)},
    )


def _told_apart(folder: Path, original: Path, released: Path, seed: int | None) -> Iterator[Event]:
    pairs = folder / "pairs.csv"
    command = (
        "voile text calibrate pairs.csv --released released --attacks tf-idf,overlap "
        f"--temperature 0{seeded(seed)}"
    )
    plan = Plan("text", "Audit: which of two messages does a release come from?", command)
    yield plan
    before, after = (texts_of(path, "text") for path in (original, released))
    with pairs.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([("text", "released"), *zip(before, after, strict=True)])
    best = calibrate(
        pairs, released="released", attacks=("tf-idf", "overlap"), temperature=0.0, seed=seed or 0
    ).strongest
    longest = float(np.median([len(message.text.split()) for message in messages(MESSAGES)]))
    yield Found(
        plan,
        (
            f"{100 * best.successes / best.trials:.0f} % of {best.trials} right by {best.attack}: "
            f"an empirical ε of at least {best.lower:.2f} for one text (ceiling {best.ceiling:.2f} "
            f"with so few). The nominal one, word by word, is about {EPSILON * longest:.0f}.",
        ),
        {
            "attack": best.attack,
            "lower": best.lower,
            "middle": best.middle,
            "upper": best.upper,
            "ceiling": best.ceiling,
            "trials": best.trials,
        },
    )


def _adapted(known: _Known, original: Path, out: Path, seed: int | None) -> Iterator[Event]:
    plan = Plan(
        "text",
        "Adapt: turn names down until a reader gets one in ten at most",
        None,
        "Against the same reader of the demo's own. `voile text tune` adapts against another "
        "attacker and another count; with a network it needs voile[neural].",
    )
    yield plan
    half = len(known.public) * 3 // 4
    evaluate = names_evaluator(
        known.public[half:],
        known.knowledge(half),
        known.build,
        epsilon=EPSILON,
        levels=known.levels,
        vectors=known.words.embedding.points,
    )
    levels = Levels(start=(1.0, 1.0), free=(True, True), last_step=0.1)
    state = adapt(levels, evaluate, most_rounds=ROUNDS)
    good = meets(state, delta=TARGET)
    chosen = good or state.best
    facts = {
        "rounds": [asdict(r) for r in state.rounds],
        "chosen": asdict(chosen),
        "frontier": [asdict(r) for r in frontier(state.rounds)],
        "target": TARGET,
    }
    yield Found(plan, _tuned_lines(state.rounds, chosen, good is not None), facts)
    pii, poii = chosen.strengths
    command = (
        f"voile text protect messages.csv --epsilon {EPSILON:g} --tiers pii,poii "
        f"--alpha {pii!r},{poii!r},1 --pipeline names.txt --out messages.tuned.csv "
        f"--pass {','.join(PASSED)} --drop {','.join(DROPPED)}{seeded(seed)} --overwrite"
    )
    plan = Plan(
        "text",
        "Protect again with these strengths",
        command,
        "Then the same reader reads it again, and messages are sorted by topic as above.",
    )
    yield plan
    protect(
        str(original), epsilon=EPSILON, tiers="pii,poii", alpha=(repr(pii), repr(poii), "1"),
        pipeline=str(out.with_name("names.txt")), out=str(out), pass_=PASSED, drop=DROPPED,
        seed=seed, overwrite=True,
    )  # fmt: skip
    laws = tuple(known.build(alpha * EPSILON) for alpha in (pii, poii, 1.0))
    found = known.reading(original, out, laws)
    useful = utility(original, out, label="topic", encoder=False)
    accuracy = useful.accuracy.value if useful.accuracy is not None else float("nan")
    yield Found(
        plan,
        (
            f"Names and places read: {100 * found.names_read:.0f} %. Topic still right: "
            f"{100 * accuracy:.0f} %.",
        ),
        {"reading": asdict(found), "topic": accuracy},
    )


def _tuned_lines(rounds: tuple[Round, ...], chosen: Round, met: bool) -> tuple[str, ...]:
    first = rounds[0]
    pii, poii = chosen.strengths
    lines = (
        f"{len(rounds)} rounds on public messages, so nothing private is spent: strengths {pii:g} "
        f"for names and {poii:g} for words close to names.",
        f"Names read: {100 * first.violation:.0f} % → {100 * chosen.violation:.0f} %; "
        f"meaning lost: {first.utility_loss:.3f} → {chosen.utility_loss:.3f}.",
    )
    return lines if met else (*lines, f"No round came below {100 * TARGET:.0f} %.")
