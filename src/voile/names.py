"""One table of names for each family of things: help, errors and catalogue are made from it.

A family's own things are its entries. Other packages join through an entry point, a user by
passing a function or class, or by saying where it stands: `mine=./mine.py:privatise`.

>>> shapes = Family("shape", (Named("round", "like a ball", "math:tau", former=("ball",)),))
>>> shapes.names(), shapes.find("Round").load() > 6
(('round',), True)
>>> shapes.find("ball")
Traceback (most recent call last):
...
voile.errors.InvalidInput: shape: `ball` is now `round`
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from voile.errors import InvalidInput, VoileError


@dataclass(frozen=True)
class Named:
    """One thing of a family: its name, a line about it, where it stands, what it was called.

    `home` is "module:attribute", or "file.py:attribute" for a user's own; `given` is the thing
    itself where a user passed it.
    """

    name: str
    about: str = ""
    home: str = ""
    former: tuple[str, ...] = ()
    given: Any = None
    own: bool = False
    """Whether it is a user's."""
    metric: str = ""
    basis: str = ""
    """Of a mechanism that must be solved for or trained before it can say so itself."""

    def load(self) -> Any:
        """The thing itself; its module is imported now."""
        if self.given is not None:
            return self.given
        where, _, attribute = self.home.rpartition(":")
        module = _module_of_file(Path(where)) if where.endswith(".py") else _imported(where)
        try:
            return getattr(module, attribute)
        except AttributeError:
            raise InvalidInput(f"{where} must define {attribute!r}, and does not") from None


