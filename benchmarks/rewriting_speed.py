"""DP-Prompt's rewriting beside transformers' own sampling: same model, prompts, temperature, cap.

    python benchmarks/rewriting_speed.py [--texts 192] [--copies 20] [--epsilon 100 250]

Run from the root of a checkout that has shared/data beside it. `generate` is what a script would
call: temperature sampling over all tokens in float32, texts padded in batches of 64, no bound. CPU
seconds, one thread, in one process, in turn; once for different texts, and once for 60 texts that
are each written `copies` times, as an audit does. Writes results/rewriting_speed.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from teda_figures import DATA

import voile
from voile.rewriting.dp_prompt import chat_question, dp_prompt
from voile.rewriting.models import packaged_model
from voile.rewriting.workshop import BOUND_PROMPTS

RESULTS = Path(__file__).parent / "results"
CAP = 16


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=192)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--epsilon", nargs="*", type=float, default=(10.0, 100.0, 250.0, 1000.0))
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    language = packaged_model()
    question = chat_question(language)
    rewriter = dp_prompt(language, epsilon=1.0, max_new_tokens=CAP, question=question)
    rewriter = rewriter.bounded_by(BOUND_PROMPTS)
    tokenizer, model = language.tokenizer, language.model
    tokenizer.padding_side = "left"

    def plain(texts: list[str], temperature: float) -> None:
        texts = sorted(texts, key=len)
        for start in range(0, len(texts), rewriter.batch):
            prompts = [question(text) for text in texts[start : start + rewriter.batch]]
            inputs = tokenizer(prompts, return_tensors="pt", padding=True)
            with torch.inference_mode():
                model.generate(
                    **inputs, do_sample=True, temperature=temperature, top_k=0, top_p=1.0,
                    max_new_tokens=CAP, pad_token_id=language.padding,
                )  # fmt: skip

    lines = (DATA / "atis" / "train" / "seq.in").read_text(encoding="utf-8").splitlines()
    known = list(dict.fromkeys(lines))
    works = {
        f"{chosen.texts} different texts": known[: chosen.texts],
        f"60 texts, {chosen.copies} times each": known[:60] * chosen.copies,
    }
    rows: list[str] = []
    for name, texts in works.items():
        for epsilon in chosen.epsilon:
            made = rewriter.at(epsilon)
            rng = voile.seeded_rng(0)
            ours = seconds(lambda made=made, texts=texts, rng=rng: made.tokens(texts, rng))
            theirs = seconds(lambda made=made, t=texts: plain(t, made.sampler.temperature))
            each = [f"{1000 * s / len(texts):.0f}" for s in (ours, theirs)]
            rows.append(f"| {name} | {epsilon:g} | {' | '.join(each)} | {theirs / ours:.1f} |")
            print(rows[-1], flush=True)
            write(rows)


def write(rows: list[str]) -> None:
    """The table so far: an interrupted run leaves what it has measured."""
    head = [
        "# DP-Prompt's rewriting beside transformers' `generate`",
        "",
        f"By `python {' '.join(sys.argv)}`: the packaged model, ATIS, up to 16 tokens, one "
        "thread; CPU milliseconds a text. Ours draws exactly, under the bound; `generate` samples "
        f"in float32 without one. Load average {os.getloadavg()[0]:.1f} at the end.",
        "",
        "| work | ε a token | voile | `generate` | ratio |",
        "| --- | --- | --- | --- | --- |",
    ]
    (RESULTS / "rewriting_speed.md").write_text("\n".join([*head, *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
