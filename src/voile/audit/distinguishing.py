"""The distinguishability game: an attacker says which text a release came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.attackers.attribution import Attribution, Fitted, guesses
from voile.attackers.attribution_embedding import Encoder
from voile.attackers.attribution_stack import STACK, fit_weights
from voile.audit.abstaining import Sure, margins, surest
from voile.audit.empirical import Estimate, from_rates, from_successes, shared
from voile.audit.finding import Finding
from voile.audit.games import Game, plan
from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.core.rounding import at_least, at_most
from voile.errors import require
from voile.progress import tell

Rewrite = Callable[[Sequence[str]], Sequence[Any]]
"""Texts in, one release each out: the black box that is audited."""


@dataclass(frozen=True, eq=False)
class Attributed:
    """What one attack guessed in every trial of a game, and by what margin.

    `failure_probability` is that of each of its two bounds: on all guesses, and on the sure ones.
    """

    attack: str
    columns: Indices
    guessed: Indices
    scores: Floats
    choosing: NDArray[np.bool_]
    candidates: int
    delta: float
    failure_probability: float
    drawn: bool = True
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

    @cached_property
    def sure(self) -> Sure:
        """Epsilon from guesses made only where the margin is large, on trials not chosen on."""
        return surest(
            self.guessed == self.columns,
            margins(self.scores),
            self.choosing,
            candidates=self.candidates,
            delta=self.delta,
            failure_probability=self.failure_probability,
            drawn=self.drawn,
        )

    def estimated(self, *, symmetric: bool) -> Estimate:
        """One form or the other."""
        return self.symmetric if symmetric else self.estimate

    def ceiling(self, *, symmetric: bool) -> float:
        """The most that either of its two bounds could have been."""
        return max(self.estimated(symmetric=symmetric).ceiling, self.sure.ceiling)

    def finding(self, *, claim: float = float("inf"), symmetric: bool = False) -> Finding:
        """A finding about the epsilon of one whole text; violated or open, never holds."""
        value = self.estimated(symmetric=symmetric)
        details = [
            "this attack on these candidates; another may show more",
            f"on all guesses it shows {at_least(value.lower)}, on those it is sure of {self.sure}",
            f"the most that {value.trials:,} trials could show is "
            f"{at_most(self.ceiling(symmetric=symmetric))}",
        ]
        details += [f"{self.empty:,} releases were empty"] if self.empty else []
        details += [self.note] if self.note else []
        return Finding(
            question=f"Epsilon of one text shown by the {self.attack} attack:",
            claim=claim,
            lower=max(value.lower, self.sure.lower),
            upper=max(value.upper, self.sure.lower),
            failure_probability=2 * self.failure_probability,
            samples=value.trials,
            unit="text",
            detail="; ".join(details),
        )


def attribute(
    game: Game,
    releases: Sequence[Any],
    attack: Attribution | Fitted,
    *,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    rng: Generator,
) -> Attributed:
    """Let one attack guess the source of every release of a game.

    Both its bounds, on all guesses and on the sure ones, hold with 1 − failure_probability each.
    An attack that must be fitted is shown the sources of a third of the trials, which are not
    counted then; nobody is shown those of the others.
    """
    require(
        len(releases) == len(game), "releases", f"one for each of {len(game)} trials", len(releases)
    )
    empty = sum(isinstance(text, str) and not text.strip() for text in releases)
    if isinstance(attack, Fitted):
        shown = game.choosing
        known, game = game.part(shown), game.part(~shown)
        told = [release for release, taken in zip(releases, shown, strict=True) if taken]
        releases = [release for release, taken in zip(releases, shown, strict=True) if not taken]
        attack = attack.fit(known.pool, known.sets, told, known.columns)
    scores = _scores(attack, game, releases)
    found = guessed(
        game, scores, attack.name, delta=delta, failure_probability=failure_probability, rng=rng
    )
    return replace(
        found,
        empty=empty,
        note=str(getattr(attack, "note", "")),
        is_evidence=bool(getattr(attack, "is_evidence", True)),
    )


def _scores(attack: Attribution, game: Game, releases: Sequence[Any]) -> Floats:
    """What an attack scores; of trials that share a set it is shown one at a time, if need be.

    Where every member of a set is the source of one of its trials, whoever reads them together may
    match releases to members, which no epsilon of one release bounds.
    """
    by_itself = game.drawn or getattr(attack, "by_itself", True)
    table = np.empty(game.sets.shape)
    for turn in [np.arange(len(game))] if by_itself else game.turns:
        sets = game.sets[turn]
        scores = attack.scores(game.pool, sets, [releases[n] for n in turn.tolist()])
        require(scores.shape == sets.shape, "scores", f"of shape {sets.shape}", scores.shape)
        table[turn] = scores
    return table


def guessed(
    game: Game,
    scores: Floats,
    attack: str,
    *,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    rng: Generator,
) -> Attributed:
    """What scores mean on a game's trials: the highest is the guess, its lead the margin."""
    return Attributed(
        attack=attack,
        columns=game.columns,
        guessed=guesses(scores, rng),
        scores=np.asarray(scores, dtype=np.float64),
        choosing=game.choosing,
        candidates=game.sets.shape[1],
        delta=delta,
        failure_probability=failure_probability,
        drawn=game.drawn,
    )


def stacked(game: Game, found: Sequence[Attributed], *, rng: Generator) -> Attributed | None:
    """All attacks together, weighed on a third of the trials and counted on the others.

    None where fewer than two of them scored every trial, or there are too few trials to weigh on.
    """
    whole = [one for one in found if len(one.columns) == len(game)]
    shown = game.choosing
    if len(whole) < 2 or not shown.any():
        return None
    rest = game.part(~shown)
    features = np.stack([one.scores for one in whole], axis=2)
    weights = fit_weights(features[shown], game.columns[shown])
    together = guessed(
        rest,
        weights.scores(features[~shown]),
        STACK,
        delta=whole[0].delta,
        failure_probability=whole[0].failure_probability,
        rng=rng,
    )
    return replace(together, empty=whole[0].empty)


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
    return attacked(
        game, releases, attacks, delta=delta, failure_probability=failure_probability, rng=rng
    )


def attacked(
    game: Game,
    releases: Sequence[Any],
    attacks: Sequence[Attribution | Fitted],
    *,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    rng: Generator,
) -> list[Attributed]:
    """What each attack guesses, and all of them together where there are several."""
    each = each_bound(failure_probability, len(attacks))
    found = []
    for number, attack in enumerate(attacks):
        what = f"{attack.name} attack on {len(game):,} releases"
        tell(what, done=number, total=len(attacks))
        found.append(
            attribute(game, releases, attack, delta=delta, failure_probability=each, rng=rng)
        )
    together = stacked(game, found, rng=rng)
    return found if together is None else [*found, together]


def each_bound(failure_probability: float, attacks: int, *, cells: int = 1) -> float:
    """The failure probability of each bound, if all are to hold together.

    Every attack gives two, on all guesses and on the sure ones; two attacks and more are also
    stacked.

    >>> each_bound(0.01, 1), each_bound(0.01, 4, cells=10)
    (0.005, 0.0001)
    """
    return shared(failure_probability, among=2 * cells * (attacks + (attacks > 1)))
