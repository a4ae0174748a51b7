"""Choosing the strengths of tiers against an attacker, learned or exact (AmPL)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from voile.adapt.ampl import evaluator
from voile.adapt.levels import Levels, adapt, meets
from voile.attackers.corpus import Corpus
from voile.errors import InvalidInput, require, require_epsilon
from voile.options import Data, Option, Options, use_case
from voile.progress import tell
from voile.text.pairs import Reading
from voile.text.reading import texts_of
from voile.text.sequences import corpus, read_words
from voile.text.tiers import sensitive_tiers
from voile.text.tune_result import TextTuning
from voile.text.vocabulary_files import glove
from voile.values import one_of

CAVEATS = {
    "public": "",
    "held-out": "",
    "private": (
        "The strengths were chosen on the private text itself: the choice leaks something about "
        "it that no epsilon here accounts for. Adapt on public or held-out text if you can."
    ),
}


@dataclass(frozen=True)
class Search(Options):
    """What may move, what it is worth, and how long it is tried."""

    levels: Annotated[
        Literal["pii,poii", "pii"], Option("What may move: pii,poii or pii (names alone).", "Names")
    ] = "pii,poii"
    privacy_weight: Annotated[float, Option("Weight of the violations.", "How strong")] = 1.0
    utility_weight: Annotated[float, Option("Weight of the utility loss.", "How strong")] = 1.0
    rounds: Annotated[int, Option("Most trials.", "Running")] = 12
    trace: Annotated[
        Path | None,
        Option("Keep every round here; an old one is continued.", "Output", writes=True),
    ] = None

    def space(self) -> Levels:
        """The strengths that are searched; they start as the plain exponential mechanism."""
        one_of(self.levels, ("pii,poii", "pii"), "levels")
        return Levels(
            start=(1.0, 1.0),
            free=(True, self.levels == "pii,poii"),
            privacy_weight=self.privacy_weight,
            utility_weight=self.utility_weight,
        )


SOME, BOTH = Reading(documents=2000, candidates=1000), Search()


@use_case("text tune")
def tune(
    texts: Annotated[Data, Option("Text like the one to be protected.", reads="private")],
    *,
    epsilon: Annotated[float, Option("Privacy parameter, and the leakage allowed.", "How strong")],
    data: Annotated[
        Literal["public", "held-out", "private"] | None,
        Option("What this text is; must be said, since choosing on private text leaks."),
    ] = None,
    target_delta: Annotated[float, Option("How often it may be exceeded.", "How strong")] = 0.05,
    column: Annotated[str, Option("The column that holds the text.", shown=True)] = "text",
    attacker: Annotated[
        Literal["rnn", "lstm", "transformer", "markov"],
        Option("A network, or markov: exact, nothing is trained."),
    ] = "lstm",
    count: Annotated[
        Literal["triples", "documents"],
        Option("Violations over triples, or over documents that hold any."),
    ] = "triples",
    pipeline: Annotated[str | None, Option("A spaCy pipeline for names.", "Names")] = None,
    reading: Reading = SOME,
    search: Search = BOTH,
    epochs: Annotated[int, Option("Most rounds of training for each trial.", "Running")] = 12,
    seed: Annotated[int, Option("Repeats draws, splits and training.", "Running")] = 0,
) -> TextTuning:
    """Choose strengths for names and for words close to names: perturb, attack, adapt.

    Example: `voile text tune public.csv --data public --epsilon 0.5 --target-delta 0.05`

    Each round redraws all sensitive words at the strengths it tries, attacks the result, and
    counts violations and the loss of use. `data` says what the text is: adapting on private text
    spends privacy, and the answer says so. `levels` "pii" lets the strength of names alone move
    (the paper's AmPL-I); a privacy weight of 0 is its AmPL-U.
    """
    if data is None:
        raise InvalidInput(
            "say what this text is with --data public, held-out or private: strengths chosen on "
            "private text leak something about it"
        )
    require(data in CAVEATS, "data", "public, held-out or private", data,
            "adapting on private text itself spends privacy")  # fmt: skip
    epsilon = require_epsilon(epsilon)
    require(0 < target_delta < 1, "target-delta", "in (0, 1)", target_delta)
    levels = search.space()
    documents = texts_of(texts, column)[: reading.documents]
    tell("reading words and finding names")
    own = _own_corpus(documents, reading, pipeline)
    state = adapt(
        levels,
        evaluator(own, epsilon=epsilon, attacker=attacker, counted=count, epochs=epochs, seed=seed),
        most_rounds=search.rounds,
        trace=search.trace,
        about={
            "texts": hashlib.sha256("\0".join(documents).encode()).hexdigest(),
            "epsilon": epsilon,
            "attacker": attacker,
            "counted": count,
            "pipeline": pipeline,
            "sizes": [reading.top, reading.words, reading.candidates, epochs],
            "seed": seed,
        },
    )
    good = meets(state, delta=target_delta)
    chosen = good or state.best
    return TextTuning(
        epsilon=epsilon,
        target_delta=target_delta,
        attacker=attacker,
        counted=count,
        chosen=chosen,
        meets_target=good is not None,
        protect_options=protect_options(epsilon, chosen.strengths),
        caveat=caveat(data, chosen.strengths, candidates=len(own.candidates)),
        rounds=state.rounds,
    )


def protect_options(epsilon: float, strengths: Sequence[float]) -> str:
    """The options that make `voile text protect` use these strengths."""
    pii, poii = strengths
    return (
        f"--mechanism word-exponential --epsilon {epsilon:g} "
        f"--tiers pii,poii --alpha {pii:g},{poii:g},keep"
    )


def caveat(data: str, strengths: Sequence[float], *, candidates: int) -> str:
    """What the user should know before using these strengths."""
    another = (
        f"Violations and loss are those of a law over the {candidates:,} sensitive words of this "
        "text, the loss after a remap, measured on the documents that strengths were chosen on, "
        "without an interval. The command draws over the whole vocabulary and does not remap: "
        "its figures are others, usually with far fewer violations and more loss. Measure its "
        "release with voile text audit and utility."
    )
    uneven = (
        "The strengths differ, so a single release may tell a name from a word close to names "
        "more than ε allows within either; which of the two a word is, is not protected."
    )
    said = [CAVEATS[data], another, uneven if len(set(strengths)) > 1 else ""]
    return " ".join(text for text in said if text)


def _own_corpus(texts: Sequence[str], reading: Reading, pipeline: str | None) -> Corpus:
    """A corpus whose releases are its own words, to be perturbed; all candidates can be seen."""
    words = glove(top=reading.top)
    chosen = sensitive_tiers(words, sensitive="pii,poii", pipeline=pipeline)
    sequences = read_words(texts, words, tiers=chosen)
    return corpus(
        sequences, sequences, words, longest=reading.words, most_candidates=reading.candidates
    )
