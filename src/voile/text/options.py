"""The options of a release of text, as users give them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from voile.errors import InvalidInput, require
from voile.options import Data, Option, Options

DEFAULT_TOP = 50_000
"""How many words of a list are used, the most frequent first."""
DEFAULT_FINDERS = ("patterns",)
"""What looks for personal data."""


@dataclass(frozen=True)
class Strength(Options):
    """How much a word or a document may give away; one of the first four must be given."""

    epsilon: Annotated[float | None, Option("Privacy parameter for each word.", "How strong")] = (
        None
    )
    keep: Annotated[
        float | None,
        Option("Choose epsilon so that this share of words is kept.", "How strong"),
    ] = None
    max_kept: Annotated[
        float | None,
        Option(
            "Choose epsilon so that no watched word is kept more often than this.", "How strong"
        ),
    ] = None
    document_epsilon: Annotated[
        float | None,
        Option("A budget for each document instead of each word.", "How strong"),
    ] = None
    longest: Annotated[
        int | None,
        Option("Drop what follows this many words of a document, or distinct words.", "How strong"),
    ] = None
    public_length: Annotated[
        bool, Option("Split the budget over each actual length.", "How strong")
    ] = False
    watch: Annotated[
        Path | None,
        Option(
            "A public list, one word a line: show how often the law keeps them.",
            "How strong",
            reads="public",
        ),
    ] = None
    document_column: Annotated[
        bool, Option("Add each document's total epsilon as a column.", "Output")
    ] = False

    def __post_init__(self) -> None:
        given = (self.epsilon, self.keep, self.max_kept, self.document_epsilon)
        if sum(value is not None for value in given) > 1:
            raise InvalidInput(ONE_OF)


ONE_OF = "give one of --epsilon, --keep, --max-kept and --document-epsilon"


@dataclass(frozen=True)
class Words(Options):
    """What a word is, and what may stand in its place."""

    language: Annotated[
        Literal["en", "de", "fr", "es", "auto"] | None,
        Option(
            "What the texts are in; auto: each row as detected. Default: English, if they are.",
            "Words",
        ),
    ] = None
    vocabulary: Annotated[
        str | None,
        Option(
            "glove, glove-100d, minilm, wordllama, multilingual, a file of vectors, or "
            "private-corpus; default: glove in English, multilingual elsewhere.",
            "Words",
            shown=True,
        ),
    ] = None
    top: Annotated[int | None, Option("Use this many most frequent words.", "Words")] = DEFAULT_TOP
    metric: Annotated[
        Literal["euclidean", "angular"], Option("How far apart two words are.", "Words")
    ] = "euclidean"
    unknown: Annotated[
        Literal["perturb", "drop", "fail", "keep"],
        Option("What happens to words outside the vocabulary.", "Words"),
    ] = "perturb"
    keep_stopwords: Annotated[bool, Option("Leave stop words in clear.", "Words")] = False
    identifiers: Annotated[bool, Option("Replace what --find finds by placeholders.", "Names")] = (
        True
    )
    find: Annotated[
        tuple[Any, ...],
        Option(
            "Comma-separated: patterns, numbers, addresses, names, presidio, and your own as "
            "mine=./mine.py:find.",
            "Names",
            shown=True,
        ),
    ] = DEFAULT_FINDERS
    signs: Annotated[
        Literal["drop", "keep"], Option("Signs at words, as in HIV+ and O-.", "Words")
    ] = "drop"
    remap: Annotated[
        bool,
        Option("Replace each drawn word by the likeliest-to-serve one; costs no ε.", "Words"),
    ] = False
    consistent: Annotated[
        Literal["document", "person", "file"] | None,
        Option(
            "Draw a word that repeats there once, and replace it alike; ε is then spent for each "
            "distinct word.",
            "Words",
        ),
    ] = None
    no_cache: Annotated[
        bool,
        Option("Keep nothing on disk of what was worked out for the vocabulary.", "Running"),
    ] = False


Use = Literal["reading", "training", "retrieval"]
"""What restored text is for: words that are right, or meanings that are near."""
SERVING: dict[Use, bool] = {"reading": False, "training": True, "retrieval": True}
"""Which uses want the word of least expected loss; the other wants the likeliest word."""
Misfit = Literal["drawn", "frequencies", "ignore"]
"""What is handed on where the public text does not fit."""


@dataclass(frozen=True)
class Restoring(Options):
    """Reading what was drawn as a whole, with public text: post-processing, at no cost in ε."""

    restore: Annotated[
        Use | None,
        Option(
            "Read the draws as a whole, and release what they most likely were.",
            "Restoring",
            shown=True,
        ),
    ] = None
    public: Annotated[
        Data,
        Option("Public text of the same kind, never the private one.", "Restoring", reads="public"),
    ] = None
    public_column: Annotated[
        str | None, Option("Its column; default: the only one, or text.", "Restoring", shown=True)
    ] = None
    misfit: Annotated[
        Misfit | None,
        Option(
            "Where the public text does not fit: words as drawn, or by frequency.",
            "Restoring",
            shown=True,
        ),
    ] = None

    rerank: Annotated[
        str | None,
        Option(
            "A language model that chooses among the likeliest readings: packaged, or a hub id or "
            "folder; slow.",
            "Restoring",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.rerank is not None and (self.restore != "reading" or self.public is None):
            raise InvalidInput(
                "--rerank must go with --restore reading and --public, on whose held-out texts it "
                "is seen whether the model helps"
            )

    @property
    def fall_back(self) -> Misfit:
        """What is done where the prior does not fit: for training, the words as drawn."""
        return self.misfit or ("drawn" if self.restore == "training" else "frequencies")


MappingKey = Annotated[
    str | None,
    Option(
        "A file with the mapping's key; else the passphrase in VOILE_MAPPING_PASSPHRASE.",
        "Names",
        environment="VOILE_MAPPING_KEY",
        secret=True,
    ),
]


@dataclass(frozen=True)
class Names(Options):
    """Names and words close to names, with a strength of their own."""

    tiers: Annotated[
        Literal["pii", "pii,poii"] | None,
        Option("Give names (pii), and words close to names (poii), their own strength.", "Names"),
    ] = None
    alpha: Annotated[
        tuple[str, ...],
        Option(
            "Strengths of pii, poii and the rest, times epsilon; or 'keep'.", "Names", shown=True
        ),
    ] = ("0.3", "0.6", "1")
    pipeline: Annotated[
        str | None,
        Option(
            "Finds names: a spaCy pipeline, or a .txt list; default: by language.",
            "Names",
            shown=True,
        ),
    ] = None

    pseudonyms: Annotated[
        bool,
        Option(
            "Stand-ins for names and identifiers, of the same kind and form; without an epsilon "
            "all other words stand IN CLEAR.",
            "Names",
        ),
    ] = False
    keep_mapping: Annotated[
        Path | None,
        Option("Keep what stand-ins stand for in this file, encrypted: `text reveal`.", "Output"),
    ] = None
    mapping_key: MappingKey = None

    def __post_init__(self) -> None:
        if self.pseudonyms and self.tiers is not None:
            raise InvalidInput(
                "--tiers must not go with --pseudonyms: names have stand-ins, no epsilon of theirs"
            )
        if self.keep_mapping is not None and not self.pseudonyms:
            raise InvalidInput("--keep-mapping must go with --pseudonyms")

    def alphas(self) -> tuple[float | None, ...]:
        """Strengths of pii, poii and the rest; poii follows the rest if it is not asked for."""
        if self.tiers is None:
            return ()
        shown = ",".join(map(str, self.alpha))
        try:
            values = [None if str(a).strip() == "keep" else float(a) for a in self.alpha]
        except ValueError:
            raise InvalidInput(f"--alpha must be numbers or 'keep', got {shown!r}") from None
        require(all(v is None or v > 0 for v in values), "--alpha", "> 0", shown)
        if len(values) == 2 and self.tiers == "pii,poii":
            values.append(1.0)
        if self.tiers == "pii":
            values = [values[0], values[-1] if len(values) > 1 else 1.0]
            values.insert(1, values[-1])
        require(len(values) == 3, "--alpha", "one number for each tier and the rest", shown)
        return tuple(values)
