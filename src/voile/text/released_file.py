"""A released text column as its recipient has it: what its guarantee file says, and its draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from voile.core.guarantee import Guarantee
from voile.errors import BadFile, InvalidInput
from voile.files.source import Source
from voile.jobs.guarantee_file import check_content, fields_of, guarantee_record, is_release_of
from voile.text.alignment import Spelling, spellings
from voile.text.consistent import Scope, as_scope
from voile.text.laws import KNOWN_WORD_BY_WORD, LAWS
from voile.text.options import Words
from voile.text.plan import STOP_WORDS, UNKNOWN_WORDS, Plan
from voile.text.release import VocabularyUsed
from voile.text.settings import TextSettings
from voile.text.states import PLACEHOLDER
from voile.text.tokens import Token, Tokenizer, case_of
from voile.text.vocabularies import UNKNOWN_WORD, Vocabulary
from voile.text.vocabulary_names import vocabulary_for

_NAMED = {"MiniLM": "minilm", "WordLlama": "wordllama"}
"""Vocabularies by a word of what guarantee files call them; else that of the language."""


@dataclass(frozen=True)
class _Record:
    """The fields of a guarantee file that are read, as they stand there."""

    mechanism: Any
    guarantee: Any
    levels: Any
    vocabulary: Any
    clear_by_choice: Any
    seed: Any
    consistent: Any
    pseudonyms: Any
    remap: Any
    restored: Any
    language: Any
    output_sha256: Any


@dataclass(frozen=True)
class _Level:
    epsilon: Any


@dataclass(frozen=True)
class _Reading:
    misfit: Any
    texts: Any
    fell_back: Any


def was_read(restored: Any) -> bool:
    """Whether a guarantee file says that texts were read, and for some of them that held."""
    if restored is None:
        return False
    told = fields_of(_Reading, restored)
    return not (told.misfit == "drawn" and told.texts is not None and told.texts == told.fell_back)


@dataclass(frozen=True)
class Told:
    """What a guarantee file says that is needed to read its release."""

    mechanism: str
    guarantee: Guarantee
    epsilons: tuple[float | None, ...]
    vocabulary: VocabularyUsed
    clear_by_choice: tuple[str, ...]
    seed: int | None
    consistent: Scope | None
    pseudonyms: bool
    remapped: bool
    read: bool
    language: str
    sha256: str | None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Told:
        """What a record says; refused where it is not that of a released text."""
        try:
            found = fields_of(_Record, record)
            if not is_release_of("text", record):
                raise InvalidInput("the guarantee file must be that of a released text")
            epsilons = (fields_of(_Level, level).epsilon for level in found.levels)
            used = VocabularyUsed(**found.vocabulary)
            return cls(
                mechanism=str(found.mechanism),
                guarantee=Guarantee.from_dict(found.guarantee),
                epsilons=tuple(None if each is None else float(each) for each in epsilons),
                vocabulary=replace(used, words=int(used.words), name=str(used.name)),
                clear_by_choice=tuple(map(str, found.clear_by_choice)),
                seed=None if found.seed is None else int(found.seed),
                consistent=as_scope(found.consistent),
                pseudonyms=bool(found.pseudonyms),
                remapped=found.remap is not None,
                read=was_read(found.restored),
                language=str(found.language),
                sha256=found.output_sha256,
            )
        except KeyError as missing:
            raise BadFile(f"the guarantee file must have the field {missing.args[0]}") from None
        except (TypeError, ValueError, AttributeError, OverflowError):
            raise BadFile(
                "the guarantee file has fields that text protect does not write"
            ) from None

    @property
    def epsilon(self) -> float:
        """The epsilon of every word; refused where words have different ones, or stand in clear."""
        (epsilon, *others) = set(self.epsilons) or {None}
        if epsilon is None or others:
            raise InvalidInput(
                "a release with tiers, or with a law for each length, must be read while it is "
                "made (text protect --restore): its file does not say which law drew which word"
            )
        if epsilon != self.guarantee.epsilon:
            raise BadFile("the guarantee file must state one epsilon, and it states two")
        return epsilon

    def check(self) -> None:
        """Refuse what cannot be read from its file alone."""
        if self.mechanism not in KNOWN_WORD_BY_WORD:
            raise InvalidInput(
                f"a release must be drawn by {', '.join(KNOWN_WORD_BY_WORD)} to be read as a "
                f"whole, got {self.mechanism}"
            )
        if self.remapped or self.read:
            raise InvalidInput(
                "the release must hold the words as they were drawn, and these were "
                f"{'remapped' if self.remapped else 'read as a whole'} already"
            )
        if self.pseudonyms:
            raise InvalidInput(
                "a release with stand-ins must be read while it is made (text protect --restore): "
                "its file does not say which words are stand-ins and which were drawn"
            )
        if self.consistent not in (None, Scope.DOCUMENT):
            raise InvalidInput(
                f"a release with --consistent {self.consistent} must stay as it was drawn: words "
                "that other rows share could come out as different ones"
            )
        if STOP_WORDS in self.clear_by_choice:
            raise InvalidInput(
                "a release with stop words in clear must be read while it is made (text protect "
                "--restore): its file does not say which of them were drawn"
            )

    @property
    def unknown_in_clear(self) -> bool:
        """Whether words outside the vocabulary stand as they were."""
        return UNKNOWN_WORDS in self.clear_by_choice

    def settings(self, column: str, vocabulary: str | None, cache: bool) -> TextSettings:
        """The settings of the law that drew the words."""
        used = self.vocabulary
        angular = self.guarantee.metric.name == "chord"
        named = vocabulary or next(
            (name for told, name in _NAMED.items() if told in used.name),
            vocabulary_for(self.language),
        )
        metric: Literal["angular", "euclidean"] = "angular" if angular else "euclidean"
        alike: Literal["document"] | None = None if self.consistent is None else "document"
        words = Words(vocabulary=named, top=used.words, metric=metric, consistent=alike)
        mechanism = LAWS.find(self.mechanism)
        kept: Literal["read", "none"] = "read" if cache else "none"
        return TextSettings(
            column, self.epsilon, mechanism, words, cache=kept, language=self.language
        )

    def check_vocabulary(self, words: Vocabulary) -> None:
        """Refuse another vocabulary than the one that was drawn from."""
        if words.embedding.digest != self.vocabulary.sha256:
            raise InvalidInput(
                "the vocabulary must be the one that the words were drawn from, and it is another; "
                "give its file with --vocabulary"
            )


def told_by(guarantee: Any, source: Source) -> Told:
    """What a guarantee file says, a release from Python, or the file beside the released one."""
    told = Told.of(_record_of(guarantee, source))
    told.check()
    check_content(source, told.sha256, what="words")
    return told


def _record_of(guarantee: Any, source: Source) -> Mapping[str, Any]:
    if guarantee is not None:
        return guarantee_record(guarantee)
    if source.in_memory:
        raise InvalidInput("--guarantee must be given for data in memory")
    return guarantee_record(source.location.beside(source.location.name + ".guarantee.json"))


def draws_of(text: str, tokenizer: Tokenizer, *, unknown_in_clear: bool) -> Plan:
    """The words of a released text, each a draw; gaps and placeholders as they stand.

    A word that is written with signs ("u.s.", "'s") is one draw again. With words outside the
    vocabulary in clear, those are left as they are.
    """
    plan = Plan([], [], [], Counter())
    last = 0
    for match in (*PLACEHOLDER.finditer(text), None):
        end = len(text) if match is None else match.start()
        _add(plan, text[last:end], tokenizer, unknown_in_clear)
        if match is not None:
            plan.pieces.append(match.group())
            last = match.end()
    return plan


def _add(plan: Plan, text: str, tokenizer: Tokenizer, unknown_in_clear: bool) -> None:
    words = tokenizer.vocabulary
    tokens = [piece for piece in tokenizer.split(text) if not isinstance(piece, str)]
    last = 0
    for token in _joined(text, tokens, spellings(text, tokens, words)):
        written = text[token.start : token.end]
        if last < token.start:
            plan.pieces.append(text[last : token.start])
        last = token.end
        stranger = token.position == words.unknown and written.lower() != UNKNOWN_WORD
        if stranger and unknown_in_clear:
            plan.leave(written, UNKNOWN_WORDS)
        else:
            plan.draw(token, 0)
    if last < len(text):
        plan.pieces.append(text[last:])


def _joined(text: str, tokens: Sequence[Token], found: Sequence[Spelling]) -> list[Token]:
    """Tokens, those that together spell one word as one; of several readings the longest."""
    longest: dict[int, Spelling] = {}
    for spelling in found:
        lead = text[tokens[spelling.first].start - 1 : tokens[spelling.first].start]
        several = spelling.stop > spelling.first + 1
        if several or lead in ("'", "’"):
            best = longest.get(spelling.first)
            if best is None or spelling.stop >= best.stop:
                longest[spelling.first] = spelling
    joined, place, ended = [], 0, 0
    while place < len(tokens):
        if place not in longest:
            joined.append(tokens[place])
            place += 1
        else:
            spelling = longest[place]
            start, end = _edges(text, tokens, spelling)
            start = max(start, ended)
            case = case_of(text[start:end].strip("'’."))
            joined.append(Token(spelling.word, case, start, end))
            place = spelling.stop
        ended = joined[-1].end
    return joined


def _edges(text: str, tokens: Sequence[Token], spelling: Spelling) -> tuple[int, int]:
    """Where a spelling begins and ends in the text: its signs are those that its gaps lack."""
    start, end = tokens[spelling.first].start, tokens[spelling.stop - 1].end
    before = tokens[spelling.first - 1].end if spelling.first else 0
    after = tokens[spelling.stop].start if spelling.stop < len(tokens) else len(text)
    while start > before and text[start - 1] in "'’." and not _same(text[before:start],
                                                                    spelling.before):  # fmt: skip
        start -= 1
    while end < after and text[end] == "." and not _same(text[end:after], spelling.after):
        end += 1
    return start, end


def _same(gap: str, told: str) -> bool:
    return " ".join(gap.split()) == " ".join(told.split()) and len(gap.strip()) == len(told.strip())
