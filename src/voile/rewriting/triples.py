"""Subject–relation–object triples from a dependency parse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from voile.errors import MissingExtra
from voile.packaged import SPACY_ENGLISH

Triple = tuple[str, str, str]
Extractor = Callable[[Sequence[str]], list[list[Triple]]]

_SUBJECTS = {"nsubj", "nsubjpass", "csubj", "expl"}
_OBJECTS = {"dobj", "obj", "attr", "acomp", "oprd", "ccomp", "xcomp", "dative"}
NOBODY = "someone"
"""The subject of a command, which names none."""


def triple_extractor(model: str | None = None) -> Extractor:
    """Texts to triples with a spaCy pipeline: the packaged one, hash checked, a name or a folder.

    Each verb gives a triple for each object and each prepositional phrase: (subject, verb,
    object) or (subject, verb + preposition, its object). A verb without a subject takes that of
    the verb it depends on, or "someone". Equal triples count once.
    """
    if find_spec("spacy") is None:
        raise MissingExtra("spacy", extra="neural")
    import spacy

    pipeline = spacy.load(SPACY_ENGLISH.checked() if model is None else model)

    def extract(texts: Sequence[str]) -> list[list[Triple]]:
        return [list(dict.fromkeys(_triples(doc))) for doc in pipeline.pipe(texts, batch_size=64)]

    return extract


def _triples(doc: Any) -> list[Triple]:
    found: list[Triple] = []
    for verb in doc:
        if verb.pos_ not in ("VERB", "AUX") or verb.dep_ in ("aux", "auxpass"):
            continue
        subject = _subject(verb)
        name = _relation(verb)
        for child in verb.children:
            if child.dep_ in _OBJECTS and child.pos_ != "VERB":
                found.append((subject, name, _phrase(child)))
                found += _prepositions(subject, name, child)
        found += _prepositions(subject, name, verb)
    return [t for t in found if all(t)]


def _subject(verb: Any) -> str:
    for word in (verb, *verb.ancestors):
        for child in word.children:
            if child.dep_ in _SUBJECTS:
                return _phrase(child)
    return NOBODY


def _prepositions(subject: str, relation: str, head: Any) -> list[Triple]:
    return [
        (subject, f"{relation} {step.lower_}", _phrase(noun))
        for step in head.children
        if step.dep_ in ("prep", "agent")
        for noun in step.children
        if noun.dep_ in ("pobj", "pcomp")
    ]


def _relation(verb: Any) -> str:
    parts = [c for c in verb.children if c.dep_ in ("aux", "auxpass", "neg", "prt")]
    return " ".join(word.lower_ for word in sorted([*parts, verb], key=lambda w: w.i))


def _phrase(head: Any) -> str:
    """The noun with its modifiers, but without clauses and prepositions that hang on it."""
    kept = {"det", "amod", "compound", "nummod", "poss", "case", "nmod", "quantmod", "advmod"}
    words = [w for w in head.children if w.dep_ in kept] + [head]
    inner = [w for c in words[:-1] for w in c.children if w.dep_ in kept]
    return " ".join(w.lower_ for w in sorted({*words, *inner}, key=lambda w: w.i))
