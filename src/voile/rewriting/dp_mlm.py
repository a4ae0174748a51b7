"""DP-MLM: each word masked in turn and drawn anew by a masked language model."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.errors import require
from voile.rewriting.families import TokenRewriter
from voile.rewriting.language_model import LanguageModel
from voile.rewriting.rewriter import (
    Fidelity,
    Law,
    Rewritten,
    check_fidelity_of_law,
    guarantee_for,
    sound_law,
)
from voile.rewriting.token_law import TokenLaw
from voile.rewriting.token_sampler import TokenSampler

Job = tuple[list[str], list[str], int]
"""A text that the model reads, a sentence beside it, and which word of that is masked."""

ROBERTA_BOUNDS = (-3.2093127, 16.304797887802124)
"""Logit bounds that the published implementation uses with roberta-base."""

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True, eq=False)
class DpMlm(TokenRewriter):
    """A masked model that draws every word anew; see `dp_mlm`."""

    language: LanguageModel
    sampler: TokenLaw
    fidelity: Fidelity
    plus: bool
    most: int
    context: int = 40
    batch: int = 32

    @property
    def guarantee(self) -> Guarantee:
        """ε for one drawn word, between any two texts of as many words."""
        outside: tuple[str, ...] = ("how many words a text has",)
        if self.fidelity == "as_released":
            outside += ("stop words and punctuation, left in clear", "capital letters")
        return guarantee_for(
            "one drawn word",
            epsilon=self.sampler.stated(len(self.outputs)),
            fidelity=self.fidelity,
            outside=outside,
        )

    @property
    def most_draws(self) -> int:
        """A draw a word, and with `plus` another."""
        return 2 * self.most if self.plus else self.most

    @cached_property
    def outputs(self) -> Indices:
        """Tokens that may be drawn: all that are not special, whatever the text."""
        special = set(self.language.tokenizer.all_special_ids)
        every = range(self.language.vocabulary)
        if self.fidelity == "as_released":
            return np.arange(self.language.vocabulary)
        return np.array([i for i in every if i not in special], dtype=np.intp)

    @cached_property
    def spellings(self) -> list[str]:
        """What each token of `outputs` is written as."""
        tokenizer = self.language.tokenizer
        return [tokenizer.decode([int(i)]).replace("##", "").strip() for i in self.outputs]

    def rewrite(self, texts: Sequence[str], rng: Generator) -> Rewritten:
        """One rewritten text for each; words past the cap are dropped, and counted as cut."""
        split = [_WORD.findall(text) for text in texts]
        cut = sum(len(words) > self.most for words in split)
        split = [words[: self.most] for words in split]
        one_by_one = (self._plus(words, rng) for words in split)
        each = self._in_order if self.sampler.reads_public else self._each
        drawn = list(one_by_one) if self.plus else each(split, rng)
        return Rewritten([" ".join(words) for words, _ in drawn], [n for _, n in drawn], cut)

    def log_likelihood(self, texts: Sequence[str], releases: Sequence[str]) -> Floats:
        """ln of the probability of each release, word for word; not for `plus`.

        A spelling that several tokens share counts with all of them.
        """  # noqa: D403
        require(not self.plus, "plus", "off for likelihoods", "on")
        require(self.fidelity == "sound", "fidelity", "'sound' for likelihoods", self.fidelity)
        ids: dict[str, list[int]] = {}
        for column, spelling in enumerate(self.spellings):
            ids.setdefault(spelling, []).append(column)
        total = np.full(len(texts), -np.inf)
        split = [_WORD.findall(text)[: self.most] for text in texts]
        written = [release.split(" ") if release else [] for release in releases]
        fits = [i for i in range(len(texts)) if len(split[i]) == len(written[i])]
        total[fits] = 0.0
        owners = [(i, n) for i in fits for n in range(len(split[i]))]
        jobs = [(split[i], split[i], n) for i, n in owners]
        unread = [_unread(self.language, written[i][:n], len(split[i])) for i, n in owners]
        for part, logits, public in self._beside(jobs, unread):
            law = np.exp(self.sampler.log_law(logits, public))
            for (owner, n), row in zip(owners[part], law, strict=True):
                columns = ids.get(written[owner][n], [])
                with np.errstate(divide="ignore"):
                    total[owner] += np.log(row[columns].sum())
        return total

    def _each(self, split: list[list[str]], rng: Generator) -> list[tuple[list[str], int]]:
        """Every word of every text from the original context, in batches across texts.

        The model reads equal texts once; their draws are independent all the same.
        """
        written = [list(words) for words in split]
        owners: dict[tuple[str, ...], list[int]] = {}
        for row, words in enumerate(split):
            owners.setdefault(tuple(words), []).append(row)
        chosen = [
            (rows, n)
            for words, rows in owners.items()
            for n, word in enumerate(words)
            if not self._left(word)
        ]
        jobs = [(split[rows[0]], split[rows[0]], n) for rows, n in chosen]
        counts = np.zeros(len(split), dtype=np.intp)
        for part, logits in self._logits(jobs):
            here = [(k, row, n) for k, (rows, n) in enumerate(chosen[part]) for row in rows]
            drawn = self.sampler.draw(logits, rng, rows=np.array([k for k, _, _ in here]))
            for (_, row, n), column in zip(here, drawn, strict=True):
                written[row][n] = self._cased(split[row][n], self.spellings[column])
                counts[row] += 1
        return [(words, int(n)) for words, n in zip(written, counts, strict=True)]

    def _in_order(self, split: list[list[str]], rng: Generator) -> list[tuple[list[str], int]]:
        """Word after word, for laws that ask what the model says to the words released so far."""
        written: list[list[str]] = [[] for _ in split]
        for n in range(max(map(len, split), default=0)):
            here = [row for row, words in enumerate(split) if len(words) > n]
            jobs = [(split[row], split[row], n) for row in here]
            unread = [_unread(self.language, written[row], len(split[row])) for row in here]
            for part, logits, public in self._beside(jobs, unread):
                drawn = self.sampler.draw(logits, rng, public=public)
                for row, column in zip(here[part], drawn, strict=True):
                    written[row].append(self.spellings[column])
        return [(words, len(words)) for words in written]

    def _beside(
        self, jobs: Sequence[Job], unread: Sequence[Job]
    ) -> Iterator[tuple[slice, Floats, Floats | None]]:
        """Logits with the text, and without it where the law asks for them."""
        if not self.sampler.reads_public:
            yield from ((part, logits, None) for part, logits in self._logits(jobs))
            return
        both = zip(self._logits(jobs), self._logits(unread), strict=True)
        yield from ((part, logits, public) for (part, logits), (_, public) in both)

    def _plus(self, words: list[str], rng: Generator) -> tuple[list[str], int]:
        """Delete with 5 %, insert with 15 %, and read what was written so far as context."""
        written: list[str] = []
        draws = 0
        for n in range(len(words)):
            if n < len(words) - 1 and rng.random() < 0.05:
                continue
            rounds = 2 if rng.random() < 0.15 else 1
            for extra in range(rounds):
                rest = words[n + 1 :]
                masked = [*written, words[n] if not extra else "", *rest]
                ((_, logits),) = self._logits([(words, masked, len(written))])
                written.append(self.spellings[int(self.sampler.draw(logits, rng)[0])])
                draws += 1
        return written, draws

    def _left(self, word: str) -> bool:
        """What published code leaves in clear; nothing if sound."""
        if self.fidelity == "sound":
            return False
        return word in string.punctuation or word in stop_words()

    def _cased(self, word: str, drawn: str) -> str:
        if self.fidelity == "sound":
            return drawn
        return drawn.capitalize() if word[:1].isupper() else drawn.lower()

    def _logits(self, jobs: Sequence[Job]) -> Iterator[tuple[slice, Floats]]:
        """Logits over `outputs` at the mask, for (context, sentence, masked word) in batches."""
        import torch

        tokenizer = self.language.tokenizer
        for start in range(0, len(jobs), self.batch):
            part = slice(start, start + self.batch)
            pairs = [self._window(*job) for job in jobs[part]]
            inputs = tokenizer(
                [a for a, _ in pairs],
                [b for _, b in pairs],
                padding=True,
                truncation=True,
                max_length=self.language.longest,
                return_tensors="pt",
            )
            found = inputs["input_ids"] == tokenizer.mask_token_id
            places = found.int().argmax(dim=1)
            with torch.inference_mode():
                logits = self.language.model(**inputs).logits
            here = logits[torch.arange(len(pairs)), places].double().numpy()
            # a mask cut off by overlong words: a law that knows nothing, and no error that tells
            here[~found.any(dim=1).numpy()] = 0.0
            yield part, here[:, self.outputs]

    def _window(self, context: list[str], sentence: list[str], n: int) -> tuple[str, str]:
        """The words around the masked one, with it and without it."""
        low, high = max(0, n - self.context), n + self.context + 1
        masked = [*sentence[low:n], self.language.tokenizer.mask_token, *sentence[n + 1 : high]]
        return " ".join(context[low:high]), " ".join(word for word in masked if word)


def dp_mlm(
    language: LanguageModel,
    *,
    epsilon: float,
    bounds: tuple[float, float] = ROBERTA_BOUNDS,
    plus: bool = False,
    max_words: int = 256,
    fidelity: Fidelity = "sound",
    law: Law = "clipped",
) -> DpMlm:
    """Draw every word anew from a masked model that reads the text beside the masked text.

    Meisenbacher et al. (Findings of ACL 2024). Clipped logits, T = 2Δ/ε (aligned first, if sound):
    one draw is ε-private between any two texts of as many words. The model reads the whole text,
    the masked word included, so a text of m words costs mε in the worst case, however few of its
    words differ. How many words there are shows. `plus` also deletes (5 %) and inserts (15 %) at
    random and reads its own output. `as_released` leaves stop words and punctuation in clear, keeps
    capital letters, and may draw special tokens.

    `law` "mixture" and "public" draw each word under the same ε without clipping (see
    `voile.rewriting.public_law`). The public law reads the words released so far and masks for the
    others, whose number shows anyway; each word then waits for those before it. Not with `plus`.
    """
    check_fidelity_of_law(fidelity, law)
    require(not plus or law != "public", "law", "'clipped' or 'mixture' with plus", repr(law))
    require(1 <= max_words <= 10_000, "max_words", "between 1 and 10,000", max_words)
    has_mask = language.tokenizer.mask_token_id is not None
    require(has_mask, "model", "a masked language model", "one without a mask token")
    sound = fidelity == "sound"
    sampler = sound_law(law, epsilon, bounds) if sound else TokenSampler(epsilon, *bounds)
    return DpMlm(language, sampler, fidelity, plus, max_words)


def _unread(language: LanguageModel, released: list[str], count: int) -> Job:
    """What is public before a word of `count` is drawn: those released, and masks for the rest."""
    masks = [language.tokenizer.mask_token] * (count - len(released))
    return list(released), [*released, *masks], len(released)


def stop_words() -> frozenset[str]:
    """English function words, lower case (scikit-learn's list)."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS
