"""The distinguishability game: an attacker says which text a release came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import Attribution, guesses
from voile.attackers.attribution_embedding import Encoder
from voile.audit.candidates import candidate_sets, disjoint_sets
from voile.audit.empirical import Estimate, from_rates, from_successes, shared
from voile.audit.finding import Finding
from voile.core.arrays import Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require

Rewrite = Callable[[Sequence[str]], Sequence[Any]]
"""Texts in, one release each out: the black box that is audited."""


@dataclass(frozen=True, eq=False)
class Game:
    """Trials drawn beforehand: a candidate set each, and which of its members is the source.

    The source is uniform in its set *given the set*, which the bound on the success needs. Taking
    the set's first member as the source would not do: far-apart sets end in the same few outliers,
    and an attacker who knows that names the other one.
    """

    pool: tuple[str, ...]
    sets: Indices
    columns: Indices
    duplicates: int = 0

    @property
    def sources(self) -> list[str]:
        """The text to release in each trial."""
        positions = self.sets[np.arange(len(self.sets)), self.columns]
        return [self.pool[i] for i in positions]

    def __len__(self) -> int:
        return len(self.sets)

    def __repr__(self) -> str:  # never the texts
        return f"Game({len(self)} trials, {self.sets.shape[1]} of {len(self.pool)} texts each)"


@dataclass(frozen=True, eq=False)
class Attributed:
    """What one attack guessed in every trial of a game."""

    attack: str
    columns: Indices
    guessed: Indices
    candidates: int
    delta: float
    failure_probability: float
    empty: int = 0
    note: str = ""
    is_evidence: bool = True

    @property
    def estimate(self) -> Estimate:
        """Epsilon by TeDA's reduced form, from successes alone."""
        return from_successes(
            int((self.guessed == self.columns).sum()),
            len(self.columns),
            candidates=self.candidates,
            delta=self.delta,
            failure_probability=self.failure_probability,
        )

    @property
    def symmetric(self) -> Estimate:
        """Epsilon from true and false positives of "it was the first", as in LDP-Auditor.

        To be chosen before looking: taking the better of both forms would double the failure
        probability.
        """
        first, named = self.columns == 0, self.guessed == 0
        return from_rates(
            int((first & named).sum()),
            int(first.sum()),
            int((~first & named).sum()),
            int((~first).sum()),
            delta=self.delta,
            failure_probability=self.failure_probability,
        )

    def estimated(self, *, symmetric: bool) -> Estimate:
        """One form or the other."""
        return self.symmetric if symmetric else self.estimate

    def finding(self, *, claim: float = float("inf"), symmetric: bool = False) -> Finding:
        """A finding about the epsilon of one whole text; violated or open, never holds."""
        value = self.estimated(symmetric=symmetric)
        details = [
            "this attack on these candidates; another may show more",
            f"the most that {value.trials:,} trials could show is {value.ceiling:.3f}",
        ]
        details += [f"{self.empty:,} releases were empty"] if self.empty else []
        details += [self.note] if self.note else []
        return Finding(
            question=f"Epsilon of one text shown by the {self.attack} attack:",
            claim=claim,
            lower=value.lower,
            upper=value.upper,
            failure_probability=self.failure_probability,
            samples=value.trials,
            unit="text",
            detail="; ".join(details),
        )


def plan(
    texts: Sequence[str],
    *,
    trials: int = 10_000,
    candidates: int = 2,
    temperature: float = -10_000.0,
    encode: Encoder | None = None,
    rng: Generator,
) -> Game:
    """Draw the trials of a game over the different texts of a pool.

    Sets by `candidate_sets`, the source uniform in its set. Duplicates of a text are dropped and
    counted: two equal candidates cannot be told apart by anybody. A temperature other than 0 needs
    `encode`.

    >>> from voile.core.randomness import seeded_rng
    >>> plan(["a", "b", "b", "c"], trials=5, temperature=0.0, rng=seeded_rng(1))
    Game(5 trials, 2 of 3 texts each)
    """
    pool = tuple(dict.fromkeys(_checked(texts)))
    vectors = _embedded(pool, encode, temperature)
    sets = candidate_sets(vectors, sets=trials, size=candidates, temperature=temperature, rng=rng)
    columns = rng.integers(candidates, size=trials).astype(np.intp)
    return Game(pool, sets, columns, duplicates=len(texts) - len(pool))


