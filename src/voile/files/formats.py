"""What a file's name says: its format, and how it is packed."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from voile.errors import InvalidInput
from voile.files.packing import PACKINGS

_KINDS = {
    "csv": "csv",
    "tsv": "csv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "txt": "txt",
    "geojson": "geojson",
    "parquet": "parquet",
    "gpkg": "geo",
    "fgb": "geo",
    "gpx": "geo",
}
_WHOLE = ("parquet", "geo")
"""Formats that are never packed."""
_ADVICE = {
    "json": "a .json file must be one object a line and called .jsonl: jq -c '.[]' makes it so; "
    "one of places may be a .geojson",
    "shp": "a .shp file must be converted to .gpkg, which is one file",
    "kml": "a .kml file must be converted to .gpkg or .geojson",
    "xlsx": "a workbook must be saved as .csv",
}


class Format(NamedTuple):
    """A file's format, and how it is packed: by gz, bz2, xz or not at all."""

    kind: str
    packing: str = ""
    ending: str = ""


@lru_cache(maxsize=256)
def format_of(name: str) -> Format:
    """The format that a file name says, and how it is packed.

    >>> format_of("trips.csv.gz"), format_of("trips.parquet").kind
    (Format(kind='csv', packing='gz', ending='csv'), 'parquet')
    """
    endings = [ending.lower() for ending in name.split(".")[1:]]
    packing = endings.pop() if endings and endings[-1] in PACKINGS else ""
    ending = endings[-1] if endings else ""
    if ending in _ADVICE:
        raise InvalidInput(f"{_ADVICE[ending]}; got {name!r}")
    if ending not in _KINDS or (packing and _KINDS[ending] in _WHOLE):
        raise InvalidInput(
            "a file must end in .csv, .tsv, .jsonl, .txt or .geojson (each also with "
            f".{', .'.join(PACKINGS)}), .parquet, .gpkg, .fgb or .gpx, got {_shown(name)}; rename "
            "it or convert it"
        )
    return Format(_KINDS[ending], packing, ending)


def _shown(name: str) -> str:
    """A name in a message; what has spaces and no ending may be a text, given by mistake."""
    if "." in name or not any(map(str.isspace, name)):
        return repr(name)
    return "a name without an ending; a text goes into a list"
