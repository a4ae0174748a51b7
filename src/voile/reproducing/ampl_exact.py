"""The mPL paper's arithmetic of confidence, and what a remap saves: both without an attacker."""

from __future__ import annotations

from collections import Counter

import numpy as np

from voile.core.space import Space
from voile.leakage.bounds import clopper_pearson, hoeffding_log10_failure
from voile.mechanisms import exponential, remap
from voile.metrics import euclidean
from voile.reproducing.ampl_documents import DATASETS, MESSAGES, documents
from voile.reproducing.experiment import Claim, Found, Measured, Work

EPSILONS = (0.3, 0.4, 0.5)
FREQUENT = 300
"""Words that may be secret: the most frequent ones."""
LONGEST = 20
"""Words of a document that are counted, and ten more."""


def table_3(work: Work) -> Found:
    """Hoeffding's failure bound beside the exact one, at the paper's own figures."""
    samples, delta = 11_214_777, 0.063
    least, most = (
        hoeffding_log10_failure(samples=samples, delta=delta, share=share)
        for share in (delta / 1.05, 0.0344)
    )
    upper = clopper_pearson(round(delta / 1.05 * samples), samples, failure_probability=1e-9)[1]
    return Found(
        f"AG News at ε = 0.3 as printed: S = {samples:,}, δ = {delta:g}; shares δ/1.05 and 3.44 %. "
        "Triples that share a release are not independent, which the bound assumes",
        [
            Measured("log10 of the failure probability, largest share", least, theirs="−87"),
            Measured("the same, smallest share", most, theirs="−7967"),
            Measured("Clopper–Pearson at 1e-9, as if independent: share at most, %", 100 * upper),
        ],
        [Claim("the arithmetic of Proposition 4", abs(least + 87) < 1 and abs(most + 7967) < 1)],
    )


def figure_4(work: Work) -> Found:
    """Expected loss of EM before and after the remap, exactly."""
    there = {name: called for name, called in DATASETS.items() if work.file(name) is not None}
    datasets = (dict(list(there.items())[:1]) if work.small else there) or {MESSAGES: MESSAGES}
    measured, gains = [], []
    for dataset, called in datasets.items():
        texts = documents(dataset, work.data, 300 if work.small else 4000, words=LONGEST)
        for epsilon, (plain, better) in _remapped(texts).items():
            gains.append(100 * (1 - better / plain))
            what = f"{called}, ε = {epsilon:g}: EM's loss falls from {plain:.3f} to {better:.3f}"
            measured.append(Measured(f"{what}, by %", gains[-1], theirs="45–57"))
    return Found(
        f"{', '.join(datasets.values())}, the {FREQUENT} most frequent words, GloVe 50d; exact",
        measured,
        [
            Claim("the remap lowers the loss", min(gains) > 0),
            Claim("by about half (40 % or more)", min(gains) >= 40),
        ],
    )


def _remapped(texts: list[str]) -> dict[float, tuple[float, float]]:
    """At each epsilon EM's expected loss over the most frequent words, and that of its remap."""
    from voile.text import glove
    from voile.text.tokens import Tokenizer

    words = glove(top=20_000)
    tokenizer = Tokenizer(words)
    counts = Counter(
        piece.position
        for text in texts
        for piece in tokenizer.split(text)
        if not isinstance(piece, str)
    )
    chosen, often = zip(*counts.most_common(FREQUENT), strict=True)
    vectors = np.asarray(words.embedding.points[list(chosen)] * words.embedding.step)
    lengths = np.linalg.norm(vectors, axis=1)
    loss = (1 - vectors @ vectors.T / np.outer(lengths, lengths)) / 2
    prior = np.array(often) / sum(often)
    space = Space(vectors, metric=euclidean())
    found = {}
    for epsilon in EPSILONS:
        channel = exponential(space, epsilon=epsilon)
        better = remap(channel, loss=np.maximum(loss, 0.0), prior=prior)
        found[epsilon] = channel.expected_loss(loss, prior), better.expected_loss(loss, prior)
    return found
