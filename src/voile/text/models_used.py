"""Which models a release of text rests on: its word vectors, and what decides what is a name."""

from __future__ import annotations

from pathlib import Path

from voile.errors import MissingExtra
from voile.packaged import GLOVE, MINILM, SPACY_ENGLISH, YOURS, ModelRecord, own_record
from voile.text.tiers import DEFAULT_PIPELINE

VECTORS, NAMES = "word vectors", "names"


def models_used(vocabulary: str, pipeline: str | None) -> tuple[ModelRecord, ...]:
    """A record of each model, packaged or the user's own; `pipeline` is None without tiers.

    >>> [record.name for record in models_used("glove", None)]
    ['GloVe 6B 50d']
    """
    return (_vectors(vocabulary), *([] if pipeline is None else [_pipeline(pipeline)]))


def _vectors(vocabulary: str) -> ModelRecord:
    if vocabulary == "minilm":
        return MINILM.record(VECTORS)
    if vocabulary in ("glove", "private-corpus"):  # the latter is cut from it
        return GLOVE.record(VECTORS)
    return own_record(VECTORS, Path(vocabulary))


def _pipeline(name: str) -> ModelRecord:
    if name.endswith(".txt"):
        # no hash: a short list of names could be guessed from it
        return ModelRecord(NAMES, "a list of names", None, YOURS, None)
    if name == DEFAULT_PIPELINE and SPACY_ENGLISH.location() is not None:
        return SPACY_ENGLISH.record(NAMES)
    if Path(name).is_dir():
        return own_record(NAMES, Path(name))
    try:
        from spacy.util import get_package_path
    except ImportError:
        raise MissingExtra("spacy", extra="ner") from None
    return own_record(NAMES, Path(get_package_path(name)), name=name)
