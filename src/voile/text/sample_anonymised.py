"""What another tool made of our messages: a release to be audited."""

from __future__ import annotations

import csv
from pathlib import Path

from voile.errors import writing
from voile.text.sample_messages import messages

COLUMNS = ("id", "text", "released", "topic")


def anonymised() -> tuple[str, ...]:
    """The first 200 messages as Presidio 2.2.366 anonymised them, in order.

    Its analyser with the default recognisers and spaCy's small English pipeline (3.8), its
    anonymiser with the default operator, which writes the entity's type in angle brackets. Larger
    pipelines find more.

    >>> print(anonymised()[4])  # doctest: +NORMALIZE_WHITESPACE
    Good <DATE_TIME>, there was a login at five on <DATE_TIME> while I was asleep. The login is
    <EMAIL_ADDRESS>. Cheers, <PERSON>
    """
    path = Path(__file__).with_name("sample_anonymised.csv")
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(row["text"] for row in csv.DictReader(file))


def write_anonymised(path: str | Path) -> Path:
    """Pairs for `voile text calibrate`: id, text, released and topic of each message."""
    target = Path(path)
    after = anonymised()
    with writing(target), target.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for message, released in zip(messages(len(after)), after, strict=True):
            rows.writerow([message.id, message.text, released, message.topic])
    return target
