"""The trials of the distinguishability game: candidate sets, and which member was released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.attribution_embedding import Encoder
from voile.audit.abstaining import CHOOSING
from voile.audit.candidates import candidate_sets, disjoint_sets, sets_within, too_few_alike
from voile.core.arrays import Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput, require


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
    groups: Indices | None = None
    """Which trials share a set, each member of which is the source of one of them; None where each
    trial's source was drawn by itself."""

    @property
    def drawn(self) -> bool:
        """Whether each trial's source was drawn by itself, uniformly from its set."""
        return self.groups is None

    @property
    def choosing(self) -> NDArray[np.bool_]:
        """The trials on which thresholds are chosen and attacks fitted; the others are counted.

        Trials that share a set stay together, so that the counted ones are balanced too.
        """
        groups = np.arange(len(self)) if self.groups is None else self.groups
        chosen: NDArray[np.bool_] = groups < round(CHOOSING * (int(groups.max(initial=-1)) + 1))
        return chosen

    @property
    def turns(self) -> list[Indices]:
        """The trials in as many parts as a set has members, no two of one set in a part."""
        groups = np.arange(len(self)) if self.groups is None else self.groups
        order = np.argsort(groups, kind="stable")
        _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
        turn = np.empty(len(self), dtype=np.intp)
        turn[order] = np.arange(len(self)) - starts.repeat(sizes)
        return [np.flatnonzero(turn == n) for n in range(int(sizes.max(initial=0)))]

    @property
    def sources(self) -> list[str]:
        """The text to release in each trial."""
        positions = self.sets[np.arange(len(self.sets)), self.columns]
        return [self.pool[i] for i in positions]

    def part(self, chosen: NDArray[np.bool_]) -> Game:
        """The game of these trials alone."""
        groups = (
            None if self.groups is None else np.unique(self.groups[chosen], return_inverse=True)[1]
        )
        return replace(self, sets=self.sets[chosen], columns=self.columns[chosen], groups=groups)

    def __len__(self) -> int:
        return len(self.sets)

    def __repr__(self) -> str:  # never the texts
        return f"Game({len(self)} trials, {self.sets.shape[1]} of {len(self.pool)} texts each)"


def plan(
    texts: Sequence[str],
    *,
    trials: int = 10_000,
    candidates: int = 2,
    temperature: float = -10_000.0,
    encode: Encoder | None = None,
    equal_length: bool = False,
    rng: Generator,
) -> Game:
    """Draw the trials of a game over the different texts of a pool.

    Sets by `candidate_sets`, the source uniform in its set. With `equal_length` all members of a
    set have as many words, so that their number tells nothing. Duplicates of a text are dropped and
    counted: two equal candidates cannot be told apart by anybody. A temperature other than 0 needs
    `encode`.

    >>> from voile.core.randomness import seeded_rng
    >>> plan(["a", "b", "b", "c"], trials=5, temperature=0.0, rng=seeded_rng(1))
    Game(5 trials, 2 of 3 texts each)
    """
    pool = tuple(dict.fromkeys(_checked(texts)))
    vectors = _embedded(pool, encode, temperature)
    draw: Callable[..., Indices] = candidate_sets
    if equal_length:
        draw = partial(sets_within, _lengths(pool))
    sets = draw(vectors, sets=trials, size=candidates, temperature=temperature, rng=rng)
    columns = rng.integers(candidates, size=trials).astype(np.intp)
    return Game(pool, sets, columns, duplicates=len(texts) - len(pool))


def plan_of_pairs(
    originals: Sequence[str],
    releases: Sequence[Any],
    *,
    candidates: int = 2,
    temperature: float = -10_000.0,
    encode: Encoder | None = None,
    equal_length: bool = False,
    trials: int | None = None,
    rng: Generator,
) -> tuple[Game, list[Any]]:
    """A game over releases that exist already, and the release of each of its trials.

    Each release serves in one trial at most, and each round's candidate sets share no text, so
    that trials are independent given the sets. Every member of a set is the source once, with its
    own release: N pairs give about N trials, and the mean success over a set's trials is that of
    a source drawn uniformly from it, for any attack that scores each trial by itself. (One that
    read all releases of a set could match them to its members, and show twice the epsilon; see
    `turns`.) An original with m releases takes part in m rounds. The exact interval stays valid for
    trials with unequal success probabilities: a sum of independent unequal coins is less spread
    than the binomial of the same mean (Hoeffding, 1956).
    """
    originals = _checked(originals)
    same = len(originals) == len(releases)
    require(same, "releases", f"one for each of {len(originals)} originals", len(releases))
    held: dict[str, list[int]] = {}
    for row, text in enumerate(originals):
        held.setdefault(text, []).append(row)
    pool = tuple(held)
    vectors = _embedded(pool, encode, temperature)
    lengths = _lengths(pool) if equal_length else np.zeros(len(pool), dtype=np.intp)
    sets: list[Indices] = []
    rows: list[int] = []
    columns: list[int] = []
    for turn in range(max(map(len, held.values()))):
        present = np.array([i for i, text in enumerate(pool) if len(held[text]) > turn])
        if len(present) < candidates and turn > 0:
            break
        classes = [present[lengths[present] == length] for length in np.unique(lengths[present])]
        for alike in classes:
            if equal_length and len(alike) < candidates:
                continue
            few = len(alike) if isinstance(vectors, int) else vectors[alike]
            chosen = alike[disjoint_sets(few, size=candidates, temperature=temperature, rng=rng)]
            for members in chosen:
                sets += [members] * candidates
                columns += range(candidates)
                rows += [held[pool[member]][turn] for member in members]
    if not sets:
        raise too_few_alike(len(pool), candidates)
    if trials is not None and trials > len(sets):
        raise InvalidInput(
            f"trials must be at most {len(sets)}, since each of the {len(originals)} releases "
            f"serves once, got {trials}; give more pairs or ask for fewer trials"
        )
    groups = rng.permutation(len(sets) // candidates).repeat(candidates)
    mixed = rng.permutation(len(sets))
    whole = mixed[np.argsort(groups[mixed], kind="stable")][:trials]  # a cut keeps sets together
    order = rng.permutation(whole)  # so that nothing follows from where a trial stands
    game = Game(
        pool,
        np.array(sets, dtype=np.intp)[order],
        np.array(columns, dtype=np.intp)[order],
        duplicates=len(originals) - len(pool),
        groups=groups[order],
    )
    return game, [releases[rows[i]] for i in order.tolist()]


def never_in_two_ways(sources: Sequence[str], releases: Sequence[Any]) -> bool:
    """Whether texts were released again, and each time alike.

    What gives such releases draws nothing at all, or it draws and remembers, or has a fixed seed.
    In the first case nothing is hidden and every bound here is true of it. In the others a text's
    releases are one draw, trials are not independent, and no bound is.

    >>> [never_in_two_ways("aba", made) for made in ("xyx", "xyz")], never_in_two_ways("ab", "xy")
    ([True, False], False)
    """
    held: dict[str, Any] = {}
    for text, release in zip(sources, releases, strict=True):
        if held.setdefault(text, release) != release:
            return False
    return len(held) < len(releases)


def _lengths(pool: Sequence[str]) -> Indices:
    return np.array([len(text.split()) for text in pool])


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
