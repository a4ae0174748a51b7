"""Texts in, texts out: every word a secret, released by a mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from voile.core.arrays import Items
from voile.core.guarantee import Guarantee
from voile.core.mechanism import Mechanism
from voile.core.randomness import Generator
from voile.core.rounding import product_upwards, sum_upwards
from voile.errors import InvalidInput
from voile.files.in_memory import open_in_memory, same_kind
from voile.files.tables import Changes
from voile.ledger.amounts import Cost
from voile.personal.spans import merge
from voile.text.consistent import Scope, SharedDraws, draw_words
from voile.text.finders import Finders
from voile.text.nearest import NearestWords, nearest_words
from voile.text.not_covered import not_covered
from voile.text.plan import SIGNS_AT_WORDS, STOP_WORDS, UNKNOWN_WORDS, Plan
from voile.text.reading_language import Marks, Reading
from voile.text.released import Read, Refused, ReleasedText, Unknown
from voile.text.signs import Signs, without_signs
from voile.text.standins import ABOUT_NOBODY, StandIns, put_in
from voile.text.tiers import Tiers
from voile.text.tokens import Case, Piece, Token, Tokenizer, join
from voile.text.vocabularies import Vocabulary

if TYPE_CHECKING:
    from voile.text.restorer import Restorer


@dataclass(frozen=True, eq=False)
class TextProtector:
    """Replaces every word of a text by a draw, keeping spaces, punctuation and casing.

    Signs at words (HIV+, O−) are left out unless `signs` says otherwise.

    `laws[level]` releases the words of a level, None leaves them alone; without tiers there is
    one level. `longest` drops what follows that many words. `law_of_length` takes the place of
    `laws` where each document has a fixed budget and its length is public. `consistent` says where
    a word that repeats is drawn once; lengths are then counted in distinct words.
    """

    vocabulary: Vocabulary
    laws: tuple[Mechanism | None, ...]
    unknown: Unknown = Unknown.PERTURB
    keep_stopwords: bool = False
    identifiers: bool = True
    finders: Finders = field(default_factory=Finders)
    reading: Reading = field(default_factory=Reading)
    tiers: Tiers | None = None
    longest: int | None = None
    signs: Signs = Signs.DROP
    law_of_length: Callable[[int], Mechanism] | None = field(default=None, repr=False)
    consistent: Scope | None = None
    restorer: Restorer | None = field(default=None, repr=False)
    """Reads what was drawn as a whole, before it is put together."""
    stand_ins: StandIns | None = None

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer over this vocabulary."""
        return Tokenizer(self.vocabulary)

    @property
    def guarantee(self) -> Guarantee:
        """What one word is promised, and all that the promise leaves out."""
        drawn = [law.guarantee for law in self.laws if law is not None]
        strongest = max(drawn, key=lambda g: g.epsilon) if drawn else ABOUT_NOBODY
        outside = (*not_covered(self), *strongest.outside)
        if not drawn:
            return replace(strongest, outside=outside)
        if self.consistent is None:
            return replace(strongest, outside=outside)
        return replace(strongest, granularity=self.consistent.granularity, outside=outside)

    @cached_property
    def nearest(self) -> NearestWords:
        """How far apart nearest words are in this vocabulary."""
        if all(law is None for law in self.laws):
            return NearestWords(None, None, 0)  # nothing is drawn: no distance matters
        return nearest_words(self.guarantee.metric, len(self.vocabulary.embedding))

    def explain(self) -> str:
        """The guarantee in sentences, at distances that nearest words have."""
        return self.guarantee.explain(distances=self.nearest.distances())

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, one for each law."""
        return ("words",) if self.tiers is None else self.tiers.names

    @cached_property
    def _sums(self) -> dict[tuple[int, ...], float]:
        return {}

    @property
    def alone(self) -> TextProtector:
        """The same for a text of which nobody says whose it is: a scope of its own."""
        scope = Scope.DOCUMENT if self.consistent is Scope.PERSON else self.consistent
        return replace(self, consistent=scope)

    def law_of(self, level: int, drawn: int) -> Mechanism | None:
        """What releases a word of this level in a text of so many drawn words; None: nothing."""
        return self.laws[level] if self.law_of_length is None else self.law_of_length(drawn)

    def size(self, plan: Plan) -> int:
        """How many draws a text takes: one a word, or one a distinct word."""
        return len(plan.drawn if self.consistent is None else plan.distinct)

    def draws(self, plan: Plan) -> tuple[int, ...]:
        """The same by level: what the text is charged for."""
        of = plan.levels if self.consistent is None else [level for level, _ in plan.distinct]
        return tuple(map(of.count, range(len(self.levels))))

    def spent(self, drawn: tuple[int, ...]) -> float:
        """What a text with so many draws at each level spends in all, rounded up."""
        if drawn not in self._sums:  # few differ among the texts of a file
            costs = self.costs(drawn)
            self._sums[drawn] = sum_upwards(*(product_upwards(each, n) for each, _, n in costs))
        return self._sums[drawn]

    def release(self, texts: Any, rng: Generator) -> Any:
        """Texts blurred word by word, in the container they came in.

        A list, a tuple, a pandas or Polars column, an Arrow array. Missing values stay missing.
        """
        if hasattr(texts, "__len__") and not len(texts):
            return texts
        source = open_in_memory(texts)
        if (column := source.alone) is None:
            raise InvalidInput(
                f"texts must be one column, got {len(source.columns)}; choose one, or use "
                "voile.text.protect, which asks what becomes of the others"
            )
        values = list(source.table.part(0, len(source.table))[column])
        chosen = [i for i, value in enumerate(values) if value is not None]
        released: list[str | None] = [None] * len(values)
        answers = self.release_texts([values[i] for i in chosen], rng)
        for i, answer in zip(chosen, answers, strict=True):
            if isinstance(answer, Refused):
                raise InvalidInput(f"text {i}: {answer.reason}")
            released[i] = answer.text
        return same_kind(source, Changes(range(len(values)), {column: released}))

    def release_texts(self, texts: Sequence[Any], rng: Generator) -> list[ReleasedText | Refused]:
        """One answer a text. All words are drawn together, so many texts at once are faster."""
        return self.draw(self.plan(texts), rng)

    def plan(
        self, texts: Sequence[Any], known: Sequence[frozenset[str]] = ()
    ) -> list[Plan | Refused]:
        """What is to be drawn for each text; no randomness yet. `known`: names in its scope."""
        languages = self.reading.languages_of(texts)
        none: list[Any] = [()] * len(texts)
        names = none if self.tiers is None else self.tiers.entities(texts, languages)
        spans: Sequence[Any] = self.finders.find(texts) if self.identifiers else none
        left = none
        if self.stand_ins is not None:
            named = self.stand_ins.named(texts, known)
            spans = [merge([*own, *more.found]) for own, more in zip(spans, named, strict=True)]
            left = [more.left for more in named]
        marks = map(Marks, languages, names, spans, left)
        return [self._plan(text, found) for text, found in zip(texts, marks, strict=True)]

    def costs(self, draws: Sequence[int]) -> Cost:
        """What so many draws at each level cost: (epsilon, delta, number), by level."""
        bounds = [(self.law_of(level, sum(draws)), n) for level, n in enumerate(draws) if n]
        return tuple(
            (law.guarantee.epsilon, law.guarantee.delta, n) for law, n in bounds if law is not None
        )

    def draw(
        self, plans: Sequence[Plan | Refused], rng: Generator, shared: SharedDraws | None = None
    ) -> list[ReleasedText | Refused]:
        """One answer a plan; `shared` where rows of other parts have draws in common with these."""
        if self.stand_ins is not None:
            plans = put_in(plans, self.stand_ins.language, rng, shared)
        planned = [plan for plan in plans if isinstance(plan, Plan)]
        return self.put_together(plans, *draw_words(self, planned, rng, shared))

    def put_together(
        self, plans: Sequence[Plan | Refused], before: Items, after: Items
    ) -> list[ReleasedText | Refused]:
        """Texts from their plans, words and draws; these are read as a whole if that is asked."""
        planned = [plan for plan in plans if isinstance(plan, Plan)]
        found: Iterable[Read | None] = repeat(None)
        if self.restorer is not None:
            after, found = self.restorer.read(planned, after)
        ends = np.cumsum([len(plan.drawn) for plan in planned], dtype=np.intp)
        words, draws = np.split(before, ends), np.split(after, ends)
        made = map(self._assembled, planned, words, draws, found)
        return [plan if isinstance(plan, Refused) else next(made) for plan in plans]

    def _plan(self, text: Any, marks: Marks) -> Plan | Refused:
        refused = self.reading.refusal(text, marks.language, names=self.tiers is not None)
        if refused:
            return Refused(refused)
        plan = Plan([], [], [], Counter(), seen=marks.seen())
        last = 0
        for start, end, kind in (*marks.spans, (len(text), len(text), "")):
            pieces = self.tokenizer.split(text[last:start])
            for place, piece in enumerate(pieces):
                if piece == " ":
                    plan.pieces.append(" ")
                elif isinstance(piece, str):
                    self._add_gap(plan, pieces, place)
                elif not self._add(plan, piece, text, last, marks):
                    return Refused("a word is outside the vocabulary")
                if self.longest is not None and self.size(plan) >= self.longest:
                    return plan
            if kind and self.stand_ins is not None:
                plan.name(self.stand_ins.pieces(text[start:end], kind))
            elif kind:
                plan.pieces.append(f"[{kind}]")
                plan.seen[f"found {kind}"] += 1
            last = end
        return plan

    def _add_gap(self, plan: Plan, pieces: Sequence[Piece], place: int) -> None:
        """Plan what stands between words, without the signs that belong to one."""
        gap = str(pieces[place])
        bare = without_signs(
            gap,
            after_word=place > 0 and isinstance(pieces[place - 1], Token),
            before_word=place + 1 < len(pieces) and isinstance(pieces[place + 1], Token),
        )
        if self.signs is Signs.KEEP:
            plan.clear[SIGNS_AT_WORDS] += len(gap) - len(bare)
            bare = gap
        if bare:
            plan.pieces.append(bare)

    def _add(self, plan: Plan, token: Token, text: str, offset: int, marks: Marks) -> bool:
        """Plan one word; false if the text must be refused."""
        start, end = token.start + offset, token.end + offset
        if token.position == self.vocabulary.unknown and self.vocabulary.words:
            plan.seen[UNKNOWN_WORDS] += 1
            if self.unknown is Unknown.FAIL:
                return False
            if self.unknown is Unknown.DROP:
                return True
            if self.unknown is Unknown.KEEP:
                plan.leave(text[start:end], UNKNOWN_WORDS)
                return True
        elif self.keep_stopwords and self.reading.is_stopword(
            self.vocabulary.words[token.position], marks.language
        ):
            plan.leave(text[start:end], STOP_WORDS)
            return True
        names = marks.names
        level = 0 if self.tiers is None else self.tiers.level(token.position, start, end, names)
        if self.law_of_length is None and self.laws[level] is None:
            plan.leave(text[start:end], self.levels[level])
            return True
        plan.draw(token, level)
        return True

    def _assembled(self, plan: Plan, before: Any, after: Any, read: Read | None) -> ReleasedText:
        written = self.vocabulary.written
        released = after.tolist()
        pieces: list[str | tuple[str, Case]] = [
            piece if isinstance(piece, str) else (written[released[piece]], plan.drawn[piece].case)
            for piece in plan.settled()
        ]
        levels = np.array(plan.levels, dtype=np.intp)
        replaced, changed = (
            tuple(np.bincount(chosen, minlength=len(self.levels)).tolist())
            for chosen in (levels, levels[before != after])
        )
        draws = self.draws(plan)
        spent = self.spent(draws)
        done = (draws, replaced, changed, plan.clear, spent, read, plan.stand_ins, plan.seen)
        return ReleasedText(join(pieces), *done)
