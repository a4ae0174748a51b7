"""Choosing the strengths of tiers against an attacker, learned or exact (AmPL)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from voile.adapt.ampl import Trial
from voile.adapt.joint import capped
from voile.adapt.levels import Levels, Round, adapt, meets, together
from voile.adapt.secrets import Document, Secrets
from voile.audit.documents import parted
from voile.errors import InvalidInput, require, require_epsilon
from voile.leakage.joint import MOST_SECRETS, JointBound
from voile.options import Data, Option, Options, use_case
from voile.progress import about, tell
from voile.recipe import check_place
from voile.text.building import build_protector, load_vocabulary
from voile.text.given import NamePipeline, TextColumn
from voile.text.options import Words
from voile.text.pairs import Sizes
from voile.text.reading import texts_of
from voile.text.tune_result import LevelLaw, TextTuning
from voile.text.tuned_release import (
    documents_of,
    laws_at,
    protect_command,
    protect_options,
    tuned_settings,
    write_tuned_recipe,
)

CAVEATS = {
    "public": "",
    "held-out": "",
    "private": (
        "The strengths were chosen on the private text itself: the choice leaks something about "
        "it that no epsilon here accounts for. Adapt on public or held-out text if you can."
    ),
}
FAILURE_PROBABILITY = 0.05
"""That some interval of the check on fresh documents is wrong."""
FRESH = 0.4
"""The share of the documents that no strength is chosen on."""
TIERS = 2
"""Names, and words close to names: what is secret."""


@dataclass(frozen=True)
class Search(Options):
    """What may move, what it is worth, and how long it is tried."""

    levels: Annotated[
        Literal["pii,poii", "pii"], Option("What may move: pii,poii or pii (names alone).", "Names")
    ] = "pii,poii"
    privacy_weight: Annotated[float, Option("Weight of the violations.", "How strong")] = 1.0
    utility_weight: Annotated[float, Option("Weight of the utility loss.", "How strong")] = 1.0
    rounds: Annotated[
        int, Option("Most trials after the first, which is of the plain strengths.", "Running")
    ] = 12
    cap: Annotated[
        float | None,
        Option(
            "Instead of a search: equal strengths whose worst joint leakage is proved to be at "
            "most this, for a chain of words.",
            "How strong",
        ),
    ] = None
    trace: Annotated[
        Path | None,
        Option("Keep every round here; an old one is continued.", "Output", writes=True),
    ] = None
    recipe: Annotated[
        Path | None,
        Option("Write the release of the choice here, for `voile run`.", "Output", writes=True),
    ] = None
    release: Annotated[
        Path | None,
        Option("The file that the recipe releases, if it is not the one tuned on.", "Output"),
    ] = None

    def released(self, texts: Data) -> str:
        """The file that a recipe is for; told before anything is searched."""
        assert self.recipe is not None
        named = (texts, self.release, self.trace)
        others = [Path(path) for path in named if isinstance(path, str | Path)]
        check_place(Path(self.recipe), "--recipe", others)
        if self.release is None and not isinstance(texts, str | Path):
            raise InvalidInput(
                "a recipe must name the file it releases; give --release FILE beside --recipe"
            )
        return str(texts if self.release is None else self.release)

    def space(self) -> Levels:
        """The strengths that are searched; they start as the plain exponential mechanism."""
        return Levels(
            start=(1.0, 1.0),
            free=(True, self.levels == "pii,poii"),
            privacy_weight=self.privacy_weight,
            utility_weight=self.utility_weight,
        )


SOME, BOTH, PLAIN = Sizes(documents=2000, candidates=1000), Search(), Words()


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
    column: TextColumn = "text",
    attacker: Annotated[
        Literal["markov", "rnn", "lstm", "transformer", "minilm"],
        Option("markov: a chain of words, nothing is trained; or a network."),
    ] = "markov",
    count: Annotated[
        Literal["triples", "documents"],
        Option("Violations over triples, or over documents that hold any."),
    ] = "triples",
    mechanism: Annotated[
        Literal["word-exponential", "santext", "tem"],
        Option("The law of the release that is to be made."),
    ] = "word-exponential",
    drawing: Words = PLAIN,
    pipeline: NamePipeline = None,
    sizes: Sizes = SOME,
    search: Search = BOTH,
    epochs: Annotated[int, Option("Most rounds of training for each trial.", "Running")] = 12,
    seed: Annotated[int, Option("Repeats draws, splits and training.", "Running")] = 0,
) -> TextTuning:
    """Choose strengths for names and for words close to names: perturb, attack, adapt.

    Example: `voile text tune public.csv --data public --epsilon 0.5 --target-delta 0.05`

    Each round draws all sensitive words by the very laws of `text protect` at the strengths it
    tries, over the whole vocabulary, attacks the result, and counts violations and the loss of
    use. What is chosen is then measured on documents that no round has seen, beside plain
    strengths, strengths lowered together, and releasing nothing. `data` says what the text is:
    adapting on private text spends privacy, and the answer says so. `levels` "pii" lets the
    strength of names alone move (the paper's AmPL-I); a privacy weight of 0 is its AmPL-U.
    With `cap` nothing is searched: equal strengths are lowered until the worst leakage of any
    release, read as a whole by somebody whose prior is the chain of sensitive words, is proved to
    be at most the cap.
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
    released = None if search.recipe is None else search.released(texts)
    if search.cap is not None:
        require_epsilon(search.cap, "cap")
        sizes = replace(sizes, candidates=min(sizes.candidates, MOST_SECRETS))
    documents = texts_of(texts, column)[: sizes.documents]
    settings = tuned_settings(documents, column, epsilon, mechanism, drawing, pipeline)
    tell("reading words and finding names")
    vocabulary = load_vocabulary(settings)
    protector = build_protector(settings, vocabulary)
    read = documents_of(protector, documents, longest=sizes.words)
    require(len(read) >= 20, "documents", "at least 20 with words", len(read))
    known, copies = parted(read, lambda count: (round((1 - FRESH) * count),), seed=seed)
    fresh = list({document.owner: document for document in copies}.values())
    secrets = Secrets.of(
        known, vocabulary.embedding, drawn=TIERS, most=sizes.candidates, written=vocabulary.written
    )
    laws = laws_at(settings, vocabulary)
    trial = Trial(
        secrets, tuple(known), laws, epsilon,
        attacker=attacker, counted=count, epochs=epochs, seed=seed,
    )  # fmt: skip
    found = _searched(
        levels, trial, search, target_delta, _longest(secrets, read),
        about_it={
            "texts": hashlib.sha256("\0".join(documents).encode()).hexdigest(),
            "settings": {**settings.identity(), "alphas": None},
            "vocabulary": vocabulary.embedding.digest,
            "attacker": attacker,
            "counted": count,
            "sizes": [sizes.words, sizes.candidates, epochs],
            "seed": seed,
        },
    )  # fmt: skip
    best = found.best
    how = protect_options(column, epsilon, best.strengths, mechanism, drawing, pipeline)
    asked = {"choice": best, "plain": found.rounds[0], "lowered together": found.even}
    each = FAILURE_PROBABILITY / (len(asked) + 1)
    with about("fresh documents"):
        checked = tuple(
            trial.check(round_.strengths, fresh, what=what, failure_probability=each)
            for what, round_ in _distinct(asked).items()
        )
        nothing = trial.nothing(fresh, failure_probability=each)
    if search.recipe is not None and released is not None:
        write_tuned_recipe(search.recipe, how, released)
    return TextTuning(
        epsilon=epsilon,
        target_delta=target_delta,
        attacker=attacker,
        counted=count,
        chosen=best,
        checked=(*checked, nothing),
        laws=tuple(
            LevelLaw(name, law.guarantee.epsilon, settings.mechanism.name, len(vocabulary) + 1)
            for name, law in zip(("pii", "poii"), laws(best.strengths), strict=False)
            if law is not None
        ),
        protect_command=protect_command(how),
        recipe=None if search.recipe is None else str(search.recipe),
        caveat=caveat(data, best.strengths),
        search_documents=len(known),
        secrets=len(secrets),
        rounds=found.rounds,
        together=found.together,
        cap=search.cap,
        joint=found.joint,
    )


@dataclass(frozen=True)
class _Found:
    """Where a search ended: its rounds, those with equal strengths, the best of both."""

    best: Round
    even: Round
    rounds: tuple[Round, ...]
    together: tuple[Round, ...]
    joint: JointBound | None = None


def _searched(
    levels: Levels,
    trial: Trial,
    search: Search,
    delta: float,
    length: int,
    *,
    about_it: dict[str, Any],
) -> _Found:
    """Adapted strengths and such as are lowered together; or those that a cap allows."""
    if search.cap is not None:
        strength, joint = capped(trial, cap=search.cap, length=length)
        each = sorted({1.0, strength}, reverse=True)
        rounds = tuple(levels.evaluated((value, value), trial.evaluate) for value in each)
        return _Found(rounds[-1], rounds[-1], rounds, (), joint)
    state = adapt(
        levels, trial.evaluate, most_rounds=search.rounds, trace=search.trace, about=about_it
    )
    alike = together(levels, trial.evaluate, state.rounds, delta=delta)
    best, even = (
        meets(rounds, delta=delta) or min(rounds, key=lambda round_: round_.loss)
        for rounds in ((*state.rounds, *alike), alike)
    )
    return _Found(best, even, state.rounds, alike)


def _longest(secrets: Secrets, documents: Sequence[Document]) -> int:
    """The most secrets that a document holds."""
    return max(len(secrets.observed(d, d.words).sensitive) for d in documents)


def caveat(data: str, strengths: Sequence[float]) -> str:
    """What the user should know before using these strengths."""
    uneven = (
        "The strengths differ, so a single release may tell a name from a word close to names "
        "more than ε allows within either; which of the two a word is, is not protected."
    )
    said = [CAVEATS[data], uneven if len(set(strengths)) > 1 else ""]
    return " ".join(text for text in said if text)


def _distinct(asked: dict[str, Round]) -> dict[str, Round]:
    """Each strengths once, under the names of all that chose them."""
    names: dict[tuple[float, ...], list[str]] = {}
    for name, round_ in asked.items():
        names.setdefault(round_.strengths, []).append(name)
    by_strengths = {round_.strengths: round_ for round_ in asked.values()}
    return {", ".join(names[s]): by_strengths[s] for s in names}
