"""The release that `text tune` is for: its settings, laws, reading of texts, and command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from voile.adapt.ampl import Laws
from voile.adapt.secrets import Document
from voile.errors import InvalidInput, require
from voile.options import Call, case_of
from voile.recipe import write_recipe
from voile.report.provenance import spelled
from voile.text.building import law_builder, tier_laws
from voile.text.languages import check_language
from voile.text.options import Names, Strength, Words
from voile.text.plan import KEPT, Plan
from voile.text.sequences import numbered
from voile.text.settings import PRIVATE_CORPUS, TextSettings, settings_from
from voile.text.vocabularies import Vocabulary
from voile.text.word_protector import TextProtector


def tuned_settings(
    documents: Sequence[str],
    column: str,
    epsilon: float,
    mechanism: str,
    words: Words,
    pipeline: str | None,
) -> TextSettings:
    """The settings of the release that is to be made, its strengths still plain."""
    if words.consistent is not None:
        raise InvalidInput(
            "--consistent must not go with text tune: its attackers take every place for a draw "
            "of its own"
        )
    if words.vocabulary == PRIVATE_CORPUS:
        raise InvalidInput("text tune must have a public vocabulary, got private-corpus")
    names = Names(tiers="pii,poii", alpha=("1", "1", "keep"), pipeline=pipeline)
    language = check_language(words.language, documents[:200])
    strength = Strength(epsilon=epsilon)
    return settings_from(column, strength, mechanism, words, names, language=language)


def laws_at(settings: TextSettings, vocabulary: Vocabulary) -> Laws:
    """The laws that `text protect` draws from with these settings, at any strengths."""
    build = lru_cache(maxsize=8)(law_builder(settings, vocabulary))

    def laws(strengths: tuple[float, ...]) -> Sequence[object]:
        return tier_laws(replace(settings, alphas=(*strengths, None)), build)

    return laws  # type: ignore[return-value]  # the three mechanisms allowed know their laws


def documents_of(protector: TextProtector, texts: Sequence[str], *, longest: int) -> list[Document]:
    """Each text as the release reads it: words that are drawn, with their tiers, and in clear.

    Copies have one owner: nothing is to be chosen on one and measured on another.
    """
    require(longest >= 1, "words", ">= 1", longest)
    plans = (plan for plan in protector.plan(texts) if isinstance(plan, Plan))
    found = (_document(protector, plan, longest) for plan in plans)
    read = [document for document in found if len(document.words)]
    owners = numbered(document.words.tobytes() for document in read)
    return [replace(document, owner=n) for document, n in zip(read, owners, strict=True)]


def _document(protector: TextProtector, plan: Plan, longest: int) -> Document:
    words: list[int] = []
    levels: list[int] = []
    for piece in plan.settled():
        if isinstance(piece, int):
            words.append(plan.drawn[piece].position)
            levels.append(plan.levels[piece])
            continue
        tokens = [p for p in protector.tokenizer.split(piece) if not isinstance(p, str)]
        words += [token.position for token in tokens]
        levels += [KEPT] * len(tokens)
    return Document(np.array(words[:longest], np.intp), np.array(levels[:longest], np.intp))


def protect_options(
    column: str,
    epsilon: float,
    strengths: Sequence[float],
    mechanism: str,
    words: Words,
    pipeline: str | None,
) -> dict[str, Any]:
    """The options of `text protect` that draw from the laws that were tuned, to the last digit."""
    from voile.text._protect import protect

    given = {
        "column": column,
        "epsilon": epsilon,
        "mechanism": mechanism,
        **{name: getattr(words, name) for name in Words.__dataclass_fields__},
        "tiers": "pii,poii",
        "alpha": (*(repr(value) for value in strengths), "keep"),
        "pipeline": pipeline,
    }
    known = case_of(protect).parameters
    return {name: value for name, value in given.items() if value != known[name].default}


def protect_command(options: Mapping[str, Any]) -> str:
    """The command with these options, for a file that is yet to be named."""
    from voile.text._protect import protect

    return spelled(Call(case_of(protect), {"data": "FILE", **options}, 0.0, ""), whole=True)


def write_tuned_recipe(path: Path, options: Mapping[str, Any], data: str | Path) -> None:
    """A recipe that releases a file with these options: `voile run` draws from the tuned laws."""
    plain = (str, bool, int, float)
    for name, value in options.items():
        if not all(
            isinstance(part, plain) for part in (value if isinstance(value, tuple) else (value,))
        ):
            raise InvalidInput(f"{name} must be a word or a number to stand in a recipe, got code")
    write_recipe(path, "text protect", {"data": str(data), **options})
