"""A Parquet column: as Arrow holds it for Parquet outputs, as plain values for everything else.

A column that nobody changes goes from Parquet to Parquet as it is, whatever its type. What must
become a value of Python is a string, a number, a truth value or nothing; dates, times and decimals
become the text that Arrow writes for them, with or without pandas on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from voile.errors import InvalidInput
from voile.files.column_names import called
from voile.files.rows import UntouchedColumn


class ArrowColumn(UntouchedColumn):
    """An Arrow array as a column of values."""

    def __init__(self, array: Any, name: str) -> None:
        self.array, self.name = array, name

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def values(self) -> list[Any]:
        """Plain values, one for each row."""
        import pyarrow

        try:
            return _plain(self.array)
        except (pyarrow.ArrowException, ValueError, TypeError, OverflowError, ImportError):
            raise InvalidInput(
                f"{called(self.name)} must hold text, numbers or times to be read, it is of type "
                f"{self.array.type}; leave it out"
            ) from None

    def chosen(self, order: Sequence[int | None]) -> ArrowColumn:
        """The values at these places; nothing where there is no place."""
        import pyarrow

        places = pyarrow.array(order, type=pyarrow.int64())
        return ArrowColumn(self.array.take(places), self.name)


def compact(array: Any) -> Any:
    """An array without what its dictionary still has of rows that are not in it.

    Taking rows leaves the whole dictionary in place, and a file is written with it: the values of
    rows that were left out would stand there for everyone to read.
    """
    import pyarrow
    from pyarrow import compute

    if not pyarrow.types.is_dictionary(array.type):
        return array
    if isinstance(array, pyarrow.ChunkedArray):
        chunks = [compact(chunk) for chunk in array.chunks]
        return pyarrow.chunked_array(chunks, type=array.type)
    used = array.indices.drop_null().unique()
    used = used.take(compute.array_sort_indices(used))  # an ordered dictionary keeps its order
    indices = compute.index_in(array.indices, value_set=used).cast(array.type.index_type)
    values = array.dictionary.take(used)
    return pyarrow.DictionaryArray.from_arrays(indices, values, ordered=array.type.ordered)


def holds(kind: str, type_: Any) -> bool:
    """Whether a file of this kind can hold values of an Arrow type."""
    from pyarrow import types

    if kind == "parquet":
        return True
    if types.is_dictionary(type_):
        return holds(kind, type_.value_type)
    if _nested(type_):
        parts = [type_.field(i).type for i in range(type_.num_fields)]
        return kind == "jsonl" and all(map(_json_leaf, parts))
    return not _bytes(type_)


def _json_leaf(type_: Any) -> bool:
    from pyarrow import types

    if _nested(type_):
        return all(_json_leaf(type_.field(i).type) for i in range(type_.num_fields))
    simple = (types.is_boolean, types.is_integer, types.is_floating, types.is_null, _text)
    return any(test(type_) for test in simple)


def _nested(type_: Any) -> bool:
    from pyarrow import types

    return bool(types.is_nested(type_))


def _text(type_: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    )


def _bytes(type_: Any) -> bool:
    from pyarrow import types

    tests = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary,
             types.is_binary_view)  # fmt: skip
    return any(test(type_) for test in tests)


def _plain(array: Any) -> list[Any]:
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if types.is_temporal(array.type) or types.is_decimal(array.type):
        array = array.cast(pyarrow.string())
    found: list[Any] = array.to_pylist()
    if types.is_floating(array.type):
        return [None if value != value else value for value in found]  # NaN is a missing number
    return found
