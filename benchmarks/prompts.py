"""A model's answers to protected prompts beside its answers to the originals.

    python benchmarks/prompts.py [--prompts 40]       # writes results/prompts.md

Run from the root of a checkout that has shared/data beside it. A prompt asks what a news item (AG
News) is about, in one sentence; the item is protected in several ways before it is asked about, and
the packaged SmolLM2-135M answers greedily, so that equal prompts have equal answers. An answer is
compared with that to the original by sentence vectors (Universal Sentence Encoder). `pseudonyms`
goes there and back: stand-ins are sent, and the names are put back into the answer. Cells are
kept in results/prompts.jsonl.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import voile
from voile.leakage.text_utility import universal_sentence_encoder
from voile.rewriting.language_model import LanguageModel, Reading
from voile.rewriting.models import packaged_model

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "ag_news" / "test.csv"
RESULTS = Path(__file__).parent / "results"
LINES = RESULTS / "prompts.jsonl"
ASKED = "In one short sentence, what is this news item about? {}"
TOKENS, PUBLIC, SHOWN = 30, 3000, 5


def items() -> list[str]:
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = [row[2] for row in csv.reader(file)]
    order = np.random.default_rng(21).permutation(len(rows))
    return [rows[i] for i in order if 12 <= len(rows[i].split()) <= 40]


def answers(language: LanguageModel, texts: list[str]) -> list[str]:
    """The model's greedy answers, one text at a time, so that none depends on its company."""
    found = []
    for text in texts:
        asked = language.tokenizer.apply_chat_template(
            [{"role": "user", "content": ASKED.format(text)}],
            add_generation_prompt=True,
            tokenize=False,
        )
        row = language.tokenizer(asked, add_special_tokens=False)["input_ids"]
        reading, tokens = Reading(language, [tuple(row)]), []
        for _ in range(TOKENS):
            token = int(reading.logits()[0].argmax())
            if token in language.line_ends:
                break
            tokens.append(token)
            reading.follow([0], [token])
        found.append(language.tokenizer.decode(tokens).strip())
    return found


Asking = Callable[[list[str]], list[str]]


def ways(public: list[str]) -> dict[str, Callable[[list[str], Asking], list[str]]]:
    """From the originals to the answers that their owner reads."""

    def protected(**options: Any) -> Callable[[list[str], Asking], list[str]]:
        return lambda texts, ask: ask(list(voile.text.protect(texts, seed=3, **options).data))

    def there_and_back(texts: list[str], ask: Asking) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            kept = {"mapping_key": f"{folder}/names.key"}
            sent = voile.text.protect(
                texts, pseudonyms=True, keep_mapping=f"{folder}/names.map", **kept
            )
            back = voile.text.reveal(ask(list(sent.data)), mapping=f"{folder}/names.map", **kept)
            return list(back.data)

    found: dict[str, Callable[[list[str], Asking], list[str]]] = {
        "originals": lambda texts, ask: ask(texts),
        "pseudonyms, there and back": there_and_back,
    }
    for epsilon in (4.0, 6.0, 3.0):
        found[f"ε = {epsilon:g}, as drawn"] = protected(epsilon=epsilon)
        found[f"ε = {epsilon:g}, restored"] = protected(
            epsilon=epsilon, restore="reading", public=public
        )
    return found


def run(count: int) -> None:
    """Every way that no line has yet."""
    texts = items()
    public, private = texts[:PUBLIC], texts[PUBLIC : PUBLIC + count]
    kept = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    done = {cell["way"] for cell in kept}
    language, sent = packaged_model(), list[str]()

    def ask(texts: list[str]) -> list[str]:
        sent[:] = texts
        return answers(language, texts)

    for name, way in ways(public).items():
        if name not in done:
            began = time.process_time()
            found = way(private, ask)
            cell = {"way": name, "prompts": sent[:SHOWN], "answers": found,
                    "seconds": time.process_time() - began}  # fmt: skip
            with LINES.open("a", encoding="utf-8") as file:
                file.write(json.dumps(cell, ensure_ascii=False) + "\n")
            print(name, f"{cell['seconds']:.0f} s", flush=True)


def names_in(text: str) -> set[str]:
    """Words with a capital that do not begin a sentence, as names mostly are."""
    return set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", text))


def table() -> None:
    cells = {cell["way"]: cell for cell in map(json.loads, LINES.read_text().splitlines())}
    given = cells["originals"]["answers"]
    cells["another item"] = {"answers": [*given[1:], given[0]], "seconds": 0.0}
    missing = [way for way in ways([]) if way not in cells]
    encode = universal_sentence_encoder()
    first = np.asarray(encode(cells["originals"]["answers"]))
    lines = [
        "# A model's answers to protected prompts",
        "",
        f"`python benchmarks/prompts.py`: {len(first)} prompts “{ASKED.format('…')}” about AG News "
        f"items, answered greedily by the packaged SmolLM2-135M, at most {TOKENS} tokens; TEM over "
        f"50,000 words of GloVe 50d, {PUBLIC:,} other items as public text, one seed. Similarity: "
        "mean cosine (Universal Sentence Encoder) of an answer to that of the original prompt, ± "
        "one standard error. “The same” answers word by word; “names” of the original's answer "
        "that stand in this one too. “Another item” is what an answer to something else has."
        + (f" Not run for this page: {', '.join(missing)}." if missing else ""),
        "",
        "| prompts | similarity | the same | names | CPU s |",
        "| --- | --- | --- | --- | --- |",
    ]
    base = cells["originals"]["answers"]
    named = sum(len(names_in(text)) for text in base)
    for name, cell in cells.items():
        other = np.asarray(encode(cell["answers"]))
        cosines = (first * other).sum(axis=1)
        cosines /= np.linalg.norm(first, axis=1) * np.linalg.norm(other, axis=1)
        error = cosines.std(ddof=1) / np.sqrt(len(cosines))
        same = sum(a == b for a, b in zip(base, cell["answers"], strict=True))
        kept = sum(
            sum(word in new for word in names_in(old))
            for old, new in zip(base, cell["answers"], strict=True)
        )
        lines.append(
            f"| {name} | {cosines.mean():.3f} ± {error:.3f} | {same} of {len(base)} | "
            f"{kept} of {named} | {cell['seconds']:.0f} |"
        )
    lines += ["", "## Five prompts, and what came back", ""]
    for place in range(SHOWN):
        lines += ["| | prompt as it was sent | answer as its owner reads it |", "| --- " * 3 + "|"]
        for name, cell in cells.items():
            if name != "another item":
                shown = (cell["prompts"][place], cell["answers"][place])
                told = (text.replace("|", "/").replace("\n", " ") for text in shown)
                lines.append(f"| {name} | {' | '.join(told)} |")
        lines.append("")
    (RESULTS / "prompts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=24)
    asked = parser.parse_args()
    run(asked.prompts)
    table()


if __name__ == "__main__":
    main()
