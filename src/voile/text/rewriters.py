"""Every rewriter that `text compare` can name, words' and texts' alike, ready at any epsilon."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator, seeded_rng
from voile.names import Named
from voile.rewriting.names import OWN, REWRITERS, rewrites
from voile.rewriting.prepared import Prepared, mean_words
from voile.rewriting.workshop import Workshop
from voile.text.laws import LAWS
from voile.text.own import own_epsilons, own_rewriter
from voile.text.word_likelihood import word_likelihood

MECHANISMS = replace(LAWS | REWRITERS, what="mechanisms", open_to=OWN, fits=rewrites)
"""What `text compare --mechanisms` takes."""


@dataclass
class Rewriters:
    """Makes any of them; a model is loaded once for all epsilons.

    `top` is the size of the vocabulary of words' laws; `kept` a folder for the vectors of the
    sentence encoder, so that none is made twice.
    """

    workshop: Workshop = field(default_factory=Workshop)
    top: int = 20_000
    kept: Path | None = None

    def prepare(self, which: Named, epsilon: float | None) -> Prepared:
        """The rewriter at this epsilon."""
        if which.name in LAWS:
            assert epsilon is not None
            return self._words(which.name, epsilon)
        if _is_ours(which):
            assert epsilon is not None
            return self.workshop.prepare(which.name, epsilon, encoder=lambda: self.encoder)
        return own_rewriter(which, epsilon)

    def epsilons(self, which: Named, epsilons: Sequence[float]) -> tuple[float | None, ...]:
        """The epsilons at which it is compared; a user's own may have none, or one of its own."""
        named = which.name in LAWS or _is_ours(which)
        return tuple(epsilons) if named else own_epsilons(which, epsilons)

    def identity(self, which: Named, epsilon: float | None) -> str | None:
        """All that its law depends on; None for code that nothing identifies."""
        if which.name in LAWS or _is_ours(which):
            return "|".join([which.name, repr(epsilon), self.workshop.identity(), str(self.top)])
        code = _code(which)
        return None if code is None else "|".join([which.name, repr(epsilon), which.home, code])

    def _words(self, name: str, epsilon: float) -> Prepared:
        from voile.text.building import build_protector, load_vocabulary
        from voile.text.options import Words
        from voile.text.settings import TextSettings

        words = Words(top=self.top, identifiers=False)
        settings = TextSettings("", epsilon, LAWS.find(name), words)
        protector = build_protector(settings, load_vocabulary(settings))
        protector.release(["a word"], seeded_rng(0))  # compiles: not to be counted as releasing
        return prepared_words(protector)

    @cached_property
    def encoder(self) -> Any:
        """The sentence encoder that attacks and candidate sets share."""
        from voile.attackers.sentence_encoder import sentence_encoder

        return sentence_encoder(self.workshop.models.get("encoder"), kept=self.kept)

    def word_vectors(self, words: Sequence[str]) -> Any:
        """The public vectors that words' laws are made of; NaN for words that have none."""
        return vectors_of(self._vocabulary, words)

    @cached_property
    def _vocabulary(self) -> Any:
        from voile.text.vocabulary_files import glove

        return glove(top=self.top)

    def empty(self) -> Rewriters:
        """The same before anything was loaded, so that it can travel."""
        return replace(self, workshop=self.workshop.empty())


def vectors_of(vocabulary: Any, words: Sequence[str]) -> Any:
    """A row of the vocabulary's lattice for each word, NaN for those that it lacks."""
    places = [vocabulary.positions.get(word, -1) for word in words]
    embedding = vocabulary.embedding
    table = embedding.coordinates[places].astype(np.float64) * embedding.step
    table[np.array(places, dtype=np.intp) < 0] = np.nan
    return table


def prepared_words(protector: Any) -> Prepared:
    """A protector of words: its law is known where its table is."""

    def draw(texts: Sequence[str], rng: Generator) -> list[str]:
        return [str(text) for text in protector.release(list(texts), rng)]

    guarantee: Guarantee = protector.guarantee
    law = word_likelihood(protector) if hasattr(protector.laws[0], "log_prob") else None
    return Prepared(draw, guarantee, mean_words, log_likelihood=law)


def _is_ours(which: Named) -> bool:
    return which.home.startswith("voile.")


def _code(which: Named) -> str | None:
    """A hash of the file in which a user's own rewriter stands; none if it was passed as it is."""
    from importlib.util import find_spec

    if which.given is not None:
        return None
    where = which.home.rpartition(":")[0]
    if not where.endswith(".py"):
        found = find_spec(where)
        where = "" if found is None or found.origin is None else found.origin
    try:
        return hashlib.sha256(Path(where).read_bytes()).hexdigest()
    except OSError:
        return None
