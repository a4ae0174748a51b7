"""A value held to the type that its option states: the same for a command, a recipe and Python.

A word in place of a flag, or a single name where several are taken, must not silently mean
something else: "no" is true, and "ab" has two letters.

>>> fitted("age", tuple[str, ...], "--drop"), fitted(1, tuple[float, ...], "--epsilon")
(('age',), (1.0,))
>>> fitted((0, True, "x"), tuple[str, ...], "--classes")
('0', 'True', 'x')
>>> fitted(("yes", None), tuple[str, ...], "--classes")
Traceback (most recent call last):
...
voile.errors.InvalidInput: --classes must be names, got a tuple whose value 2 is nothing
>>> fitted("no", bool, "--keep-stopwords")
Traceback (most recent call last):
...
voile.errors.InvalidInput: --keep-stopwords must be true or false, got a str
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from voile.errors import InvalidInput


class _Unfit(Exception):
    """A value is not of the type; of several, `place` is that of the first which is not."""

    def __init__(self, place: int = 0, part: Any = None) -> None:
        super().__init__()
        self.place, self.part = place, part


def fitted(value: Any, kind: Any, name: str) -> Any:
    """The value as its option takes it, or an error that names the type and not the value."""
    try:
        return _fitted(_plain(value), kind)
    except _Unfit as unfit:
        shown = _kind(value)
        if unfit.place:
            shown += f" whose value {unfit.place} is {_kind(unfit.part)}"
        choices = [part for part in parts_of(kind) if get_origin(part) is Literal]
        if choices and isinstance(value, str):
            shown = repr(value)
        raise InvalidInput(f"{name} must be {_named(kind)}, got {shown}") from None


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _plain(value: Any) -> Any:
    """A scalar of NumPy as Python's own number; a path of whatever kind as a Path."""
    if isinstance(value, os.PathLike) and not isinstance(value, Path):
        try:
            return Path(os.fspath(value))
        except Exception:  # its own code, which may say anything
            raise _Unfit from None
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_scalar else value


def choices_of(kind: Any) -> tuple[str, ...]:
    """The words that a type takes, where they are counted.

    >>> choices_of(tuple[Literal["a", "b"], ...] | None)
    ('a', 'b')
    """
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(word for part in get_args(kind) for word in choices_of(part))


def parts_of(kind: Any) -> tuple[Any, ...]:
    """The types that a type is one of.

    >>> parts_of(int | None)
    (<class 'int'>, <class 'NoneType'>)
    """
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _fitted(value: Any, kind: Any) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        return _one_of(value, get_args(kind))
    if origin is Literal:
        return _held(value, value in get_args(kind) if isinstance(value, str) else False)
    if origin in (tuple, list):
        return _several(value, kind)
    if kind is NoneType:
        return _held(value, value is None)
    if kind is bool:
        return _held(value, isinstance(value, bool))
    if kind is int:
        return _held(value, isinstance(value, int) and not isinstance(value, bool))
    if kind is float:
        _held(value, isinstance(value, int | float) and not isinstance(value, bool))
        return float(value)
    if kind is Path:
        return Path(_held(value, isinstance(value, str | Path)))
    if kind is str:
        return str(_held(value, isinstance(value, str | Path)))
    return value


def _held(value: Any, fits: bool) -> Any:
    if not fits:
        raise _Unfit
    return value


def _one_of(value: Any, kinds: tuple[Any, ...]) -> Any:
    refused = _Unfit()
    for kind in kinds:
        try:
            return _fitted(value, kind)
        except _Unfit as unfit:
            refused = unfit if unfit.place else refused
    raise refused


def _several(value: Any, kind: Any) -> Any:
    """Several values: a list, an array, a generator, or a single one.

    Among names a number or a truth value goes by its text: classes are 0 and 1 as well as "0", "1".
    """
    make: Any = get_origin(kind)
    inner, *rest = get_args(kind)
    single = isinstance(value, str | Path | bytes) or not isinstance(value, Iterable)
    found = [value] if single else list(value)
    if rest and rest != [Ellipsis]:
        _held(found, len(found) == len(rest) + 1)
    if single:
        return make([_fitted(value, inner)])
    return make(_part(place, part, inner) for place, part in enumerate(found, 1))


def _part(place: int, given: Any, kind: Any) -> Any:
    """One of several values."""
    try:
        part = _plain(given)
        return str(part) if kind is str and isinstance(part, int | float) else _fitted(part, kind)
    except _Unfit:
        raise _Unfit(place, given) from None


Made = TypeVar("Made")


def made_of(kind: type[Made], table: Mapping[str, Any], where: str) -> Made:
    """A dataclass from a table: each value of its type, nothing unknown, nothing missing.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Bucket:
    ...     size: float
    >>> made_of(Bucket, {"size": 3}, "[bucket]")
    Bucket(size=3.0)
    >>> made_of(Bucket, {"sise": 3}, "[bucket]")
    Traceback (most recent call last):
    ...
    voile.errors.InvalidInput: [bucket] has no 'sise'; did you mean size?
    """
    hints = get_type_hints(kind)
    for key in table:
        if key not in hints:
            raise InvalidInput(unknown(where, key, tuple(hints)))
    for field in fields(kind):  # type: ignore[arg-type]
        free = field.default is MISSING and field.default_factory is MISSING
        if free and field.name not in table:
            raise InvalidInput(f"{where} must say {field.name}, it does not")
    return kind(**{key: fitted(table[key], hints[key], f"{where} {key}") for key in table})


def unknown(where: str, key: str, known: Sequence[str]) -> str:
    """That there is no such key there, and which may be meant."""
    near = get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(known)}"
    return f"{where} has no {key!r}; {hint}"


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a word",
          Path: "a path", NoneType: "nothing"}  # fmt: skip


def _named(kind: Any) -> str:
    """The type in words."""
    if get_origin(kind) in (Union, UnionType):
        named = [_named(part) for part in get_args(kind) if part is not NoneType]
        return " or ".join(dict.fromkeys(named))
    if get_origin(kind) is Literal:
        *most, last = map(str, get_args(kind))
        return f"{', '.join(most)} or {last}" if most else last
    if get_origin(kind) in (tuple, list):
        inner = get_args(kind)[0]
        several = {float: "numbers", int: "whole numbers", str: "names"}
        return several.get(inner, "several values")
    return _WORDS.get(kind, "another kind of value")


def one_of(value: str, allowed: tuple[str, ...], name: str) -> str:
    """The value, if it is one of those allowed; Python's callers are not held by types.

    >>> one_of("skip", ("fail", "skip"), "on_error")
    'skip'
    """
    if value not in allowed:
        raise InvalidInput(f"{name} must be {' or '.join(allowed)}, got {value!r}")
    return value


def several(value: Any) -> tuple[Any, ...]:
    """The values of an option that takes several, where one may be given by itself.

    >>> several(0.5), several(["rnn", "lstm"])
    ((0.5,), ('rnn', 'lstm'))
    """
    return tuple(value) if isinstance(value, list | tuple) else (value,)
