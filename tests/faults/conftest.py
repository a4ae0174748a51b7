"""The same server that the ledger's tests start."""

from ledger.conftest import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]
