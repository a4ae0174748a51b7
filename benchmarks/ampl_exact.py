"""What the exact attacker of ampl_tables.py finds, as tables."""

from __future__ import annotations

import numpy as np
from ampl_report import METHODS, NAMES, Found, interval, share
from ampl_tables import DATASETS, EPSILONS, Line


def exact_table(found: Found) -> list[str]:
    """What the exact attacker finds: triples, documents with any violation, and the largest."""
    heads = " | ".join(f"ε = {e:g}: triples, ppm | documents, % | largest" for e in EPSILONS)
    out = [f"| data | method | {heads} |", "| --- | --- |" + " ---: | ---: | ---: |" * 3]
    for dataset in DATASETS:
        for method in METHODS:
            row = []
            for epsilon in EPSILONS:
                lines = found.by_seed(dataset, "markov", epsilon, method)
                if not lines:
                    row += ["–", "–", "–"]
                    continue
                ppm, documents = [1e4 * share(x) for x in lines], [any_share(x) for x in lines]
                row += [_spread(ppm), _spread(documents), f"{max(x['largest'] for x in lines):.2f}"]
            out.append(f"| {NAMES[dataset]} | {method} | " + " | ".join(row) + " |")
    return out


def _spread(values: list[float]) -> str:
    more = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):.2f}{more}"


def any_share(line: Line) -> float:
    """Percent of documents in which some pair moved by more than the cell's own epsilon."""
    return float(broken(line).mean())


def broken(line: Line) -> np.ndarray:
    """100 for each document with a violation, 0 for the others."""
    return 100.0 * (np.array(line["documents_ppb"]) > 0)


def exact_differences(found: Found) -> list[str]:
    """AmPL-X against EM before the exact attacker: documents and loss, with intervals."""
    out = [
        "| data | ε | documents with a violation, EM | AmPL-X | difference, points (95 %: over "
        "seeds; over documents) | loss after the remap, EM | AmPL-X | change |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    rng = np.random.default_rng(0)
    for dataset in DATASETS:
        for epsilon in EPSILONS:
            em = found.by_seed(dataset, "markov", epsilon, "EM")
            ours = found.by_seed(dataset, "markov", epsilon, "AmPL-X")
            if not em:
                continue
            gaps = [any_share(b) - any_share(a) for a, b in zip(em, ours, strict=True)]
            mean, low, high = interval(gaps)
            each = np.concatenate([broken(x) for x in ours]) - np.concatenate(
                [broken(x) for x in em]
            )
            drawn = each[rng.integers(len(each), size=(2000, len(each)))].mean(axis=1)
            least, most = np.quantile(drawn, [0.025, 0.975])
            losses = [
                found.utility[dataset, epsilon, found.strengths(dataset, epsilon, m)]["remapped"]
                for m in ("EM", "AmPL-X")
            ]
            out.append(
                f"| {NAMES[dataset]} | {epsilon:g} | {np.mean([any_share(x) for x in em]):.2f} % | "
                f"{np.mean([any_share(x) for x in ours]):.2f} % | {mean:+.2f} ({low:+.2f} … "
                f"{high:+.2f}; {least:+.2f} … {most:+.2f}) | {losses[0]:.5f} | {losses[1]:.5f} | "
                f"{100 * (losses[1] / losses[0] - 1):+.2f} % |"
            )
    return out
