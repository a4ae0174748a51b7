"""JSON Schema from the types of results, as `voile.report.result.plain` writes them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from voile.report.result import Result

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # null stands for an infinity
    type(None): {"type": "null"},
    Any: {},
    object: {},
    np.ndarray: {"type": "array"},
}


class Schemas:
    """Definitions of types, each once, by its name.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Share:
    ...     name: str
    ...     value: float | None
    >>> made = Schemas()
    >>> made.add("share", Share)
    >>> made.definitions["share"]["required"]
    ['name', 'value']
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._kinds: dict[str, Any] = {}

    def add(self, name: str, kind: Any) -> None:
        """Define what a result of this type looks like, under a name of its own."""
        several = get_origin(kind) in (Union, types.UnionType)
        self.definitions[name] = self.of(kind) if several else self._record(kind)

    def of(self, kind: Any) -> dict[str, Any]:
        """What a value of this type looks like."""
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        origin = get_origin(kind)
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(part) for part in get_args(kind)]}
        if origin is Literal:
            return {"enum": list(get_args(kind))}
        if origin in (tuple, list, set, frozenset) or _is_sequence(origin):
            return self._several(get_args(kind))
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(get_args(kind)[1])}
        if origin is np.ndarray:
            return {"type": "array"}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        return self._named(kind)

    def _several(self, parts: tuple[Any, ...]) -> dict[str, Any]:
        if len(parts) == 2 and parts[1] is Ellipsis:
            parts = parts[:1]
        elif len(parts) > 1:
            items = [self.of(part) for part in parts]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
        return {"type": "array", "items": self.of(parts[0]) if parts else {}}

    def _named(self, kind: Any) -> dict[str, Any]:
        """A type with fields of its own: defined once, and referred to."""
        name = getattr(kind, "__name__", str(kind))
        if name not in self.definitions:
            self._kinds[name] = kind
            self.definitions[name] = {}  # it may hold itself
            self.definitions[name] = self._record(kind)
        if self._kinds[name] is not kind:
            raise TypeError(f"two types of results are called {name}; a schema has names only")
        return {"$ref": f"#/$defs/{name}"}

    def _record(self, kind: Any) -> dict[str, Any]:
        if kind is Result:
            return {"type": "object", "description": "The result of another command."}
        if is_typeddict(kind):
            return self._object(get_type_hints(kind), kind.__doc__)
        own = getattr(kind, "to_dict", None)
        if own is not None and own is not Result.to_dict:
            return self.of_answer(own)
        hints = get_type_hints(kind)
        shown = [f.name for f in dataclasses.fields(kind) if f.metadata.get("json", True)]
        return self._object({name: hints[name] for name in shown}, kind.__doc__)

    def of_answer(self, method: Any) -> dict[str, Any]:
        """What a `to_dict` of its own returns, by its annotation."""
        returned = get_type_hints(method)["return"]
        return self._record(returned) if is_typeddict(returned) else {"type": "object"}

    def _object(self, hints: Mapping[str, Any], about: str | None) -> dict[str, Any]:
        found = {
            "type": "object",
            "properties": {name: self.of(kind) for name, kind in hints.items()},
            "required": list(hints),
            "additionalProperties": False,
        }
        first = (about or "").strip().partition("\n")[0]
        return {"description": first, **found} if first else found


def _is_sequence(origin: Any) -> bool:
    from collections.abc import Iterable, Sequence

    return origin in (Sequence, Iterable)
