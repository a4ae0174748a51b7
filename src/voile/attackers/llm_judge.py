"""Attribution by a language model that is asked which candidate was the source."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
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
_ANSWER = re.compile(r"answer:[*_`\s]*\[\[\s*([0-9]{1,3})\s*\]\][*_`\s]*\.?", re.IGNORECASE)
ORDERS = 4
"""Orders in which a question is asked at most: both of two candidates, rotations of more."""
ONE_SIDED = 0.9
"""Share of replies that name one and the same place from which a judge did not compare."""
FEWEST = 20
"""Replies below which no such share is taken for more than chance."""


@dataclass
class LlmJudge:
    """A language model names the candidate; the prompt is that of TeDA's appendix B.

    Each question is asked in several orders: both orders of two candidates, as many rotations of
    more as there are candidates, four at most. A candidate's score is the share of them that name
    it, so a judge that prefers a place contradicts itself and gains nothing by it. The first order
    follows from a digest of the texts: neither where the source stood nor the order of the file
    has a part in it, and the same question is the same the next time.

    A reply must be `answer: [[N]]` with N among the candidates (`parse`). Anything else counts for
    no candidate, and `note` says how many there were, and how often each place was named. A judge
    that names one place whatever it is shown did not compare: `is_evidence` is False. With `kept`,
    every reply is written to that file as it comes and never asked for again: paid work survives
    an interruption. `whom` says which model at which address was asked with which parameters; the
    replies of another are not taken for its own.

    >>> import numpy as np
    >>> judge = LlmJudge(lambda prompts: ["answer: [[2]]", "It is the first.", "answer: [[1]]"] * 2)
    >>> judge.scores(["a", "b", "c"], np.array([[0, 1, 2], [2, 1, 0]]), ["x", "y"]).sum(axis=1)
    array([0.66666667, 0.66666667])
    >>> judge.note
    '2 of 6 replies could not be read and count for no candidate; named by place: 2, 2, 0'
    """

    ask: Ask
    name: str = "llm"
    kept: Path | None = None
    whom: str = ""
    note: str = field(default="", init=False)
    is_evidence: bool = field(default=True, init=False)

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Of the orders in which a trial was asked, the share that named each candidate."""
        check_trials(pool, sets, releases)
        size = sets.shape[1]
        asked = [
            (row, order)
            for row, release in enumerate(releases)
            for order in _orders([pool[i] for i in sets[row]], str(release))
        ]
        replies = self._replies(
            [prompt([pool[sets[row, i]] for i in order], releases[row]) for row, order in asked]
        )
        places = [parse(reply, candidates=size) for reply in replies]
        table = np.zeros(sets.shape)
        for (row, order), place in zip(asked, places, strict=True):
            if place is not None:
                table[row, order[place]] += 1.0
        self._note(places, size)
        return table / min(size, ORDERS)

    def _note(self, places: Sequence[int | None], size: int) -> None:
        """What the replies say of the judge itself."""
        named = np.bincount([place for place in places if place is not None], minlength=size)
        read, notes = int(named.sum()), []
        if read < len(places):
            notes.append(
                f"{len(places) - read:,} of {len(places):,} replies could not be read and count "
                "for no candidate"
            )
        one_sided = read >= FEWEST and int(named.max()) >= ONE_SIDED * read
        if read:
            notes.append(f"named by place: {', '.join(f'{count:,}' for count in named)}")
        if one_sided:
            notes.append(
                "almost always the same place, though each question was asked in several orders: "
                "it did not compare, and what it failed to show is no evidence"
            )
        self.is_evidence = bool(read) and not one_sided
        self.note = "; ".join(notes)

    def _replies(self, prompts: Sequence[str]) -> list[str]:
        keys = [_digest(self.whom, text) for text in prompts]
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


def _orders(candidates: Sequence[str], release: str) -> list[list[int]]:
    """A shuffle by digest, and rotations of it evenly apart; of two candidates, both orders."""
    size = len(candidates)
    first = sorted(range(size), key=lambda i: _digest(release, candidates[i]))
    turns = min(size, ORDERS)
    starts = [size * turn // turns for turn in range(turns)]
    return [first[start:] + first[:start] for start in starts]


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
    >>> parse("<think>The first? No.</think> **Answer:** [[2]].", candidates=2)
    1
    """
    found = _ANSWER.fullmatch(_END_OF_THOUGHT.split(reply)[-1].strip(" \t\r\n*_`"))
    named = int(found.group(1)) if found else 0
    return named - 1 if 1 <= named <= candidates else None


def _digest(*parts: str) -> str:
    """Of a question, and of who was asked: the name under which its reply is kept."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


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
