"""Road networks from files: GraphML as OSMnx writes it, CSV tables, OpenStreetMap XML or PBF."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np

from voile.errors import BadFile, InvalidInput, MissingExtra
from voile.files.column_names import listed
from voile.files.rows import RowProblem
from voile.files.source import open_source
from voile.places.roads import RoadNetwork, network_from_degrees

_DRIVABLE = frozenset(
    [
        "motorway",
        "motorway_link",
        "trunk",
        "trunk_link",
        "primary",
        "primary_link",
        "secondary",
        "secondary_link",
        "tertiary",
        "tertiary_link",
        "unclassified",
        "residential",
        "living_street",
        "road",
        "service",
    ]
)


ROAD_FILES = re.compile(r"\.(graphml|osm|pbf|osm\.bz2|osm\.gz)$", re.IGNORECASE)
"""The endings of files of roads."""


def read_roads(path: str | Path) -> RoadNetwork:
    """A network from one file, by its ending, or from a folder of points.csv and edges.csv."""
    file = Path(path)
    if not file.exists():
        raise BadFile(f"there is no file {file}")
    if file.is_dir():
        return read_tables(file / "points.csv", file / "edges.csv")
    if ROAD_FILES.search(file.name):
        graphml = file.name.lower().endswith(".graphml")
        return read_graphml(file) if graphml else read_openstreetmap(file)
    raise InvalidInput(
        f"roads must be .graphml, .osm, .osm.pbf, or a folder with points.csv and edges.csv, "
        f"got {file.name!r}"
    )


def read_graphml(path: str | Path) -> RoadNetwork:
    """GraphML with x (longitude) and y (latitude) on nodes and length in metres on edges.

    What OSMnx's `save_graphml` writes. Directed graphs keep their one-way streets; an undirected
    graph has every street both ways.
    """
    try:
        import networkx
    except ImportError as missing:
        raise MissingExtra("networkx", extra="places") from missing
    try:
        graph = networkx.read_graphml(path)
    except Exception as problem:
        raise BadFile(f"{path} is not readable as GraphML: {type(problem).__name__}") from problem
    names = list(graph.nodes)
    number = {name: i for i, name in enumerate(names)}
    try:
        lat = np.array([float(graph.nodes[name]["y"]) for name in names])
        lon = np.array([float(graph.nodes[name]["x"]) for name in names])
    except (KeyError, ValueError) as problem:
        raise BadFile(f"{path} must give x (longitude) and y (latitude) on every node") from problem
    pairs, lengths = [], []
    for first, second, facts in graph.edges(data=True):
        metres = facts.get("length")
        ways = [(number[first], number[second])]
        if not graph.is_directed():
            ways.append((number[second], number[first]))
        pairs += ways
        lengths += [float(metres) / 1000 if metres is not None else np.nan] * len(ways)
    measured = np.array(lengths)
    known = bool(len(measured)) and not np.isnan(measured).any()
    return network_from_degrees(
        lat, lon, np.array(pairs, dtype=np.intp).reshape(-1, 2), measured if known else None
    )


def read_tables(points: str | Path, edges: str | Path) -> RoadNetwork:
    """Two CSV tables: junctions (id, latitude, longitude) and directed streets.

    With a header, columns are found by name (id, lat, lon; from/source/u, to/target/v, and
    optionally length in metres). Without one, junctions are id, latitude, longitude and streets
    id, from, to.
    """
    junctions = _table(
        points,
        {
            "id": ("id", "node", "osmid"),
            "lat": ("lat", "latitude", "y"),
            "lon": ("lon", "lng", "longitude", "x"),
        },
        ("id", "lat", "lon"),
    )
    streets = _table(
        edges,
        {
            "from": ("from", "source", "u"),
            "to": ("to", "target", "v"),
            "length": ("length", "metres", "meters"),
        },
        ("edge", "from", "to"),
    )
    number = {name: i for i, name in enumerate(junctions["id"])}
    try:
        lat = np.array([float(v) for v in junctions["lat"]])
        lon = np.array([float(v) for v in junctions["lon"]])
        pairs = np.array(
            [(number[a], number[b]) for a, b in zip(streets["from"], streets["to"], strict=True)]
        )
        given = streets.get("length")
        lengths = None if given is None else np.array([float(v) for v in given]) / 1000
    except ValueError as problem:
        raise BadFile(
            f"{Path(points).name} and {Path(edges).name} must hold numbers in their "
            "coordinate and length columns"
        ) from problem
    except KeyError as problem:
        raise BadFile(
            f"{Path(edges).name} names a junction that {Path(points).name} does not have"
        ) from problem
    return network_from_degrees(lat, lon, pairs, lengths)


def read_openstreetmap(path: str | Path) -> RoadNetwork:
    """Drivable streets of an OpenStreetMap extract, XML or PBF; one-way streets one way."""
    try:
        import osmium
    except ImportError as missing:
        raise MissingExtra("osmium", extra="places") from missing
    where: dict[int, tuple[float, float]] = {}
    streets: list[tuple[int, int]] = []
    try:
        reader: Any = osmium.FileProcessor(str(path)).with_locations()
        for way in reader:
            if not way.is_way() or way.tags.get("highway") not in _DRIVABLE:
                continue
            nodes = [node for node in way.nodes if node.location.valid()]
            where.update((node.ref, (node.location.lat, node.location.lon)) for node in nodes)
            streets += _way_pairs([node.ref for node in nodes], way.tags)
    except RuntimeError as problem:
        raise BadFile(f"{path} is not readable as OpenStreetMap data") from problem
    if not streets:
        raise BadFile(f"{path} holds no drivable streets")
    number = {ref: i for i, ref in enumerate(where)}
    degrees = np.array(list(where.values()))
    pairs = np.array([(number[a], number[b]) for a, b in streets], dtype=np.intp)
    return network_from_degrees(degrees[:, 0], degrees[:, 1], pairs)


def _way_pairs(refs: list[int], tags: Any) -> list[tuple[int, int]]:
    forward = list(itertools.pairwise(refs))
    backward = [(b, a) for a, b in forward]
    direction = tags.get("oneway", "")
    circular = tags.get("junction") in ("roundabout", "circular")
    if direction == "-1":
        return backward
    one_way = direction in ("yes", "true", "1") or circular
    one_way = one_way or (tags.get("highway") == "motorway" and direction != "no")
    return forward if one_way else forward + backward


def _table(
    path: str | Path, wanted: dict[str, tuple[str, ...]], bare: tuple[str, ...]
) -> dict[str, list[str]]:
    try:
        source = open_source(path, header=False)
    except InvalidInput as problem:
        raise BadFile(str(problem)) from problem
    rows: list[list[str]] = []
    for line, row in source.rows():
        if isinstance(row, RowProblem):
            raise BadFile(f"{source.name}, line {line}: {row.reason}")
        rows.append(list(row.values()))
    head = [cell.strip().lower() for cell in rows[0]]
    named = any(cell and not _is_number(cell) for cell in head)
    if named:
        columns = {}
        for name, aliases in wanted.items():
            found = next((head.index(alias) for alias in aliases if alias in head), None)
            if found is not None:
                columns[name] = found
            elif name != "length":
                raise BadFile(
                    f"{Path(path).name} must have a column named one of "
                    f"{', '.join(aliases)}; it has {listed(head)}"
                )
        rows = rows[1:]
    else:
        columns = {name: i for i, name in enumerate(bare)}
    longest = max(columns.values())
    short = next((i for i, row in enumerate(rows, start=1 + named) if len(row) <= longest), None)
    if short is not None:
        raise BadFile(f"{Path(path).name}, line {short}: too few columns")
    return {name: [row[i].strip() for row in rows] for name, i in columns.items()}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