def plan_of_pairs(
    originals: Sequence[str],
    releases: Sequence[Any],
    *,
    candidates: int = 2,
    temperature: float = -10_000.0,
    encode: Encoder | None = None,
    trials: int | None = None,
    rng: Generator,
) -> tuple[Game, list[Any]]:
    """A game over releases that exist already, and the release of each of its trials.

    Each release serves in one trial at most, and each round's candidate sets share no text, so
    that trials are independent given the sets. Every member of a set is the source once, with its
    own release: N pairs give about N trials, and the mean success over a set's trials is that of
    a source drawn uniformly from it, for any attack that scores each trial by itself. An original
    with m releases takes part in m rounds. The exact interval stays valid for trials with unequal
    success probabilities: a sum of independent unequal coins is less spread than the binomial of
    the same mean (Hoeffding, 1956).
    """
    originals = _checked(originals)
    same = len(originals) == len(releases)
    require(same, "releases", f"one for each of {len(originals)} originals", len(releases))
    held: dict[str, list[int]] = {}
    for row, text in enumerate(originals):
        held.setdefault(text, []).append(row)
    pool = tuple(held)
    vectors = _embedded(pool, encode, temperature)
    sets: list[Indices] = []
    rows: list[int] = []
    columns: list[int] = []
    for turn in range(max(map(len, held.values()))):
        present = np.array([i for i, text in enumerate(pool) if len(held[text]) > turn])
        if len(present) < candidates and turn > 0:
            break
        few = len(present) if isinstance(vectors, int) else vectors[present]
        chosen = present[disjoint_sets(few, size=candidates, temperature=temperature, rng=rng)]
        for members in chosen:
            sets += [members] * candidates
            columns += range(candidates)
            rows += [held[pool[member]][turn] for member in members]
    order = rng.permutation(len(sets))[:trials]  # a cut must not favour whole sets
    if trials is not None and trials > len(sets):
        raise InvalidInput(
            f"trials must be at most {len(sets)}, since each of the {len(originals)} releases "
            f"serves once, got {trials}; give more pairs or ask for fewer trials"
        )
    game = Game(
        pool,
        np.array(sets, dtype=np.intp)[order],
        np.array(columns, dtype=np.intp)[order],
        duplicates=len(originals) - len(pool),
    )
    return game, [releases[rows[i]] for i in order.tolist()]


def attribute(
    game: Game,
    releases: Sequence[Any],
    attack: Attribution,
    *,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    rng: Generator,
) -> Attributed:
    """Let one attack guess the source of every release of a game."""
    require(
        len(releases) == len(game), "releases", f"one for each of {len(game)} trials", len(releases)
    )
    scores = attack.scores(game.pool, game.sets, releases)
    require(scores.shape == game.sets.shape, "scores", f"of shape {game.sets.shape}", scores.shape)
    empty = sum(isinstance(text, str) and not text.strip() for text in releases)
    return Attributed(
        attack=attack.name,
        columns=game.columns,
        guessed=guesses(scores, rng),
        candidates=game.sets.shape[1],
        delta=delta,
        failure_probability=failure_probability,
        empty=empty,
        note=str(getattr(attack, "note", "")),
        is_evidence=bool(getattr(attack, "is_evidence", True)),
    )


def distinguish(
    rewrite: Rewrite,
    texts: Sequence[str],
    *,
    attacks: Sequence[Attribution],
    trials: int = 10_000,
    candidates: int = 2,
    temperature: float = -10_000.0,
    encode: Encoder | None = None,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    rng: Generator,
) -> list[Attributed]:
    """The whole audit of a black box: draw trials, release each source once, let attacks guess.

    TeDA (2603.22968), algorithm 1. The failure probability is shared by the attacks, so all
    intervals hold together. Each trial has its own release and candidate set, so successes are
    independent and the interval exact.

    >>> import voile
    >>> from voile.attackers.attribution_surface import Overlap
    >>> pool = [f"ticket number {i}" for i in range(50)]
    >>> found = distinguish(
    ...     lambda texts: texts, pool, attacks=[Overlap()], trials=1000, temperature=0.0,
    ...     rng=voile.seeded_rng(1),
    ... )
    >>> print(found[0].finding(claim=1.0).verdict)    # the text itself hides nothing
    violated
    """
    require(len(attacks) >= 1, "attacks", "at least one", "none")
    game = plan(
        texts,
        trials=trials,
        candidates=candidates,
        temperature=temperature,
        encode=encode,
        rng=rng,
    )
    releases = list(rewrite(game.sources))
    each = shared(failure_probability, among=len(attacks))
    return [
        attribute(game, releases, attack, delta=delta, failure_probability=each, rng=rng)
        for attack in attacks
    ]


def _checked(texts: Sequence[str]) -> Sequence[str]:
    wrong = sum(not isinstance(text, str) for text in texts)
    require(not wrong, "texts", "strings", f"{wrong} others")
    return texts


def _embedded(pool: tuple[str, ...], encode: Encoder | None, temperature: float) -> Any:
    """The pool's embeddings, or its size where candidates are drawn uniformly."""
    if temperature == 0:
        return len(pool)
    if encode is None:
        raise InvalidInput(
            "a temperature other than 0 needs an encoder for the distances between texts; "
            "give encode=, or temperature=0 for uniform candidates"
        )
    return np.asarray(encode(list(pool)))
