"""Which models a release of text rests on: its word vectors, and what decides what is a name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voile.errors import needs
from voile.packaged import YOURS, ModelRecord, own_record
from voile.text.tiers import PIPELINES
from voile.text.vocabulary_names import vocabulary_records

VECTORS, NAMES = "word vectors", "names"


def models_used(vocabulary: str | None, pipelines: Sequence[str] = ()) -> tuple[ModelRecord, ...]:
    """A record of each model, packaged or the user's own.

    There is no vocabulary where no word is drawn, and no pipeline without names to find.

    >>> [record.name for record in models_used("glove")]
    ['GloVe 6B 50d']
    """
    vectors = () if vocabulary is None else vocabulary_records(vocabulary, VECTORS)
    return (*vectors, *map(_pipeline, pipelines))


def _pipeline(name: str) -> ModelRecord:
    if name.endswith(".txt"):
        # no hash: a short list of names could be guessed from it
        return ModelRecord(NAMES, "a list of names", None, YOURS, None)
    for packaged in PIPELINES:
        if name == packaged.module and packaged.location() is not None:
            return packaged.record(NAMES)
    if Path(name).is_dir():
        return own_record(NAMES, Path(name))
    with needs("spacy", extra="ner"):
        from spacy.util import get_package_path
    return own_record(NAMES, Path(get_package_path(name)), name=name)
