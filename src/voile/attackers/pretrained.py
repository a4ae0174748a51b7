"""What a pretrained sentence encoder makes of released words, each in its document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from voile.attackers.attack import HIDDEN
from voile.packaged import MINILM
from voile.rewriting.models import without_bars

_MOST_KEPT = 20_000
"""Documents whose features are held; with more of them all are forgotten and made anew."""


class PretrainedFeatures:
    """Last hidden states of MiniLM at every word of a document, its weights standing still.

    A word goes in as the mean of the vectors of its pieces, so that words and positions correspond;
    a hidden one as the model's own mask. Documents that are read again (every epoch, where nothing
    is drawn anew) are looked up.
    """

    def __init__(self, words: Sequence[str]) -> None:
        from transformers import AutoModel, AutoTokenizer

        without_bars()
        folder = str(MINILM.checked())
        tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModel.from_pretrained(folder).eval().requires_grad_(False)
        vectors = self._model.embeddings.word_embeddings.weight
        pieces = tokenizer(list(words), add_special_tokens=False)["input_ids"]
        unknown = [tokenizer.unk_token_id]
        rows = [vectors[torch.as_tensor(some or unknown)].mean(dim=0) for some in pieces]
        self._table = torch.stack([*rows, vectors[tokenizer.mask_token_id]])  # HIDDEN is the last
        self._ends = vectors[[tokenizer.cls_token_id, tokenizer.sep_token_id]]
        self.width = int(vectors.shape[1])
        self._known: dict[bytes, Tensor] = {}

    def __call__(self, sequence: Tensor, padding: Tensor) -> Tensor:
        """Of each position a vector; of what lies beyond the end, zeros."""
        lengths = (~padding).sum(dim=1).tolist()
        numbers = sequence.numpy().astype(np.int32)
        keys = [numbers[row, :length].tobytes() for row, length in enumerate(lengths)]
        fresh = {key: row for row, key in enumerate(keys) if key not in self._known}
        if len(self._known) + len(fresh) > _MOST_KEPT:
            self._known.clear()
            fresh = dict(zip(keys, range(len(keys)), strict=True))
        if fresh:
            self._learn([(key, sequence[row, : lengths[row]]) for key, row in fresh.items()])
        return nn.utils.rnn.pad_sequence([self._known[key] for key in keys], batch_first=True)

    def _learn(self, documents: list[tuple[bytes, Tensor]]) -> None:
        assert HIDDEN == -1
        inputs = [
            torch.cat([self._ends[:1], self._table[words], self._ends[1:]])
            for _, words in documents
        ]
        embedded = nn.utils.rnn.pad_sequence(inputs, batch_first=True)
        there = (
            torch.arange(embedded.shape[1])[None] < torch.tensor([len(x) for x in inputs])[:, None]
        )
        with torch.no_grad():
            states = self._model(inputs_embeds=embedded, attention_mask=there.long())
        for (key, words), found in zip(documents, states.last_hidden_state, strict=True):
            self._known[key] = found[1 : len(words) + 1].clone()
