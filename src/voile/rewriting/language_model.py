"""A language model with its tokeniser, and a batch of texts that it is reading."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices

Tokens = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A causal or encoder–decoder model with its tokeniser; any that transformers loads."""

    model: Any
    tokenizer: Any
    longest: int = 512

    @property
    def end(self) -> int:
        """The token that ends a text."""
        return int(self.tokenizer.eos_token_id)

    @property
    def padding(self) -> int:
        """The token that fills a row; nothing looks at it."""
        found = self.tokenizer.pad_token_id
        return self.end if found is None else int(found)

    @cached_property
    def line_ends(self) -> frozenset[int]:
        """The tokens that end a line, and the one that ends a text."""
        spelled = self.tokenizer.batch_decode([[i] for i in range(len(self.tokenizer))])
        return frozenset({self.end, *(i for i, token in enumerate(spelled) if "\n" in token)})

    @property
    def vocabulary(self) -> int:
        """How many tokens are drawn from."""
        return int(self.model.config.get_text_config().vocab_size)

    def encoded(self, prompts: Sequence[str]) -> tuple[list[Tokens], int]:
        """Token ids of each prompt, and how many prompts had to be cut to `longest` tokens."""
        rows = self.tokenizer(list(prompts), add_special_tokens=True)["input_ids"]
        cut = sum(len(row) > self.longest for row in rows)
        return [tuple(row[: self.longest]) or (self.end,) for row in rows], cut


class Reading:
    """A batch in flight: one row a text, what the model remembers of it, and what it reads next.

    >>> from voile.rewriting.tiny import tiny_causal
    >>> language = tiny_causal(["red cat", "blue dog"])
    >>> reading = Reading(language, [(5, 6), (5, 7, 8)])
    >>> reading.logits().shape == (2, language.vocabulary)
    True
    >>> reading.follow([1, 1, 0], [4, 5, 4])  # the second text goes on in two ways
    >>> reading.logits().shape == (3, language.vocabulary)
    True
    """

    def __init__(self, language: LanguageModel, prompts: Sequence[Tokens]) -> None:
        self.model = language.model
        self.cache: Any = None
        self.mask: Any = None  # None: no row is padded, which attention is quicker with
        self.encoded: Any = None
        self.next: Any
        if self.model.config.is_encoder_decoder:
            self._encode(prompts, language.padding)
        else:
            self._read(prompts, language.padding)

    def logits(self) -> NDArray[np.float32]:
        """Logits of the next token, one row a text."""
        import torch

        given: dict[str, Any] = {"attention_mask": self.mask, "past_key_values": self.cache}
        if self.encoded is not None:
            given |= {"encoder_outputs": self.encoded, "decoder_input_ids": self.next}
        else:
            given["input_ids"] = self.next
            if self.mask is not None:
                positions = (self.mask.cumsum(1) - 1).clamp(min=0)
                given["position_ids"] = positions[:, -self.next.shape[1] :]
        if "logits_to_keep" in inspect.signature(self.model.forward).parameters:
            given["logits_to_keep"] = 1  # of a prompt, the last one's alone
        with torch.inference_mode():
            answer = self.model(use_cache=True, **given)
        self.cache = answer.past_key_values
        return np.asarray(answer.logits[:, -1].float().numpy())

    def follow(self, rows: Sequence[int] | Indices, tokens: Sequence[int] | Indices) -> None:
        """Go on with these tokens, each after one of the rows; a row may go on in many ways."""
        import torch

        chosen = torch.as_tensor(np.asarray(rows, dtype=np.int64))
        if len(chosen) != len(self.next) or bool((chosen != torch.arange(len(chosen))).any()):
            self.cache.reorder_cache(chosen)
            self.mask = None if self.mask is None else self.mask[chosen]
            if self.encoded is not None:
                self.encoded.last_hidden_state = self.encoded.last_hidden_state[chosen]
        self.next = torch.as_tensor(np.asarray(tokens, dtype=np.int64))[:, None]
        if self.encoded is None and self.mask is not None:
            self.mask = torch.cat([self.mask, torch.ones_like(self.next)], dim=1)

    def copied(self) -> Reading:
        """The same reading, to be followed elsewhere as well."""
        twin = copy.copy(self)
        twin.cache, twin.encoded = copy.deepcopy(self.cache), copy.copy(self.encoded)
        return twin

    def _read(self, prompts: Sequence[Tokens], pad: int) -> None:
        """Read what all prompts begin with, once; the rest comes with the first logits.

        A decoder goes on from its last position, so padding stands before the rest.
        """
        import torch

        shared = _shared(prompts) if len(prompts) > 1 else 0
        rests = [prompt[shared:] for prompt in prompts]
        width = max(map(len, rests))
        self.next = torch.tensor([[pad] * (width - len(r)) + list(r) for r in rests])
        if any(len(rest) < width for rest in rests):
            seen = [[1] * shared + [0] * (width - len(r)) + [1] * len(r) for r in rests]
            self.mask = torch.tensor(seen)
        if shared:
            with torch.inference_mode():
                answer = self.model(input_ids=torch.tensor([prompts[0][:shared]]), use_cache=True)
            self.cache = answer.past_key_values
            self.cache.reorder_cache(torch.zeros(len(prompts), dtype=torch.int64))

    def _encode(self, prompts: Sequence[Tokens], pad: int) -> None:
        import torch

        width = max(map(len, prompts))
        rows = torch.tensor([list(p) + [pad] * (width - len(p)) for p in prompts])
        if any(len(prompt) < width for prompt in prompts):
            self.mask = torch.tensor([[1] * len(p) + [0] * (width - len(p)) for p in prompts])
        with torch.inference_mode():
            self.encoded = self.model.get_encoder()(input_ids=rows, attention_mask=self.mask)
        self.next = torch.full((len(prompts), 1), self.model.config.decoder_start_token_id)


def _shared(prompts: Sequence[Tokens]) -> int:
    """How many tokens all prompts begin with, less the last one of any."""
    first, last = min(prompts), max(prompts)
    alike = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    shortest = min(map(len, prompts)) - 1
    return shortest if alike is None else min(alike, shortest)
