"""Audit a labelled file: how much of each label is announced by epsilon, how much by features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import numpy as np

from voile.attackers.label_classifier import Columns
from voile.attackers.label_reading import read_as
from voile.audit.label_features import feature_shares
from voile.audit.labels import LabelAudit, audit_labels
from voile.core.arrays import Indices
from voile.core.pieces_of_work import Over
from voile.core.randomness import Generator, seeded_rng
from voile.errors import InvalidInput, require
from voile.jobs import spread
from voile.jobs.settings import Workers
from voile.labels.audited import AuditedLabels, LeakageAtEpsilon, LeakingLine
from voile.labels.bins import Cut
from voile.labels.columns import constant, determines
from voile.labels.reading import AS_WRITTEN, Label, Reading, Records, read_labelled
from voile.labels.same_names import same_names
from voile.labels.table import Table
from voile.options import Option, use_case
from voile.progress import tell

Piece = TypeVar("Piece")
Answer = TypeVar("Answer")

TWINS = 0.05
"""From so many records on that look like others, that is told."""
HERE = Workers()
AS_NAMES = Cut()


@use_case("labels audit")
def audit(
    data: Records,
    *,
    label: Label,
    epsilon: Annotated[
        tuple[float, ...], Option("Epsilons of the label: 0.1,1,2.", "How strong")
    ] = (0.1, 1.0, 2.0, 4.0, 8.0),
    reading: Reading = AS_WRITTEN,
    cut: Cut = AS_NAMES,
    records: Annotated[int, Option("Use at most so many records, at random.")] = 20_000,
    worst: Annotated[int, Option("How many of the worst records to list.")] = 5,
    seed: Annotated[
        int, Option("Of splits and resamples; an audit releases nothing.", "Running")
    ] = 0,
    workers: Workers = HERE,
    strict: Annotated[
        bool, Option("Exit with 1 if features leak beyond epsilon.", "Output")
    ] = False,
) -> AuditedLabels:
    """How much of the label is given away by epsilon, and how much by the features.

    Example: `voile labels audit patients.csv --label diagnosis --epsilon 0.1,1,2,4,8`

    How cells are written is read beside what they say, where they are not all written alike. At
    most `records` records, drawn at random, are used; the notes say if some were not. What is
    random in a fit is drawn before it is handed out, so the figures do not depend on who works.
    """
    rng = seeded_rng(seed)
    tell("reading records")
    table = read_labelled(data, label=label, reading=reading, edges=cut.at(), spelling=True)
    notes = (*_notes(table, reading), *bins_note(table, cut))
    table, less = sampled(table, records, rng)
    columns, names, labels = prepared(table)
    found = audit_labels(
        columns,
        labels,
        classes=len(table.classes),
        epsilons=epsilon,
        rng=rng,
        over=spread_by(workers, "fitting folds"),
    )
    shares = feature_shares(
        found.halved, names=names, rng=rng, over=spread_by(workers, "fitting features")
    )
    return AuditedLabels(
        records=found.records,
        classes=len(found.prior),
        guess=float(found.prior.max()),
        classifier=found.classifier,
        log_loss=dict(found.losses),
        nats=found.nats,
        auc=found.auc,
        epsilons=tuple(LeakageAtEpsilon.of(point, found) for point in found.at),
        features=shares,
        by_class=found.by_class,
        worst_lines=_worst(table, found, worst),
        warnings=found.warnings,
        notes=(*notes, *less),
        strict=strict,
    )


def bins_note(table: Table, cut: Cut) -> tuple[str, ...]:
    """What became of a label that is a number."""
    edges = cut.at()
    if not edges:
        return ()
    held = len(table.classes)
    return (
        f"the label is a number, cut into {len(edges) - 1} bins between {edges[0]:g} and "
        f"{edges[-1]:g}, {held} of which hold records; to guess it is to name the bin",
    )


def persons_note(table: Table, reading: Reading) -> tuple[str, ...]:
    """Whose records were used, or that some may be of one person: those are not independent."""
    if reading.person is not None:
        return (f"of each of {len(table):,} persons one record was used, the first",)
    twins = table.twins()
    if twins < TWINS * len(table):
        return ()
    return (
        f"{twins:,} records have the very features of another one: if they are one person's, or "
        "stand there twice, then whoever learns from one knows the other, the figures are too high "
        "and their intervals do not hold; name the --person, or hand in each once",
    )


def _worst(table: Table, found: LabelAudit, count: int) -> tuple[LeakingLine, ...]:
    """The records whose labels leak most, by line."""
    require(count >= 0, "worst", ">= 0", count)
    return tuple(
        LeakingLine(int(table.lines[i]), float(found.gains[i]), float(found.believed[i]))
        for i in found.ranked[:count]
    )


def spread_by(workers: Workers, what: str) -> Over:
    """Pieces of work done by these workers, and told one by one under this name."""
    engine = workers.chosen()

    def over(
        work: Callable[[Any, Piece], Answer], pieces: Iterable[Piece], /, *, common: Any
    ) -> list[Answer]:
        listed = list(pieces)
        tell(what, done=0, total=len(listed))
        return spread(
            work,
            listed,
            common=common,
            engine=engine,
            progress=lambda done: tell(what, done=done, total=len(listed)),
        )

    return over


def sampled(table: Table, most: int | None, rng: Generator) -> tuple[Table, tuple[str, ...]]:
    """The table, or a random part of it with a note that says so; all of it if no most is given."""
    require(most is None or most >= 100, "records", ">= 100", most)
    if most is None or len(table) <= most:
        return table, ()
    keep = np.sort(rng.choice(len(table), size=most, replace=False))
    note = f"{most:,} of {len(table):,} records, drawn at random, were used"
    return table.select(keep), (note,)


def prepared(table: Table) -> tuple[Columns, tuple[str, ...], Indices]:
    """Features that vary, what they say together, how they are written, and labels as codes."""
    written = [(f"{n} as written", c) for n, c in zip(table.names, table.cells, strict=False)]
    features = [*zip(table.names, table.columns, strict=True), *same_names(table), *written]
    varying = [(n, values) for n, values in features if values is not None and not constant(values)]
    if not varying:
        raise InvalidInput(
            "at least one feature must vary, all are constant: the features give nothing away, "
            "and the label's own epsilon is the whole story"
        )
    labels = np.searchsorted(np.array(table.classes), table.labels)
    return [v for _, v in varying], tuple(n for n, _ in varying), labels.astype(np.intp)


def _notes(table: Table, reading: Reading) -> tuple[str, ...]:
    """What is odd about the file. No advice to leave out what leaks: then it would go unseen."""
    notes = []
    if reading.drop:
        notes.append(
            f"not attacked, because you left them out: {', '.join(reading.drop)}; the figures hold "
            "only if they are not released"
        )
    notes += persons_note(table, reading)
    if table.skipped:
        notes.append(f"{table.skipped:,} records with missing or broken values were left out")
    if table.masked:
        notes.append(f"{table.masked:,} records had missing values, taken as values of their own")
    told = {n for n, cells in zip(table.names, table.cells, strict=False) if cells is not None}
    pairs = zip(table.names, table.columns, strict=True)
    flat = [n for n, values in pairs if constant(values) and n not in told]
    if flat:
        notes.append(f"constant, so of no use to anybody: {', '.join(flat)}")
    for name, values in zip(table.names, table.columns, strict=True):
        if determines(values, table.labels):
            notes.append(
                f"the feature {name!r} determines the label: no noise on the label hides it; "
                "protect the whole record (cf or ldp)"
            )
        elif values.dtype.kind != "f" and len(np.unique(values)) > 0.5 * len(table):
            notes.append(
                f"the feature {name!r} is nearly unique to each record: it was read as "
                f"{read_as(values)}, and beside it a record can be told from all others"
            )
    return tuple(notes)
