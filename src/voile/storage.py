"""Saving a mechanism as one file, and loading it again with its certificate recomputed.

The file is a zip archive: ``voile.json`` and one ``.npy`` entry an array. The JSON names the
format, its version, the kind of object, its plain values, and the SHA-256 of each array and of
itself. Nothing in it is executed: arrays are read without pickle. The checksum finds damage, not
forgery; privacy does not rest on it, because a loaded mechanism is certified anew. What no number
can confirm, the name of the unit and what one secret is, is listed among what lies outside the
guarantee. A file says how large it is before it is unpacked, and beyond `LARGEST` it is not.

A kind of object that can be saved gives `to_record()`, and has a loader in `_LOADERS`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol

import numpy as np
from numpy.lib import format
from numpy.typing import NDArray

from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.metric import Metric
from voile.core.space import Space
from voile.errors import BadFile, CannotWrite, InvalidInput, VoileError
from voile.files import require_regular
from voile.files.own_files import reader_of, written_by
from voile.metrics.registry import metric_from

FORMAT, VERSION = "voile", 2
MOST_SECRETS = 2**16  # of a channel: certifying it again looks at all pairs, a minute's work
LARGEST = 2**30
"""Bytes that a file may unpack to, unless `load` is told otherwise: 11,000 secrets and outputs."""
_LARGEST_MANIFEST = 2**24
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal objects give equal files

_UNREADABLE = (
    OSError, EOFError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError,
    MemoryError, RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip

Arrays = Mapping[str, NDArray[Any]]
Record = tuple[str, dict[str, Any], dict[str, NDArray[Any]]]


class Saveable(Protocol):
    """Anything that can say what it is made of: kind, plain values, arrays."""

    def to_record(self) -> Record:
        """The kind of object, its plain values for JSON, and its arrays."""
        ...


_LOADERS: dict[str, str] = {
    "channel": "voile.storage:channel_from_record",
    "smooth mechanism": "voile.optimise.smooth:smooth_from_record",
    "region mechanism": "voile.optimise.region:region_from_record",
    "laplace remap": "voile.optimise.laplace_remap:laplace_remap_from_record",
    "places design": "voile.places.designs:places_design_from_record",
}
"""Kind → 'module:function', imported only when a file of that kind is opened."""


def save(thing: Channel | Saveable, path: str | os.PathLike[str]) -> Path:
    """Write a channel or a designed mechanism to one file, atomically.

    >>> import tempfile, voile
    >>> line = voile.Space([[0.0], [1.0]], metric=voile.metrics.euclidean(unit="km"))
    >>> channel = voile.mechanisms.exponential(line, epsilon=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = voile.load(voile.save(channel, folder + "/line.voile"))
    >>> (again.weights == channel.weights).all()
    np.True_
    """
    kind, values, arrays = _record_of(thing)
    blobs = {name: _npy(array) for name, array in sorted(arrays.items())}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "values": values,
        "arrays": {name: hashlib.sha256(blob).hexdigest() for name, blob in blobs.items()},
    }
    manifest["sha256"] = _digest(manifest)
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            text = json.dumps(manifest, indent=1, sort_keys=True)
            archive.writestr(zipfile.ZipInfo("voile.json", _EPOCH), text)
            for name, blob in blobs.items():
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), blob)
        os.replace(part, target)
    except OSError as problem:
        part.unlink(missing_ok=True)
        raise CannotWrite(f"cannot write {target}: {problem.strerror or problem}") from problem
    return target


def load(
    path: str | os.PathLike[str], *, content: bytes | None = None, largest: int = LARGEST
) -> Any:
    """Read a file written by `save`; the certificate is computed anew from its numbers.

    A recipe of labels comes back as one, a guarantee file as the guarantee that it states.
    With the file's `content` at hand nothing is opened, and the path only names it in messages.
    Files that would unpack to more than `largest` bytes are refused unread.
    """
    if content is None:
        require_regular(Path(path))
        if (other := reader_of(path, largest=largest)) is not None:
            return resolve_name(other)(path)
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as archive:
            _check_sizes(archive, path, largest)
            manifest = json.loads(archive.read("voile.json"))
            _check(manifest, path)
            arrays = {
                name: _array(archive, name, digest) for name, digest in manifest["arrays"].items()
            }
    except FileNotFoundError as problem:
        raise BadFile(f"there is no file {path}") from problem
    except _UNREADABLE as problem:
        raise BadFile(f"{path} must be a whole voile file; it is damaged or foreign") from problem
    loader = resolve_name(_LOADERS[manifest["kind"]])
    try:
        return loader(_with_words(manifest["kind"], manifest["values"]), arrays)
    except VoileError:
        raise
    except _UNREADABLE as problem:
        raise BadFile(f"{path} does not hold what a {manifest['kind']} needs") from problem


# ── channels ───────────────────────────────────────────────────────────────────────────────────


def channel_record(channel: Channel) -> Record:
    """What a channel is made of."""
    metric = channel.space.metric
    arrays: dict[str, NDArray[Any]] = {
        "items": channel.space.items,
        "outputs": channel.outputs,
        "weights": channel.weights,
    }
    if metric.name == "precomputed":
        everything = np.arange(int(dict(metric.parameters)["size"]))
        arrays["matrix"] = metric.pairwise(everything, everything)
    if not _comes_back(metric, arrays.get("matrix")):
        raise InvalidInput(
            f"a channel can be saved if a file can say what its distances are, and {metric} is "
            "none of voile.metrics; build it over the points themselves, or over "
            "voile.metrics.precomputed(space.distances())"
        )
    return "channel", {"guarantee": channel.guarantee.to_dict()}, arrays


def _comes_back(metric: Metric, matrix: NDArray[Any] | None) -> bool:
    """Whether a file's reader finds this very metric."""
    try:
        found = metric_from(metric.name, metric.unit, dict(metric.parameters), matrix=matrix)
    except VoileError:
        return False
    return found == metric


def channel_from_record(values: dict[str, Any], arrays: Arrays) -> Channel:
    """A channel from a file; constructing it certifies it."""
    if len(arrays["items"]) > MOST_SECRETS:
        raise BadFile(f"a channel from a file must have at most {MOST_SECRETS:,} secrets")
    stated = _stated(values, arrays.get("matrix"))
    outside = _and_unconfirmed(stated.outside, stated.granularity, stated.metric.unit)
    guarantee = replace(stated, basis=Basis.CERTIFIED, outside=outside)
    space = Space(arrays["items"], metric=guarantee.metric)
    return Channel(space, arrays["outputs"], arrays["weights"], guarantee)


def _stated(values: Mapping[str, Any], matrix: NDArray[Any] | None) -> Guarantee:
    """What the file says, nothing of it checked; version 1 had a form of its own."""
    if "guarantee" not in values:
        old = values["metric"]
        metric = metric_from(old["name"], old["unit"], old["parameters"], matrix=matrix)
        outside = tuple(values["outside"])
        return Guarantee(values["epsilon"], metric, values["granularity"], outside=outside)
    named = Metric.from_dict(values["guarantee"]["metric"])
    metric = metric_from(named.name, named.unit, dict(named.parameters), matrix=matrix)
    return Guarantee.from_dict(values["guarantee"], metric=metric)


# ── what no number confirms ────────────────────────────────────────────────────────────────────


def _and_unconfirmed(outside: Sequence[str], granularity: str, unit: str) -> tuple[str, ...]:
    """What lies outside, and that two words of the guarantee are the file's own."""
    note = (
        f"whether a secret is {granularity} and distances are in {unit}, as the file says: its "
        "numbers were checked, its words cannot be"
    )
    return tuple(dict.fromkeys((*outside, note)))


def _with_words(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """The plain values, unit and granularity checked where they must be, or noted as unchecked."""
    if kind == "places design":  # degrees are projected to km: no other unit is true
        words = (values["inner"]["unit"], values["inner"]["granularity"])
        if words != ("km", "one location"):
            raise BadFile("a design for places must speak of km and of one location; it is forged")
    if kind in ("smooth mechanism", "laplace remap"):
        outside = [str(item) for item in values.get("outside", [])]
        noted = _and_unconfirmed(outside, str(values["granularity"]), str(values["unit"]))
        return values | {"outside": list(noted)}
    return values


# ── the container ──────────────────────────────────────────────────────────────────────────────


def _record_of(thing: Any) -> Record:
    if isinstance(thing, Channel):
        return channel_record(thing)
    if not hasattr(thing, "to_record"):
        raise InvalidInput(
            f"only channels and designed mechanisms can be saved, got {type(thing).__name__}"
            + written_by(thing)
        )
    record: Record = thing.to_record()
    return record


def _npy(array: NDArray[Any]) -> bytes:
    if array.dtype.hasobject:
        raise InvalidInput("items must be texts or numbers to be saved, got Python objects")
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _check_sizes(archive: zipfile.ZipFile, path: str | os.PathLike[str], largest: int) -> None:
    """Before a byte is unpacked; more than it declares, an entry never gives."""
    entries = archive.infolist()
    if any(e.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for e in entries):
        raise BadFile(f"{path} is packed in a way that voile does not use")
    size = sum(entry.file_size for entry in entries)
    if size > largest or archive.getinfo("voile.json").file_size > _LARGEST_MANIFEST:
        raise BadFile(
            f"{path} must unpack to at most {largest:,} bytes, it says {size:,}; if you trust it, "
            "load it with voile.load(path, largest=…)"
        )


def _array(archive: zipfile.ZipFile, name: str, digest: str) -> NDArray[Any]:
    blob = archive.read(f"{name}.npy")
    if hashlib.sha256(blob).hexdigest() != digest:
        raise BadFile(f"the file is damaged: the checksum of its array {name!r} does not match")
    header = io.BytesIO(blob)
    readers = {(1, 0): format.read_array_header_1_0, (2, 0): format.read_array_header_2_0}
    shape, by_column, dtype = readers[format.read_magic(header)](header)
    start, count = header.tell(), math.prod(shape)
    if dtype.hasobject or count * dtype.itemsize != len(blob) - start:
        raise BadFile(f"the file is damaged: its array {name!r} is not what its header says")
    flat = np.frombuffer(blob, dtype, offset=start) if count else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if by_column else "C")


def _digest(manifest: Mapping[str, Any]) -> str:
    body = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _check(manifest: Any, path: str | os.PathLike[str]) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadFile(f"{path} is not a voile file")
    if manifest.get("version", 0) > VERSION:
        raise BadFile(
            f"{path} was written in format {manifest['version']}, this version reads up to "
            f"{VERSION}; upgrade voile"
        )
    if manifest.get("sha256") != _digest(manifest):
        raise BadFile(f"{path} is damaged: its checksum does not match")
    if manifest.get("kind") not in _LOADERS:
        raise BadFile(
            f"{path} holds a kind that this version does not know: {manifest.get('kind')!r}"
        )
