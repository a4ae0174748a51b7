"""How a distinguishability game is played: its trials, its judge, and how its answer is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from voile.options import Option, Options

SHAPE = "shape"
"""The attack on what rewriters of words leave in clear."""
CAUTION = (
    "ε_emp: what this attack shows of one whole text, a lower bound on its epsilon. A small value "
    "means “not broken by this attack”, never “safe”."
)
IN_CLEAR = "Rewriters of words leave the number of words, punctuation and case in clear: "

ALIKE = (
    "No text was released in two ways, however often it was released. If nothing is drawn, the "
    "figures hold; if draws are remembered or have a fixed seed, a text's releases are one draw, "
    "trials are not independent, and the figures are not those of its law: let it draw anew each "
    "time."
)
"""What is to be said where `never_in_two_ways`."""


@dataclass(frozen=True)
class Playing(Options):
    """The trials of a game, and what is computed from its guesses."""

    trials: Annotated[int, Option("Trials of each game.", "Game")] = 2000
    candidates: Annotated[int, Option("How many texts an attacker chooses from.", "Game")] = 2
    temperature: Annotated[
        float, Option("λ: below 0 candidates far apart, above 0 alike, 0 uniform.", "Game")
    ] = -10_000.0
    equal_length: Annotated[
        bool,
        Option("Candidates have as many words each, so that their number tells nothing.", "Game"),
    ] = False
    failure_probability: Annotated[
        float, Option("Probability that any interval of this run is wrong.", "Game")
    ] = 0.01
    symmetric: Annotated[
        bool, Option("Estimate from true and false positives instead of right guesses.", "Game")
    ] = False
    seed: Annotated[int, Option("Repeatable draws; nothing here is for release.", "Running")] = 0


@dataclass(frozen=True)
class Judge(Options):
    """A language model that joins the attacks; its key comes from VOILE_JUDGE_KEY alone."""

    judge_url: Annotated[
        str | None,
        Option("OpenAI-compatible endpoint for an LLM judge: originals are sent to it.", "Models"),
    ] = None
    judge_model: Annotated[
        str | None, Option("Its model; alone: by likelihood, here (“packaged”: SmolLM2).", "Models")
    ] = None
    originals_leave_this_machine: Annotated[
        bool, Option("Allow a --judge-url elsewhere: original texts go to that host.", "Models")
    ] = False


def caution(attacks: Sequence[str]) -> str:
    """How to read an audit by these attacks."""
    seen = "the shape attack reads them." if SHAPE in attacks else "no attack here looked at them."
    return f"{CAUTION} {IN_CLEAR}{seen}"
