"""One game against every mechanism and epsilon, and what is left of the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.attribution import Attribution
from voile.audit.distinguishing import Attributed, attribute, each_bound, stacked
from voile.audit.games import Game, never_in_two_ways, plan
from voile.core.guarantee import Guarantee
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.jobs import Engine, Processes, spread
from voile.leakage.text_tasks import attribute_f1, macro_f1
from voile.names import Named
from voile.progress import tell
from voile.rewriting.prepared import Prepared
from voile.text.attacks import attacks_inside, attacks_on_texts, names_on_texts, needs_encoder
from voile.text.comparison import NO_CLAIM, Cell, Comparison, Shown
from voile.text.game import Playing, caution
from voile.text.kept_releases import Made, make_releases
from voile.text.rewriters import Rewriters

TEST_SHARE = 0.3
Which = tuple[Named, float | None]


@dataclass(frozen=True)
class Beside:
    """What stands beside the texts: a class to keep learnable, one to hide, and rows to try on."""

    labels: Sequence[str] | None = None
    attributes: Sequence[str] | None = None
    rows: int = 1500


def play(
    texts: Sequence[str],
    *,
    mechanisms: Sequence[Named],
    epsilons: Sequence[float],
    rewriters: Rewriters,
    attacks: Sequence[Named],
    extra_attacks: Sequence[Attribution] = (),
    game: Playing = Playing(),
    beside: Beside = Beside(),
    folder: Path | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Play one game against every mechanism and epsilon, and measure what is left of the texts.

    All cells face the same candidate sets. The failure probability is that of the whole table:
    all intervals hold together with 1 − failure_probability. Releases are kept in `folder`.

    `engine` spreads the cells over processes or nodes. Each cell's draws are seeded by what it is,
    so the figures are the same wherever it was computed (but for the seconds).
    """
    here = engine is None or engine == Processes(1)
    if extra_attacks and not here:
        raise InvalidInput("a judge answers one process; leave out --jobs and --engine")
    if not here:
        _check_travelling([*mechanisms, *attacks])
    wanted = [(one, e) for one in mechanisms for e in rewriters.epsilons(one, epsilons)]
    encodes = needs_encoder(attacks, game.temperature)
    tell("drawing candidate sets")
    played = plan(
        texts,
        trials=game.trials,
        candidates=game.candidates,
        temperature=game.temperature,
        encode=rewriters.encoder if encodes else None,
        equal_length=game.equal_length,
        rng=seeded_rng(game.seed),
    )
    rows = _Rows.of(texts, beside, seed=game.seed)
    table = _Table(
        rewriters=rewriters if here else rewriters.empty(),
        game=played,
        rows=rows,
        attacks=tuple(attacks),
        extra_attacks=tuple(extra_attacks),
        encodes=encodes,
        each=each_bound(
            game.failure_probability, len(attacks) + len(extra_attacks), cells=len(wanted)
        ),
        symmetric=game.symmetric,
        seed=game.seed,
        folder=folder,
    )
    cells = spread(
        _cell,
        wanted,
        common=table,
        engine=engine,
        progress=lambda done: tell("mechanisms and epsilons done", done=done, total=len(wanted)),
    )
    made = dict.fromkeys(s.attack for cell in cells for s in cell.shown)
    return Comparison(
        cells=tuple(cells),
        trials=game.trials,
        candidates=game.candidates,
        temperature=game.temperature,
        failure_probability=game.failure_probability,
        texts=len(texts),
        duplicates=played.duplicates,
        clean_f1=rows.f1(rows.texts),
        clean_attribute_f1=rows.attribute_f1(rows.texts),
        symmetric=game.symmetric,
        seed=game.seed,
        caution=caution(tuple(made)),
        own=tuple(one.name for one in mechanisms if one.own),
    )


def _check_travelling(things: Sequence[Named]) -> None:
    """A function that another process could not find is refused before the work begins."""
    import pickle

    for one in things:
        try:
            pickle.dumps(one)
        except Exception:
            raise InvalidInput(
                f"{one.name} cannot travel to other processes; write it into a file and give "
                f"{one.name}=FILE.py:{one.name}, or leave out jobs and engine"
            ) from None


@dataclass(frozen=True)
class _Rows:
    """The rows on which use is measured, split once for all cells."""

    texts: list[str]
    labels: list[str] | None
    attributes: list[str] | None
    tested: int

    @classmethod
    def of(cls, texts: Sequence[str], beside: Beside, *, seed: int) -> _Rows:
        order = np.random.default_rng(seed).permutation(len(texts))[: beside.rows].tolist()

        def chosen(values: Sequence[str] | None) -> list[str] | None:
            return None if values is None else [values[i] for i in order]

        tested = max(1, round(TEST_SHARE * len(order)))
        kept = [texts[i] for i in order]
        return cls(kept, chosen(beside.labels), chosen(beside.attributes), tested)

    @property
    def measured(self) -> bool:
        """Whether there is anything to measure use by."""
        return self.labels is not None or self.attributes is not None

    def f1(self, released: Sequence[str]) -> float | None:
        """Trained on releases of one part, tested on clean texts of the other."""
        if self.labels is None:
            return None
        cut = self.tested
        return macro_f1(
            released[cut:], self.labels[cut:], tests=self.texts[:cut], test_labels=self.labels[:cut]
        )

    def attribute_f1(self, released: Sequence[str]) -> float | None:
        """What an attacker reads off releases."""
        return None if self.attributes is None else attribute_f1(released, self.attributes)


