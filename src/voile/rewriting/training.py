"""Training what no package carries: ADePT's autoencoder, DP-BART's pruning, small models.

All of it on *public* texts: weights remember what they were trained on, and no guarantee of a
rewriter covers that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Indices
from voile.core.randomness import seeded_rng
from voile.rewriting.adept import PAD, Autoencoder
from voile.rewriting.dp_bart import DpBart, survivors
from voile.rewriting.language_model import LanguageModel


def train_autoencoder(
    autoencoder: Autoencoder,
    public_texts: Sequence[str],
    *,
    epochs: int = 500,
    batch: int = 64,
    rate: float = 1e-3,
    seed: int = 0,
) -> list[float]:
    """Teach ADePT's autoencoder to repeat texts, clipped as it will be used; mean loss by epoch.

    Cross-entropy on positions 1–19 with padding ignored, Adam, gradient norm 1, each step fed
    with the network's own guess.
    """
    import torch

    indices, _ = autoencoder.indices(public_texts)
    table = torch.as_tensor(indices)

    def loss(rows: Indices) -> Any:
        part = table[torch.as_tensor(rows)]
        logits = autoencoder.decode(autoencoder.encode(part))
        return torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), part[:, 1:].flatten(), ignore_index=PAD
        )

    return fit(autoencoder.network, loss, len(table), epochs, batch, rate, seed)


def prune_bart(
    mechanism: DpBart,
    public_texts: Sequence[str],
    *,
    rounds: int,
    epochs: int = 1,
    batch: int = 32,
    rate: float = 1e-5,
    seed: int = 0,
) -> tuple[DpBart, list[int]]:
    """DP-BART-PR: prune a quarter, train with clipping and without noise, and again.

    Returns the mechanism on the dimensions left, and how many were left after each round. The
    model is trained in place.
    """
    from dataclasses import replace

    left: list[int] = []
    for turn in range(rounds):
        kept = survivors(mechanism.language, mechanism.kept)
        mechanism = replace(mechanism, kept=kept)
        left.append(len(kept))
        train_bart(
            mechanism, public_texts, noisy=False, epochs=epochs, batch=batch, rate=rate,
            seed=seed + turn,
        )  # fmt: skip
    return mechanism, left


def train_bart(
    mechanism: DpBart,
    public_texts: Sequence[str],
    *,
    noisy: bool,
    epochs: int = 1,
    batch: int = 32,
    rate: float = 1e-5,
    seed: int = 0,
) -> list[float]:
    """Teach DP-BART to repeat texts through its clip, and through its noise if `noisy` (PR+)."""
    import torch

    ids, mask, _ = mechanism.indices(public_texts)
    model, pad = mechanism.language.model, mechanism.language.tokenizer.pad_token_id
    kept = torch.as_tensor(mechanism.kept)
    sigma = mechanism.noise.sigma if noisy else 0.0
    generator = torch.Generator().manual_seed(seed)
    start = torch.full((1, 1), model.config.decoder_start_token_id)

    def loss(rows: Indices) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        chosen = torch.as_tensor(rows)
        target = ids[chosen]
        states = model.get_encoder()(
            input_ids=target, attention_mask=mask[chosen]
        ).last_hidden_state[:, :, kept]
        states = states.clamp(-mechanism.bound, mechanism.bound)
        states = states + sigma * torch.randn(states.shape, generator=generator)
        wide = torch.zeros(*states.shape[:2], int(model.config.d_model))
        wide = wide.index_copy(2, kept, states)
        inputs = torch.cat([start.expand(len(target), 1), target[:, :-1]], dim=1)
        logits = model(
            encoder_outputs=BaseModelOutput(last_hidden_state=wide), decoder_input_ids=inputs
        ).logits
        return torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), target.flatten(), ignore_index=pad
        )

    return fit(model, loss, len(ids), epochs, batch, rate, seed)


def train_masked(
    language: LanguageModel,
    public_texts: Sequence[str],
    *,
    epochs: int = 1,
    batch: int = 32,
    rate: float = 5e-4,
    share: float = 0.15,
    seed: int = 0,
) -> list[float]:
    """Teach a model to fill the masks of a text with the text beside it, as DP-MLM will show it.

    Only masked words pass through the head, which for a large vocabulary is most of the work. A
    new head on a ready encoder such as MiniLM needs the encoder trained with it: alone it learns
    which words are common, not which one stands beside the mask.
    """
    import torch

    tokenizer, model = language.tokenizer, language.model
    rng = seeded_rng(seed + 1)
    heads = [part for part in model.children() if part is not model.base_model]

    def loss(chosen: Indices) -> Any:
        texts = [public_texts[i] for i in chosen]
        inputs = tokenizer(
            texts, texts, padding=True, truncation=True, max_length=language.longest,
            return_tensors="pt", return_special_tokens_mask=True,
        )  # fmt: skip
        special = inputs.pop("special_tokens_mask").bool()
        ids = inputs["input_ids"]
        second = [[s == 1 for s in inputs.sequence_ids(row)] for row in range(len(texts))]
        hidden = torch.as_tensor(rng.random(ids.shape) < share) & ~special & torch.tensor(second)
        inputs["input_ids"] = torch.where(hidden, tokenizer.mask_token_id, ids)
        if not bool(hidden.any()):
            return sum(p.sum() for p in model.parameters()) * 0.0
        if len(heads) != 1:  # some architectures have their head in pieces
            return model(**inputs, labels=torch.where(hidden, ids, -100)).loss
        states = model.base_model(**inputs).last_hidden_state[hidden]
        return torch.nn.functional.cross_entropy(heads[0](states), ids[hidden])

    return fit(model, loss, len(public_texts), epochs, batch, rate, seed)


def fit(
    network: Any,
    loss: Callable[[Indices], Any],
    count: int,
    epochs: int,
    batch: int,
    rate: float,
    seed: int,
) -> list[float]:
    """Adam with gradient norm 1 over shuffled batches; leaves the network ready to read."""
    import torch

    chosen = list(network.parameters())
    optimiser = torch.optim.Adam(chosen, lr=rate)
    rng = seeded_rng(seed)
    network.train()
    history = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # dropout: the same weights whatever was drawn before
        for _ in range(epochs):
            total = 0.0
            for rows in _batches(rng.permutation(count), batch):
                optimiser.zero_grad()
                value = loss(rows)
                value.backward()
                torch.nn.utils.clip_grad_norm_(chosen, 1.0)
                optimiser.step()
                total += float(value.detach()) * len(rows)
            history.append(total / count)
    network.eval()
    return history


def _batches(order: Any, size: int) -> Iterator[Indices]:
    for start in range(0, len(order), size):
        yield np.asarray(order[start : start + size])
