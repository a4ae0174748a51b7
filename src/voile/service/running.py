"""The processes of a service: each loads what the first one certified, or does not start."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from voile.errors import BadFile, CannotWrite, MissingExtra
from voile.progress import tell
from voile.service.app import Service
from voile.service.config import Config
from voile.service.counting import Shared
from voile.service.domains import Domain, load_domain
from voile.service.logs import LOG, log_to_stderr


def load_domains(config: Config) -> dict[str, Domain]:
    """Build and certify everything that is offered."""
    found = {}
    for name, options in config.domains.items():
        tell(f"building {name}")
        found[name] = load_domain(name, options)
    return found


@dataclass(frozen=True)
class MakeService:
    """Makes the application in a worker; it travels there when the worker is started."""

    config: Config
    certified: Mapping[str, str]
    """The guarantees by route, as the first process found them."""
    shared: Shared

    def __call__(self) -> Service:
        """Load anew; a file that was changed meanwhile is refused, it is another guarantee."""
        log_to_stderr()
        domains = load_domains(self.config)
        found = {name: domain.guarantee for name, domain in domains.items()}
        if found != self.certified:
            raise BadFile(
                "a file or package that decides the draws is another than when the service was "
                "started; start it anew to release by it"
            )
        return Service(self.config, domains, self.shared)


def run(config: Config, domains: Mapping[str, Domain]) -> None:
    """Serve until a signal asks to stop; then answer whoever waits."""
    try:
        import uvicorn
        from uvicorn.supervisors import Multiprocess
    except ImportError:
        raise MissingExtra("uvicorn", extra="web") from None
    server, shared = config.server, Shared.of(config.tokens)
    log_to_stderr()
    app: Any
    if server.workers == 1:
        app = Service(config, domains, shared)
    else:
        found = {name: domain.guarantee for name, domain in domains.items()}
        for domain in domains.values():
            if domain.standing.charging is not None:
                domain.standing.charging.ledger.close()
        app = MakeService(config, found, shared)
    options = uvicorn.Config(
        app,
        factory=server.workers > 1,
        workers=server.workers,
        host=server.host,
        port=server.port,
        ssl_certfile=server.certificate,
        ssl_keyfile=server.key,
        limit_concurrency=server.connections,
        timeout_graceful_shutdown=server.stop_seconds,
        timeout_keep_alive=30,
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    listening = _listening(server.host, server.port)
    host, port = listening.getsockname()[:2]
    tell(f"listening on {'https' if server.certificate else 'http'}://{host}:{port}")
    LOG.info("listening on %s:%d", host, port)
    with _stopping_in_order():
        if server.workers == 1:
            uvicorn.Server(options).run(sockets=[listening])
        else:
            Multiprocess(options, sockets=[listening]).run()


@contextmanager
def _stopping_in_order() -> Iterator[None]:
    """Let a signal stop the server and not, when that has stopped, this process as well.

    uvicorn raises the signal that stopped it once more, for whoever listened before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listening(host: str, port: int) -> socket.socket:
    """A socket that all workers share."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as problem:
        made.close()
        raise CannotWrite(
            f"the service cannot listen on {host}:{port}: {problem.strerror}"
        ) from None
    made.set_inheritable(True)
    return made
