"""A name or identifier that stands in a text."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Thing:
    """A name or identifier in a text: its kind, its form, and what it is to be known again by."""

    kind: str
    form: str
    key: str = field(repr=False)
    written: str = field(repr=False)

    @property
    def same(self) -> tuple[str, str]:
        """Equal for what is the same thing, however it is written."""
        return self.kind, self.key
