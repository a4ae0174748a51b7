"""Attacks of the distinguishability game, and readers of whole documents, by name."""

from __future__ import annotations

from typing import Any

from voile.names import Family, Named

_HOME = "voile.attackers"


def attacks(thing: Any) -> bool:
    """Whether a user's own thing can attack: it, or what its class makes, scores candidates."""
    return hasattr(thing, "scores")


ON_TEXTS = Family(
    "attacks",
    (
        Named(
            "embedding",
            "The candidate whose sentence vector is nearest to that of the release.",
            home=f"{_HOME}.attribution_embedding:NearestEmbedding",
        ),
        Named(
            "tf-idf",
            "The candidate that shares most rare words with the release.",
            home=f"{_HOME}.attribution_surface:TfIdf",
        ),
        Named(
            "overlap",
            "The candidate that shares most words with the release.",
            home=f"{_HOME}.attribution_surface:Overlap",
        ),
        Named(
            "shape",
            "Number of words, signs, spacing and case, which rewriters of words leave in clear.",
            home=f"{_HOME}.attribution_shape:Shape",
        ),
        Named(
            "alignment",
            "The candidate whose words lie nearest to those of the release, in order.",
            home=f"{_HOME}.attribution_alignment:Alignment",
        ),
        Named(
            "pairwise",
            "A classifier of pairs of sentence vectors, learned on trials that are not counted.",
            home=f"{_HOME}.attribution_pairwise:Pairwise",
        ),
    ),
    groups=("voile.attacks",),
    open_to="your own as NAME=FILE.py:CLASS (in Python the class, or an object with scores)",
    fits=attacks,
)
"""Attacks that read what was released, whoever wrote it."""

ON_BOXES = ON_TEXTS | Family(
    "attacks",
    (
        Named(
            "shadow",
            "The candidate whose own releases, asked of the mechanism, look most like this one.",
            home=f"{_HOME}.attribution_shadow:Shadow",
        ),
        Named(
            "channel",
            "The law of single words, estimated from releases asked of the mechanism.",
            home=f"{_HOME}.attribution_channel:LearnedChannel",
        ),
    ),
)
"""And those that ask the mechanism: `text calibrate --attacks`."""

ATTACKS = ON_BOXES | Family(
    "attacks",
    (
        Named(
            "likelihood",
            "The candidate under whose law the release is likeliest, where the law is known.",
            home=f"{_HOME}.attribution_likelihood:Likelihood",
        ),
        Named(
            "internal",
            "The candidate nearest to the noisy vector inside the mechanism, where there is one.",
            home=f"{_HOME}.attribution_embedding:NearestLatent",
        ),
    ),
)
"""And those that know the mechanism: `text compare --attacks`."""

ATTACKERS = Family(
    "attacker",
    (
        Named("rnn", "A recurrent network that reads a document.", f"{_HOME}.networks:rnn"),
        Named("lstm", "A recurrent network with a memory.", f"{_HOME}.networks:lstm"),
        Named(
            "transformer",
            "A network that attends to the whole document.",
            f"{_HOME}.networks:transformer",
        ),
        Named(
            "minilm",
            "An lstm that also reads what the sentence encoder MiniLM makes of the words.",
            f"{_HOME}.networks:lstm",
        ),
    ),
)
"""Learned readers of whole documents: `text audit --attacker`."""

TUNING_ATTACKERS = ATTACKERS | Family(
    "attacker",
    (
        Named(
            "markov",
            "The exact posterior under a chain of words, the same every time.",
            f"{_HOME}.markov:markov_attack",
        ),
    ),
)
"""And the exact one: `text tune --attacker`."""
