"""Attribution by a language model that is asked which candidate was the source."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.attackers.endpoint import Ask
from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.files.modes import open_private
from voile.progress import tell

_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ANSWER = re.compile(r"answer:\s*\[\[\s*([0-9]{1,3})\s*\]\]\s*\.?", re.IGNORECASE)
ONE_SIDED = 0.9
"""Share of replies that name one and the same position from which a judge did not compare."""
FEWEST = 20
"""Replies below which no such share is taken for more than chance."""


@dataclass
class LlmJudge:
    """A language model names the candidate; the prompt is that of TeDA's appendix B.

    A reply must be `answer: [[N]]` with N among the candidates (`parse`). Anything else counts as a
    fair guess, and `note` says how many there were. The source stands at a random position, so a
    judge that names one position whatever it is shown did not compare: `note` says that too, and
    `is_evidence` is False. With `kept`, every reply is written to that file as it comes and never
    asked for again: paid work survives an interruption. `whom` says which model at which address
    was asked; the replies of another are not taken for its own.

    >>> import numpy as np
    >>> judge = LlmJudge(lambda prompts: ["answer: [[2]]", "It is the first."])
    >>> judge.scores(["a", "b"], np.array([[0, 1], [1, 0]]), ["x", "y"])
    array([[0., 1.],
           [0., 0.]])
    >>> judge.note
    '1 of 2 replies could not be read and count as fair guesses'
    """

    ask: Ask
    name: str = "llm"
    kept: Path | None = None
    whom: str = ""
    note: str = field(default="", init=False)
    is_evidence: bool = field(default=True, init=False)

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """1 for the named candidate, 0 for the others; all 0 where the reply was not understood."""
        check_trials(pool, sets, releases)
        prompts = [
            prompt([pool[i] for i in members], release)
            for members, release in zip(sets.tolist(), releases, strict=True)
        ]
        replies = self._replies(prompts)
        named = [parse(reply, candidates=sets.shape[1]) for reply in replies]
        table = np.zeros(sets.shape)
        for row, column in enumerate(named):
            if column is not None:
                table[row, column] = 1.0
        self._note(named)
        return table

    def _note(self, named: Sequence[int | None]) -> None:
        """What the replies say of the judge itself."""
        read = [column for column in named if column is not None]
        unread, notes = len(named) - len(read), []
        if unread:
            notes.append(
                f"{unread:,} of {len(named):,} replies could not be read and count as fair guesses"
            )
        most = max(map(read.count, set(read)), default=0)
        one_sided = len(read) >= FEWEST and most >= ONE_SIDED * len(read)
        if one_sided:
            notes.append(
                f"it named the same position in {most:,} of {len(read):,} replies, wherever the "
                "source stood: it did not compare, and what it failed to show is no evidence"
            )
        self.is_evidence = bool(read) and not one_sided
        self.note = "; ".join(notes)

    def _replies(self, prompts: Sequence[str]) -> list[str]:
        keys = [_key(self.whom, text) for text in prompts]
        known = _read(self.kept) if self.kept else {}
        waiting = list({key: i for i, key in enumerate(keys) if key not in known}.values())
        replies = iter(self.ask([prompts[i] for i in waiting]))
        with open_private(self.kept, "a", encoding="utf-8") if self.kept else nullcontext() as file:
            for count, (i, reply) in enumerate(zip(waiting, replies, strict=False), start=1):
                known[keys[i]] = reply
                if file:
                    # the break comes first: a line cut off by a crash spoils itself alone
                    file.write("\n" + json.dumps([keys[i], reply]))
                    file.flush()
                tell("questions answered by the judge", done=count, total=len(waiting))
        lost = sum(key not in known for key in keys)
        require(not lost, "replies", f"one for each of {len(waiting)} prompts", f"{lost} fewer")
        return [known[key] for key in keys]


def prompt(candidates: Sequence[str], release: str) -> str:
    """The question: the release, the numbered candidates, and the form of the answer.

    >>> prompt(["a", "b"], "x").splitlines()[-1]
    'Which candidate is most likely the original?'
    """
    numbered = "\n".join(f"{n}. {text}" for n, text in enumerate(candidates, start=1))
    return (
        "You are given a rewritten text Y and several candidate original texts. Your task is to "
        "identify which candidate is the most likely original text that was rewritten to produce "
        "Y.\nOutput format. Answer with exactly the following format on a single line: "
        f"answer: [[N]], where N is one of 1 to {len(candidates)}. Do not include analysis or "
        f"any additional text.\nRewritten text Y:\n{release}\nCandidate original texts:\n"
        f"{numbered}\nWhich candidate is most likely the original?"
    )


def parse(reply: str, *, candidates: int) -> int | None:
    r"""The candidate's column, or None where the reply is not of the form asked for.

    >>> parse(" answer: [[2]]\n", candidates=2), parse("answer: [[3]]", candidates=2)
    (1, None)
    >>> parse("<think>The first? No.</think> **Answer: [[2]].**", candidates=2)
    1
    """
    found = _ANSWER.fullmatch(_END_OF_THOUGHT.split(reply)[-1].strip(" \t\r\n*_`"))
    named = int(found.group(1)) if found else 0
    return named - 1 if 1 <= named <= candidates else None


def in_process(language: Any) -> Ask:
    """Ask a model in this process, by which candidate's number it finds likeliest.

    A small model rarely keeps to a format, so it is not left to write: after "answer: [[" the
    logits of the digits decide. For up to nine candidates.
    """

    def ask(prompts: Sequence[str]) -> Iterator[str]:
        import torch

        tokenizer, network = language.tokenizer, language.model
        for text in prompts:
            count = _candidates_in(text)
            require(1 <= count <= 9, "candidates", "at most 9 for a model in process", count)
            chat = tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
            )
            ids = tokenizer(chat + "answer: [[", return_tensors="pt", add_special_tokens=False)
            with torch.inference_mode():
                logits = network(**ids).logits[0, -1]
            digits = [tokenizer.encode(str(n), add_special_tokens=False)[-1] for n in range(1, 10)]
            best = int(torch.stack([logits[d] for d in digits[:count]]).argmax())
            yield f"answer: [[{best + 1}]]"

    return ask


def _candidates_in(text: str) -> int:
    found = re.search(r"where N is one of 1 to (\d+)\.", text)
    return int(found.group(1)) if found else 0


def _key(whom: str, text: str) -> str:
    """Under which name a reply is kept: who was asked, and what."""
    return hashlib.sha256(f"{whom}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> dict[str, str]:
    """Replies kept so far; what a crash cut off, or is no reply, is asked again."""
    known: dict[str, str] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                key, reply = json.loads(line)
            except (TypeError, ValueError):
                continue
            if isinstance(key, str) and isinstance(reply, str):
                known[key] = reply
    return known
