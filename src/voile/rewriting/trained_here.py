"""Models by name, and those that no package carries, trained on public texts in a minute or two.

The latter stand in for large ones where none can be had: small, and as good as their public texts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

MOST = 2000
"""Public texts that are learned from; more take longer."""
ROUNDS = 5
"""Prunings by a quarter: of 768 dimensions 182 are left, as in the published model."""


PACKAGED = "packaged"
"""The name by which SmolLM2 out of its package goes, where a model is asked for."""


def language_named(name: str) -> Any:
    """The packaged model, or any that transformers loads by hub id or folder."""
    from voile.rewriting.models import load_model, packaged_model

    return packaged_model() if name == PACKAGED else load_model(name)


def trained_masks(public: Sequence[str]) -> Any:
    """MiniLM with a new mask-filling head, both trained (DP-MLM)."""
    from voile.packaged import MINILM
    from voile.rewriting.tiny import headed_minilm
    from voile.rewriting.training import train_masked

    language = headed_minilm(str(MINILM.checked()))
    train_masked(language, public[:MOST], epochs=3, rate=3e-4, share=0.3)
    return language


def trained_autoencoder(public: Sequence[str]) -> Any:
    """A small LSTM that repeats texts (ADePT)."""
    import torch

    from voile.rewriting.adept import Autoencoder, vocabulary_of
    from voile.rewriting.training import train_autoencoder

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Autoencoder.untrained(vocabulary_of(public), hidden=128, embedding=64)
    train_autoencoder(model, public[:MOST], epochs=40, rate=5e-3)
    return model


def trained_bart(public: Sequence[str]) -> Any:
    """A BART of one layer a side that repeats texts through its clip (DP-BART)."""
    from voile.rewriting.dp_bart import BOUND, dp_bart
    from voile.rewriting.tiny import tiny_encoder_decoder
    from voile.rewriting.training import train_bart

    language = tiny_encoder_decoder(public[:MOST], width=64, size=BOUND)
    train_bart(dp_bart(language, epsilon=1.0), public[:MOST], noisy=False, epochs=30, rate=2e-3)
    return language


def pruned_bart(mechanism: Any, public: Sequence[str], *, fresh: bool) -> Any:
    """Five rounds of pruning and learning again (PR); a `fresh` model learns at a higher rate."""
    from voile.rewriting.training import prune_bart

    epochs, rate = (6, 2e-3) if fresh else (1, 1e-5)
    return prune_bart(mechanism, public[:MOST], rounds=ROUNDS, epochs=epochs, rate=rate)[0]


def used_to_noise(mechanism: Any, public: Sequence[str], *, fresh: bool) -> Any:
    """A copy of it that has learned to read through its own noise (PR+): one for each epsilon."""
    from voile.rewriting.training import train_bart

    epochs, rate = (10, 1e-3) if fresh else (1, 1e-5)
    language = mechanism.language
    twin = replace(language, model=copy.deepcopy(language.model))
    mechanism = replace(mechanism, language=twin)
    train_bart(mechanism, public[:MOST], noisy=True, epochs=epochs, rate=rate)
    return mechanism
