"""Whether a language model reads draws better than public text alone: `--restore --rerank`.

    python benchmarks/rerank.py run [--sentences 200]      # again until all cells are there
    python benchmarks/rerank.py table                      # writes results/rerank.md

Run from the root of a checkout that has shared/data beside it. Sentences of SNIPS' test set are
drawn by TEM and read with public text of their kind (SNIPS' training set) or of another (AG News),
without and with the packaged SmolLM2. How much the model counts is chosen by `--rerank` itself, on
held-out public texts. Cells are kept in results/rerank.jsonl.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import voile
from voile.restoring.reranking import SHARES
from voile.text import reranker
from voile.text.tokens import Token, Tokenizer
from voile.text.vocabulary_files import glove

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results"
LINES = RESULTS / "rerank.jsonl"
PLAN = [("its kind", 4.0), ("another kind", 4.0), ("its kind", 3.0)]


def public_texts(kind: str) -> list[str]:
    if kind == "its kind":
        return (DATA / "snips" / "train" / "seq.in").read_text("utf-8").splitlines()[:4000]
    with (DATA / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        return [row[2] for row in csv.reader(file)][:4000]


def words_right(before: list[str], after: list[str]) -> tuple[int, int]:
    """Words that stand in their order, and how many there are; texts are aligned by their words."""
    tokenizer, right, total = Tokenizer(glove()), 0, 0
    for pair in zip(before, after, strict=True):
        known, read = (
            [piece.position for piece in tokenizer.split(text) if isinstance(piece, Token)]
            for text in pair
        )
        total += len(known)
        if len(known) == len(read):
            right += sum(a == b for a, b in zip(known, read, strict=True))
        else:
            blocks = SequenceMatcher(None, known, read, autojunk=False).get_matching_blocks()
            right += sum(block.size for block in blocks)
    return right, total


def remembered() -> Callable[[Sequence[str]], np.ndarray]:
    """The model's scores, each text scored once."""
    score, known = reranker._scores("packaged"), dict[str, float]()

    def found(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in texts if text not in known]
        if new:
            known.update(zip(new, score(new).tolist(), strict=True))
        return np.array([known[text] for text in texts])

    return found


WEIGHED = reranker.Reranker.weighed


def with_share(*_: object, share: float) -> object:
    """What `weighed` answers where the share is not chosen."""
    return SimpleNamespace(used=reranker.ModelUsed("packaged", share, 0, 0.0, 0.0))


def run(count: int, most: int) -> None:
    """The first cells that no line has yet, at most so many."""
    tests = (DATA / "snips" / "test" / "seq.in").read_text("utf-8").splitlines()
    texts = [text.strip() for text in tests[:count]]
    kept = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    done = {(cell["public"], cell["ε"], cell["sentences"]) for cell in kept}
    scores = remembered()
    reranker._scores = lambda name: scores
    left = [(kind, epsilon) for kind, epsilon in PLAN if (kind, epsilon, count) not in done]
    for kind, epsilon in left[:most]:
        cell = {"public": kind, "ε": epsilon, "sentences": count}
        given = {"epsilon": epsilon, "restore": "reading", "public": public_texts(kind),
                 "misfit": "ignore", "seed": 1}  # fmt: skip
        began = time.process_time()
        release = voile.text.protect(texts, **given)
        cell["without: s"] = time.process_time() - began
        cell["without"], cell["words"] = words_right(texts, list(release.data))
        began = time.process_time()
        release = voile.text.protect(texts, rerank="packaged", **given)
        model = release.restored.model
        cell |= {"share": model.share, "held out": model.texts, "held out with": model.with_it,
                 "held out without": model.without}  # fmt: skip
        cell["chosen"], _ = words_right(texts, list(release.data))
        cell["shares"] = {}
        for share in SHARES:
            forced = partial(with_share, share=share)
            reranker.Reranker.weighed = forced  # type: ignore[method-assign]
            release = voile.text.protect(texts, rerank="packaged", **given)
            reranker.Reranker.weighed = WEIGHED  # type: ignore[method-assign]
            cell["shares"][f"{share:g}"], _ = words_right(texts, list(release.data))
        cell["with: s"] = time.process_time() - began
        with LINES.open("a", encoding="utf-8") as file:
            file.write(json.dumps(cell, ensure_ascii=False) + "\n")
        print(cell, flush=True)


def not_run(cells: list[dict[str, Any]]) -> str:
    """Which cells of the plan have no line."""
    done = {(cell["public"], cell["ε"]) for cell in cells}
    left = [f"{kind} at ε = {epsilon:g}" for kind, epsilon in PLAN if (kind, epsilon) not in done]
    return f" Not run: {', '.join(left)}." if left else ""


def table() -> None:
    cells = [json.loads(line) for line in LINES.read_text("utf-8").splitlines()]
    shown = " | ".join(f"at {share:g}" for share in SHARES)
    lines = [
        "# A language model beside public text",
        "",
        "`python benchmarks/rerank.py run`, then `table`. SNIPS (test), TEM over 50,000 words of "
        "GloVe 50d, one seed, the same draws in all columns; the packaged SmolLM2-135M weighs the "
        "8 likeliest readings of each sentence. “Chosen” is what `--rerank` does, with the share "
        "of the model's word that it chooses on held-out public texts (0: not used); then words "
        "right at each share, whatever is chosen (–: not run). CPU seconds: without, and with."
        f"{not_run(cells)}{''.join(' ' + cell['note'] for cell in cells if 'note' in cell)}",
        "",
        f"| public text | ε | sentences, words | without | chosen: share | words right | {shown} | "
        "held out: without, chosen | s |",
        "| --- " * (8 + len(SHARES)) + "|",
    ]
    for cell in cells:
        words = cell["words"]
        tried = [cell["shares"].get(f"{share:g}") for share in SHARES]
        forced = " | ".join("–" if right is None else f"{right / words:.3f}" for right in tried)
        lines.append(
            f"| {cell['public']} | {cell['ε']:g} | {cell['sentences']:,}, {words:,} | "
            f"{cell['without'] / words:.3f} | {cell['share']:g} | {cell['chosen'] / words:.3f} | "
            f"{forced} | {cell['held out without']:.3f}, {cell['held out with']:.3f} | "
            f"{cell['without: s']:.0f}, {cell['with: s']:.0f} |"
        )
    (RESULTS / "rerank.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """One of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--cells", type=int, default=len(PLAN), help="make so many at most")
    asked = parser.parse_args()
    run(asked.sentences, asked.cells) if asked.what == "run" else table()


if __name__ == "__main__":
    main()
