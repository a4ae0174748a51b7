"""DP-BART: noise on the clipped encoder states of a sequence-to-sequence model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import require, require_epsilon
from voile.rewriting.families import LatentRewriter
from voile.rewriting.language_model import LanguageModel
from voile.rewriting.latent_noise import DELTA, clip_values
from voile.rewriting.rewriter import Fidelity, Rewritten, check_fidelity

POSITIONS = 20
BOUND = 0.1


@dataclass(frozen=True, eq=False)
class DpBart(LatentRewriter):
    """A BART-like model, the encoder dimensions kept, and noise for one epsilon; see `dp_bart`."""

    language: LanguageModel
    kept: Indices
    epsilon: float
    delta: float
    fidelity: Fidelity
    bound: float = BOUND
    positions: int = POSITIONS
    batch: int = 32

    @property
    def sensitivity(self) -> float:
        """2·bound·√k over the k coordinates that carry noise."""
        return 2 * self.bound * math.sqrt(self.positions * len(self.kept))

    def indices(self, texts: Sequence[str]) -> tuple[Any, Any, int]:
        """Token ids and mask, cut and padded to the same positions; how many texts were cut."""
        tokenizer = self.language.tokenizer
        whole = tokenizer(list(texts))["input_ids"]
        cut = sum(len(row) > self.positions for row in whole)
        inputs = tokenizer(
            list(texts),
            padding="max_length",
            truncation=True,
            max_length=self.positions,
            return_tensors="pt",
        )
        return inputs["input_ids"], inputs["attention_mask"], cut

    def latent(self, texts: Sequence[str]) -> Floats:
        """Clipped encoder states of the kept dimensions, flattened; padding included."""
        import torch

        rows = []
        for start in range(0, len(texts), self.batch):
            ids, mask, _ = self.indices(texts[start : start + self.batch])
            with torch.inference_mode():
                encoder = self.language.model.get_encoder()
                states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            rows.append(states[:, :, torch.as_tensor(self.kept)].flatten(1).double().numpy())
        return clip_values(np.concatenate(rows), bound=self.bound)

    def decode(self, latents: Floats) -> list[str]:
        """Beam search from noisy states; the decoder sees all positions, so no length leaks."""
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        model, texts = self.language.model, []
        for start in range(0, len(latents), self.batch):
            part = latents[start : start + self.batch]
            states = torch.zeros(len(part), self.positions, int(model.config.d_model))
            table = torch.as_tensor(part, dtype=torch.float32)
            states[:, :, torch.as_tensor(self.kept)] = table.view(len(part), self.positions, -1)
            with torch.inference_mode():
                written = model.generate(
                    encoder_outputs=BaseModelOutput(last_hidden_state=states),
                    attention_mask=torch.ones(states.shape[:2], dtype=torch.long),
                    num_beams=3,
                    max_length=self.positions,
                    early_stopping=True,
                    do_sample=False,
                )
            texts += self.language.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [text.strip() or " " for text in texts]

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """Noise on the states, then decoding; an empty result is a single space."""
        cut = self.indices(texts)[2]
        written = self.decode(self.noisy_latent(texts, rng))
        return Rewritten(written, [1] * len(written), cut)


def dp_bart(
    language: LanguageModel,
    *,
    epsilon: float,
    kept: Sequence[int] | Indices | None = None,
    delta: float = DELTA,
    fidelity: Fidelity = "sound",
    positions: int = POSITIONS,
) -> DpBart:
    """Clip every encoder state to ±0.1, add Gaussian noise, decode a text from it.

    Igamberdiev and Habernal (Findings of ACL 2023). k coordinates in [−0.1, 0.1] differ by at
    most 0.2·√k in the Euclidean norm; analytic Gaussian noise for that makes them (ε, δ)-private
    for any two texts. Without `kept` this is CLV (all dimensions); with the dimensions that
    `survivors` leaves it is PR, and PR+ after training under noise
    (`voile.rewriting.training`). `as_released` takes the classical noise formula, as the published
    scripts and the published signal-to-noise ratios do.
    """
    check_fidelity(fidelity)
    epsilon = require_epsilon(epsilon)
    require(bool(language.model.config.is_encoder_decoder), "model", "an encoder–decoder", "other")
    width = int(language.model.config.d_model)
    chosen = np.arange(width) if kept is None else np.unique(np.asarray(kept, dtype=np.intp))
    inside = len(chosen) > 0 and chosen[0] >= 0 and chosen[-1] < width
    require(bool(inside), "kept", f"dimensions below {width}", "others or none")
    return DpBart(language, chosen, epsilon, delta, fidelity, positions=positions)


def survivors(language: LanguageModel, kept: Indices | None = None) -> Indices:
    """The dimensions that one pruning step leaves: those at or above the 25 % quantile.

    The importance of dimension j is Σ_i |W_K[i, j]|, W_K the key projection of the first decoder
    layer's cross-attention (section 4.2 of the paper). Weights only: no text is looked at.
    768 dimensions become 576, 432, 324, 243, 182, 136, 102, 76 …
    """
    layer = language.model.get_decoder().layers[0].encoder_attn
    importance = layer.k_proj.weight.detach().abs().sum(dim=0).double().numpy()
    chosen = np.arange(len(importance)) if kept is None else np.asarray(kept, dtype=np.intp)
    return least_pruned(importance, chosen)


def least_pruned(importance: Floats, kept: Indices) -> Indices:
    """Without the dimensions strictly below the 25 % quantile of those kept so far.

    >>> import numpy as np
    >>> least_pruned(np.arange(8.0), np.arange(8))
    array([2, 3, 4, 5, 6, 7])
    """
    require(len(kept) >= 1, "kept", "at least one dimension", "none")
    threshold = np.quantile(importance[kept], 0.25)
    return np.asarray(kept[importance[kept] >= threshold])
