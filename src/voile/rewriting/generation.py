"""Writing token by token with a language model, each token drawn under the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import Generator
from voile.rewriting.token_sampler import Sampler

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
    def vocabulary(self) -> int:
        """How many tokens are drawn from."""
        return int(self.model.config.get_text_config().vocab_size)

    def encoded(self, prompts: Sequence[str]) -> tuple[list[list[int]], int]:
        """Token ids of each prompt, and how many prompts had to be cut to `longest` tokens."""
        rows = self.tokenizer(list(prompts), add_special_tokens=True)["input_ids"]
        cut = sum(len(row) > self.longest for row in rows)
        return [list(row[: self.longest]) or [self.end] for row in rows], cut


def generate(
    language: LanguageModel,
    prompts: Sequence[list[int]],
    sampler: Sampler,
    *,
    lengths: Sequence[int],
    rng: Generator,
) -> list[Tokens]:
    """Draw up to `lengths[i]` tokens after prompt i; the end token is a token like any other.

    What follows the end token is not drawn, which is the same law as drawing to the full length
    and cutting there: post-processing. So a text costs at most its length cap times ε.
    """
    written: list[list[int]] = [[] for _ in prompts]
    state = Reading(language, prompts)
    live = np.ones(len(prompts), dtype=bool)
    for step in range(max(lengths, default=0)):
        live &= np.array([step < length for length in lengths])
        if not live.any():
            break
        logits = state.logits()
        chosen = np.full(len(prompts), language.end, dtype=np.intp)
        chosen[live] = sampler.draw(logits[live], rng)
        for row in np.flatnonzero(live):
            written[row].append(int(chosen[row]))
        live &= chosen != language.end
        state.append(chosen)
    return [tuple(tokens) for tokens in written]


def log_likelihood(
    language: LanguageModel,
    prompts: Sequence[list[int]],
    written: Sequence[Tokens],
    sampler: Sampler,
) -> Floats:
    """The log-probability of drawing exactly these tokens after each prompt."""
    total = np.zeros(len(prompts))
    state = Reading(language, prompts)
    for step in range(max(map(len, written), default=0)):
        live = np.array([step < len(tokens) for tokens in written])
        law = sampler.log_law(state.logits()[live])
        tokens = np.array([row[step] for row in written if step < len(row)])
        total[live] += law[np.arange(len(law)), tokens]
        state.append(np.array([row[step] if step < len(row) else language.end for row in written]))
    return total


class Reading:
    """A batch in flight: the model's cache, and what it reads next.

    Equal prompts are read once; the texts part at their first drawn token.
    """

    def __init__(self, language: LanguageModel, prompts: Sequence[list[int]]) -> None:
        import torch

        self.model = language.model
        pad = language.tokenizer.pad_token_id
        pad = language.end if pad is None else pad
        distinct = {prompt: i for i, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
        self.rows: Any = torch.tensor([distinct[tuple(prompt)] for prompt in prompts])
        prompts = [list(prompt) for prompt in distinct]
        width = max(map(len, prompts))
        both = self.model.config.is_encoder_decoder
        # a decoder reads on from its last position, so its prompts are padded on the left
        sides = [(0, width - len(p)) if both else (width - len(p), 0) for p in prompts]
        rows = [[pad] * a + p + [pad] * b for p, (a, b) in zip(prompts, sides, strict=True)]
        mask = [[0] * a + [1] * len(p) + [0] * b for p, (a, b) in zip(prompts, sides, strict=True)]
        self.mask = torch.tensor(mask)
        self.cache: Any = None
        self.encoded: Any = None
        self.next = torch.tensor(rows)
        if both:
            with torch.inference_mode():
                self.encoded = self.model.get_encoder()(
                    input_ids=self.next, attention_mask=self.mask
                )
            start = self.model.config.decoder_start_token_id
            self.next = torch.full((len(prompts), 1), start)

    def logits(self) -> Floats:
        """Logits of the next token, one row a text, as doubles."""
        import torch

        with torch.inference_mode():
            if self.encoded is not None:
                answer = self.model(
                    encoder_outputs=self.encoded,
                    attention_mask=self.mask,
                    decoder_input_ids=self.next,
                    past_key_values=self.cache,
                    use_cache=True,
                )
            else:
                positions = (self.mask.cumsum(1) - 1).clamp(min=0)[:, -self.next.shape[1] :]
                answer = self.model(
                    input_ids=self.next,
                    attention_mask=self.mask,
                    position_ids=positions,
                    past_key_values=self.cache,
                    use_cache=True,
                )
        self.cache = answer.past_key_values
        logits = answer.logits[:, -1]
        if self.rows is not None:
            logits = self._part(logits)
        return np.asarray(logits.double().numpy())

    def _part(self, logits: Any) -> Any:
        """From one row a prompt to one row a text."""
        rows, self.rows = self.rows, None
        if len(rows) == len(logits):  # no two alike: they stand in order
            return logits
        self.mask = self.mask[rows]
        self.cache.reorder_cache(rows)
        if self.encoded is not None:
            self.encoded.last_hidden_state = self.encoded.last_hidden_state[rows]
        return logits[rows]

    def append(self, tokens: Any) -> None:
        """Go on with these tokens."""
        import torch

        self.next = torch.as_tensor(np.asarray(tokens, dtype=np.int64))[:, None]
        if self.encoded is None:
            self.mask = torch.cat([self.mask, torch.ones_like(self.next)], dim=1)
