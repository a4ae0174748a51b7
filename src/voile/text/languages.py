"""Languages: what each is read with, and which language a row is in.

The language of a row decides what finds its names and which of its words count as stop words; it
decides no law. So it is told apart from the guarantee, whose outside names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from voile.errors import InvalidInput, needs
from voile.packaged import SPACY_ENGLISH, SPACY_FRENCH, SPACY_SPANISH, PackagedModel
from voile.text.stopwords import STOPWORDS

AUTO = "auto"
"""Every row by its own language, over one vocabulary of all of them."""
SHORTEST, SURE = 20, 0.9
"""A row of fewer letters, or told with less probability, is of no known language."""
READ = 2_000
"""So many signs of a row say what it is in."""


@dataclass(frozen=True)
class Language:
    """What texts of a language are read with."""

    code: str
    title: str
    vocabulary: str
    pipeline: PackagedModel | None
    """What finds names; None where no package holds one."""


LANGUAGES = {
    language.code: language
    for language in (
        Language("en", "English", "glove", SPACY_ENGLISH),
        Language("de", "German", "multilingual", None),
        Language("fr", "French", "multilingual", SPACY_FRENCH),
        Language("es", "Spanish", "multilingual", SPACY_SPANISH),
    )
}
"""The languages that voile has settings for."""

_OTHERS = (
    "it nl pt sv da fi pl cs sk hu ro tr ru uk bg el ar he fa hi zh ja ko vi id ca hr sl et lv lt"
)
"""Languages that rows are told to be in, so that they are not taken for one of ours."""
_TITLES = {
    "it": "Italian", "nl": "Dutch", "pt": "Portuguese", "sv": "Swedish", "da": "Danish",
    "fi": "Finnish", "pl": "Polish", "cs": "Czech", "tr": "Turkish", "ru": "Russian",
    "uk": "Ukrainian", "el": "Greek", "ar": "Arabic", "he": "Hebrew", "fa": "Persian",
    "hi": "Hindi", "zh": "Chinese", "ja": "Japanese", "ko": "Korean",
}  # fmt: skip


def title(code: str) -> str:
    """A language's name in English, or its code.

    >>> title("de"), title("he"), title("sl")
    ('German', 'Hebrew', 'sl')
    """
    return LANGUAGES[code].title if code in LANGUAGES else _TITLES.get(code, code)


@cache
def stopwords_of(code: str) -> frozenset[str]:
    """The function words of a language: our list in English, spaCy's elsewhere."""
    if code == "en":
        return STOPWORDS
    with needs("spacy", extra="ner"):
        listed = import_module(f"spacy.lang.{code}.stop_words")
    return frozenset(listed.STOP_WORDS)


def stopwords_in(chosen: str) -> frozenset[str]:
    """The stop words of what texts are read in; of all languages where each row has its own."""
    return frozenset().union(*map(stopwords_of, LANGUAGES if chosen == AUTO else (chosen,)))


def detect(texts: Iterable[Any]) -> list[str]:
    """The language of each text by its code; empty where it is too short or unclear to tell.

    >>> detect(["Ich hätte gern einen Tisch für zwei Personen.", "ok", None])
    ['de', '', '']
    """
    return [_language_of(text[:READ]) if isinstance(text, str) else "" for text in texts]


def _language_of(text: str) -> str:
    if sum(map(str.isalpha, text)) < SHORTEST:
        return ""
    code, probability = _identifier().classify(text.encode("utf-8", "replace").decode("utf-8"))
    return str(code) if probability >= SURE else ""


@cache
def _identifier() -> Any:
    with needs("py3langid", extra="text"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    found.set_languages([*LANGUAGES, *_OTHERS.split()])
    return found


def check_language(chosen: str | None, texts: Sequence[Any]) -> str:
    """The language that texts are to be read in; an unstated one must not be another than English.

    Raises:
        InvalidInput: most texts of those whose language is clear are not in English, and nobody
            said what they are to be read as.

    """
    if chosen is not None:
        return chosen
    clear = [code for code in detect(texts) if code]
    foreign = [code for code in clear if code != "en"]
    if 2 * len(foreign) <= len(clear):
        return "en"
    most = max(sorted(set(foreign)), key=foreign.count)
    share = f"{foreign.count(most)} of {len(clear)} rows looked at"
    advice = (
        f"give --language {most}, or --language auto where rows differ"
        if most in LANGUAGES
        else f"there are settings for {', '.join(LANGUAGES)}: give --vocabulary and --pipeline of "
        "your own"
    )
    raise InvalidInput(
        f"texts must be in English where no --language is given, got {title(most)} ({share}); "
        f"{advice}; --language en reads them as English all the same"
    )


def pipeline_of(code: str, given: str | None) -> str:
    """What finds names in a language: what was given, or what comes in a package."""
    if given is not None:
        return given
    packaged = LANGUAGES[code].pipeline
    if packaged is None:
        raise InvalidInput(
            f"names in {title(code)} must be found by a pipeline that you name: no package that "
            "voile knows holds one; give --pipeline a spaCy package, a folder or a .txt list"
        )
    return packaged.module
