"""Saving a mechanism as one file, and loading it again with its certificate recomputed.

The file is a zip archive: ``voile.json`` and one ``.npy`` entry an array. The JSON names the
format, its version, the kind of object, its plain values, and the SHA-256 of each array and of
itself. Nothing in it is executed: arrays are read without pickle. The checksum finds damage, not
forgery; privacy does not rest on it, because a loaded mechanism is certified anew.

A kind of object that can be saved gives `to_record()`, and has a loader in `_LOADERS`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.space import Space
from voile.errors import BadFile, CannotWrite, InvalidInput, VoileError
from voile.metrics.registry import metric_from

FORMAT, VERSION = "voile", 1
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal objects give equal files

_UNREADABLE = (
    OSError,
    EOFError,
    KeyError,
    ValueError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)

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
    "laplace remap": "voile.optimise.laplace_remap:laplace_remap_from_record",
    "places design": "voile.domains.places.design:places_design_from_record",
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


def load(path: str | os.PathLike[str], *, content: bytes | None = None) -> Any:
    """Read a file written by `save`; the certificate is computed anew from its numbers.

    With the file's `content` at hand nothing is opened, and the path only names it in messages.
    """
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as archive:
            manifest = json.loads(archive.read("voile.json"))
            _check(manifest, path)
            arrays = {
                name: _array(archive, name, digest) for name, digest in manifest["arrays"].items()
            }
    except FileNotFoundError as problem:
        raise BadFile(f"there is no file {path}") from problem
    except _UNREADABLE as problem:
        raise BadFile(f"{path} must be a whole voile file; it is damaged or foreign") from problem
    module, function = _LOADERS[manifest["kind"]].split(":")
    loader: Callable[[dict[str, Any], Arrays], Any] = getattr(import_module(module), function)
    try:
        return loader(manifest["values"], arrays)
    except VoileError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise BadFile(f"{path} does not hold what a {manifest['kind']} needs") from problem


# ── channels ───────────────────────────────────────────────────────────────────────────────────


def channel_record(channel: Channel) -> Record:
    """What a channel is made of."""
    guarantee, metric = channel.guarantee, channel.space.metric
    arrays: dict[str, NDArray[Any]] = {
        "items": channel.space.items,
        "outputs": channel.outputs,
        "weights": channel.weights,
    }
    if metric.name == "precomputed":
        everything = np.arange(int(dict(metric.parameters)["size"]))
        arrays["matrix"] = metric.pairwise(everything, everything)
    values = {
        "epsilon": guarantee.epsilon,
        "granularity": guarantee.granularity,
        "outside": list(guarantee.outside),
        "metric": {
            "name": metric.name,
            "unit": metric.unit,
            "parameters": dict(metric.parameters),
        },
    }
    return "channel", values, arrays


def channel_from_record(values: dict[str, Any], arrays: Arrays) -> Channel:
    """A channel from a file; constructing it certifies it."""
    named = values["metric"]
    metric = metric_from(
        named["name"], named["unit"], named["parameters"], matrix=arrays.get("matrix")
    )
    guarantee = Guarantee(
        values["epsilon"],
        metric,
        values["granularity"],
        Basis.CERTIFIED,
        outside=tuple(values["outside"]),
    )
    space = Space(arrays["items"], metric=metric)
    return Channel(space, arrays["outputs"], arrays["weights"], guarantee)


# ── the container ──────────────────────────────────────────────────────────────────────────────


def _record_of(thing: Any) -> Record:
    if isinstance(thing, Channel):
        return channel_record(thing)
    if not hasattr(thing, "to_record"):
        raise InvalidInput(
            f"only channels and designed mechanisms can be saved, got {type(thing).__name__}"
        )
    record: Record = thing.to_record()
    return record


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(archive: zipfile.ZipFile, name: str, digest: str) -> NDArray[Any]:
    blob = archive.read(f"{name}.npy")
    if hashlib.sha256(blob).hexdigest() != digest:
        raise BadFile(f"the file is damaged: the checksum of its array {name!r} does not match")
    loaded: NDArray[Any] = np.load(io.BytesIO(blob), allow_pickle=False)
    return loaded


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
