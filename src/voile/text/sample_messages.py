"""Support messages of people who do not exist, with what is private in them known."""

from __future__ import annotations

import csv
import itertools
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from voile.errors import require, writing

COLUMNS = ("id", "customer", "text", "topic", "tone", "region")
TEST_CARDS = ("4111 1111 1111 1111", "5555 5555 5555 4444", "4242 4242 4242 4242")
EXAMPLE_IBANS = ("GB82 WEST 1234 5698 7654 32", "DE89 3704 0044 0532 0130 00")
EXAMPLE_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
"""Numbers that pass their checks and belong to nobody: for tests, and for use in documents."""

Span = tuple[int, int, str]
"""Start, end and kind of a private part."""


@dataclass(frozen=True)
class Message:
    """One message: its text, what it is about, and where its private parts are.

    The kind of a span is PERSON, PLACE, STREET, or one of those of `find_identifiers`: the truth
    that an anonymiser is measured against. `customer` is a code, the same for all messages of
    one person.
    """

    id: int
    customer: str
    text: str
    topic: str
    tone: str
    region: str
    spans: tuple[Span, ...]

    def private(self, *kinds: str) -> tuple[str, ...]:
        """The private parts as they are written, all of them or those of these kinds."""
        return tuple(self.text[a:b] for a, b, kind in self.spans if not kinds or kind in kinds)


@dataclass(frozen=True)
class _Person:
    code: str
    first: str
    last: str
    region: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"


@lru_cache(maxsize=8)
def messages(count: int = 400, *, seed: int = 0) -> tuple[Message, ...]:
    """So many different messages, put together from hand-written sentences and slots.

    An opening and a closing in the message's tone, a sentence on its topic and often a detail;
    names, places and identifiers are drawn for each. Everybody writes one to four times and
    lives in one region, whose towns are mostly the ones mentioned. Nothing in them is real:
    addresses are at example.org; telephone numbers, cards, accounts and networks come from
    ranges that are reserved for tests and documents.

    >>> chosen = messages(400)[1]
    >>> len({message.text for message in messages(400)}), chosen.topic, chosen.tone
    (400, 'billing', 'upset')
    >>> chosen.private("PERSON")
    ('Nina Evans',)
    """
    require(1 <= count <= 5000, "count", "between 1 and 5000", count)
    writer = _Writer(_templates(), np.random.default_rng([20, seed]))
    people = writer.people()
    made: dict[str, Message] = {}
    while len(made) < count:
        message = writer.message(len(made) + 1, next(people))
        made.setdefault(message.text, message)
    return tuple(made.values())


def write_messages(path: str | Path, *, count: int = 400, seed: int = 0) -> Path:
    """The messages as a CSV file with the columns id, customer, text, topic, tone and region."""
    target = Path(path)
    with writing(target), target.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for message in messages(count, seed=seed):
            rows.writerow([getattr(message, name) for name in COLUMNS])
    return target


def names_and_places() -> frozenset[str]:
    """Every first name, last name and town that a message may hold, in lower case."""
    templates = _templates()
    words = [w for slot in ("woman", "man", "last") for w in templates.slots[slot]]
    words += [town for towns in templates.regions.values() for town in towns]
    return frozenset(word.lower() for word in words)


@dataclass(frozen=True)
class _Topic:
    core: Sequence[str]
    detail: Sequence[str]


@dataclass(frozen=True)
class _Templates:
    """What messages are made of, as the file beside this one holds it."""

    slots: Mapping[str, Sequence[str]]
    regions: Mapping[str, Sequence[str]]
    topics: Mapping[str, _Topic]
    openings: Mapping[str, Sequence[str]]
    closings: Mapping[str, Sequence[str]]


@lru_cache(maxsize=1)
def _templates() -> _Templates:
    import tomllib

    path = Path(__file__).with_name("sample_messages.toml")
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    topics = {name: _Topic(**topic) for name, topic in found.pop("topics").items()}
    return _Templates(topics=topics, **found)


