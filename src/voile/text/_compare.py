"""Which rewriter and epsilon give this much use at this much distinguishability."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.attribution import Attribution
from voile.audit.distinguish import Game, attribute, plan
from voile.audit.empirical import shared
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require, require_epsilon
from voile.jobs import Engine, Processes, spread
from voile.leakage.text_tasks import attribute_f1, macro_f1
from voile.text.attacks import ON_TEXTS, attacks_inside, attacks_on_texts, check_attacks
from voile.text.frontier import Cell, Comparison, Shown
from voile.text.kept_releases import Made, make_releases
from voile.text.workshop import NAMES, Workshop

TEST_SHARE = 0.3


def compare(
    texts: Sequence[str],
    *,
    mechanisms: Sequence[str],
    epsilons: Sequence[float],
    workshop: Workshop,
    labels: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    attacks: Sequence[str] = ON_TEXTS,
    extra_attacks: Sequence[Attribution] = (),
    trials: int = 2000,
    candidates: int = 2,
    temperature: float = -10_000.0,
    utility_rows: int = 1500,
    failure_probability: float = 0.01,
    symmetric: bool = False,
    seed: int = 0,
    folder: Path | None = None,
    engine: Engine | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Play one game against every mechanism and epsilon, and measure what is left of the texts.

    All cells face the same candidate sets. The failure probability is that of the whole table:
    all intervals hold together with 1 − failure_probability. `symmetric` takes the estimate from
    true and false positives instead of successes. Releases are kept in `folder`.

    `engine` spreads the cells over processes or nodes. Each cell's draws are seeded by what it is,
    so the figures are the same wherever it was computed (but for the seconds).
    """
    _check(texts, mechanisms, epsilons, labels, attributes, attacks)
    rng = seeded_rng(seed)
    needs_encoder = temperature != 0 or "embedding" in attacks
    encode = workshop.encoder if needs_encoder else None
    progress("drawing candidate sets")
    game = plan(
        texts,
        trials=trials,
        candidates=candidates,
        temperature=temperature,
        encode=encode,
        rng=rng,
    )
    if extra_attacks and not _here(engine):
        raise InvalidInput("a judge answers one process; leave out --jobs and --engine")
    count = len(attacks) + len(extra_attacks)
    table = _Table(
        workshop=workshop if _here(engine) else workshop.empty(),
        game=game,
        rows=_Rows.of(texts, labels, attributes, most=utility_rows, seed=seed),
        attacks=tuple(attacks),
        extra_attacks=tuple(extra_attacks),
        needs_encoder=needs_encoder,
        each=shared(failure_probability, among=len(mechanisms) * len(epsilons) * count),
        symmetric=symmetric,
        seed=seed,
        folder=folder,
        progress=progress if _here(engine) else None,
    )
    wanted = [(name, epsilon) for name in mechanisms for epsilon in epsilons]

    def next_ones() -> Iterator[tuple[str, float]]:
        for number, (name, epsilon) in enumerate(wanted, start=1):
            progress(f"{name} at ε = {epsilon:g} ({number} of {len(wanted)})")
            yield name, epsilon

    cells = spread(_cell, next_ones(), common=table, engine=engine)
    rows = table.rows
    return Comparison(
        cells=tuple(cells),
        trials=trials,
        candidates=candidates,
        temperature=temperature,
        failure_probability=failure_probability,
        texts=len(texts),
        duplicates=game.duplicates,
        clean_f1=rows.f1(rows.texts) if labels else None,
        clean_attribute_f1=rows.attribute_f1(rows.texts) if attributes else None,
        symmetric=symmetric,
        seed=seed,
    )


@dataclass(frozen=True)
class _Rows:
    """The rows on which use is measured, split once for all cells."""

    texts: list[str]
    labels: list[str] | None
    attributes: list[str] | None
    tested: int

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        labels: Sequence[str] | None,
        attributes: Sequence[str] | None,
        *,
        most: int,
        seed: int,
    ) -> _Rows:
        order = np.random.default_rng(seed).permutation(len(texts))[:most].tolist()
        return cls(
            [texts[i] for i in order],
            [labels[i] for i in order] if labels else None,
            [attributes[i] for i in order] if attributes else None,
            max(1, round(TEST_SHARE * len(order))),
        )

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

    workshop: Workshop
    game: Game
    rows: _Rows
    attacks: tuple[str, ...]
    extra_attacks: tuple[Attribution, ...]
    needs_encoder: bool
    each: float
    symmetric: bool
    seed: int
    folder: Path | None
    progress: Callable[[str], None] | None
    """None where a cell is computed elsewhere."""

    def say(self, line: str) -> None:
        """Tell who waits what is going on."""
        if self.progress:
            self.progress(line)


