"""The words of a report, each in a sentence or two that need no background."""

from __future__ import annotations

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "epsilon": (
        "ε, the strength of the blur: the odds between two secrets that are d apart change by at "
        "most e^(ε·d), whatever is released. Smaller is more private. It is always counted per "
        "unit of the distance that is named with it."
    ),
    "delta": (
        "δ, the share of cases in which a bound may be exceeded. A bound with δ = 0.05 may fail "
        "one time in twenty."
    ),
    "odds": (
        "How much likelier one secret is than another. At even odds both are equally likely; odds "
        "changed 2× make one of them twice as likely as the other."
    ),
    "verdict": (
        "Violated: even the cautious end of what was measured exceeds the claim. Holds: computed "
        "or proved for every case, not sampled. Open: nothing was found against the claim, which "
        "is not a proof of it."
    ),
    "certified": (
        "Computed from the very numbers that are drawn, over all cases, and rounded against us."
    ),
    "proved": (
        "Shown by a theorem, up to what the documentation's page of known limits leaves to trust."
    ),
    "statistical": (
        "Computed from the very numbers that are drawn, for a law that was estimated from a "
        "sample: right with the stated confidence if records are independent."
    ),
    "claimed": "Taken on somebody's word, and not checked.",
    "mechanism": "The random rule that turns a secret into what is released.",
    "release": "What is handed on in place of the secret.",
    "attacker": (
        "A program that knows how the release was made and guesses the secret from it. What one "
        "attacker does not find, another may."
    ),
    "posterior leakage": (
        "How far reading the release moves an attacker's odds between two secrets, as a logarithm "
        "and divided by how far apart the two are. It is what ε bounds for a single release."
    ),
    "case": (
        "A secret, another word drawn by what was believed before anything was read, and what was "
        "released: an occasion on which the odds between the two may move."
    ),
    "triple": "Two candidate secrets and one release: a case in which the odds may move.",
    "interval": (
        "The range in which the true value lies, except with the failure probability that is "
        "stated beside it."
    ),
    "empirical epsilon": (
        "ε_emp: the epsilon that an attack has shown at least. A small value means “not broken by "
        "this attack”, never “safe”."
    ),
    "ceiling": (
        "The most that so many trials can show, even if every guess is right. A value at the "
        "ceiling means “at least”."
    ),
    "lower bound": "A value that no private mechanism with these outputs can go below.",
    "loss": (
        "What the blur costs: the expected error of the travel distance, in kilometres, averaged "
        "over the places where people tend to be."
    ),
    "prior": "What an attacker believes before seeing any release.",
    "expected leakage": "How often a label can be guessed from what its own ε gives away.",
    "unexpected leakage": (
        "How much more often it is guessed by somebody who also sees the features, which no noise "
        "on the label hides."
    ),
    "label DP": "Noise on the label alone; the features are released as they are.",
    "conditional epsilon": (
        "CF-ε: a bound on what the whole release, features included, says of the label."
    ),
    "AUC": (
        "How well a model ranks: the probability that it places a random member of one class above "
        "a random member of the other. 0.5 is guessing, 1 is faultless."
    ),
    "F1": "A classifier's score between 0 and 1 that weighs all classes alike.",
    "strength": (
        "A level's share of ε: 0.3 gives the words of that level three tenths of it, and so more "
        "blur."
    ),
    "violations": "The share of triples in which the leakage exceeds ε.",
    "utility loss": "How far words move in meaning, between 0 (not at all) and 1 (opposite).",
    "membership": "Whether a record was among those that a model was trained on.",
    "seeded": "Drawn from a known seed: repeatable, and therefore not for release.",
    "secure": "Drawn from a cryptographic generator keyed by the operating system.",
}
