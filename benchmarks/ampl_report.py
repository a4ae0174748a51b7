"""Markdown and charts from the cells of ampl_tables.py; its command `tables` calls this."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from ampl_tables import (
    BATCH,
    CANDIDATES,
    DATASETS,
    DOCUMENTS,
    EPOCHS,
    EPSILONS,
    LEARNED,
    LONGEST,
    Line,
)
from scipy.stats import t as student
from scipy.stats import wilcoxon

from voile.leakage.bounds import chernoff_interval, hoeffding_log10_failure

METHODS = ("EM", "AmPL-U", "AmPL-I", "AmPL", "AmPL-X", "nothing")
NAMES = {"ag_news": "AG News", "imdb": "IMDB"}


class Found:
    """Cells by what they are about."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.adapted: dict[tuple[str, float], Line] = {}
        self.utility: dict[tuple[str, float, tuple[float, ...]], Line] = {}
        self.cells: dict[tuple[Any, ...], Line] = {}
        for line in lines:
            cell = line["cell"]
            if cell["kind"] == "adapt":
                if cell["head"] == "candidates":
                    self.adapted[cell["dataset"], cell["epsilon"]] = line
            elif cell["kind"] == "utility":
                key = (cell["dataset"], cell["epsilon"], tuple(cell["strengths"]))
                self.utility[key] = line
            else:
                self.cells[
                    cell["dataset"], cell["attacker"], cell["epsilon"], tuple(cell["strengths"]),
                    cell["seed"], cell["head"], cell["share"],
                ] = line  # fmt: skip
        self.seeds = sorted({key[4] for key in self.cells})

    def strengths(self, dataset: str, epsilon: float, method: str) -> tuple[float, ...]:
        """What a method uses."""
        return tuple(self.adapted[dataset, epsilon]["strengths"][method])

    def cell(
        self, dataset: str, attacker: str, epsilon: float, strengths: tuple[float, ...], seed: int,
        head: str = "candidates", share: float = 1.0,
    ) -> Line | None:  # fmt: skip
        """One cell, if it was run."""
        return self.cells.get((dataset, attacker, epsilon, strengths, seed, head, share))

    def by_seed(self, dataset: str, attacker: str, epsilon: float, method: str) -> list[Line]:
        """The cells of a method, a seed each; the same seeds for every method."""
        if (dataset, epsilon) not in self.adapted:
            return []
        lines = []
        for seed in self.seeds:
            each = [
                self.cell(dataset, attacker, epsilon, self.strengths(dataset, epsilon, m), seed)
                for m in METHODS
            ]
            if all(each):
                lines.append(each[METHODS.index(method)])
        return [line for line in lines if line is not None]


def share(line: Line) -> float:
    """Violations at the cell's own epsilon, in percent."""
    return float(100 * line["violations"][EPSILONS.index(line["cell"]["epsilon"])])


def table_1(found: Found) -> list[str]:
    heads = " | ".join(f"{a}, ε = {e:g}" for a in LEARNED for e in EPSILONS)
    lines = [f"| method | {heads} |", "| --- |" + " ---: |" * 9]
    out: list[str] = []
    for dataset in DATASETS:
        out += ["", f"### {NAMES[dataset]}", "", *lines]
        for method in METHODS:
            row = []
            for attacker in LEARNED:
                for epsilon in EPSILONS:
                    values = [share(x) for x in found.by_seed(dataset, attacker, epsilon, method)]
                    spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
                    row.append(f"{np.mean(values):.2f}{spread}" if values else "–")
            out.append(f"| {method} | " + " | ".join(row) + " |")
    return out