@dataclass(frozen=True, eq=False)
class _Table:
    """What all cells share; it travels once to a process or node."""

    rewriters: Rewriters
    game: Game
    rows: _Rows
    attacks: tuple[Named, ...]
    extra_attacks: tuple[Attribution, ...]
    encodes: bool
    each: float
    symmetric: bool
    seed: int
    folder: Path | None

    def guessed(
        self, prepared: Prepared, drawn: list[Any], released: list[str], called: str
    ) -> list[Attributed]:
        """What each attack guesses that can read what was drawn, and all of them together."""
        encode = self.rewriters.encoder if self.encodes else None
        vectors = self.rewriters.word_vectors
        on_texts = [*attacks_on_texts(self.attacks, encode, vectors), *self.extra_attacks]
        inside = attacks_inside(
            self.attacks,
            prepared,
            word_vectors=vectors,
            sources=self.game.sources,
            drawn=drawn,
            rng=seeded_rng(self.seed + 2),
        )
        guessing = seeded_rng(self.seed + 1)
        delta = 0.0 if prepared.guarantee is None else prepared.guarantee.delta
        terms = {"delta": delta, "failure_probability": self.each}
        found = []
        for attack, seen in (*((attack, released) for attack in on_texts), *inside):
            tell(f"{called}: {attack.name} attack")
            found.append(attribute(self.game, seen, attack, **terms, rng=guessing))
        together = stacked(self.game, found, rng=guessing)
        return found if together is None else [*found, together]


def _cell(table: _Table, which: Which) -> Cell:
    named, epsilon = which
    rewriters, game, rows = table.rewriters, table.game, table.rows
    called = named.name if epsilon is None else f"{named.name} at ε = {epsilon:g}"
    prepared = rewriters.prepare(named, epsilon)
    release = _releasing(table, prepared, which, called)
    made = release(game.sources, "trials released")
    released = prepared.read(made.drawn)
    found = table.guessed(prepared, made.drawn, released, called)
    shown = tuple(_shown(one, symmetric=table.symmetric) for one in found)
    if not shown:
        raise InvalidInput(
            f"attacks must hold one that can read {named.name}, such as {names_on_texts()}"
        )
    kept = release(rows.texts, "rows released") if rows.measured else Made([], 0.0)
    left = prepared.read(kept.drawn)
    count, seconds = len(made.drawn) + len(kept.drawn), made.seconds + kept.seconds
    promise = prepared.guarantee
    return Cell(
        mechanism=named.name,
        epsilon=epsilon,
        granularity="" if promise is None else promise.granularity,
        basis=NO_CLAIM if promise is None else "claimed" if named.own else str(promise.basis),
        text_epsilon=prepared.text_epsilon(game.sources),
        shown=shown,
        f1=rows.f1(left),
        attribute_f1=rows.attribute_f1(left),
        similarity=_similarity(game.sources, released, table),
        empty=sum(not text.strip() for text in released),
        seconds=seconds,
        rows_per_second=count / seconds if seconds > 0 else float("inf"),
        claim=_claim_for_a_text(promise),
        alike=named.own and never_in_two_ways(game.sources, released),
    )


def _claim_for_a_text(promise: Guarantee | None) -> float | None:
    """The ε of one text, if that is what is promised, and with no δ that trials could show."""
    if promise is None or promise.granularity not in ("one text", "one document"):
        return None
    return promise.epsilon if promise.delta <= 1e-4 else None


def _releasing(
    table: _Table, prepared: Prepared, which: Which, called: str
) -> Callable[[Sequence[str], str], Made]:
    """Releases texts at this cell, or reads those that an earlier run has kept."""
    identity = table.rewriters.identity(*which)

    def release(texts: Sequence[str], what: str) -> Made:
        return make_releases(
            prepared.draw,
            texts,
            identity=identity or called,
            seed=table.seed,
            folder=None if identity is None else table.folder,
            what=f"{called}: {what}",
        )

    return release


def _shown(found: Attributed, *, symmetric: bool) -> Shown:
    e = found.estimated(symmetric=symmetric)
    return Shown(
        attack=found.attack,
        lower=e.lower,
        middle=e.middle,
        upper=e.upper,
        ceiling=found.ceiling(symmetric=symmetric),
        success=float((found.guessed == found.columns).mean()),
        sure=found.sure.lower,
        spoke=found.sure.share,
        note=found.note,
        is_evidence=found.is_evidence,
    )


def _similarity(texts: Sequence[str], released: Sequence[str], table: _Table) -> float | None:
    if not table.encodes:
        return None
    encode = table.rewriters.encoder
    first, second = np.asarray(encode(list(texts))), np.asarray(encode(list(released)))
    return float(np.einsum("ij,ij->i", first, second).mean())
