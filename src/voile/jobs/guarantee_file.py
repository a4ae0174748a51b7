"""The guarantee file beside a release, as its reader finds it: parsed once, for every domain."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from voile.core.guarantee import Guarantee
from voile.errors import BadFile, InvalidInput
from voile.files.locations import Location, location, sha256_of
from voile.files.source import Source
from voile.jobs.release import FORMAT, Release

T = TypeVar("T")


def guarantee_beside(source: Source) -> Location | None:
    """Where the guarantee file of a released file lies, if there is one."""
    if source.in_memory:
        return None
    place = source.location.beside(source.location.name + ".guarantee.json")
    return place if place.exists() else None


def guarantee_record(guarantee: Any) -> Mapping[str, Any]:
    """What a guarantee file says, or a release from Python; refused where it is neither."""
    if isinstance(guarantee, Release):
        return guarantee.guarantee_file()
    place = location(guarantee)
    if not hasattr(place, "open"):
        raise InvalidInput(
            "--guarantee must be a guarantee file or what protect returned, got "
            f"{type(guarantee).__name__}"
        )
    try:
        with place.open() as file:
            record = json.loads(file.read())
    except FileNotFoundError:
        raise InvalidInput(
            f"--guarantee must name the guarantee file of the release, there is no {place.name}"
        ) from None
    except (OSError, ValueError, RecursionError):
        raise BadFile(f"{place.name} is not a guarantee file that can be read") from None
    if not isinstance(record, dict):
        raise BadFile(f"{place.name} is not a guarantee file")
    return record


def stated_guarantee(path: Any) -> Guarantee:
    """The guarantee that a guarantee file states; nothing of it is checked."""
    record = guarantee_record(path).get("guarantee")
    if not isinstance(record, dict):
        raise BadFile(f"{location(path).name} is damaged: it states no guarantee")
    return Guarantee.from_dict(record)


def fields_of(kind: Callable[..., T], record: Mapping[str, Any]) -> T:
    """The fields of a dataclass as they stand in a record that has others as well."""
    return kind(**{one.name: record[one.name] for one in fields(kind)})  # type: ignore[arg-type]


def is_release_of(domain: str, record: Mapping[str, Any]) -> bool:
    """Whether a record is that of a release of this domain."""
    return (record.get("format"), record.get("domain")) == (FORMAT, domain)


def check_content(source: Source, sha256: Any, *, what: str) -> None:
    """Refuse another file than the one that the guarantee was written for."""
    if not source.in_memory and sha256_of(source.location) != sha256:
        raise InvalidInput(
            f"{source.name} must be the file that its guarantee was written for, and it is "
            f"another, or was changed since: nothing is known of how its {what} were drawn"
        )
