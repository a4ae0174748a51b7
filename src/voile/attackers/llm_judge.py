"""Attribution by a language model that is asked which candidate was the source."""

from __future__ import annotations

import hashlib
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.core.arrays import Floats, Indices
from voile.errors import VoileError, require

_ANSWER = re.compile(r"answer:\s*\[\[\s*(\d+)\s*\]\]\s*", re.IGNORECASE)

Ask = Callable[[Sequence[str]], Iterable[str]]
"""Prompts in, replies out, in order and as they come."""


@dataclass
class LlmJudge:
    """A language model names the candidate; the prompt is that of TeDA's appendix B.

    A reply must be exactly `answer: [[N]]` with N among the candidates. Anything else counts as a
    fair guess, and `note` says how many there were. With `kept`, every reply is written to that
    file as it comes and never asked for again: paid work survives an interruption.

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
    progress: Callable[[int, int], None] | None = None
    note: str = field(default="", init=False)

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """1 for the named candidate, 0 for the others; all 0 where the reply was not understood."""
        check_trials(pool, sets, releases)
        prompts = [
            prompt([pool[i] for i in members], release)
            for members, release in zip(sets.tolist(), releases, strict=True)
        ]
        replies = self._replies(prompts)
        table = np.zeros(sets.shape)
        unread = 0
        for row, reply in enumerate(replies):
            named = parse(reply, candidates=sets.shape[1])
            if named is None:
                unread += 1
            else:
                table[row, named] = 1.0
        self.note = (
            f"{unread:,} of {len(replies):,} replies could not be read and count as fair guesses"
            if unread
            else ""
        )
        return table

    def _replies(self, prompts: Sequence[str]) -> list[str]:
        keys = [hashlib.sha256(p.encode()).hexdigest() for p in prompts]
        known = _read(self.kept) if self.kept else {}
        waiting = list(dict.fromkeys(i for i, key in enumerate(keys) if key not in known))
        replies = iter(self.ask([prompts[i] for i in waiting]))
        with self.kept.open("a", encoding="utf-8") if self.kept else nullcontext() as file:
            for count, (i, reply) in enumerate(zip(waiting, replies, strict=False), start=1):
                known[keys[i]] = reply
                if file:
                    # the break comes first: a line cut off by a crash spoils itself alone
                    file.write("\n" + json.dumps([keys[i], reply]))
                    file.flush()
                if self.progress:
                    self.progress(count, len(waiting))
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
    """
    found = _ANSWER.fullmatch(reply.strip())
    named = int(found.group(1)) if found else 0
    return named - 1 if 1 <= named <= candidates else None


class EndpointFailed(VoileError):
    """An endpoint did not answer, after all retries."""


def endpoint(
    url: str,
    *,
    model: str,
    key: str | None = None,
    timeout: float = 60.0,
    retries: int = 4,
    parallel: int = 4,
    wait: float = 1.0,
) -> Ask:
    """Ask any OpenAI-compatible chat endpoint; `url` ends where /chat/completions begins.

    Temperature 0. A refused, failed or overdue request is tried again after growing waits;
    when none of the retries works the audit stops with one clear error. An answer of 4xx other
    than 408 and 429 will not change, so it stops at once.
    """
    require(url.startswith(("http://", "https://")), "url", "http:// or https://", url)
    target = url.rstrip("/") + "/chat/completions"
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}

    def one(text: str) -> str:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": 24,
        }
        request = urllib.request.Request(target, json.dumps(body).encode(), headers)
        reason = ""
        for attempt in range(retries + 1):
            if attempt:
                time.sleep(wait * 2 ** (attempt - 1))
            try:
                with urllib.request.urlopen(request, timeout=timeout) as answer:
                    content = json.load(answer)
                return str(content["choices"][0]["message"]["content"])
            except urllib.error.HTTPError as problem:
                reason = f"status {problem.code}"
                problem.close()
                if 400 <= problem.code < 500 and problem.code not in (408, 429):
                    break
            except (urllib.error.URLError, TimeoutError, ConnectionError) as problem:
                reason = type(getattr(problem, "reason", problem)).__name__
            except (KeyError, IndexError, TypeError, json.JSONDecodeError):
                reason = "a reply that is not a chat completion"
        raise EndpointFailed(
            f"the endpoint {url} must answer, got {reason} after {attempt + 1} tries; "
            "replies so far are kept, run again to continue"
        )

    def ask(prompts: Sequence[str]) -> Iterator[str]:
        with ThreadPoolExecutor(max_workers=parallel) as workers:
            for start in range(0, len(prompts), parallel):
                yield from workers.map(one, prompts[start : start + parallel])

    return ask


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


def _read(path: Path) -> dict[str, str]:
    """Replies kept so far; a line that a crash cut off is asked again."""
    known: dict[str, str] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                key, reply = json.loads(line)
            except ValueError:
                continue
            known[key] = reply
    return known
