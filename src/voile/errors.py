"""Every error that voile raises on purpose, in one tree.

::

    VoileError
    ├── InvalidInput (ValueError)   an argument, a row or a column is not what it must be
    │   ├── NotAMetric              a distance without the triangle inequality, where one is needed
    │   └── OutsideSpace            a value is not among the items of its space
    ├── GuaranteeBroken             a certificate exceeds the claim: the mechanism is not built
    ├── DoesNotExist                the construction has no solution for this space and epsilon
    ├── BadFile                     a saved file is damaged, foreign or from a newer version
    ├── CannotWrite                 the output exists, is not writable, or the disk is full
    ├── OverBudget                  a person's budget in the ledger does not cover a row
    ├── ForkedGenerator             a secure generator was copied, saved or used in another process
    └── MissingExtra (ImportError)  an optional dependency is not installed

A message says what must hold, what was given and what to do. It never repeats a secret: counts,
positions and shapes are given instead of values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any


class VoileError(Exception):
    """The root: catch this to catch everything that voile raises on purpose."""


class InvalidInput(VoileError, ValueError):
    """An argument, a row or a column is not what it must be."""


class NotAMetric(InvalidInput):
    """A distance fails the triangle inequality where a guarantee needs it."""


class OutsideSpace(InvalidInput):
    """A value is not among the items of its space."""


class GuaranteeBroken(VoileError):
    """A certificate exceeds the claim, so the mechanism is not built.

    `certified` is what the certificate found, infinite where it was not computed.
    """

    def __init__(self, message: str, *, certified: float = float("inf")) -> None:
        super().__init__(message)
        self.certified = certified


class DoesNotExist(VoileError):
    """A construction has no solution for this space and epsilon."""


class BadFile(VoileError):
    """A saved file is damaged, foreign, or written by a newer version."""


class CannotWrite(VoileError):
    """An output exists already, cannot be written, or the disk is full."""


class OverBudget(VoileError):
    """A person's budget in the ledger does not cover a row, and the job was to stop at that."""


class ForkedGenerator(VoileError):
    """A secure generator was copied into another process, where it would repeat itself."""


class MissingExtra(VoileError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'voile[{extra}]'")


@contextmanager
def needs(package: str, *, extra: str) -> Iterator[None]:
    """Imports of an optional dependency; where it is not installed the error says what brings it.

    >>> with needs("nothing", extra="all"):
    ...     import nothing
    Traceback (most recent call last):
    ...
    voile.errors.MissingExtra: nothing is not installed: pip install 'voile[all]'
    """
    try:
        yield
    except ImportError:
        raise MissingExtra(package, extra=extra) from None


@contextmanager
def writing(what: object) -> Iterator[None]:
    """What the system says against writing a file, as an error of ours."""
    try:
        yield
    except OSError as problem:
        raise CannotWrite(f"cannot write {what}: {problem.strerror or problem}") from problem


def require(condition: bool, name: str, must: str, got: Any, do: str = "") -> None:
    """Raise `InvalidInput` unless the condition holds: «name must be …, got …; do …».

    >>> require(-1.0 > 0, "epsilon", "> 0", -1.0)
    Traceback (most recent call last):
    ...
    voile.errors.InvalidInput: epsilon must be > 0, got -1.0
    """
    if not condition:
        raise InvalidInput(f"{name} must be {must}, got {got}" + (f"; {do}" if do else ""))


def require_epsilon(epsilon: float, name: str = "epsilon") -> float:
    """A privacy parameter that a mechanism is built for, finite and above zero, as a double.

    Any real number will do, NumPy's too; it is computed with as a double from here on.

    >>> require_epsilon(2)
    2.0
    """
    value = as_double(epsilon)
    require(0 < value < math.inf, name, "a finite number > 0", epsilon)
    return value


def as_double(value: Any) -> float:
    """A real number as a double, infinity if it is larger than any; NaN for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
