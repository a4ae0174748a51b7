"""A domain that stands ready: the use case of its command, built and certified once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from voile.errors import InvalidInput
from voile.jobs.release import Release
from voile.jobs.standing import Expected, Standing
from voile.labels.choice import LabelChoice, recipe_of
from voile.options import case_of
from voile.places.coordinates import DEGREES
from voile.report.result import plain
from voile.surface import use_case_named
from voile.version import __version__

_OF_FILES = frozenset(
    (
        *("data", "out", "seed", "preview", "dry_run", "on_error", "overwrite", "over_budget"),
        *("jobs", "engine", "address", "batch_rows", "keep_mapping", "mapping_key"),
        *("trace", "time", "per", "way", "every", "window", "stay"),
        *("learn_from_private", "learn_epsilon", "learn_delta", "cells", "levels"),
    )
)
"""Options of the commands that speak of a whole file, which a service does not have."""


@dataclass(frozen=True, eq=False)
class Domain:
    """What a route does: who draws, who is charged, and what is promised by which name."""

    name: str
    standing: Standing
    promise: Release
    guarantee: str
    """The name of the guarantee: of all that decides the draws, and of what is promised."""

    def facts(self) -> dict[str, Any]:
        """What anybody with a token may know of it."""
        made, charging = self.promise, self.standing.charging
        terms = None if charging is None else charging.ledger.terms()
        return {
            "id": self.guarantee,
            "mechanism": made.mechanism,
            "guarantee": made.guarantee.to_dict(),
            "explanation": made.guarantee.explain().splitlines(),
            "in_clear": list(made.columns.passed_in_clear),
            "left_out": list(made.columns.dropped),
            "models": plain(made.models),
            "decided_by": plain(self.standing.identity),
            "ledger": None
            if terms is None
            else {
                "counts": str(terms.kind),
                "budget": terms.budget.epsilon,
                "delta": terms.budget.delta,
            },
            "voile": made.voile,
        }


def name_of(decided: Mapping[str, Any], promised: Mapping[str, Any]) -> str:
    """The name of a guarantee, from what `/v1/guarantee` tells of it.

    The first 32 hexadecimal digits of the SHA-256 of voile's version, what decides the draws and
    what is promised, as JSON with sorted names: so that whoever asks can work it out again.
    """
    content = {"voile": __version__, "identity": decided, "guarantee": promised}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def load_domain(name: str, options: Mapping[str, Any]) -> Domain:
    """Build and certify a domain from the options of its command."""
    function = use_case_named(f"{name} protect")
    case = case_of(function)
    known = [option for option in case.parameters if option not in _OF_FILES]
    given = {_option(option, known, name): value for option, value in options.items()}
    given = case.fitted(given)
    _check(name, given)
    person = given.get("person") if given.get("ledger") is not None else None
    passed, dropped = (_names(given.get(option)) for option in ("pass_", "drop"))
    if person is not None and person not in (*passed, *dropped):
        dropped = given["drop"] = (*dropped, person)  # whoever asks knows whose record it is
    if name == "places":
        given.setdefault("outside", "refuse")
    expected = Expected(list(dict.fromkeys([*_changed(name, given), *passed, *dropped])))
    promise = function(expected, **given)
    assert expected.standing is not None  # as `carry_out` does for what is expected
    guarantee = expected.standing.digest(promise.guarantee.to_dict())
    return Domain(name, expected.standing, promise, guarantee)


def _option(given: str, known: list[str], name: str) -> str:
    """An option by its name in Python or on the command line."""
    option = given.replace("-", "_")
    for found in (option, f"{option}_"):
        if found in known:
            return found
    near = get_close_matches(option, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0].rstrip('_')}?" if near else ""
    why = " of a service" if option in _OF_FILES else ""
    raise InvalidInput(f"[{name}] has no option {given!r}{why}{hint}")


def _check(name: str, given: Mapping[str, Any]) -> None:
    """What needs to know all records cannot be asked of a service."""
    if given.get("pass_") == "all":
        raise InvalidInput(f"[{name}] pass must name its fields: what will come is not known")
    if given.get("vocabulary") == "private-corpus":
        raise InvalidInput("[text] vocabulary must be a public one, got private-corpus")
    if given.get("mechanism") == "sample" and given.get("records") is None:
        raise InvalidInput("[labels] mechanism sample must go with records: about how many come")
    if name == "places" and given.get("outside") == "few":
        raise InvalidInput("[places] outside must be move or refuse: each record stands alone")


def _changed(name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that the mechanism changes."""
    if name == "text":
        return (given.get("column", "text"),)
    if name == "places":
        if given.get("wkt") is not None:
            return (given["wkt"],)
        return (given.get("lat", DEGREES.lat), given.get("lon", DEGREES.lon))
    if "label" not in given:
        raise InvalidInput("[labels] must say label, the field that is the secret one")
    chosen = LabelChoice(mechanism=given.get("mechanism", LabelChoice.mechanism))
    features = chosen.changes_features and given.get("recipe") is not None
    columns = [column.name for column in recipe_of(given["recipe"]).columns] if features else []
    return (given["label"], *columns)


def _names(given: Any) -> tuple[str, ...]:
    return () if given is None else tuple(given)