def differences(
    found: Found, one: str, other: str
) -> dict[tuple[str, str, float], dict[int, float]]:
    """Paired differences in percentage points, by setting and seed."""
    pairs = {}
    for dataset in DATASETS:
        for attacker in LEARNED:
            for epsilon in EPSILONS:
                a = found.by_seed(dataset, attacker, epsilon, one)
                b = found.by_seed(dataset, attacker, epsilon, other)
                if a:
                    pairs[dataset, attacker, epsilon] = {
                        x["cell"]["seed"]: share(x) - share(y) for x, y in zip(a, b, strict=True)
                    }
    return pairs


def interval(values: list[float]) -> tuple[float, float, float]:
    """Mean and 95 % Student interval."""
    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return mean, float("-inf"), float("inf")
    half = student.ppf(0.975, count - 1) * np.std(values, ddof=1) / np.sqrt(count)
    return mean, mean - float(half), mean + float(half)


def bootstrap(found: Found, one: str, other: str, dataset: str) -> tuple[float, float]:
    """95 % of the mean paired difference when seeds, and documents within them, are drawn anew."""
    rng = np.random.default_rng(0)
    by_seed: dict[int, list[np.ndarray]] = {}
    for attacker in LEARNED:
        for epsilon in EPSILONS:
            pairs = zip(
                found.by_seed(dataset, attacker, epsilon, one),
                found.by_seed(dataset, attacker, epsilon, other),
                strict=True,
            )
            for a, b in pairs:
                gap = np.subtract(a["documents_ppb"], b["documents_ppb"]) / 1e7
                by_seed.setdefault(a["cell"]["seed"], []).append(gap)
    if not by_seed:
        return float("nan"), float("nan")
    means = []
    for _ in range(2000):
        total = []
        for seed in rng.choice(list(by_seed), size=len(by_seed)):
            # The same documents serve every attacker and epsilon: they are drawn together.
            gaps = by_seed[seed]
            size = min(len(gap) for gap in gaps)
            rows = rng.integers(size, size=size)
            total.append(np.mean([gap[rows].mean() for gap in gaps]))
        means.append(np.mean(total))
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def real_or_not(found: Found) -> list[str]:
    """AmPL against EM, and EM against the control, with intervals."""
    out = [
        "| difference, percentage points | mean | 95 % over seeds | 95 % over seeds and "
        "documents | settings where lower |",
        "| --- | ---: | --- | --- | ---: |",
    ]
    pairs = (("AmPL", "EM"), ("AmPL-X", "EM"), ("AmPL-I", "EM"), ("nothing", "EM"),
             ("AmPL", "nothing"))  # fmt: skip
    for one, other in pairs:
        for dataset in DATASETS:
            chosen = {k: v for k, v in differences(found, one, other).items() if k[0] == dataset}
            if not chosen:
                continue
            whole = set.intersection(*(set(values) for values in chosen.values()))
            seeds = [float(np.mean([v[seed] for v in chosen.values()])) for seed in sorted(whole)]
            if not seeds:
                continue
            mean, low, high = interval(seeds)
            least, most = bootstrap(found, one, other, dataset)
            lower = sum(np.mean(list(values.values())) < 0 for values in chosen.values())
            out.append(
                f"| {one} − {other}, {NAMES[dataset]} | {mean:+.3f} | {low:+.3f} … {high:+.3f} | "
                f"{least:+.3f} … {most:+.3f} | {lower} of {len(chosen)} |"
            )
    return out


