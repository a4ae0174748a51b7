"""Tiers: names first, what is close to names next, the rest last."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.errors import InvalidInput, needs, require
from voile.packaged import SPACY_ENGLISH, SPACY_FRENCH, SPACY_SPANISH, content_sha256
from voile.personal.plain import plain
from voile.personal.spans import Span
from voile.text.name_list import Found
from voile.text.stopwords import STOPWORDS
from voile.text.vocabularies import Vocabulary

NAME_KINDS = {
    "PERSON": "PERSON", "PER": "PERSON", "GPE": "PLACE", "LOC": "PLACE", "FAC": "PLACE",
    "ORG": "ORGANISATION", "NORP": "GROUP",
}  # fmt: skip
"""Names, in the words of English pipelines and of those trained on other news, and in ours."""
Entities = tuple[tuple[int, int], ...]
"""Where names stand in a text."""
DEFAULT_PIPELINE = SPACY_ENGLISH.module
OVERLAP = 2000
"""Characters that two pieces of a long text share."""
PIPELINES = (SPACY_ENGLISH, SPACY_FRENCH, SPACY_SPANISH)
"""Those that come in packages, their content checked."""


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
    others: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Pipelines of rows in a language of their own, by its code."""

    def entities(self, texts: Sequence[Any], languages: Sequence[str] = ()) -> list[Entities]:
        """Character spans of names in each text, by its language's pipeline if it has one."""
        plain = [text if isinstance(text, str) else "" for text in texts]
        which = [code if code in self.others else "" for code in languages] or [""] * len(plain)
        found: dict[int, Entities] = {}
        for code in sorted(set(which)):
            rows = [row for row, own in enumerate(which) if own == code]
            marks = marked(self.others.get(code, self.pipeline), [plain[row] for row in rows])
            for row, names in zip(rows, marks, strict=True):
                found[row] = tuple((e.start_char, e.end_char) for e in names)
        return [found[row] for row in range(len(plain))]

    def level(
        self, position: int, start: int, end: int, entities: Sequence[tuple[int, int]]
    ) -> int:
        """0 in an entity, 1 close to names, 2 otherwise."""
        if any(start < last and end > first for first, last in entities):
            return 0
        return 1 if self.close[position] else 2


