"""Parquet files, as far as Arrow opens them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from voile.errors import BadFile, VoileError, needs


def require_parquet() -> None:
    """Refuse Parquet where Arrow is missing, whatever it is wanted for."""
    with needs("pyarrow", extra="parquet"):
        import pyarrow.parquet  # noqa: F401


def parquet_file(file: IO[bytes], name: str) -> Any:
    """A Parquet file, to be read in parts."""
    require_parquet()
    import pyarrow.parquet as parquet

    with _damage_said(name):
        return parquet.ParquetFile(file)


def parquet_batches(file: IO[bytes], name: str) -> Iterator[Any]:
    """The rows of a Parquet file as Arrow batches."""
    with _damage_said(name):
        yield from parquet_file(file, name).iter_batches()


@contextmanager
def _damage_said(name: str) -> Iterator[None]:
    """A damaged Parquet file is said to be one, in our words: Arrow's may hold some of it."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, OverflowError) as problem:
        if isinstance(problem, VoileError):
            raise
        raise BadFile(f"{name} is not a Parquet file, or a damaged one") from problem
