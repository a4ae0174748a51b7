"""How likely a causal model finds texts: sums of log-probabilities of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput

BATCH = 64
"""So many texts go through the model at once, those of a length together."""


def text_likelihood(language: Any, texts: Sequence[str]) -> Floats:
    """The log-probability of each text's tokens, as the beginning of a text.

    Texts are cut to what the model reads. That one may end there is not asked: a sentence need not.

    >>> from voile.rewriting.tiny import tiny_causal
    >>> text_likelihood(tiny_causal(["red cat", "blue dog"]), ["red cat", ""]).shape
    (2,)
    """
    if language.model.config.is_encoder_decoder:
        raise InvalidInput("the model must go on with a text by itself: name a causal one")
    most = language.longest - 1
    rows = language.tokenizer([text or " " for text in texts], add_special_tokens=False)
    wanted = [list(row[:most]) or [language.end] for row in rows["input_ids"]]
    found = np.empty(len(wanted))
    order = sorted(range(len(wanted)), key=lambda i: len(wanted[i]))
    for start in range(0, len(order), BATCH):
        here = order[start : start + BATCH]
        found[here] = continued(language, [[language.end]] * len(here), [wanted[i] for i in here])
    return found


def continued(language: Any, questions: list[list[int]], answers: list[list[int]]) -> Floats:
    """Log-probabilities of tokens after others; padding stands behind, unseen."""
    import torch

    rows = [[*question, *answer] for question, answer in zip(questions, answers, strict=True)]
    with torch.inference_mode():
        logits = language.model(input_ids=padded(rows, language.padding)).logits
    begins = [len(question) - 1 for question in questions]
    return summed(logits, begins, answers)


def padded(rows: list[list[int]], padding: int) -> Any:
    """Rows of one width."""
    import torch

    width = max(map(len, rows))
    return torch.tensor([row + [padding] * (width - len(row)) for row in rows])


def summed(logits: Any, begins: list[int], answers: list[list[int]]) -> Floats:
    """The log-probabilities of each answer's tokens, added up in 64 bits."""
    import torch

    found = []
    for row, begin, answer in zip(logits, begins, answers, strict=True):
        law = row[begin : begin + len(answer)].double().log_softmax(dim=-1)
        found.append(float(law[torch.arange(len(answer)), torch.tensor(answer)].sum()))
    return np.array(found)