class _Writer:
    """Fills slots, and remembers where the private ones went."""

    def __init__(self, templates: _Templates, rng: np.random.Generator) -> None:
        self.templates = templates
        self.slots, self.regions = templates.slots, templates.regions
        self.rng = rng

    def people(self) -> Iterator[_Person]:
        """People without end, each in a row as often as they write."""
        for number in itertools.count(1):
            region = self.one_of(sorted(self.regions))
            person = _Person(f"c{number:04d}", self.first(), self.pick("last"), region)
            for _ in range(int(self.rng.integers(1, 5))):
                yield person

    def message(self, number: int, person: _Person) -> Message:
        topic = self.one_of(sorted(self.templates.topics))
        tone = self.one_of(("calm", "upset"))
        body = self.templates.topics[topic]
        # Nobody asks which lamp to buy in a rage.
        fitting = [core for core in body.core if tone == "calm" or "?" not in core]
        opening, core = self.one_of(self.templates.openings[tone]), self.one_of(fitting)
        if opening[-1] not in ",:" and not core.startswith("{"):
            core = core[0].upper() + core[1:]
        sentences = [opening, core]
        if self.rng.random() < 0.75:
            sentences.append(self.one_of(body.detail))
        sentences.append(self.one_of(self.templates.closings[tone]))
        text, spans = self._filled(" ".join(sentences), person)
        return Message(number, person.code, text, topic, tone, person.region, spans)

    def _filled(self, template: str, person: _Person) -> tuple[str, tuple[Span, ...]]:
        text, spans = "", []
        for plain, slot, _, _ in string.Formatter().parse(template):
            text += plain
            if slot is None:
                continue
            value, kind = self._value(slot, person)
            if kind:
                spans.append((len(text), len(text) + len(value), kind))
            text += value
        return text, tuple(spans)

    def _value(self, slot: str, person: _Person) -> tuple[str, str]:
        """What goes into a slot, and its kind if it is private."""
        if slot in ("me", "myself"):
            return (person.first if slot == "me" else person.name), "PERSON"
        if slot in ("first", "woman", "man", "last", "surname"):
            name = (
                self.first()
                if slot == "first"
                else self.pick("last" if slot == "surname" else slot)
            )
            return name, "PERSON"
        if slot == "place":
            near = self.rng.random() < 0.8
            region = person.region if near else self.one_of(sorted(self.regions))
            return self.one_of(self.regions[region]), "PLACE"
        if slot in self.slots:
            return self.pick(slot), "STREET" if slot == "street" else ""
        return self._number(slot, person)

    def _number(self, slot: str, person: _Person) -> tuple[str, str]:
        drawn = int(self.rng.integers(10_000_000, 99_999_999))
        if slot == "email":
            return f"{person.first}.{person.last}@example.org".lower(), "EMAIL"
        if slot == "phone":
            american, british = f"(202) 555-01{drawn % 100:02d}", f"020 7946 0{drawn % 1000:03d}"
            return self.one_of((american, british)), "PHONE"
        if slot == "card":
            return self.one_of(TEST_CARDS), "CARD"
        if slot == "iban":
            return self.one_of(EXAMPLE_IBANS), "IBAN"
        if slot == "ip":
            return f"{self.one_of(EXAMPLE_NETWORKS)}.{drawn % 254 + 1}", "IP"
        if slot == "order":
            return str(drawn), "NUMBER"
        plain = {
            "amount": f"{drawn % 180 + 9}.{drawn % 100:02d} euros",
            "ending": f"{drawn % 10_000:04d}",
            "number": str(drawn % 27 + 2),
        }
        return plain[slot], ""

    def first(self) -> str:
        return self.pick(self.one_of(("woman", "man")))

    def pick(self, slot: str) -> str:
        return self.one_of(self.slots[slot])

    def one_of(self, options: Sequence[str]) -> str:
        return options[int(self.rng.integers(len(options)))]