def chosen_table(found: Found) -> list[str]:
    out = [
        "| data | ε | method | pii | poii | loss | loss, remapped | words left by the remap | "
        "one release alone |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (dataset, epsilon), line in sorted(found.adapted.items()):
        for method in METHODS:
            strengths = tuple(line["strengths"][method])
            worth = found.utility.get((dataset, epsilon, strengths))
            if worth is None:
                continue
            out.append(
                f"| {NAMES[dataset]} | {epsilon:g} | {method} | {strengths[0]:g} | "
                f"{strengths[1]:g} | {worth['plain']:.4f} | {worth['remapped']:.5f} | "
                f"{worth['words_left']} | {worth['single_release']:.3f} |"
            )
    return out


def table_3(found: Found) -> list[str]:
    """δ̃ = 1.05 δ*, δ* the largest share of AmPL over attackers; what triples and documents say."""
    out = ["| data, ε | δ̃ | log10 of the failure, triples as if independent | documents | "
           "95 % upper bound over documents | certified |",
           "| --- | ---: | --- | ---: | --- | --- |"]  # fmt: skip
    for dataset in DATASETS:
        for epsilon in EPSILONS:
            pooled: dict[str, tuple[float, int, int]] = {}
            for attacker in LEARNED:
                lines = found.by_seed(dataset, attacker, epsilon, "AmPL")
                if lines:
                    documents = np.concatenate([x["documents_ppb"] for x in lines]) / 1e9
                    triples = sum(x["triples"] for x in lines)
                    pooled[attacker] = (float(documents.mean()), len(documents), triples)
            delta = 1.05 * max((mean for mean, _, _ in pooled.values()), default=0.0)
            if delta == 0:
                continue  # not run, or nothing found at all
            logs = [
                hoeffding_log10_failure(samples=s, delta=delta, share=m)
                for m, _, s in pooled.values()
            ]
            uppers = [
                chernoff_interval(mean=m, clusters=n, failure_probability=0.1)[1]
                for m, n, _ in pooled.values()
            ]
            sure = sum(upper <= delta for upper in uppers)
            out.append(
                f"| {NAMES[dataset]}, {epsilon:g} | {delta:.6f} | [{min(logs):,.0f}, "
                f"{max(logs):,.0f}] | {next(iter(pooled.values()))[1]} | {min(uppers):.4f} … "
                f"{max(uppers):.4f} | {sure} of {len(uppers)} attackers |"
            )
    return out


def other_head(found: Found) -> list[str]:
    out = ["| attacker | EM | nothing |", "| --- | ---: | ---: |"]
    for attacker in LEARNED:
        row = []
        for strengths in ((1.0, 1.0), (0.0, 0.0)):
            cells = [
                found.cell("ag_news", attacker, 0.3, strengths, seed, head="embedding")
                for seed in found.seeds
            ]
            values = [share(line) for line in cells if line]
            row.append(f"{np.mean(values):.3f} ({len(values)} seeds)" if values else "–")
        out.append(f"| {attacker} | " + " | ".join(row) + " |")
    return out


def orderings(found: Found) -> list[str]:
    """The paper's claims, each counted over the settings that were run."""
    means = {
        (d, a, e, m): float(np.mean([share(x) for x in found.by_seed(d, a, e, m)]))
        for d in DATASETS for a in LEARNED for e in EPSILONS for m in METHODS
        if found.by_seed(d, a, e, m)
    }  # fmt: skip
    falls = [
        means[d, a, low, "EM"] >= means[d, a, high, "EM"]
        for d in DATASETS for a in LEARNED
        for low, high in pairwise(EPSILONS)
        if (d, a, low, "EM") in means and (d, a, high, "EM") in means
    ]  # fmt: skip
    settings = sorted({key[:3] for key in means})

    def count(one: str, other: str) -> str:
        lower = sum(means[*s, one] < means[*s, other] for s in settings)
        same = sum(means[*s, one] == means[*s, other] for s in settings)
        return f"lower in {lower}, equal in {same} of {len(settings)} settings"

    strongest = [
        max(LEARNED, key=lambda a: means.get((d, a, e, "EM"), -1.0))
        for d in DATASETS for e in EPSILONS if all((d, a, e, "EM") in means for a in LEARNED)
    ]  # fmt: skip
    shown = ", ".join(f"{a} {strongest.count(a)}" for a in LEARNED)
    drops = [
        1 - line["remapped"] / line["plain"]
        for (_, _, strengths), line in found.utility.items() if strengths == (1.0, 1.0)
    ]  # fmt: skip
    every = [x for v in differences(found, "AmPL", "EM").values() for x in v.values()
             if x != 0]  # fmt: skip
    signed = wilcoxon(every).pvalue if len(every) > 5 else float("nan")
    return [
        f"- Larger ε, fewer violations (EM): in {sum(falls)} of {len(falls)} steps.",
        f"- AmPL against EM: {count('AmPL', 'EM')}; signed-rank p over all pairs {signed:.3g} "
        "(pairs of one seed share documents, so this p flatters).",
        f"- AmPL-U against EM: {count('AmPL-U', 'EM')}.",
        f"- AmPL-I against EM: {count('AmPL-I', 'EM')}.",
        f"- Attacker that finds most under EM, by data and ε: {shown}.",
        f"- Remap lowers EM's loss by {100 * min(drops):.0f} to {100 * max(drops):.0f} %.",
        f"- EM against releases that carry nothing: {count('EM', 'nothing')}.",
    ]


def write(folder: Path, lines: Iterable[Line]) -> None:
    """ampl_tables.md from its template of findings, and four charts."""
    from ampl_exact import exact_differences, exact_table

    found = Found(lines)
    seconds = sum(line.get("seconds", 0) for line in [*found.cells.values(),
                                                      *found.adapted.values()])  # fmt: skip
    text = [
        "# AmPL's tables, measured",
        "",
        "`python benchmarks/ampl_tables.py run` and `tables`; see its docstring for the protocol.",
        f"{DOCUMENTS} documents a seed (60/20/20), first {LONGEST} words, {CANDIDATES} candidates, "
        f"GloVe 50d, at most {EPOCHS} epochs of batches of {BATCH}; seeds {found.seeds}; "
        f"{seconds / 60:.0f} minutes of one core in all. The head is "
        "cross-entropy over candidates, calibrated.",
        "",
        (folder / "ampl_findings.md").read_text().strip()
        if (folder / "ampl_findings.md").exists() else "",
        "",
        "## Counted",
        "",
        *orderings(found),
        "",
        "## Table 1: violations of mPL ≤ ε, % of triples (mean over documents ± sd over seeds)",
        *table_1(found),
        "",
        "`nothing`: sensitive words drawn uniformly, so that the true leakage is 0; what is",
        "counted there is the attacker's own error.",
        "",
        "## The exact attacker",
        "",
        *exact_table(found),
        "",
        "It knows the law and how sensitive words follow one another in the block for adapting. It",
        "computes its beliefs exactly: nothing here is an attacker's error (`nothing` shows 0).",
        "Mean over seeds ± sd; a document counts if any pair of candidates moved by more than ε.",
        "",
        *exact_differences(found),
        "",
        "## Is the difference real, for the learned attackers?",
        "",
        *real_or_not(found),
        "",
        "Paired by seed: the same documents, split, random numbers and initial weights. Below 0:",
        "the first has fewer violations. An interval that holds 0 shows no difference.",
        "",
        "## Strengths chosen, and what they cost",
        "",
        *chosen_table(found),
        "",
        "Losses are exact expectations under the public prior. The last column is the exact",
        "largest leakage of one release alone to somebody who knows the law. With equal strengths",
        "it is below ε by theorem; with unequal ones the theorem holds within a tier only, and",
        "between tiers it can be larger than EM's.",
        "",
        "## Table 3: δ̃ = 1.05·δ* for AmPL",
        "",
        *table_3(found),
        "",
        "## The paper's own head (squared error, Gaussian softmax), calibrated: AG News, ε = 0.3",
        "",
        *other_head(found),
        "",
        "## Figures",
        "",
        "![Figure 3](ampl_figure_3.png)",
        "![Figure 4](ampl_figure_4.png)",
        "![Figure 8](ampl_figure_8.png)",
        "![Figure 9](ampl_figure_9.png)",
    ]  # fmt: skip
    (folder / "ampl_tables.md").write_text("\n".join(text) + "\n")
    from ampl_charts import charts

    charts(folder, found)
