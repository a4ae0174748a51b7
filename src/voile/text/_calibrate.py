"""An empirical epsilon for any rewriter: releases made elsewhere, a program, a function."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from voile.attackers.names import ON_TEXTS
from voile.audit.distinguish import Attributed
from voile.audit.finding import Verdict
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.jobs.settings import Workers
from voile.names import Named, called
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.report.charts_common import interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table, worst_verdict
from voile.report.result import Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted
from voile.rewriting.workshop import Workshop
from voile.text.attacks import DEFAULT, attacks_on_texts, needs_encoder
from voile.text.black_boxes import Attacked, Program, attack_pairs, attack_rewriter
from voile.text.game import Judge, Playing, caution
from voile.text.kept_releases import PART
from voile.text.own import own_rewriter
from voile.text.reading import texts_of, values_of
from voile.text.rewriters import Rewriters


@dataclass(frozen=True)
class AttackShown:
    """What one attack showed of one whole text, and what that says of the claim."""

    attack: str
    lower: float
    middle: float
    upper: float
    ceiling: float
    successes: int
    trials: int
    failure_probability: float
    verdict: Verdict
    note: str

    @classmethod
    def of(cls, found: Attributed, *, claim: float | None, symmetric: bool) -> AttackShown:
        """By one form of estimate; without a claim there is nothing to refute."""
        claimed = float("inf") if claim is None else claim
        verdict = found.finding(claim=claimed, symmetric=symmetric).verdict
        estimate = found.estimated(symmetric=symmetric)
        return cls(found.attack, **vars(estimate), verdict=verdict, note=found.note)


@dataclass(frozen=True, repr=False, eq=False)
class Calibration(Result):
    """What each attack showed of a black box, in a game of so many trials."""

    trials: int
    claim: float | None
    symmetric: bool
    attacks: tuple[AttackShown, ...]
    caution: str
    candidates: int
    texts: int
    duplicates: int
    kept: int
    empty: int

    @classmethod
    def of(cls, found: Attacked, *, claim: float | None, symmetric: bool) -> Calibration:
        """The result of a game."""
        shown = (AttackShown.of(a, claim=claim, symmetric=symmetric) for a in found.attributed)
        return cls(
            trials=len(found.game),
            claim=claim,
            symmetric=symmetric,
            attacks=tuple(shown),
            caution=caution([a.attack for a in found.attributed]),
            candidates=int(found.game.sets.shape[1]),
            texts=len(found.game.pool),
            duplicates=found.game.duplicates,
            kept=found.kept,
            empty=found.attributed[0].empty,
        )

    @property
    def strongest(self) -> AttackShown:
        """The attack that showed most."""
        return max(self.attacks, key=lambda a: (a.lower, a.middle))

    def _report(self) -> Report:
        """What the strongest attack shows, and a row for each."""
        best, claim = self.strongest, self.claim
        verdict = worst_verdict([a.verdict for a in self.attacks])
        return Report(
            title="Distinguishability audit",
            about=TESTED,
            answer=(
                f"The {best.attack} attack names the source of a release "
                f"{percent(best.successes / best.trials)} of the time: an epsilon of at least "
                f"{best.lower:.2f} for one text"
                + ("." if claim is None else f", where {claim:g} is claimed.")
            ),
            verdict=verdict,
            because=(
                f"Even the cautious end, {best.lower:.3f}, is above the claim of {claim:g}."
                if verdict == Verdict.VIOLATED
                else self.caution
            ),
            guarantee=(self._game(),),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            tables=(self._table(),),
            draw=self._charts,
            notes=tuple(self._notes(verdict)),
            terms=("empirical epsilon", "ceiling", "attacker", "interval"),
        )

    def _game(self) -> str:
        form = "; estimated from true and false positives" if self.symmetric else ""
        return (
            f"The game: {counted(self.trials, 'trial')}, in each of which an attack sees one "
            f"release and says which of {self.candidates} texts it came from, out of "
            f"{self.texts:,} ({counted(self.duplicates, 'duplicate')} dropped){form}."
        )

    def _table(self) -> Table:
        return Table(
            "What each attack shows of one text",
            ("attack", "right", "ε_emp at least", "this attack at most", "ceiling", "claim"),
            tuple(
                (
                    a.attack,
                    percent(a.successes / a.trials),
                    a.lower,
                    a.upper,
                    a.ceiling,
                    None if self.claim is None else str(a.verdict),
                )
                for a in self.attacks
            ),
        )

    def _notes(self, verdict: Verdict) -> Iterator[str]:
        if self.kept:
            yield f"{self.kept:,} of the releases were made by an earlier run, and were read."
        if self.empty:
            yield f"{counted(self.empty, 'release')} were empty."
        for a in self.attacks:
            if a.note:
                yield f"{a.attack}: {a.note}."
        if verdict == Verdict.VIOLATED:
            yield self.caution

    def _charts(self) -> list[Chart]:
        ceiling = max(a.ceiling for a in self.attacks)
        marks = ({} if self.claim is None else {"claim": self.claim}) | {"ceiling": ceiling}
        return [
            interval_chart(
                [(a.attack, a.middle, a.lower, a.upper) for a in self.attacks],
                name="attacks",
                title="What each attack shows",
                alt=(
                    "Each attack's epsilon for one text with its interval. The mechanism's own is "
                    "at least its left end. No attack can show more than the ceiling, "
                    f"{ceiling:.2f}."
                ),
                axis="ε of one text",
                marks=marks,
                columns=("attack", "ε_emp", "at least", "this attack at most"),
            )
        ]


@dataclass(frozen=True)
class Copies(Workers):
    """Who runs the program that is audited."""

    jobs: Annotated[
        int,
        Option("Copies of --command that share the trials; they must be unseeded.", "Running"),
    ] = 1


@use_case("text calibrate")
def calibrate(
    texts: Annotated[Data, Option("CSV, JSONL, Parquet or text; .gz allowed.", reads="private")],
    *,
    column: Annotated[str, Option("The column that holds the text.", shown=True)] = "text",
    released: Annotated[
        Data, Option("Column that holds a release of each text.", shown=True)
    ] = None,
    command: Annotated[
        Any, Option("Program that reads a text a line and writes a release.")
    ] = None,
    claim: Annotated[
        float | None,
        Option("The ε of one text that is claimed, to be refuted or not.", "How strong"),
    ] = None,
    delta: Annotated[float, Option("The δ that goes with it.", "How strong")] = 0.0,
    attacks: Annotated[
        tuple[Any, ...],
        Option("embedding, tf-idf, overlap, shape; your own as mine=./mine.py:Attack.", shown=True),
    ] = DEFAULT,
    game: Playing = Playing(trials=10_000),
    encoder: Annotated[
        str | None, Option("Sentence encoder by hub id or folder, instead of MiniLM.")
    ] = None,
    judge: Judge = Judge(),
    timeout: Annotated[
        float, Option("Seconds that --command may take for 10,000 texts.", "Running")
    ] = 3600.0,
    out: Annotated[
        Path | None,
        Option(
            "Folder for what --command, encoder and judge answered: to go on from.",
            "Output",
            writes=True,
        ),
    ] = None,
    copies: Copies = Copies(),
) -> Calibration:
    """Audit releases made elsewhere, or any program that rewrites lines.

    From Python, `released` may be the releases themselves and `command` a function of your own.

    Example: `voile text calibrate pairs.csv --released rewritten --claim 2`

    >>> texts = [f"a train to {town} at {hour}" for town in ("rome", "oslo") for hour in range(9)]
    >>> found = calibrate(
    ...     texts, released=texts, attacks=("overlap",), temperature=0.0, claim=0.5
    ... )
    >>> found.violated    # a text that is released as it is hides nothing
    True
    """
    if (released is None) == (command is None):
        raise InvalidInput("give either --released COLUMN or --command PROGRAM, and not both")
    attacking = ON_TEXTS.find_all(attacks)
    out = None if out is None else Path(out)
    read = texts_of(texts, column)
    releases = values_of(texts, released, "releases", rows=len(read))
    stock = Rewriters(
        Workshop({"encoder": encoder} if encoder else {}), kept=out / "encodings" if out else None
    )
    encode = stock.encoder if needs_encoder(attacking, game.temperature) else None
    every = [*attacks_on_texts(attacking, encode), *judge.attacks(out)]
    if releases is not None:
        found = attack_pairs(
            read, releases, attacks=every, encode=encode, playing=game, delta=delta
        )
    else:
        rewriter = _rewriter(command, timeout, copies, out, game.seed)
        found = attack_rewriter(
            read, rewriter, attacks=every, encode=encode, playing=game, delta=delta
        )
    return Calibration.of(found, claim=claim, symmetric=game.symmetric)


def _rewriter(
    command: Any, timeout: float, copies: Copies, out: Path | None, seed: int
) -> Callable[[Sequence[str]], tuple[list[str], int]]:
    """A program's lines, or the answers of a function that was passed."""
    if isinstance(command, str):
        words = _words(command)
        folder = out / "releases" if out else None
        return Program(words, timeout, copies.jobs, copies.chosen(), folder).releases
    own = own_rewriter(Named(called(command), given=command, own=True), None)

    def released(texts: Sequence[str]) -> tuple[list[str], int]:
        rng, made = seeded_rng(seed + 1), []
        for start in range(0, len(texts), PART):
            made += own.draw(texts[start : start + PART], rng)
            tell("trials released", done=len(made), total=len(texts))
        return made, 0

    return released


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        raise InvalidInput("--command must be a command line; a quote is left open") from None
