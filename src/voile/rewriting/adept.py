"""ADePT: an autoencoder with noise on its sentence vector."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.core.randomness import Generator
from voile.errors import BadFile, require, require_epsilon
from voile.files import make_private_folder
from voile.rewriting.families import LatentRewriter
from voile.rewriting.latent_noise import DELTA, clip_norm
from voile.rewriting.rewriter import Fidelity, Rewritten, check_fidelity

PAD, UNK, START, END = range(4)
LENGTH = 20
"""Positions of a text: start, at most 18 words, end."""

WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """One LSTM reads a text into (h, c), another writes it again; no attention, no dropout."""

    words: tuple[str, ...]
    network: Any
    clip: float

    @classmethod
    def untrained(
        cls, words: Sequence[str], *, hidden: int = 512, embedding: int = 300, clip: float = 5.0
    ) -> Autoencoder:
        """Random weights over a public vocabulary; see `voile.rewriting.training`."""
        from torch import nn

        require(len(words) >= 1, "words", "at least one", "none")
        size = len(words) + 4
        network = nn.ModuleDict(
            {
                "embedding": nn.Embedding(size, embedding, padding_idx=PAD),
                "encoder": nn.LSTM(embedding, hidden, batch_first=True),
                "decoder": nn.LSTM(embedding, hidden, batch_first=True),
                "head": nn.Linear(hidden, size),
            }
        )
        return cls(tuple(words), network, clip)

    def save(self, folder: str | Path) -> None:
        """Weights and vocabulary in a folder."""
        from safetensors.torch import save_file

        home = Path(folder)
        make_private_folder(home)
        save_file(self.network.state_dict(), home / "model.safetensors")
        facts = {
            "words": self.words,
            "clip": self.clip,
            "hidden": self.dimension // 2,
            "embedding": int(self.network["embedding"].embedding_dim),
        }
        (home / "adept.json").write_text(json.dumps(facts), encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> Autoencoder:
        """What `save` wrote."""
        from safetensors.torch import load_file

        home = Path(folder)
        try:
            facts = json.loads((home / "adept.json").read_text(encoding="utf-8"))
            model = cls.untrained(
                facts["words"],
                hidden=facts["hidden"],
                embedding=facts["embedding"],
                clip=facts["clip"],
            )
            model.network.load_state_dict(load_file(home / "model.safetensors"))
        except (OSError, ValueError, KeyError, RuntimeError) as problem:
            reason = type(problem).__name__
            raise BadFile(f"{home.name} must be a folder that save() wrote: {reason}") from None
        return model

    @property
    def dimension(self) -> int:
        """Length of the sentence vector: hidden and cell state."""
        return 2 * int(self.network["encoder"].hidden_size)

    def indices(self, texts: Sequence[str]) -> tuple[Any, int]:
        """Texts as rows of 20 word numbers, and how many texts were longer than 18 words."""
        known = {word: number for number, word in enumerate(self.words, start=4)}
        table = np.full((len(texts), LENGTH), PAD, dtype=np.int64)
        cut = 0
        for row, text in enumerate(texts):
            words = words_of(text)
            cut += len(words) > LENGTH - 2
            numbers = [known.get(word, UNK) for word in words[: LENGTH - 2]]
            table[row, : len(numbers) + 2] = [START, *numbers, END]
        return table, cut

    def encode(self, indices: Any) -> Any:
        """The vector [h; c] after the whole row, scaled into the ball of radius `clip`."""
        import torch

        embedded = self.network["embedding"](torch.as_tensor(indices))
        _, (h, c) = self.network["encoder"](embedded)
        latent = torch.cat([h[-1], c[-1]], dim=1)
        lengths = latent.norm(dim=1, keepdim=True).clamp(min=1e-12)
        return latent * (self.clip / lengths).clamp(max=1.0)

    def decode(self, latent: Any) -> Any:
        """Logits of the 19 words after the start, each step fed with its own best guess."""
        import torch

        hidden = self.dimension // 2
        state = (latent[None, :, :hidden].contiguous(), latent[None, :, hidden:].contiguous())
        word = torch.full((len(latent), 1), START)
        steps = []
        for _ in range(LENGTH - 1):
            embedded = torch.relu(self.network["embedding"](word))
            output, state = self.network["decoder"](embedded, state)
            logits = self.network["head"](output[:, 0])
            steps.append(logits)
            word = logits.argmax(dim=1, keepdim=True)
        return torch.stack(steps, dim=1)


@dataclass(frozen=True, eq=False)
class Adept(LatentRewriter):
    """A trained autoencoder with noise for one epsilon; see `adept`."""

    autoencoder: Autoencoder
    epsilon: float
    delta: float
    fidelity: Fidelity

    def latent(self, texts: Sequence[str]) -> Floats:
        """Clipped vectors before noise: what the internal attack compares with."""
        import torch

        with torch.inference_mode():
            raw = self.autoencoder.encode(self.autoencoder.indices(texts)[0])
        # clipped again in doubles: the sensitivity must hold for what noise is added to
        return clip_norm(raw.double().numpy(), clip=self.autoencoder.clip)

    @property
    def sensitivity(self) -> float:
        """Vectors differ by at most 2C."""
        return 2 * self.autoencoder.clip

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """Noise, then greedy decoding; an empty result is the word UNK."""
        import torch

        cut = self.autoencoder.indices(texts)[1]
        noisy = self.noisy_latent(texts, rng)
        with torch.inference_mode():
            best = self.autoencoder.decode(torch.as_tensor(noisy, dtype=torch.float32)).argmax(2)
        names = ("", "", "", "", *self.autoencoder.words)
        written = [" ".join(names[i] for i in row if i > END) or "UNK" for row in best.tolist()]
        return Rewritten(written, [1] * len(written), cut)


def adept(
    autoencoder: Autoencoder,
    *,
    epsilon: float,
    delta: float = DELTA,
    fidelity: Fidelity = "sound",
) -> Adept:
    """Read a text into a vector of norm at most C, add Gaussian noise, write a text from it.

    Krishna et al. (EACL 2021), with the sensitivity of Habernal (EMNLP 2021): two clipped
    vectors differ by at most 2C, so analytic Gaussian noise for sensitivity 2C makes the vector
    (ε, δ)-private for any two texts; writing is post-processing. Texts are cut at 18 words, and
    the cut is reported. `as_released` takes the classical noise formula, which is too little
    past ε = 1 (at ε = 1000 the truth is 22,181). Costs two passes of a small LSTM.
    """
    check_fidelity(fidelity)
    epsilon = require_epsilon(epsilon)
    return Adept(autoencoder, epsilon, delta, fidelity)


def words_of(text: str) -> list[str]:
    """Lower-cased words and single punctuation marks.

    >>> words_of("Don't stop, St. Louis!")
    ["don't", 'stop', ',', 'st', '.', 'louis', '!']
    """
    return WORD.findall(text.lower())


def vocabulary_of(public_texts: Sequence[str], *, most: int = 20_000) -> list[str]:
    """The most frequent words of public texts; private ones would leak through the choice.

    >>> vocabulary_of(["to boston", "to denver"], most=1)
    ['to']
    """
    counts = Counter(word for text in public_texts for word in words_of(text))
    return [word for word, _ in counts.most_common(most)]
