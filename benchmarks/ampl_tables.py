"""Table 1 and Figures 3, 8 and 9 of the mPL paper on real documents: cells, and the page of them.

    python benchmarks/ampl_tables.py run [--datasets ag_news] [--only exact networks size cap]
    python benchmarks/ampl_tables.py tables

Cells are those of `voile reproduce ampl-1 --size paper` (`voile.reproducing.ampl`), kept in
results/ampl_cells.jsonl as they come; `run` makes those that are missing, in the order of what
they are worth, and stops after --seconds; `tables` writes results/ampl_tables.md. The release is
the one that `voile text protect --tiers pii,poii` draws from, over 50,001 words (GloVe 50d),
without a remap. The exact attacker knows the law and how sensitive words follow one another in the
documents of the search: forward–backward on a Markov chain, which trusts its counts as far as
documents that were left out ask for. Networks know the law too and learn the rest from the
documents of the search.

Sizes (the paper's in brackets): first 30 words of a document (all), the 200 most frequent secrets
(all sensitive words). Strengths are chosen on 6,400 documents and judged on 1,000 that nothing was
chosen on. All methods share documents and random numbers: differences are paired.

Methods: EM: strengths 1, 1. AmPL-U, AmPL-I, AmPL: a compass search of at most 10 rounds that
lowers the loss alone, moves the strength of names alone, or moves both; of the rounds within 1 % of
documents the cheapest is taken, or else the best sum of violations and loss. `even`: both strengths
lowered together until 1 % of the documents hold a violation. `even at AmPL's loss`: lowered
together until they cost what AmPL costs. `capped`: lowered together until the *proved* worst joint
leakage under the chain is at most ε. `nothing`: one word in place of every secret.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from voile.leakage.bounds import bernstein_interval, clopper_pearson
from voile.reproducing.ampl import (
    BLIND,
    EPSILONS,
    FILE,
    METHODS,
    NETWORKS,
    PAPERS,
    QUANTILES,
    Bench,
)
from voile.reproducing.ampl_documents import DATASETS, PAPER
from voile.reproducing.ampl_tables import attacked
from voile.reproducing.experiment import Work

RESULTS = Path(__file__).parent / "results"
SAID = Path(__file__).with_name("ampl_tables_said.md")
NAMES = DATASETS
SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
Line = dict[str, Any]
Make = Callable[[], Line]


def exact(bench: Bench, datasets: list[str]) -> Iterator[Make]:
    """What is chosen, and the exact attacker on every block, the largest epsilon first."""
    for epsilon in reversed(EPSILONS):
        for dataset in datasets:
            for method in METHODS if epsilon == EPSILONS[-1] else ("EM", "nothing"):
                for block in range(bench.sizes.blocks) if method != "capped" else ():
                    yield lambda d=dataset, e=epsilon, m=method, b=block: bench.judged(d, e, m, b)


def networks(bench: Bench, datasets: list[str]) -> Iterator[Make]:
    """Every network: what table 1 asks of it, and the control on the first data set."""
    first, most = next(iter(DATASETS)), EPSILONS[-1]
    for attacker in NETWORKS:
        for dataset in datasets:
            blind = (BLIND,) if dataset == first else ()
            for method in (*attacked(dataset, attacker), *blind):
                yield lambda d=dataset, m=method, a=attacker: bench.learned(d, most, m, a)


def size(bench: Bench, datasets: list[str]) -> Iterator[Make]:
    """An LSTM that has read fewer documents: figure 9."""
    for part in (64, 16, 4):
        read = bench.sizes.search // part
        yield lambda n=read: bench.learned(datasets[0], EPSILONS[-1], "EM", "lstm", n)


def cap(bench: Bench, datasets: list[str]) -> Iterator[Make]:
    """Strengths with a proof; a minute and a half of the bound for each."""
    for block in range(bench.sizes.blocks):
        yield lambda b=block: bench.judged(datasets[0], EPSILONS[-1], "capped", b)


PARTS = {"exact": exact, "networks": networks, "size": size, "cap": cap}


def run(options: argparse.Namespace) -> None:
    """Make the cells that are missing until the time is up."""
    bench = Bench(Work("paper", options.data, RESULTS))
    began = time.process_time()
    for part in options.only:
        for make in PARTS[part](bench, options.datasets):
            if time.process_time() - began > options.seconds:
                return
            found = make()
            hidden = ("any", "tried", "quantiles")
            print({k: v for k, v in found.items() if k not in hidden}, flush=True)


def lines() -> list[Line]:
    """What was computed so far."""
    path = RESULTS / FILE
    kept = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in kept if line.strip()]


def tables(_: argparse.Namespace) -> None:
    """The page from the lines."""
    every = lines()
    out = ["# Strengths of tiers: what they leak to attackers, and cost", ""]
    out += [SAID.read_text().strip(), "", "## How", ""]
    out += ["```text", *(__doc__ or "").strip().splitlines(), "```", ""]
    for dataset, name in NAMES.items():
        for epsilon in EPSILONS:
            out += table(every, dataset, name, epsilon)
    out += [*before_networks(every), *tried(every)]
    seconds = sum(line.get("seconds", 0) for line in every)
    out += [f"{seconds / 60:.0f} minutes of CPU in all.", ""]
    (RESULTS / "ampl_tables.md").write_text("\n".join(out))


def table(every: list[Line], dataset: str, name: str, epsilon: float) -> list[str]:
    """One data set at one epsilon."""
    here = [x for x in every if x["dataset"] == dataset and x["epsilon"] == epsilon]
    choice = next((x for x in here if x["kind"] == "chosen"), {"strengths": {"EM": [1.0, 1.0]}})
    if not here:
        return []
    joint = next((x for x in here if x["kind"] == "capped"), None)
    if joint is not None and joint["strength"] is not None:
        choice["strengths"]["capped"] = [joint["strength"]] * 2
    by = {
        method: sorted(
            (x for x in here if x["kind"] == "judged" and x["method"] == same(choice, method)),
            key=lambda x: x["block"],
        )
        for method in METHODS
    }
    out = [
        f"## {name}, ε = {epsilon:g}",
        "",
        "| method | strengths | documents with a violation, % (95 %) | over EM, points (95 %) | "
        "triples, ppm | largest leakage | loss | over nothing, % |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    if not (by["EM"] and by["nothing"]):
        return []
    free = np.mean([x["loss"] for x in by["nothing"]])
    plain = np.concatenate([x["any"] for x in by["EM"]])
    for method, found in by.items():
        if not found:
            continue
        loss = np.mean([x["loss"] for x in found])
        strengths = choice["strengths"].get(method)
        shown = "–" if strengths is None else ", ".join(f"{s:.3g}" for s in strengths)
        values = np.concatenate([x["any"] for x in found]) if strengths else np.zeros(len(plain))
        low, high = clopper_pearson(int(values.sum()), len(values), failure_probability=0.05)
        left, right = bernstein_interval(values - plain, low=-1, high=1, failure_probability=0.05)
        beside = (
            ""
            if method == "EM"
            else f"{100 * (values - plain).mean():+.1f} ({100 * left:+.1f} to {100 * right:+.1f})"
        )
        share = (
            f"{100 * values.mean():.1f} ({100 * low:.1f} to {100 * high:.1f})" if strengths else "0"
        )
        ppm = 1e6 * np.mean([x["triples"] for x in found])
        largest = max(x["largest"] for x in found)
        out.append(
            f"| {method} | {shown} | {share} | {beside} | {ppm:.2g} | {largest:.2f} | {loss:.4f} | "
            f"{100 * (loss / free - 1):+.1f} |"
        )
    two = ("AmPL", "even at AmPL's loss")
    if (
        all(by[method] for method in two)
        and len({*map(str, map(choice["strengths"].get, two))}) > 1
    ):
        adapted, even = (np.concatenate([x["any"] for x in by[method]]) for method in two)
        worse, differ = int((adapted > even).sum()), int((adapted != even).sum())
        low, high = clopper_pearson(worse, differ, failure_probability=0.05)
        out += [
            "",
            f"AmPL against strengths lowered together at its loss: in {worse} of the {differ} "
            "documents in which one violates and the other does not, it is AmPL that does "
            f"({100 * low:.0f} to {100 * high:.0f} %, where 50 % would be even).",
        ]
    if joint is None:
        return [*out, ""]
    capped_at = "none" if joint["joint"] is None else f"{joint['joint']:.3g}"
    out += [
        "",
        f"Proved worst joint leakage under the chain, documents of at most {joint['length']} "
        f"secrets: EM {joint['plain']:.3g}, capped {capped_at}.",
        "",
    ]
    return out


def same(choice: Line, method: str) -> str:
    """The first method that chose the same strengths: it was run, and is the same run."""
    own = choice["strengths"].get(method)
    return next((m for m in PAPERS if own and choice["strengths"].get(m) == own), method)


def before_networks(every: list[Line]) -> list[str]:
    """The networks' lines beside the exact attacker's."""
    found = [x for x in every if x["kind"] == "learned"]
    if not found:
        return []
    out = [
        f"## Networks on the same release, ε = {EPSILONS[-1]:g}, {PAPER.fresh:,} documents",
        "",
        "Gained: nats a secret, on these documents; by networks over shuffled releases, by the "
        "exact attacker over each secret's own release. Percentages in the head: the leakage that "
        "so many of the triples stay below.",
        "",
        "| data | method | attacker | read | documents with a violation, % (95 %) | triples, ppm | "
        + " | ".join(f"{100 * q:g} %" for q in QUANTILES) + " | largest | gained |",
        "| --- | --- | --- | ---: | ---: | ---: |" + " ---: |" * (len(QUANTILES) + 2),
    ]  # fmt: skip
    exact = [
        x | {"attacker": "exact", "read": PAPER.search} for x in every
        if x["kind"] == "judged" and x["block"] == 0 and x["epsilon"] == EPSILONS[-1]
        and x["method"] in PAPERS
    ]  # fmt: skip
    order = (*PAPERS, BLIND)
    for x in sorted(
        [*exact, *found],
        key=lambda x: (list(NAMES).index(x["dataset"]), order.index(x["method"]), x["attacker"]),
    ):
        low, high = clopper_pearson(sum(x["any"]), len(x["any"]), failure_probability=0.05)
        gain = f"{x['gain']:.3g}" + ("" if x.get("shown", True) else ", not shown")
        out.append(
            f"| {NAMES[x['dataset']]} | {x['method']} | {x['attacker']} | {x['read']} | "
            f"{100 * np.mean(x['any']):.1f} ({100 * low:.1f} to {100 * high:.1f}) | "
            f"{1e6 * x['triples']:.3g} | " + " | ".join(f"{q:.3g}" for q in x["quantiles"])
            + f" | {x['largest']:.2f} | {gain} |"
        )  # fmt: skip
    return [*out, ""]


def tried(every: list[Line]) -> list[str]:
    """All strengths that the searches tried: Figure 8."""
    found = [x for x in every if x["kind"] == "chosen" and x["epsilon"] == EPSILONS[-1]]
    if not found:
        return []
    out = [
        f"## Strengths that were tried at ε = {EPSILONS[-1]:g} (a fifth of the documents of the "
        "search)", "",
        "| data | names | words close to names | documents with a violation, % | loss |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]  # fmt: skip
    for x in found:
        for names, words, share, loss in sorted(x["tried"], key=lambda point: point[2]):
            out.append(
                f"| {NAMES[x['dataset']]} | {names:g} | {words:g} | {100 * share:.1f} | "
                f"{loss:.4f} |"
            )
    return [*out, ""]


def main() -> None:
    """Parse and do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHARED)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("--datasets", nargs="+", choices=tuple(NAMES), default=list(NAMES))
    running.add_argument("--only", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    running.add_argument("--seconds", type=float, default=540.0, help="CPU seconds at most")
    running.set_defaults(do=run)
    commands.add_parser("tables").set_defaults(do=tables)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
