"""Which rewriter and epsilon give this much use at this much distinguishability."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from voile.attackers.names import ATTACKS
from voile.errors import CannotWrite, InvalidInput, require, require_epsilon, writing
from voile.files import make_private_folder, write_private
from voile.files.encodings import lines_of
from voile.jobs.settings import Workers
from voile.names import Named, normal
from voile.options import Data, Option, Options, use_case
from voile.report.model import Table
from voile.report.result import plain
from voile.rewriting.workshop import WITH_MODELS, Workshop
from voile.text.attacks import DEFAULT, judges
from voile.text.cells import Beside, play
from voile.text.comparison import Chosen, Comparison
from voile.text.frontier import recommend
from voile.text.game import Judge, Playing
from voile.text.given import TextColumn, Texts
from voile.text.reading import texts_of, values_of
from voile.text.rewriters import MECHANISMS, Rewriters


@dataclass(frozen=True)
class Models(Options):
    """What neural rewriters are made of, and how closely they follow published code."""

    model: Annotated[
        tuple[str, ...],
        Option("NAME=ID or folder, e.g. dp-mlm=roberta-base, encoder=FOLDER.", "Models"),
    ] = ()
    public: Annotated[
        Data,
        Option("Public texts, one a line, for what is trained here.", "Models", reads="public"),
    ] = None
    as_released: Annotated[
        bool, Option("Behave as published code does, sound or not.", "Models")
    ] = False
    max_new_tokens: Annotated[int, Option("Tokens a prompted rewriter writes.", "Models")] = 24

    def workshop(self) -> Workshop:
        """Where rewriters are made of these."""
        given = self.public
        public = _lines(given) if isinstance(given, str | Path) else tuple(given or ())
        fidelity = "as_released" if self.as_released else "sound"
        return Workshop(self._named(), public, fidelity, self.max_new_tokens)

    def _named(self) -> dict[str, str]:
        if isinstance(self.model, Mapping):
            return {normal(name): str(value) for name, value in self.model.items()}
        pairs = [entry.partition("=") for entry in self.model]
        wrong = [entry for entry, (_, _, value) in zip(self.model, pairs, strict=True) if not value]
        if wrong:
            raise InvalidInput(f"--model must be NAME=ID or NAME=FOLDER, got {wrong[0]!r}")
        known = (*WITH_MODELS, "encoder")
        for name, _, _ in pairs:
            require(normal(name) in known, "--model", f"for one of {', '.join(known)}", repr(name))
        return {normal(name): value for name, _, value in pairs}


@dataclass(frozen=True)
class Target(Options):
    """What the answer must meet, if one is asked for."""

    target_epsilon_emp: Annotated[
        float | None, Option("Answer with the most useful one below this ε_emp.", "How strong")
    ] = None
    min_f1: Annotated[float | None, Option("… and at least this F1.", "How strong")] = None


@use_case("text compare")
def compare(
    texts: Texts,
    *,
    mechanisms: Annotated[
        tuple[Any, ...],
        Option(
            "Comma-separated: tem, word-exponential, madlib, …, dp-mlm, dp-st (see `voile "
            "mechanisms`), and your own as mine=./mine.py:privatise.",
            shown=True,
        ),
    ],
    epsilon: Annotated[
        tuple[float, ...] | None,
        Option(
            "Comma-separated epsilons, of each one's unit; your own may take none.", "How strong"
        ),
    ] = None,
    column: TextColumn = "text",
    label: Annotated[Data, Option("Column of a class to keep learnable.", shown=True)] = None,
    attribute: Annotated[Data, Option("Column of a class to hide.", shown=True)] = None,
    attacks: Annotated[
        tuple[Any, ...],
        Option(
            "embedding, tf-idf, overlap, shape; likelihood where the law is known, internal where "
            "a vector gets the noise; your own as mine=./mine.py:Attack.",
            shown=True,
        ),
    ] = DEFAULT,
    target: Target = Target(),
    game: Playing = Playing(),
    models: Models = Models(),
    judge: Judge = Judge(),
    utility_rows: Annotated[int, Option("Rows on which use is measured.")] = 1500,
    out: Annotated[
        Path | None,
        Option(
            "Folder for JSON, CSV, charts, and what an interrupted run had done.",
            "Output",
            writes=True,
        ),
    ] = None,
    workers: Workers = Workers(),
) -> Comparison:
    """Compare mechanisms and epsilons on your texts: distinguishability, use, speed.

    A function of your own takes part like any other: `privatise(text)`, with `epsilon` and `rng`
    among its parameters if it wants them, a function of a list, or an object with `release`.

    Example: `voile text compare reviews.csv --mechanisms tem,madlib --epsilon 2,5,10 --label stars`

    >>> def hide(text: str) -> str:
    ...     return " ".join("x" for _ in text.split())
    >>> texts = [f"a train to {town} at {hour}" for town in ("rome", "oslo") for hour in range(9)]
    >>> found = compare(
    ...     texts, mechanisms=(hide,), epsilon=(1.0,), attacks=("overlap",), temperature=0.0,
    ...     trials=200,
    ... )
    >>> found.cells[0].worst.lower, found.cells[0].basis
    (0.0, 'none')
    """
    chosen, attacking = MECHANISMS.find_all(mechanisms), ATTACKS.find_all(attacks)
    rewriters = Rewriters(models.workshop())
    epsilons = _checked(epsilon, chosen, rewriters)
    out = None if out is None else _writable(Path(out))
    read = texts_of(texts, column)
    require(len(read) >= 2, "texts", "at least two", len(read))
    beside = Beside(
        values_of(texts, label, "labels", rows=len(read)),
        values_of(texts, attribute, "attributes", rows=len(read)),
        utility_rows,
    )
    found = play(
        read,
        mechanisms=chosen,
        epsilons=epsilons,
        rewriters=replace(rewriters, kept=out / "encodings" if out else None),
        attacks=attacking,
        extra_attacks=judges(judge, out, candidates=game.candidates),
        game=game,
        beside=beside,
        folder=out / "releases" if out else None,
        engine=workers.chosen(),
    )
    found = _answered(found, target)
    if out is None:
        return found
    found = replace(found, folder=out.name)
    write_comparison(found, out, sources=[texts] if isinstance(texts, str | Path) else [])
    return found


def _checked(
    epsilon: tuple[float, ...] | None, chosen: Sequence[Named], rewriters: Rewriters
) -> tuple[float, ...]:
    """The epsilons, of which there must be one if a mechanism takes any."""
    given = tuple(require_epsilon(one) for one in epsilon or ())
    needing = [] if given else [one.name for one in chosen if not rewriters.epsilons(one, ())]
    if needing:
        raise InvalidInput(
            f"epsilon must be at least one number for {', '.join(needing)}, got none; say for "
            "example --epsilon 2,5,10"
        )
    return given


def _answered(found: Comparison, target: Target) -> Comparison:
    if target.target_epsilon_emp is None and target.min_f1 is None:
        return found
    best, words = recommend(found, target=target.target_epsilon_emp, least_f1=target.min_f1)
    chosen = None if best is None else Chosen(best.mechanism, best.epsilon)
    return replace(found, answer=words, chosen=chosen)


def _writable(out: Path) -> Path:
    """The folder, if what is written into it in the end can be written."""
    from voile.report.pictures import require_charts

    require_charts()
    if out.exists() and not out.is_dir():
        raise CannotWrite(f"--out must name a folder, {out} is a file")
    with writing(out):
        make_private_folder(out)
    return out


def write_comparison(found: Comparison, out: Path, *, sources: Sequence[Any]) -> None:
    """JSON, CSV and charts in a folder; none is readable by more than its owner and the file is."""
    from voile.report.pictures import write_charts
    from voile.text.comparison_charts import comparison_charts

    text = json.dumps(plain(found), indent=2, ensure_ascii=False, allow_nan=False)
    write_private(out / "comparison.json", text)
    write_private(out / "comparison.csv", _every_attack(found).csv())
    charts = comparison_charts(found.cells, chosen=found.chosen, each_attack=True)
    write_charts(charts, out, sources=sources)


def _every_attack(found: Comparison) -> Table:
    rows = list(found._records())
    return Table("Every cell and attack", tuple(rows[0]), tuple(tuple(r.values()) for r in rows))


def _lines(path: str | Path) -> list[str]:
    lines = lines_of(path, what="the public text must be a readable file, a sentence a line")
    return [line for line in lines if line]
