"""Writing token by token with a language model, each token drawn under the bound."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Weights
from voile.core.randomness import Generator, uniform_bits
from voile.core.weights import TOTAL_BITS
from voile.rewriting.language_model import LanguageModel, Reading, Tokens
from voile.rewriting.token_law import TokenLaw, settled

Choose = Callable[[NDArray[Any], NDArray[Any] | None, Indices, Indices], Indices]
"""(logits, public, rows, texts) → the next token of each text, whose logits are those of its row.

`public` are logits of the same row after the public prompt and the same tokens, if there is one.
"""


def generate(
    language: LanguageModel,
    prompts: Sequence[Tokens],
    sampler: TokenLaw,
    *,
    lengths: Sequence[int],
    rng: Generator,
    public: Sequence[Tokens] | None = None,
    ends: Collection[int] | None = None,
    batch: int = 64,
) -> list[Tokens]:
    """Draw up to `lengths[i]` tokens after prompt i; an end token is a token like any other.

    What follows one of `ends` (the model's own end token, if None) is not drawn, which is the same
    law as drawing to the full length and cutting there: post-processing. So a text costs at most
    its length cap times ε. After its `public` prompt the model reads the same tokens once more, for
    laws that ask what it would say without the text.

    A token that is drawn whatever the logits are asks for none: a text is read as far as its last
    token that does depend on them. Random numbers belong to a text and a place in it, so that what
    is written does not depend on which texts are read together.
    """
    targets = _targets(lengths, rng)
    fixed = settled(targets, common=sampler.common(language.vocabulary), size=language.vocabulary)
    last = _last(language, ends)
    written: list[list[int]] = [[] for _ in prompts]

    def choose(
        logits: NDArray[Any], beside: NDArray[Any] | None, rows: Indices, texts: Indices
    ) -> Indices:
        places = [len(written[text]) for text in texts]
        tokens = sampler.at(logits, rows, targets[texts, places], beside)
        for text, token in zip(texts, tokens, strict=True):
            written[text].append(int(token))
        return tokens

    read = [_after_last(row[:length] < 0) for row, length in zip(fixed, lengths, strict=True)]
    _walk(language, prompts, choose, lengths=read, last=last, batch=batch, public=public)
    for tokens, row, length in zip(written, fixed, lengths, strict=True):
        while len(tokens) < length and not (tokens and tokens[-1] in last):
            tokens.append(int(row[len(tokens)]))
    return [tuple(tokens) for tokens in written]


def likeliest(
    language: LanguageModel, prompts: Sequence[Tokens], *, length: int, batch: int = 64
) -> list[Tokens]:
    """The likeliest token after the other, up to an end token: no draw, and no bound."""
    written: list[list[int]] = [[] for _ in prompts]

    def choose(
        logits: NDArray[Any], _: NDArray[Any] | None, rows: Indices, texts: Indices
    ) -> Indices:
        tokens: Indices = logits.argmax(axis=1)[rows]
        for text, token in zip(texts, tokens, strict=True):
            written[text].append(int(token))
        return tokens

    lengths = [length] * len(prompts)
    _walk(language, prompts, choose, lengths=lengths, last={language.end}, batch=batch)
    return [tuple(tokens) for tokens in written]


def log_likelihood(
    language: LanguageModel,
    prompts: Sequence[Tokens],
    written: Sequence[Tokens],
    sampler: TokenLaw,
    *,
    public: Sequence[Tokens] | None = None,
    ends: Collection[int] | None = None,
    batch: int = 64,
) -> Floats:
    """The log-probability of drawing exactly these tokens after each prompt."""
    total = np.zeros(len(prompts))
    done = np.zeros(len(prompts), dtype=np.intp)

    def choose(
        logits: NDArray[Any], beside: NDArray[Any] | None, rows: Indices, texts: Indices
    ) -> Indices:
        tokens = np.array([written[text][done[text]] for text in texts], dtype=np.intp)
        total[texts] += sampler.log_law(logits, beside)[rows, tokens]
        done[texts] += 1
        return tokens

    lengths = list(map(len, written))
    last = _last(language, ends)
    _walk(language, prompts, choose, lengths=lengths, last=last, batch=batch, public=public)
    return total


def _targets(lengths: Sequence[int], rng: Generator) -> Weights:
    """What decides each token: 62 random bits for each text and place."""
    shape = (len(lengths), max(lengths, default=0))
    return uniform_bits(rng, shape[0] * shape[1], bits=TOTAL_BITS).reshape(shape)


def _after_last(marked: NDArray[np.bool_]) -> int:
    """How many places there are up to the last marked one."""
    return int(marked.nonzero()[0].max(initial=-1)) + 1


def _last(language: LanguageModel, ends: Collection[int] | None) -> Collection[int]:
    return {language.end} if ends is None else ends


_Key = tuple[Tokens, Tokens]
"""What a text begins with: its prompt, and its public one."""


@dataclass(frozen=True, eq=False)
class _Strand:
    """A reading that is to go on: each of its next rows from one of its rows, by a token."""

    reading: Reading
    step: tuple[Indices, Indices] | None = None
    shared: bool = False

    def read(self) -> Reading:
        """The reading, a step on; one whose sisters still wait goes on with a copy."""
        reading = self.reading.copied() if self.shared else self.reading
        if self.step is not None:
            reading.follow(*self.step)
        return reading


@dataclass(frozen=True, eq=False)
class _Branch:
    """Texts to be read together, next; `public` reads what they chose after the public prompt.

    A text's logits are those of its row; a row's public logits those of the row `beside` it.
    """

    private: _Strand
    public: _Strand | None
    beside: Indices
    texts: Indices
    rows: Indices
    depth: int = 1


def _walk(
    language: LanguageModel,
    prompts: Sequence[Tokens],
    choose: Choose,
    *,
    lengths: Sequence[int],
    last: Collection[int],
    batch: int,
    public: Sequence[Tokens] | None = None,
) -> None:
    """Follow every text to a `last` token or its length, reading at most `batch` rows at once.

    Texts with equal prompts that have chosen the same tokens so far are one row, read once: they
    part where they choose differently. Texts that ended are read no more. The tree of what was
    chosen is walked depth first, so that memory holds few branches at a time. Public prompts are
    read once for all texts that share one and have chosen alike.
    """
    most = np.asarray(lengths)
    keys: list[_Key] = list(zip(prompts, public or [()] * len(prompts), strict=True))
    for group in _groups([i for i in range(len(prompts)) if most[i] > 0], keys, batch):
        distinct = {key: i for i, key in enumerate(dict.fromkeys(keys[i] for i in group))}
        rows = np.array([distinct[keys[text]] for text in group])
        known = {prompt: i for i, prompt in enumerate(dict.fromkeys(p for _, p in distinct))}
        alike = np.array([known[prompt] for _, prompt in distinct])
        first = _Strand(Reading(language, [prompt for prompt, _ in distinct]))
        other = None if public is None else _Strand(Reading(language, list(known)))
        pending = [_Branch(first, other, alike, np.array(group), rows)]
        while pending:
            branch = pending.pop()
            reading = branch.private.read()
            unread = None if branch.public is None else branch.public.read()
            beside = None if unread is None else unread.logits()[branch.beside]
            tokens = choose(reading.logits(), beside, branch.rows, branch.texts)
            going = ~np.isin(tokens, list(last)) & (most[branch.texts] > branch.depth)
            if not going.any():
                continue
            steps = branch.rows[going] * language.vocabulary + tokens[going]
            ways, rows = np.unique(steps, return_inverse=True)
            pieces = -(-len(ways) // batch)
            bounds = [len(ways) * i // pieces for i in range(pieces + 1)]
            for start, stop in itertools.pairwise(bounds):
                here = (rows >= start) & (rows < stop)
                before, chosen = np.divmod(ways[start:stop], language.vocabulary)
                waits = start > 0  # the first is taken up last: nobody needs it then
                strand = _Strand(reading, (before, chosen), waits)
                steps = branch.beside[before] * language.vocabulary + chosen
                public_ways, alike = np.unique(steps, return_inverse=True)
                step = np.divmod(public_ways, language.vocabulary)
                other = None if unread is None else _Strand(unread, step, waits)
                texts = branch.texts[going][here]
                pending.append(
                    _Branch(strand, other, alike, texts, rows[here] - start, branch.depth + 1)
                )


def _groups(texts: list[int], keys: Sequence[_Key], batch: int) -> Iterator[list[int]]:
    """Texts to begin together: alike in length, so that little is padded, or nothing at all."""
    group: list[int] = []
    distinct = 0
    for i in sorted(texts, key=lambda i: (len(keys[i][0]), keys[i])):
        if group and keys[i] != keys[group[-1]]:
            longer = len(keys[i][0]) > len(keys[group[-1]][0])
            if distinct == batch or (longer and 2 * len(group) >= batch):
                yield group
                group, distinct = [], 0
        distinct += not group or keys[i] != keys[group[-1]]
        group.append(i)
    if group:
        yield group
