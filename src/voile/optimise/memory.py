"""How much memory this machine has: asked before any work, not after an hour."""

from __future__ import annotations

import os


def physical_memory() -> int | None:
    """Bytes of this machine, if it tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
