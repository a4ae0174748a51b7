"""What `places export` writes, put together from the pieces in `exports/`."""

from __future__ import annotations

import textwrap
from importlib.resources import files

import numpy as np

from voile.core import discrete_gaussian as gaussian
from voile.core.guarantee import Guarantee
from voile.errors import InvalidInput
from voile.places.earth import BoxMap
from voile.places.noise import PlacesNoise
from voile.version import __version__


def filled(name: str, kind: str, guarantee: Guarantee, values: dict[str, str]) -> str:
    """A template with its pieces and values in place, the promise at its top."""
    promise = textwrap.wrap(" ".join(guarantee.explain().splitlines()), 92)
    text = piece(name, kind)
    known = {"VERSION": __version__, "PROMISE": "\n * ".join(promise), **values}
    for key, value in known.items():
        text = text.replace(f"@{key}@", value)
    return text


def piece(name: str, kind: str) -> str:
    """The text of a piece."""
    return (files("voile.places.exports") / f"{name}.{kind}").read_text(encoding="utf-8")


def numbers(values: tuple[float, ...]) -> str:
    """Doubles, written exactly."""
    return ", ".join(repr(float(value)) for value in values)


def noise_code(noise: PlacesNoise, kind: str, *, doubt: float | None = None) -> str:
    """The sampler of noise without a design: its law's own integers, and the lines that draw.

    It draws what `LatticeLaplace.add` draws for one place, from the same 64-bit words: the scale
    by its weight, the trials of all axes together, exactly settled where doubles are too close.
    """
    if noise.remap is not None:
        raise InvalidInput("noise is exported as drawn: move it to public places on the host")
    law, ground = noise.noise, noise.ground
    end = "n" if kind == "js" else "ull"

    def whole(values: list[int]) -> str:
        return ", ".join(f"{value}{end}" for value in values)

    placed = isinstance(ground, BoxMap)
    surface = ("plane", "plane_back") if placed else ("globe",)
    return filled(
        "noise",
        kind,
        noise.guarantee,
        {
            "MAP": _map(ground, kind) if isinstance(ground, BoxMap) else "",
            "GROUND": "\n".join(piece(name, kind) for name in surface),
            "SOURCE": piece("source", kind) if kind == "c" else "",
            "AXES": str(ground.dimensions),
            "SCALES": str(len(law.eighths)),
            "STEP": repr(noise.step),
            "EIGHTHS": whole(law.eighths.tolist()),
            "SUMS": whole(np.cumsum(law.weights[:-1]).tolist()),
            "HEIGHT": str(gaussian.HEIGHT),
            "WEIGHTS": whole(gaussian.WEIGHTS),
            "BELOW": whole(gaussian.SUMS.tolist()),
            "DOUBT": repr(gaussian.DOUBT if doubt is None else doubt),
        },
    )


def _map(ground: BoxMap, kind: str) -> str:
    centre = numbers((ground.projection.latitude, ground.projection.longitude))
    reach = repr(float(ground.reach))
    if kind == "js":
        return f"const CENTRE = [{centre}], REACH = {reach}; // degrees; km from there"
    return (
        f"static const double voile_centre[2] = {{{centre}}};  /* latitude, longitude */\n"
        f"static const double voile_reach = {reach};  /* km: farther places are refused */"
    )