@dataclass(frozen=True)
class Family:
    """Things that one option chooses from; iterating over it gives their names.

    `what` names the option in errors, `groups` the entry points by which other packages join,
    `open_to` says what a user's own thing must be; nothing of a user's is taken where it is empty.
    """

    what: str
    entries: tuple[Named, ...]
    groups: tuple[str, ...] = ()
    open_to: str = ""
    fits: Callable[[Any], bool] = callable

    def names(self) -> tuple[str, ...]:
        """All names, those of other packages last."""
        return tuple(self._table)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and normal(name) in self._table

    def listed(self) -> tuple[Named, ...]:
        """Everything of the family, with what it does."""
        return tuple(self._table.values())

    @cached_property
    def _table(self) -> dict[str, Named]:
        table = {entry.name: entry for entry in self.entries}
        for point in (point for group in self.groups for point in entry_points(group=group)):
            about = f"from the package {point.dist.name if point.dist else point.value}"
            found = Named(normal(point.name), about, point.value)
            table.setdefault(found.name, found)  # one name stays one thing: ours
        return table

    def find(self, given: Any) -> Named:
        """What a name, a place such as "mine=./mine.py:privatise", or a user's own thing means.

        Raises:
            InvalidInput: nothing goes by that name; the error lists what there is, or the name
                that replaced a former one.

        """
        if not isinstance(given, str):
            return self._own(Named(called(given), given=given, own=True))
        name = normal(given)
        if name in self._table:
            return self._table[name]
        if ":" in given and self.open_to:
            return self._own(placed(given, self.what))
        for entry in self._table.values():
            if name in map(normal, entry.former):
                raise InvalidInput(f"{self.what}: `{given}` is now `{entry.name}`")
        near = get_close_matches(name, self._table, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        own = f", or {self.open_to}" if self.open_to else ""
        raise InvalidInput(
            f"{self.what} must be one of {', '.join(self._table)}{own}, got {given!r}{hint}"
        )

    def find_all(self, given: Any) -> tuple[Named, ...]:
        """What each of several means, or of one; no two may go by one name."""
        several = given if isinstance(given, list | tuple | Family) else (given,)
        found = tuple(self.find(one) for one in several)
        names = [one.name for one in found]
        if not names or len(set(names)) < len(names):
            told = ", ".join(names) or "none"
            raise InvalidInput(f"{self.what} must be at least one, each once, got {told}")
        return found

    def _own(self, found: Named) -> Named:
        if not self.open_to or (found.given is not None and not self.fits(found.given)):
            own = f" or {self.open_to}" if self.open_to else ""
            raise InvalidInput(f"{self.what} must be a name{own}, got {type(found.given).__name__}")
        if normal(found.name) in self._table:
            raise InvalidInput(
                f"{self.what}: {found.name!r} is a name already; call yours something else"
            )
        return found

    def __or__(self, other: Family) -> Family:
        """Both families together, under this one's option."""
        entries, groups = (*self.entries, *other.entries), (*self.groups, *other.groups)
        return replace(self, entries=entries, groups=groups)


def named_after_files(
    package: str, files: Iterable[str], *, but: Iterable[Named] = ()
) -> tuple[Named, ...]:
    """An entry for each constructor of a package, but those that have one under another name.

    >>> round_one = Named("round", home="math:tau")
    >>> [one.home for one in named_after_files("math", ["tau", "pi"], but=[round_one])]
    ['math:pi']
    """
    taken = {one.home for one in but}
    entries = (Named(normal(name), home=f"{package}:{name}") for name in files)
    return tuple(entry for entry in entries if entry.home not in taken)


def normal(name: str) -> str:
    """Small letters, and hyphens for underscores.

    >>> normal("Word_Exponential")
    'word-exponential'
    """
    return name.strip().lower().replace("_", "-")


def called(thing: Any) -> str:
    """The name of a user's own thing: its `name`, else that of the function or class."""
    for found in (getattr(thing, "name", None), getattr(thing, "__name__", None)):
        if isinstance(found, str) and found:
            return found.strip("<>")
    inner = getattr(thing, "func", None)
    return called(inner) if inner is not None else type(thing).__name__


def asked(name: str, work: Callable[[], Any]) -> Any:
    """What a user's own code answers; its errors could quote a text: where it failed is said alone.

    >>> asked("mine", lambda: sys.exit("a text"))
    Traceback (most recent call last):
    ...
    voile.errors.InvalidInput: mine failed with SystemExit (line 1 of ...)
    """
    try:
        return work()
    except VoileError:
        raise
    except (Exception, SystemExit) as problem:
        where = _outside(problem)
        raise InvalidInput(f"{name} failed with {type(problem).__name__}{where}") from problem


def _outside(problem: BaseException) -> str:
    """The first line of an error that is not ours: the one in the user's own file."""
    for frame in extract_tb(problem.__traceback__):
        file = Path(frame.filename)
        if not file.is_relative_to(Path(__file__).parent):
            return f" (line {frame.lineno} of {file.name})"
    return ""


def placed(given: str, what: str) -> Named:
    """What "name=file.py:attribute" or "package.module:attribute" says."""
    name, equals, place = given.rpartition("=")
    where, _, attribute = place.rpartition(":")
    if not where or not attribute.isidentifier() or (equals and not name.strip()):
        raise InvalidInput(
            f"{what} must be NAME=FILE.py:FUNCTION or MODULE:FUNCTION, got {given!r}"
        )
    if where.endswith(".py"):
        if not Path(where).is_file():
            raise InvalidInput(f"{what} must name a Python file that exists, got {where!r}")
        where = str(Path(where).resolve())
    return Named(name.strip() or attribute, home=f"{where}:{attribute}", own=True)


def _imported(name: str) -> ModuleType:
    if name.startswith("voile."):
        return import_module(name)
    try:
        return import_module(name)
    except Exception as problem:
        raise _not_loaded(name, problem) from problem


def _module_of_file(path: Path) -> ModuleType:
    """The module in a file that the user named; loaded once a process, unless it changed."""
    version = f"{path} {path.stat().st_mtime_ns}"
    name = f"voile_own_{hashlib.sha256(version.encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path.name} must be a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # so that what it defines can find itself
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        del sys.modules[name]
        raise _not_loaded(path.name, problem) from problem
    return module


def _not_loaded(name: str, problem: Exception) -> InvalidInput:
    return InvalidInput(f"{name} could not be loaded: {type(problem).__name__}: {problem}")