def marked(pipeline: Any, texts: Iterable[str]) -> Iterator[list[Found]]:
    """The names that a pipeline marks in each text, as a reader sees it (`plain`).

    A text that is longer than the pipeline reads at once is read in pieces that overlap: a name
    counts in the piece in whose part it begins, and that piece shows it whole, with what stands
    around it.
    """
    read = [plain(text) for text in texts]
    given = [one.text for one in read]
    limit = int(getattr(pipeline, "max_length", 0)) or max(map(len, given), default=0) + 1
    overlap = min(OVERLAP, limit // 4)
    pieces = [
        (row, start)
        for row, text in enumerate(given)
        for start in range(0, max(1, len(text) - overlap), limit - overlap)
    ]
    found: list[list[Found]] = [[] for _ in given]
    documents = pipeline.pipe(given[row][start : start + limit] for row, start in pieces)
    for (row, start), document in zip(pieces, documents, strict=True):
        begins = start + overlap // 2 if start else 0
        whole = start + limit >= len(given[row])
        ends = len(given[row]) if whole else start + limit - overlap + overlap // 2
        last = found[row][-1].end_char if found[row] else 0
        found[row] += [
            Found(start + e.start_char, start + e.end_char, e.label_)
            for e in document.ents
            if e.label_ in NAME_KINDS and max(begins, last) <= start + e.start_char < ends
        ]
    for one, names in zip(read, found, strict=True):
        spans = one.spans(Span(e.start_char, e.end_char, e.label_) for e in names)
        yield [Found(*span) for span in spans]


def tiers(
    words: Vocabulary,
    *,
    pipeline: str = DEFAULT_PIPELINE,
    others: Mapping[str, str] | None = None,
    share: float = 0.1,
    look_at: int = 5000,
) -> Tiers:
    """Tiers over a vocabulary with a spaCy pipeline, any installed one by name.

    The `look_at` most frequent words are shown to the pipeline, capitalised, one by one; `share`
    of the remaining vocabulary, by largest cosine similarity to a word it takes for a name, is
    the second tier.
    """
    require(0 <= share <= 1, "share", "between 0 and 1", share)
    model = load_pipeline(pipeline)
    loaded = {code: load_pipeline(name) for code, name in (others or {}).items()}
    shown = [word.capitalize() for word in words.words[:look_at]]
    named: set[int] = set()
    for one in (model, *loaded.values()):
        found = marked(one, shown)
        named |= {i for i, names in enumerate(found) if names and words.words[i] not in STOPWORDS}
    close = close_to(words, np.array(sorted(named), dtype=np.intp), share=share)
    return Tiers(model, close, others=loaded)


def sensitive_tiers(words: Vocabulary, *, sensitive: str, pipeline: str | None) -> Tiers | None:
    """Tiers for "pii,poii" (names and words close to names), nothing for "all"."""
    return None if sensitive == "all" else tiers(words, pipeline=pipeline or DEFAULT_PIPELINE)


def close_to(words: Vocabulary, named: Any, *, share: float) -> NDArray[np.bool_]:
    """The share of the other words with the largest cosine similarity to some of these.

    Word vectors share a direction that says little more than how frequent a word is, and by
    which every common word is close to every name. So the mean and the first principal axis are
    taken out before (Mu and Viswanath, ICLR 2018), the five most similar names count, and
    stop words stay out.
    """
    close = np.zeros(len(words.embedding), dtype=bool)
    if not len(named):
        return close
    points = words.embedding.points * words.embedding.step
    points -= points.mean(axis=0)
    axis = np.linalg.eigh(points.T @ points)[1][:, -1]
    points -= np.outer(points @ axis, axis)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    directions = points / np.where(lengths > 1e-9, lengths, 1)
    count = min(5, len(named))
    similarity = np.concatenate(
        [
            np.partition(directions[i : i + 4096] @ directions[named].T, -count, axis=1)[
                :, -count:
            ].mean(axis=1)
            for i in range(0, len(points), 4096)
        ]
    )
    similarity[named] = -np.inf
    similarity[words.unknown] = -np.inf
    similarity[[i for word, i in words.positions.items() if word in STOPWORDS]] = -np.inf
    wanted = round(share * (len(words) - len(named)))
    close[np.argsort(-similarity, kind="stable")[:wanted]] = True
    return close


def identified(pipeline: str) -> str:
    """What a pipeline is known by: its package's name, or the hash of a list or folder of names."""
    path = Path(pipeline)
    return content_sha256(path) if pipeline.endswith(".txt") or path.is_dir() else pipeline


def load_pipeline(name: str, *, whole: bool = False) -> Any:
    """A spaCy pipeline (an installed package or a folder), or a list of names in a .txt file.

    The packaged one decides what is a name, so its content is checked; its package's own code is
    not run. Unless `whole`, what names do not need is left out.
    """
    if name.endswith(".txt"):
        from voile.text.name_list import read_name_list

        return read_name_list(name)
    with needs("spacy", extra="ner"):
        import spacy
    unused = [] if whole else ["tagger", "parser", "attribute_ruler", "lemmatizer"]
    packaged = next((p for p in PIPELINES if p.module == name and p.location() is not None), None)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", r"\[W095\]"
            )  # trained with an earlier spaCy: see models
            return spacy.load(name if packaged is None else packaged.checked(), exclude=unused)
    except (ImportError, OSError):
        raise InvalidInput(
            f"the pipeline must be an installed spaCy package or a folder, got {name!r}; "
            "pip install 'voile[ner]' brings a small English one"
        ) from None