def _here(engine: Engine | None) -> bool:
    """Whether everything happens in this process."""
    return engine is None or engine == Processes(1)


def _cell(table: _Table, which: tuple[str, float]) -> Cell:
    name, epsilon = which
    game, rows = table.game, table.rows
    prepared = table.workshop.prepare(name, epsilon)
    called = f"{name} at ε = {epsilon:g}"
    encode = table.workshop.encoder if table.needs_encoder else None

    def made_of(texts: Sequence[str], what: str) -> Made:
        return make_releases(
            prepared.draw,
            texts,
            identity=_identity(table.workshop, name, epsilon),
            seed=table.seed,
            folder=table.folder,
            progress=lambda done: table.say(f"{called}: {done:,} of {len(texts):,} {what}"),
        )

    made = made_of(game.sources, "trials released")
    released = prepared.read(made.drawn)
    guessing = seeded_rng(table.seed + 1)
    shown = []
    attacks = [(attack, released) for attack in attacks_on_texts(table.attacks, encode)]
    attacks += [(attack, released) for attack in table.extra_attacks]
    inside = attacks_inside(
        table.attacks,
        prepared,
        sources=game.sources,
        drawn=made.drawn,
        rng=seeded_rng(table.seed + 2),
    )
    for attack, seen in (*attacks, *inside):
        table.say(f"{called}: {attack.name} attack")
        found = attribute(
            game,
            seen,
            attack,
            delta=prepared.guarantee.delta,
            failure_probability=table.each,
            rng=guessing,
        )
        e = found.estimated(symmetric=table.symmetric)
        right = float((found.guessed == found.columns).mean())
        shown.append(
            Shown(
                attack=found.attack,
                lower=e.lower,
                middle=e.middle,
                upper=e.upper,
                ceiling=e.ceiling,
                success=right,
                note=found.note,
                is_evidence=found.is_evidence,
            )
        )
    if not shown:
        names = ", ".join(ON_TEXTS)
        raise InvalidInput(f"attacks must hold one that can read {name}, such as {names}")
    measured = rows.labels is not None or rows.attributes is not None
    kept = made_of(rows.texts, "rows released") if measured else Made([], 0.0)
    left = prepared.read(kept.drawn) if measured else []
    count, seconds = len(made.drawn) + len(kept.drawn), made.seconds + kept.seconds
    return Cell(
        mechanism=name,
        epsilon=epsilon,
        granularity=prepared.guarantee.granularity,
        basis=str(prepared.guarantee.basis),
        text_epsilon=prepared.guarantee.epsilon * prepared.units(game.sources),
        shown=tuple(shown),
        f1=rows.f1(left) if measured else None,
        attribute_f1=rows.attribute_f1(left) if measured else None,
        similarity=_similarity(game.sources, released, encode),
        empty=sum(not text.strip() for text in released),
        seconds=seconds,
        rows_per_second=count / seconds if seconds > 0 else float("inf"),
    )


def _similarity(texts: Sequence[str], released: Sequence[str], encode: Any) -> float | None:
    if encode is None:
        return None
    first, second = np.asarray(encode(list(texts))), np.asarray(encode(list(released)))
    return float(np.einsum("ij,ij->i", first, second).mean())


def _identity(workshop: Workshop, name: str, epsilon: float) -> str:
    public = hashlib.sha256("\0".join(workshop.public).encode()).hexdigest()
    models = repr(sorted(workshop.models.items()))
    facts = [name, repr(epsilon), str(workshop.fidelity), models, public]
    return "|".join([*facts, str(workshop.max_new_tokens), str(workshop.top)])


def _check(
    texts: Sequence[str],
    mechanisms: Sequence[str],
    epsilons: Sequence[float],
    labels: Sequence[str] | None,
    attributes: Sequence[str] | None,
    attacks: Sequence[str],
) -> None:
    require(len(texts) >= 2, "texts", "at least two", len(texts))
    require(len(mechanisms) >= 1, "mechanisms", "at least one", "none")
    unknown = [name for name in mechanisms if name not in NAMES]
    if unknown:
        raise InvalidInput(f"mechanisms must be among {', '.join(NAMES)}; got {unknown[0]!r}")
    require(len(epsilons) >= 1, "epsilons", "at least one", "none")
    for epsilon in epsilons:
        require_epsilon(epsilon)
    check_attacks(attacks)
    for name, values in (("labels", labels), ("attributes", attributes)):
        if values is not None:
            require(len(values) == len(texts), name, f"one for each of {len(texts)}", len(values))
