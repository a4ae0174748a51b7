"""What the mPL paper's tables and figures claim, checked with the commands that users have."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np

from voile.core.space import Space
from voile.jobs import RowProblem, open_source
from voile.leakage.bounds import clopper_pearson, hoeffding_log10_failure
from voile.mechanisms import exponential, remap
from voile.metrics import euclidean
from voile.reproducing.experiment import Claim, Found, Measured, Row, Work, above

EPSILONS = (0.3, 0.4, 0.5)
FILE = "ampl_audits.jsonl"
LONGEST = 20
"""Words of a document that are read."""
CANDIDATES = 300
THEIRS = {("rnn", 0.3): "6.62 ± 1.33", ("rnn", 0.4): "2.73 ± 0.72", ("rnn", 0.5): "1.18 ± 0.51",
          ("lstm", 0.3): "4.11 ± 0.75", ("lstm", 0.4): "1.39 ± 0.42", ("lstm", 0.5): "0.53 ± 0.15",
          ("transformer", 0.3): "6.68 ± 1.18", ("transformer", 0.4): "2.96 ± 1.26",
          ("transformer", 0.5): "1.24 ± 0.62"}  # fmt: skip
"""EM's rows of Table 1 on AG News."""


def table_1(work: Work) -> Found:
    """Violations that a learned attacker finds under EM, beside what it finds in nothing."""
    documents, attackers = (
        (300, ("lstm",)) if work.small else (4000, ("rnn", "lstm", "transformer"))
    )
    where, texts = _texts(work, documents)
    measured, gained, falls = [], [], []
    for attacker in attackers:
        rows = [_audited(work, where, texts, attacker, e, len(texts)) for e in EPSILONS]
        found = [
            Measured(f"EM, {attacker}, ε = {e:g}: violating triples, %", 100 * row["share"],
                     100 * row["lower"], 100 * row["upper"], THEIRS[attacker, e])
            for e, row in zip(EPSILONS, rows, strict=True)
        ]  # fmt: skip
        measured += found
        gained += [row["learned"] and row["lower"] > 0 for row in rows]
        falls += [above(one, other) for one, other in pairwise(found)]
        measured += [
            Measured(f"the same where releases carry nothing, ε = {e:g}, %", 100 * row["control"])
            for e, row in zip(EPSILONS, rows, strict=True)
        ]
    told = [step for step in falls if step is not None]
    return Found(
        f"{where}, {len(texts):,} documents of {LONGEST} words, {CANDIDATES} candidates at most; "
        "`voile text protect` and `voile text audit`, whose attackers start at their prior",
        measured,
        [
            Claim("learned attackers find more than ε, beyond their own error", all(gained)),
            Claim("a larger ε has fewer violations", all(told) if told else None),
        ],
    )


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
    from voile.text import glove
    from voile.text.tokens import Tokenizer

    where, texts = _texts(work, 300 if work.small else 4000)
    words = glove(top=20_000)
    tokenizer = Tokenizer(words)
    counts = Counter(
        piece.position
        for text in texts
        for piece in tokenizer.split(text)
        if not isinstance(piece, str)
    )
    chosen, often = zip(*counts.most_common(CANDIDATES), strict=True)
    vectors = np.asarray(words.embedding.points[list(chosen)] * words.embedding.step)
    lengths = np.linalg.norm(vectors, axis=1)
    loss = (1 - vectors @ vectors.T / np.outer(lengths, lengths)) / 2
    prior = np.array(often) / sum(often)
    space = Space(vectors, metric=euclidean())
    measured, gains = [], []
    for epsilon in EPSILONS:
        channel = exponential(space, epsilon=epsilon)
        plain = channel.expected_loss(loss, prior)
        better = remap(channel, loss=np.maximum(loss, 0.0), prior=prior).expected_loss(loss, prior)
        gains.append(100 * (1 - better / plain))
        what = f"ε = {epsilon:g}: EM's loss falls from {plain:.3f} to {better:.3f}, by %"
        measured.append(Measured(what, gains[-1], theirs="45–57"))
    return Found(
        f"{where}, the {CANDIDATES} most frequent words, GloVe 50d; exact",
        measured,
        [
            Claim("the remap lowers the loss", min(gains) > 0),
            Claim("by about half (40 % or more)", min(gains) >= 40),
        ],
    )


def figure_9(work: Work) -> Found:
    """Violations that an attacker finds after so many documents."""
    sizes = (100, 300) if work.small else (400, 1200, 2400, 4000)
    where, texts = _texts(work, sizes[-1])
    rows = [_audited(work, where, texts, "lstm", 0.5, size) for size in sizes]
    found = [
        Measured(f"EM, {size} documents: violating triples, %", 100 * row["share"],
                 100 * row["lower"], 100 * row["upper"])
        for size, row in zip(sizes, rows, strict=True)
    ]  # fmt: skip
    return Found(
        f"{where}, LSTM, ε = 0.5; `voile text audit`",
        found,
        [Claim("violations fall as the attacker reads more", above(found[0], found[-1]))],
    )


def _texts(work: Work, count: int) -> tuple[str, list[str]]:
    """Documents of AG News in a fixed random order; messages of ours where it was not given."""
    path = work.file("ag_news", "test.csv")
    if path is None:
        from voile.text.sample_messages import messages

        return "made-up messages", [message.text for message in messages(count, seed=0)]
    rows = open_source(path, header=False).rows()
    texts = [f"{row['c2']}. {row['c3']}" for _, row in rows if not isinstance(row, RowProblem)]
    order = np.random.default_rng(0).permutation(len(texts))[:count]
    return "AG News", [" ".join(texts[n].split()[: LONGEST + 10]) for n in order]


def _audited(
    work: Work, where: str, texts: list[str], attacker: str, epsilon: float, count: int
) -> Row:
    setting = {"data": where, "documents": count, "attacker": attacker, "epsilon": epsilon}
    return work.cell(FILE, setting, partial(_audit, texts[:count], attacker, epsilon))


def _audit(texts: list[str], attacker: str, epsilon: float) -> Row:
    """Release texts by EM at this ε and let an attacker learn to read them."""
    from voile.text._audit import audit
    from voile.text._protect import protect

    released = protect(texts, epsilon=epsilon, mechanism="word-exponential", seed=0).data
    found = audit(
        texts, released, epsilon=(epsilon,), attacker=(attacker,), control=True, words=LONGEST,
        candidates=CANDIDATES,
    )  # fmt: skip
    first = found.findings[0]
    return {
        "share": first.share,
        "lower": first.lower,
        "upper": first.upper,
        "control": first.control_share,
        "learned": bool(found.learned and found.learned.shown),
    }
