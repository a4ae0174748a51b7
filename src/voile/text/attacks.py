"""Attacks as a game uses them, and what each of them sees of a release."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from voile.attackers.attribution import Attribution
from voile.attackers.attribution_alignment import WordVectors, no_vectors
from voile.attackers.attribution_channel import LearnedChannel
from voile.attackers.attribution_embedding import NearestLatent
from voile.attackers.attribution_likelihood import Likelihood
from voile.attackers.attribution_shadow import Release, Shadow
from voile.attackers.names import ON_TEXTS
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator, seeded_rng
from voile.errors import InvalidInput
from voile.files import make_private_folder
from voile.names import Named, asked
from voile.rewriting.prepared import Prepared
from voile.rewriting.trained_here import language_named
from voile.text.game import Judge
from voile.text.own import parameters_of

DEFAULT = ("embedding", "tf-idf", "overlap", "shape", "alignment")
ASKING = ("shadow", "channel")
"""Attacks that ask the mechanism again and again what it makes of the candidates."""
INSIDE = ("likelihood", "internal", *ASKING)
"""Attacks that know the mechanism: by its law, the noisy vector inside it, or by asking it."""


@dataclass(frozen=True)
class OwnAttack:
    """A user's own attack under the name that it was given."""

    name: str
    attack: Any
    by_itself: bool = False
    """Nobody knows whether it scores each trial by itself."""

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """How well each candidate explains its release, by the user's own rule."""
        found = asked(self.name, lambda: self.attack.scores(pool, sets, releases))
        return asked(self.name, lambda: np.asarray(found, dtype=np.float64))

    @property
    def note(self) -> str:
        """What it says of itself."""
        return str(getattr(self.attack, "note", ""))

    @property
    def is_evidence(self) -> bool:
        """Whether what it fails to show says anything."""
        return bool(getattr(self.attack, "is_evidence", True))


def needs_encoder(attacks: Sequence[Named], temperature: float) -> bool:
    """Whether sentences must be turned into vectors, for the candidates or for an attack."""
    return temperature != 0 or any(
        "encode" in parameters_of(attack.load()) for attack in attacks if attack.name not in INSIDE
    )


def attacks_on_texts(
    attacks: Sequence[Named], encode: Any, word_vectors: WordVectors = no_vectors
) -> list[Attribution]:
    """Those of these attacks that read texts."""
    handed = {"encode": encode, "word_vectors": word_vectors}
    return [_made(attack, handed) for attack in attacks if attack.name not in INSIDE]


def _made(which: Named, handed: dict[str, Any]) -> Attribution:
    thing = which.load()
    if inspect.isclass(thing):
        make: Callable[..., Any] = thing
        taken = parameters_of(make)
        given = {name: value for name, value in handed.items() if name in taken}
        thing = asked(which.name, lambda: make(**given))
    if which.home.startswith("voile."):
        return cast(Attribution, thing)
    if not hasattr(thing, "scores"):
        raise InvalidInput(f"the attack {which.name} must have scores(pool, sets, releases)")
    return OwnAttack(which.name, thing)


def names_on_texts() -> str:
    """The attacks that can read any release."""
    return ", ".join(ON_TEXTS)


def judges(asked_for: Judge, out: Path | None, *, candidates: int) -> list[Attribution]:
    """The judge that was asked for and can judge, its replies kept in `out`; or none.

    A language model behind a URL, or by its likelihoods in this process. It must first pass a test
    on texts of ours (`check_judge`), with as many candidates.
    """
    model, url = asked_for.judge_model, asked_for.judge_url
    if model is None:
        if url is not None:
            raise InvalidInput("--judge-url needs --judge-model, the name the endpoint knows it by")
        return []
    from voile.attackers import endpoint as chat
    from voile.attackers.judge_check import check_judge
    from voile.attackers.language_likelihood import language_likelihood
    from voile.attackers.llm_judge import LlmJudge

    made: Attribution
    if url is None:
        # each candidate is scored by itself, so two of them test a judge of any number
        made, candidates = Likelihood(language_likelihood(language_named(model)), "llm", 32), 2
    else:
        key, leave = os.environ.get("VOILE_JUDGE_KEY"), asked_for.originals_leave_this_machine
        ask = chat.endpoint(url, model=model, key=key, originals_leave_this_machine=leave)
        if out:
            make_private_folder(out)
        kept = out / "judge-replies.jsonl" if out else None
        made = LlmJudge(ask, kept=kept, whom=json.dumps([model, url, chat.PARAMETERS]))
    check_judge(made, candidates=candidates)
    return [made]


def attacks_that_ask(
    attacks: Sequence[Named], release: Release, word_vectors: WordVectors
) -> Iterator[Attribution]:
    """Those of these attacks that ask the mechanism; they share what it answers."""
    answers = cache(lambda texts: release(list(texts)))
    names = [attack.name for attack in attacks]
    if "shadow" in names:
        yield Shadow(answers)
    if "channel" in names:
        yield LearnedChannel(answers, word_vectors)


def attacks_inside(
    attacks: Sequence[Named],
    prepared: Prepared,
    *,
    word_vectors: WordVectors = no_vectors,
    sources: Sequence[str],
    drawn: Sequence[Any],
    rng: Generator,
) -> Iterator[tuple[Attribution, Any]]:
    """The attacks that know the mechanism, where they apply, each with what it sees.

    The likelihood attack sees what was drawn. The internal one sees the noisy vector of each
    source, drawn for it: no text is written from it.
    """
    names = [attack.name for attack in attacks]
    asking = seeded_rng(int(rng.integers(2**62))) if set(ASKING) & set(names) else rng
    for attack in attacks_that_ask(attacks, lambda t: prepared.rewrite(t, asking), word_vectors):
        yield attack, prepared.read(drawn)
    if "likelihood" in names and prepared.log_likelihood is not None:
        yield Likelihood(prepared.log_likelihood, batch=10**7), drawn
    if "internal" in names and prepared.inside is not None:
        vectors = prepared.inside.noisy_latent(sources, rng)
        yield NearestLatent(prepared.inside.latent), vectors
