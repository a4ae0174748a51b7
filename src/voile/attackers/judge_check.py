"""Whether a judge can judge at all: paraphrases of ours that it must put to their originals."""

from __future__ import annotations

import numpy as np

from voile.attackers.attribution import Attribution
from voile.errors import VoileError
from voile.progress import about

PAIRS = (
    ("The train to Lyon leaves at nine.", "Departure for Lyon is at 9 o'clock by rail."),
    ("My dog has been ill since Sunday.", "Since the weekend my puppy feels sick."),
    ("Please turn down the heating.", "Could you lower the temperature of the radiator?"),
    ("The soup was cold and far too salty.", "They served a chilly broth with too much salt."),
    ("She plays the violin in an orchestra.", "She is a violinist in a symphony ensemble."),
    ("We sold our house last spring.", "In April we found a buyer for our home."),
    ("The bank refused to give him a loan.", "His request for credit was turned down there."),
    ("Can you book a table for four tonight?", "Reserve dinner this evening for four people."),
    ("The film is two hours too long.", "That movie should have been much shorter."),
    ("My laptop does not start any more.", "The notebook computer will not boot up."),
    ("It rained during the whole match.", "The game was played in wet weather throughout."),
    ("The nurse took his blood pressure.", "A carer at the hospital measured his pressure."),
    ("I want to cancel my gym membership.", "Please end my contract with the fitness club."),
    ("Snow has closed the mountain road.", "The pass is blocked by heavy snowfall."),
    ("The museum is free on Mondays.", "No ticket is needed for the gallery on Monday."),
    ("He repairs old bicycles for a living.", "His job is fixing used bikes."),
)
"""Originals and paraphrases, made up for this: nobody's texts are shown to a judge that fails."""
LEAST = 14
"""Of 16 a judge must name so many: one that draws lots between two does once in 478 times."""


class JudgeFailed(VoileError):
    """A judge does not know a paraphrase from another text, so its answers would say nothing."""


def check_judge(judge: Attribution, *, candidates: int = 2) -> None:
    """Refuse a judge that does not put paraphrases to their originals, before it sees any text.

    Each of 16 paraphrases is shown with its original and others, as many in all as in the game to
    come, up to 16. A judge that names one place whatever it is shown is split between them by the
    orders in which it is asked, and a tie is not right: it fails on every pair. Pr[Bin(16, ½) ≥
    14] = 137/65,536: whoever draws lots passes once in 478 times.
    """
    originals, paraphrases = zip(*PAIRS, strict=True)
    size = min(max(candidates, 2), len(PAIRS))
    sets = (np.arange(len(PAIRS))[:, None] + np.arange(size)) % len(PAIRS)
    with about("the judge's own test"):
        scores = judge.scores(originals, sets, paraphrases)
    right = int((scores[:, 0] > scores[:, 1:].max(axis=1)).sum())
    if right < LEAST:
        said = str(getattr(judge, "note", ""))
        raise JudgeFailed(
            f"a judge must put at least {LEAST} of {len(PAIRS)} made-up paraphrases to their "
            f"originals, whatever the order; this one did {right}"
            + (f" ({said})" if said else "")
            + ". Its answers would say nothing; ask another model"
        )
