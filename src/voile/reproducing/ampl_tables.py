"""What the mPL paper's tables and figures claim, checked with the release that users make."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np

from voile.attackers.readers import PRETRAINED
from voile.leakage.bounds import clopper_pearson
from voile.reproducing.ampl import (
    BLIND,
    EPSILONS,
    NETWORKS,
    PAPERS,
    QUANTILES,
    Bench,
)
from voile.reproducing.ampl_documents import DATASETS, MESSAGES, documents
from voile.reproducing.experiment import Claim, Found, Measured, Row, Work, above, all_hold

AUDITS = "ampl_audits.jsonl"
LONGEST = 20
"""Words of a document that `voile text audit` reads."""
LEAST_READ = 30
"""Documents below which a network has none to be checked on."""
CANDIDATES = 300


def table_1(work: Work) -> Found:
    """Violations under each method, before the exact attacker and before networks."""
    bench = Bench(work)
    datasets, most = bench.datasets(), EPSILONS[-1]
    networks = ("lstm",) if work.small else NETWORKS
    measured, lowest, alike, falls, lowers = [], [], [], [], []
    finds = dict.fromkeys(networks, True)
    for dataset, called in datasets.items():
        exact = {
            (method, epsilon): _documents(bench, dataset, called, epsilon, method)
            for epsilon in ((most,) if work.small else EPSILONS)
            for method in (PAPERS if epsilon == most else PAPERS[:1])
        }
        adapted = exact["AmPL", most]
        lowest += [above(exact[name, most], adapted) for name in ("EM", "AmPL-U", "AmPL-I")]
        alike.append(exact["EM", most].ours == exact["AmPL-U", most].ours)
        measured += [exact[name, most] for name in PAPERS]
        if not work.small:
            measured += [exact["EM", epsilon] for epsilon in EPSILONS[:-1]]
            falls += [above(exact["EM", EPSILONS[0]], exact["EM", most])]
        for attacker in networks:
            rows = {
                method: bench.learned(dataset, most, method, attacker)
                for method in attacked(dataset, attacker)
            }
            where = f"{called}, {attacker}"
            told = {m: _holding(f"{where}, {m}, ε = {most:g}", row) for m, row in rows.items()}
            measured += told.values()
            finds[attacker] &= bool(rows["EM"]["shown"] and rows["EM"]["triples"] > 0)
            if "AmPL" in rows and rows["AmPL"] != rows["EM"]:
                lowers.append(above(told["EM"], told["AmPL"]))
    first = next(iter(datasets))
    controls = {name: bench.learned(first, most, BLIND, name) for name in networks}
    measured += [_holding(f"{datasets[first]}, {n}, {BLIND}", row) for n, row in controls.items()]
    clean = [row["triples"] == 0 for row in controls.values()]
    return Found(
        f"{', '.join(datasets.values())}; the laws of `voile text protect --tiers pii,poii` over "
        f"50,001 words; {bench.sizes}; {bench.sizes.read(networks)}",
        measured,
        [
            *(
                Claim(f"the {name} finds more than ε under EM, on all data", found)
                for name, found in finds.items()
            ),
            Claim("and nothing where releases carry nothing", all(clean)),
            Claim("AmPL has fewer violations than EM, AmPL-U and AmPL-I", all_hold(lowest)),
            Claim(
                "adapted against a network that finds more than the target, it has fewer "
                "before that network",
                all_hold(lowers),
            ),
            Claim("without a weight on violations (AmPL-U) nothing changes", all(alike)),
            Claim("a larger ε has fewer violations", all_hold(falls)),
        ],
    )


def attacked(dataset: str, attacker: str) -> tuple[str, ...]:
    """The methods whose releases a network learns to read: all of the paper on the first data."""
    if attacker == PRETRAINED:
        return ("EM",)
    return PAPERS if dataset in (next(iter(DATASETS)), MESSAGES) else ("EM", "AmPL")


def figure_3(work: Work) -> Found:
    """How leakage is spread under EM, by attacker: its quantiles."""
    bench = Bench(work)
    datasets, most = bench.datasets(), EPSILONS[-1]
    networks = ("lstm",) if work.small else NETWORKS
    measured, below, tail = [], [], []
    for dataset, called in datasets.items():
        rows = {"exact": bench.judged(dataset, most, "EM", 0)}
        rows |= {name: bench.learned(dataset, most, "EM", name) for name in networks}
        for attacker, row in rows.items():
            measured += [
                Measured(f"{called}, {attacker}: leakage, {100 * q:g} % of triples below", value)
                for q, value in zip(QUANTILES, row["quantiles"], strict=True)
            ]
            measured.append(Measured(f"{called}, {attacker}: largest leakage", row["largest"]))
            below.append(row["quantiles"][-1] < most)
            tail.append(row["largest"] > most)
    return Found(
        f"{', '.join(datasets.values())}; EM at ε = {most:g}; {bench.sizes}; "
        f"{bench.sizes.read(networks)}",
        measured,
        [
            Claim(f"nearly all triples ({100 * QUANTILES[-1]:g} %) stay below ε", all(below)),
            Claim("every attacker finds a tail beyond ε", all(tail)),
        ],
    )


def figure_8(work: Work) -> Found:
    """Violations against loss, over all strengths that the searches tried."""
    bench = Bench(work)
    datasets, most = bench.datasets(), EPSILONS[-1]
    measured, dear = [], []
    for dataset, called in datasets.items():
        tried = [tuple(point) for point in bench.chosen(dataset, most)["tried"]]
        pairs = [(a, b) for a, b in combinations(tried, 2) if a[2] != b[2]]
        agreed = sum((a[2] - b[2]) * (a[3] - b[3]) < 0 for a, b in pairs)
        measured += [
            Measured(
                f"{called}, strengths {names:g}, {words:g}: documents with a violation, %",
                100 * share, theirs=f"loss {loss:.4f} (ours)",
            )
            for names, words, share, loss in sorted(tried, key=lambda point: point[2])
        ]  # fmt: skip
        dear.append(agreed >= 0.9 * len(pairs) if pairs else None)
        if pairs:
            what = f"{called}: pairs of strengths in which fewer violations cost more, %"
            measured.append(Measured(what, 100 * agreed / len(pairs)))
    return Found(
        f"{', '.join(datasets.values())}; ε = {most:g}, the exact attacker, every strength that "
        f"the searches tried, on a fifth of the documents of the search; {bench.sizes}",
        measured,
        [Claim("fewer violations cost more loss (nine of ten pairs and more)", all_hold(dear))],
    )


def figure_9(work: Work) -> Found:
    """What an attacker finds after so many documents: a network that knows the law, and EM."""
    bench = Bench(work)
    dataset, called = next(iter(bench.datasets().items()))
    most, search = EPSILONS[-1], bench.sizes.search
    largest, shares, gains = [], [], []
    for read in sorted({max(LEAST_READ, search // part) for part in (64, 16, 4, 1)}):
        row, who = bench.learned(dataset, most, "EM", "lstm", read), f"EM, {read} documents"
        share = (1e6 * row[name] for name in ("triples", "lower", "upper"))
        largest.append(Measured(f"{who}: largest leakage", row["largest"]))
        shares.append(Measured(f"{who}: violating triples in a million", *share))
        gains.append(Measured(f"{who}: gained over shuffled releases, nats a secret", row["gain"]))
    exact = bench.judged(dataset, most, "EM", 0)["largest"]
    largest.append(Measured(f"EM, the exact attacker of {search}: largest leakage", exact))
    falls = above(shares[0], shares[-1])
    return Found(
        f"{called}, LSTM, ε = {most:g}; {bench.sizes}; documents are read {bench.sizes.epochs} "
        "times",
        [*largest, *shares, *gains],
        [Claim("violations fall as the attacker reads more", falls)],
    )


def controls(work: Work) -> Found:
    """`voile text audit` with every network, and its control where releases carry nothing."""
    bench = Bench(work)
    dataset, called = next(iter(bench.datasets().items()))
    count, epsilon = (200, 3.0) if work.small else (600, 3.0)
    networks = ("lstm",) if work.small else NETWORKS
    texts = documents(dataset, work.data, count, words=LONGEST)
    measured, near, learned, so = [], [], [], []
    for attacker in networks:
        setting = {"data": dataset, "documents": count, "attacker": attacker, "epsilon": epsilon}
        row = work.cell(AUDITS, setting, partial(_audit, texts, attacker, epsilon))
        borne = (100 * row[name] for name in ("borne_out", "lower", "upper"))
        measured += [
            Measured(f"EM, {attacker}: cases above 0.3, claimed, %", 100 * row["share"]),
            Measured(f"EM, {attacker}: borne out of them by held-out secrets, %", *borne),
            Measured(f"{BLIND}, {attacker}: cases above 0.3, claimed, %", 100 * row["control"]),
            Measured(f"EM, {attacker}: gained over shuffled releases, nats a secret", row["gain"]),
        ]
        near.append(row["control"] < 0.001)
        learned.append(row["learned"])
        so.append(row["lower"] > 0)
    return Found(
        f"{called}, {len(texts):,} documents of {LONGEST} words, {CANDIDATES} candidates at most, "
        f"released by EM at ε = {epsilon:g}; `voile text audit --control`, whose attackers start "
        "at their prior and do not know the law",
        measured,
        [
            Claim("every network learns from the releases", all(learned)),
            Claim("and held-out secrets bear out some of what each claims", all(so)),
            Claim("and claims nothing (below 0.1 %) where they carry nothing", all(near)),
        ],
    )


def _audit(texts: list[str], attacker: str, epsilon: float) -> Row:
    """Release texts by EM at this ε and let an attacker learn to read them."""
    from voile.text._audit import audit
    from voile.text._protect import protect

    released = protect(texts, epsilon=epsilon, mechanism="word-exponential", seed=0).data
    found = audit(
        texts, released, epsilon=(0.3,), attacker=(attacker,), control=True, words=LONGEST,
        candidates=CANDIDATES,
    )  # fmt: skip
    first, told = found.findings[0], found.learned
    return {
        "share": first.share,
        "borne_out": first.borne_out,
        "lower": first.lower,
        "upper": first.upper,
        "control": first.control_share,
        "learned": bool(told and told.shown),
        "gain": told.gain if told else 0.0,
    }


def _documents(bench: Bench, dataset: str, called: str, epsilon: float, method: str) -> Measured:
    """Documents that hold a violation before the exact attacker, over all blocks."""
    rows = [bench.judged(dataset, epsilon, method, n) for n in range(bench.sizes.blocks)]
    return _holding(f"{called}, exact attacker, {method}, ε = {epsilon:g}", *rows)


def _holding(who: str, *rows: Row) -> Measured:
    """Documents that hold a violation, as their attacker sees it."""
    values = np.concatenate([row["any"] for row in rows])
    low, high = clopper_pearson(int(values.sum()), len(values), failure_probability=0.05)
    what = f"{who}: documents with a violation, %"
    return Measured(what, 100 * float(values.mean()), 100 * low, 100 * high)
