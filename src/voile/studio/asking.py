"""What the page asks for, held to the types that stand here; wrong questions are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from voile.errors import InvalidInput
from voile.values import made_of

Question = TypeVar("Question")


def read_question(kind: type[Question], body: Any) -> Question:
    """A question from JSON, each field of the type it states.

    >>> read_question(Law, {"word": 3, "epsilon": 2})
    Law(word=3, epsilon=2.0, level=0)
    """
    if not isinstance(body, Mapping):
        raise InvalidInput("a question must be a JSON object")
    return made_of(kind, body, "the question")


@dataclass(frozen=True)
class Nothing:
    """What lies there already."""


@dataclass(frozen=True)
class OpenPath:
    """Open a file of this machine."""

    path: str


@dataclass(frozen=True)
class Look:
    """Which texts, read how; the strength is asked for later."""

    column: str
    mechanism: Literal["tem", "word-exponential", "santext"] = "tem"
    language: Literal["en", "de", "fr", "es", "auto"] | None = None
    tiers: Literal["pii", "pii,poii"] | None = None
    find: tuple[str, ...] = ("patterns",)
    keep_stopwords: bool = False
    pseudonyms: bool = False
    remap: bool = False
    restore: Literal["reading", "training", "retrieval"] | None = None
    public: str | None = None
    public_column: str | None = None


@dataclass(frozen=True)
class Preview:
    """Some texts at a strength."""

    epsilon: float
    seed: int = 0
    first: int = 0
    count: int = 5
    remap: bool = False
    """Whether the draws are remapped too, which may take a minute."""


@dataclass(frozen=True)
class Exactly:
    """The exact figures at a strength."""

    epsilon: float
    reader: bool = False


@dataclass(frozen=True)
class Topic:
    """What a row's topic is: a column of labels; None: groups of the public vocabulary."""

    label: str | None = None


@dataclass(frozen=True)
class Law:
    """What one word may come out as."""

    word: int
    epsilon: float
    level: int = 0


@dataclass(frozen=True)
class Task:
    """A use case by name, and its options."""

    command: str
    options: dict[str, Any] = field(default_factory=dict)


# ── places ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PlacesLook:
    """Which columns hold the places, and which names a trace."""

    lat: str
    lon: str
    trace: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class RoadsOf:
    """Streets under the map: of a file, or of the made-up city if the places lie in it."""

    roads: str | None = None


@dataclass(frozen=True)
class Blurred:
    """All places at a strength: ε per km, or a length such as 500m.

    `name` is the trace that the length is of, where places share ε; "" is one as long as most are.
    """

    epsilon: float | None = None
    mean_error: str | None = None
    seed: int = 0
    per: Literal["place", "window", "trace"] = "place"
    way: Literal["each", "every", "predict", "stays"] = "each"
    name: str = ""


@dataclass(frozen=True)
class Around:
    """Where one place may be reported."""

    lat: float
    lon: float
    epsilon: float


@dataclass(frozen=True)
class TraceOf:
    """One trace at a strength."""

    name: str
    epsilon: float
    per: Literal["place", "window", "trace"] = "trace"
    way: Literal["each", "every", "predict", "stays"] = "each"
    seed: int = 0
