"""One text and its release piece by piece: what happened to each word, for its owner's eyes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from voile.core.randomness import Generator
from voile.personal.spans import Span, merge
from voile.text.consistent import draw_words
from voile.text.plan import Plan, Thing
from voile.text.released import Refused
from voile.text.standins import put_in
from voile.text.tokens import join
from voile.text.word_protector import TextProtector

Fate = Literal["kept", "drawn", "placeholder", "stand-in", "clear", "between", "dropped"]
"""A word drawn as itself, drawn as another, replaced whole, or left alone; or what is no word."""


@dataclass(frozen=True)
class ShownPiece:
    """A piece before and after; `word` is its position in the vocabulary, −1 for what is none."""

    before: str
    after: str
    fate: Fate
    word: int = -1
    level: int = -1


@dataclass(frozen=True)
class ShownText:
    """A text in pieces, in order; or why it would be refused."""

    pieces: tuple[ShownPiece, ...]
    refused: str = ""


def shown_texts(
    protector: TextProtector, texts: Sequence[str], rng: Generator
) -> tuple[ShownText, ...]:
    """Texts released as a job would, each piece with what became of it.

    The pieces' `before` joined give the text back, and their `after` what was released, up to the
    spaces around contractions.
    """
    protector = protector.alone
    plans = protector.plan(texts)
    finished = plans
    if protector.stand_ins is not None:
        finished = put_in(plans, protector.stand_ins.language, rng, None)
    planned = [plan for plan in plans if isinstance(plan, Plan)]
    before, after = draw_words(protector, planned, rng)
    if protector.restorer is not None and planned:
        after, _ = protector.restorer.read(planned, after)
    ends = np.cumsum([len(plan.drawn) for plan in planned], dtype=np.intp)
    draws = iter(zip(np.split(before, ends), np.split(after, ends), strict=True))
    answer = []
    spans = _spans(protector, texts)
    for text, plan, done, found in zip(texts, plans, finished, spans, strict=True):
        if isinstance(plan, Refused):
            answer.append(ShownText((), plan.reason))
            continue
        assert isinstance(done, Plan)  # stand-ins refuse nothing
        own, new = next(draws)
        written = [protector.vocabulary.written[word] for word in new]
        changed = (own != new).tolist()
        answer.append(ShownText(tuple(_walk(text, plan, done, found, written, changed))))
    return tuple(answer)


def _spans(protector: TextProtector, texts: Sequence[str]) -> list[list[Span]]:
    """What a placeholder or a stand-in takes the place of, as the plans have it."""
    none: list[list[Span]] = [[] for _ in texts]
    found = protector.finders.find(texts) if protector.identifiers else none
    if protector.stand_ins is None:
        return [list(spans) for spans in found]
    named = protector.stand_ins.named(texts)
    return [merge([*own, *more.found]) for own, more in zip(found, named, strict=True)]


def _walk(
    text: str,
    plan: Plan,
    done: Plan,
    spans: Sequence[tuple[int, int, str]],
    new: list[str],
    changed: list[bool],
) -> Iterator[ShownPiece]:
    """The plan's pieces beside what stood there; `cursor` is how much of the text is told."""
    waiting: list[str] = []
    cursor = offset = number = 0
    for piece, made in zip(plan.pieces, done.pieces, strict=True):
        if isinstance(piece, Thing):
            while spans[number][1] <= cursor:
                number += 1
            start = text.index(piece.written, max(cursor, spans[number][0]))
            end, offset = start + len(piece.written), spans[number][1]
            yield from _between(text[cursor:start], waiting)
            yield ShownPiece(piece.written, str(made), "stand-in")
        elif isinstance(piece, int):
            token = plan.drawn[piece]
            start, end = token.start + offset, token.end + offset
            yield from _between(text[cursor:start], waiting)
            after = join([(new[piece], token.case)])
            fate: Fate = "drawn" if changed[piece] else "kept"
            yield ShownPiece(text[start:end], after, fate, token.position, plan.levels[piece])
        elif number < len(spans) and piece == f"[{spans[number][2]}]":
            start, end = spans[number][:2]
            yield from _between(text[cursor:start], waiting)
            yield ShownPiece(text[start:end], piece, "placeholder")
            offset, number = end, number + 1
        else:
            waiting.append(piece)
            continue
        cursor, waiting = end, []
    yield from _between(text[cursor:], waiting)


def _between(before: str, pieces: Sequence[str]) -> Iterator[ShownPiece]:
    """What stands between two draws: words in clear, gaps, and what was left out of them."""
    after, cursor = "", 0
    for piece in pieces:
        if not any(map(str.isalnum, piece)):
            after += piece
            continue
        start = before.index(piece, cursor)  # a word in clear stands there as it is
        yield from _gap(before[cursor:start], after)
        yield ShownPiece(piece, piece, "clear")
        after, cursor = "", start + len(piece)
    yield from _gap(before[cursor:], after)


def _gap(before: str, after: str) -> Iterator[ShownPiece]:
    """What is no word, and words that were left out."""
    if before or after:
        fate: Fate = "dropped" if any(map(str.isalnum, before)) else "between"
        yield ShownPiece(before, after, fate)
