"""An empirical epsilon for any rewriter: releases made elsewhere, a program, a function."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from voile.attackers.names import ON_BOXES
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.files.source import open_source
from voile.jobs.settings import Workers
from voile.names import Named, called, placed
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.rewriting.workshop import Workshop
from voile.text.attacks import (
    ASKING,
    DEFAULT,
    attacks_on_texts,
    attacks_that_ask,
    judges,
    needs_encoder,
)
from voile.text.black_boxes import Program, attack_pairs, attack_rewriter
from voile.text.calibration import Calibration
from voile.text.game import Judge, Playing
from voile.text.given import TextColumn, Texts
from voile.text.kept_releases import PART
from voile.text.own import own_rewriter
from voile.text.pairs import made_of_draws
from voile.text.reading import texts_of, values_of
from voile.text.rewriters import Rewriters

_BY_NAME = re.compile(r"(\w+=)?\S+\.py:[^\W\d]\w*")
"""A function of one's own by its file and name."""


@dataclass(frozen=True)
class Copies(Workers):
    """Who runs the program that is audited."""

    jobs: Annotated[
        int,
        Option("Copies of --command that share the trials; they must be unseeded.", "Running"),
    ] = 1


@use_case("text calibrate")
def calibrate(
    texts: Texts,
    *,
    column: TextColumn = "text",
    released: Annotated[
        Data,
        Option(
            "Column that holds a release of each text; or a file of the same rows, whose texts "
            "they are.",
            shown=True,
        ),
    ] = None,
    command: Annotated[
        Any,
        Option(
            "Program that reads a text a line and writes a release; or a function of your own, as "
            "FILE.py:FUNCTION."
        ),
    ] = None,
    claim: Annotated[
        float | None,
        Option("The ε of one text that is claimed, to be refuted or not.", "How strong"),
    ] = None,
    delta: Annotated[float, Option("The δ that goes with it.", "How strong")] = 0.0,
    attacks: Annotated[
        tuple[Any, ...],
        Option(
            "embedding, tf-idf, overlap, shape, alignment, pairwise; shadow and channel, which ask "
            "--command again and again; your own as mine=./mine.py:Attack.",
            shown=True,
        ),
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
        raise InvalidInput(
            "give either --released COLUMN (or FILE) or --command PROGRAM, and not both"
        )
    attacking = ON_BOXES.find_all(attacks)
    out = None if out is None else Path(out)
    read = texts_of(texts, column)
    beside = isinstance(released, str) and _is_file(texts, released)
    if beside or not (released is None or isinstance(released, str)):
        made_of_draws(released)  # refused if rows share draws: trials would not be independent
    releases = values_of(
        texts, texts_of(released, column) if beside else released, "releases", rows=len(read)
    )
    stock = Rewriters(
        Workshop({"encoder": encoder} if encoder else {}), kept=out / "encodings" if out else None
    )
    encode = stock.encoder if needs_encoder(attacking, game.temperature) else None
    every = [
        *attacks_on_texts(attacking, encode, stock.word_vectors),
        *judges(judge, out, candidates=game.candidates),
    ]
    asking = [one.name for one in attacking if one.name in ASKING]
    if releases is not None:
        if asking:
            raise InvalidInput(
                f"the {asking[0]} attack must be able to ask the mechanism; give --command, or "
                "leave it out of --attacks"
            )
        found = attack_pairs(
            read, releases, attacks=every, encode=encode, playing=game, delta=delta
        )
    else:
        rewriter = _rewriter(command, timeout, copies, out, game.seed)
        found = attack_rewriter(
            read,
            rewriter,
            attacks=every,
            encode=encode,
            playing=game,
            delta=delta,
            asking=lambda release: attacks_that_ask(attacking, release, stock.word_vectors),
        )
    return Calibration.of(found, claim=claim, symmetric=game.symmetric)


def _is_file(texts: Data, released: str) -> bool:
    """Whether releases stand in a file of their own: a column of that name comes first."""
    return released not in open_source(texts).columns and Path(released).is_file()


def _rewriter(
    command: Any, timeout: float, copies: Copies, out: Path | None, seed: int
) -> Callable[[Sequence[str]], tuple[list[str], int]]:
    """A program's lines, or the answers of a function that was passed."""
    if isinstance(command, str) and not _BY_NAME.fullmatch(command.strip()):
        words = _words(command)
        folder = out / "releases" if out else None
        return Program(words, timeout, copies.jobs, copies.chosen(), folder).releases
    if isinstance(command, str):
        which = placed(command.strip(), "--command")
    else:
        which = Named(called(command), given=command, own=True)
    own = own_rewriter(which, None)

    rng = seeded_rng(seed + 1)  # goes on from call to call: who asks again meets fresh noise

    def released(texts: Sequence[str]) -> tuple[list[str], int]:
        made: list[str] = []
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
