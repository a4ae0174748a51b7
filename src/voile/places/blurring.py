"""What releases places: a design that was solved for, or noise at a stated ε or error."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from voile.errors import InvalidInput
from voile.options import Data, Option, Options
from voile.places.columns import read_degrees
from voile.places.coordinates import DEGREES
from voile.places.designs import PlacesDesign
from voile.places.earth import carrier
from voile.places.lengths import length_km
from voile.places.loading import design_bytes
from voile.places.made_by import noise_digest
from voile.places.noise import PlacesNoise, noise_of_error
from voile.places.public_places import PublicPlaces
from voile.places.readers import ROAD_FILES, read_roads
from voile.places.releaser import Blur, SavedDesign
from voile.progress import tell
from voile.values import one_of


@dataclass(frozen=True)
class Noise(Options):
    """Noise at a stated ε or error, on the Earth or in a public box."""

    epsilon: Annotated[
        float | None, Option("Noise without a design: privacy parameter per km.", "How strong")
    ] = None
    mean_error: Annotated[
        str | None,
        Option("In place of ε: such as 500m, on average at most.", "How strong", shown=True),
    ] = None
    box: Annotated[
        tuple[float, float, float, float] | None,
        Option(
            "The *public* area of noise, SOUTH,WEST,NORTH,EAST: 15 % closer; else the Earth.",
            "How strong",
        ),
    ] = None


Saved = Annotated[
    str | Path | PlacesDesign, Option("What `voile places design` saved.", reads="public")
]
SavedOrNone = Annotated[
    str | Path | PlacesDesign | None,
    Option("What `voile places design` saved; without it, noise.", reads="public"),
]


@dataclass(frozen=True)
class Blurring(Noise):
    """A design, or noise; its public map, and what releases are moved to."""

    mechanism: SavedOrNone = None
    remap: Annotated[
        Data,
        Option(
            "Move noisy places to the nearest of *public* ones: a file of points, or roads.",
            "How strong",
            reads="public",
        ),
    ] = None
    remap_by: Annotated[
        Literal["nearest", "bayes"],
        Option(
            "bayes: not to the nearest but to where a release is least far off on average, if "
            "people are at the public places.",
            "How strong",
        ),
    ] = "nearest"

    def chosen(self) -> Chosen:
        """The blur that these options name; exactly one must."""
        given = [self.mechanism, self.epsilon, self.mean_error]
        if sum(value is not None for value in given) != 1:
            raise InvalidInput(
                "give one of --epsilon 2 (noise, per km), --mean-error 500m (noise, ε follows) "
                "and --mechanism city.voile (a design)"
            )
        if self.mechanism is None:
            return self._noise()
        if self.box is not None or self.remap is not None:
            raise InvalidInput(
                "--box and --remap go with noise; a design has its own map and outputs"
            )
        name, content = design_bytes(self.mechanism)
        return Chosen(SavedDesign(name, content), hashlib.sha256(content).hexdigest())

    def _noise(self) -> Chosen:
        ground = carrier(self.box)
        by = one_of(self.remap_by, ("nearest", "bayes"), "--remap-by")
        remap = None if self.remap is None else _public(self.remap, bayes=by == "bayes")
        if remap is None and by == "bayes":
            raise InvalidInput("--remap-by goes with --remap, which names the public places")
        if self.epsilon is not None:
            noise = PlacesNoise(self.epsilon, ground, remap)
        else:
            assert self.mean_error is not None  # as counted above
            tell("the least ε for this error")
            noise = noise_of_error(length_km(self.mean_error, "--mean-error"), ground, remap)
        axes = () if remap is None else (remap.latitudes, remap.longitudes)
        public = b"".join(np.ascontiguousarray(axis).tobytes() for axis in axes)
        return Chosen(noise, noise_digest(noise.epsilon, self.box, by, public))


@dataclass(frozen=True, eq=False)
class Chosen:
    """A blur as it travels to workers, and its hash."""

    blur: SavedDesign | PlacesNoise
    digest: str

    def opened(self) -> Blur:
        """The blur itself."""
        return self.blur.opened()


def _public(data: Data, *, bayes: bool) -> PublicPlaces:
    """Junctions of a road network, or the points of a file or table."""
    tell("reading the public places")
    if isinstance(data, str | Path) and (Path(data).is_dir() or ROAD_FILES.search(str(data))):
        network = read_roads(data)
        return PublicPlaces(*network.projection.to_degrees(network.points), bayes)
    return PublicPlaces(*read_degrees(data, DEGREES), bayes)
