"""An input must be, when its release appears, what it was while it was read.

Every part's note holds the mark (size and hash) of the piece that it was drawn from. A restart is
held to the marks of the parts that are there, and before an output gets its name the whole file is
read once more and held to all of them: what was rewritten, cut off or appended on the way gives no
release of a mixture. The second reading parses nothing; it costs what hashing the bytes costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from voile.errors import CannotWrite, InvalidInput
from voile.files.cutting import Piece, cut_header, mark_of
from voile.files.file_source import FileSource
from voile.files.lines import Lines
from voile.files.source import Source, open_source
from voile.jobs.workspace import Note


def check_piece(piece: Piece, notes: Mapping[int, Note]) -> None:
    """Refuse to go on with a job whose file is no longer what its finished parts were drawn from.

    They are kept: with the file as it was, the job can still be finished.
    """
    note = notes.get(piece.part)
    if note is not None and note["read"] != piece.mark:
        raise CannotWrite(
            f"{piece.name} must be what the interrupted job read, and from line {piece.first} on "
            "it is not; bring the file back as it was, choose another output, or delete the "
            "job's folder"
        )


def check_unchanged(source: Source, notes: Sequence[Note], *, size: int, batch_rows: int) -> None:
    """Refuse to publish if the file is no longer what the parts were drawn from, piece by piece.

    Nor if it has another `size` than at first, as a file has that somebody writes to.
    """
    name = source.location.name
    try:
        same = (
            source.location.facts()[0] == size
            and _columns_now(source) == source.columns
            and all(
                now == note
                for now, note in zip_longest(
                    _marks_now(source, notes, batch_rows), (note["read"] for note in notes)
                )
            )
        )
    except OSError as problem:
        raise CannotWrite(
            f"{name} must still be there when its release appears ({problem.strerror or problem}); "
            "the parts are kept, bring it back and repeat the command"
        ) from problem
    if not same:
        raise InvalidInput(
            f"{name} must not change while it is read, and it did: nothing is released; repeat "
            "the command when no program writes to it, or give it a copy"
        )


def _columns_now(source: Source) -> tuple[str, ...]:
    header = not isinstance(source, FileSource) or source.header
    return open_source(source.location, header=header).columns


def _marks_now(source: Source, notes: Sequence[Note], batch_rows: int) -> Iterator[str]:
    if not isinstance(source, FileSource) or source.format == "parquet":
        yield from (piece.mark for piece in source.pieces(size=batch_rows))
        return
    head = 0
    if source.format == "csv" and source.header:
        with source.opened() as file:
            lines = Lines(file, source.location.name)
            head = len(cut_header(lines, source.location.name, source.delimiter))
    with source.opened() as file:
        file.read(head)
        for note in notes:
            yield mark_of(file.read(int(note["read"].split()[0])))
        if rest := file.read(1):
            yield mark_of(rest)
