"""A released text column as its recipient has it: what its guarantee file says, and its draws."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voile.core.guarantee import Guarantee
from voile.errors import BadFile, InvalidInput
from voile.files.locations import location
from voile.files.source import Source
from voile.text.alignment import Spelling, spellings
from voile.text.laws import KNOWN_WORD_BY_WORD, LAWS
from voile.text.options import Words
from voile.text.plan import STOP_WORDS, UNKNOWN_WORDS, Plan
from voile.text.release import TextRelease, VocabularyUsed
from voile.text.settings import TextSettings
from voile.text.states import PLACEHOLDER
from voile.text.tokens import Token, Tokenizer, case_of
from voile.text.vocabularies import UNKNOWN_WORD, Vocabulary


@dataclass(frozen=True)
class Told:
    """What a guarantee file says that is needed to read its release."""

    record: Mapping[str, Any]

    @property
    def epsilon(self) -> float:
        """The epsilon of every word; refused where words have different ones, or stand in clear."""
        levels = self._field("levels")
        epsilons = {level.get("epsilon") for level in levels}
        if len(epsilons) != 1 or None in epsilons:
            raise InvalidInput(
                "a release with tiers, or with a law for each length, must be read while it is "
                "made (text protect --restore): its file does not say which law drew which word"
            )
        return float(epsilons.pop())

    def check(self) -> None:
        """Refuse what cannot be read from its file alone."""
        if self._field("format") != "voile-release/1" or self._field("domain") != "text":
            raise InvalidInput("the guarantee file must be that of a released text")
        if self._field("mechanism") not in KNOWN_WORD_BY_WORD:
            raise InvalidInput(
                f"a release must be drawn by {', '.join(KNOWN_WORD_BY_WORD)} to be read as a "
                f"whole, got {self._field('mechanism')}"
            )
        done = [name for name in ("remap", "restored") if self.record.get(name) is not None]
        if done:
            raise InvalidInput(
                "the release must hold the words as they were drawn, and these were "
                f"{'remapped' if done == ['remap'] else 'read as a whole'} already"
            )
        if STOP_WORDS in self._field("clear_by_choice"):
            raise InvalidInput(
                "a release with stop words in clear must be read while it is made (text protect "
                "--restore): its file does not say which of them were drawn"
            )

    @property
    def unknown_in_clear(self) -> bool:
        """Whether words outside the vocabulary stand as they were."""
        return UNKNOWN_WORDS in self._field("clear_by_choice")

    @property
    def seed(self) -> int | None:
        """What the draws were seeded with, if they were: what is read from them is no release."""
        found = self._field("seed")
        return None if found is None else int(found)

    @property
    def vocabulary(self) -> VocabularyUsed:
        """The words that could be drawn."""
        try:
            return VocabularyUsed(**self._field("vocabulary"))
        except TypeError:
            raise BadFile("the guarantee file must name the vocabulary") from None

    def guarantee(self) -> Guarantee:
        """What was promised, as it was written."""
        return Guarantee.from_dict(self._field("guarantee"))

    def settings(self, column: str, vocabulary: str | None, cache: bool) -> TextSettings:
        """The settings of the law that drew the words."""
        used = self.vocabulary
        angular = self.guarantee().metric.name == "chord"
        named = vocabulary or ("minilm" if "MiniLM" in used.name else "glove")
        metric: Literal["angular", "euclidean"] = "angular" if angular else "euclidean"
        words = Words(vocabulary=named, top=used.words, metric=metric)
        mechanism = LAWS.find(self._field("mechanism"))
        kept = "read" if cache else "none"
        return TextSettings(column, self.epsilon, mechanism, words, cache=kept)  # type: ignore[arg-type]

    def check_vocabulary(self, words: Vocabulary) -> None:
        """Refuse another vocabulary than the one that was drawn from."""
        if words.embedding.digest != self.vocabulary.sha256:
            raise InvalidInput(
                "the vocabulary must be the one that the words were drawn from, and it is another; "
                "give its file with --vocabulary"
            )

    def _field(self, name: str) -> Any:
        try:
            return self.record[name]
        except KeyError:
            raise BadFile(f"the guarantee file must have the field {name}") from None


def told_by(guarantee: Any, source: Source) -> Told:
    """What a guarantee file says, a release from Python, or the file beside the released one."""
    if isinstance(guarantee, TextRelease):
        told = Told(guarantee.guarantee_file())
        told.check()
        return told
    if guarantee is None:
        if source.in_memory:
            raise InvalidInput("--guarantee must be given for data in memory")
        guarantee = source.location.beside(source.location.name + ".guarantee.json")
    place = location(guarantee)
    try:
        with place.open() as file:
            record = json.loads(file.read())
    except FileNotFoundError:
        raise InvalidInput(
            f"--guarantee must name the guarantee file of the release, there is no {place.name}"
        ) from None
    except (OSError, ValueError):
        raise BadFile(f"{place.name} is not a guarantee file that can be read") from None
    if not isinstance(record, dict):
        raise BadFile(f"{place.name} is not a guarantee file")
    told = Told(record)
    told.check()
    return told


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
