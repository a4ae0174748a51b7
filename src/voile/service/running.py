"""The processes of a service: each loads what the first one certified, or does not start."""

from __future__ import annotations

import gc
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from voile.errors import BadFile, CannotWrite, InvalidInput, VoileError, needs
from voile.progress import tell
from voile.service.app import Service
from voile.service.config import Config, Server
from voile.service.counting import Shared
from voile.service.domains import Domain, load_domain
from voile.service.logs import LOG, log_to_stderr

_CANNOT_START = 3
"""The status of a worker that would fail again as often as it is started."""
_BACKLOG = 2048
"""Connections that wait to be taken, as uvicorn has it."""
_OUT_OF_DATE = (9, 10)
"""X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED."""


def require_certificate(server: Server) -> None:
    """Refuse files for TLS that cannot be served with, before anything else is done."""
    if server.certificate is None or server.key is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server.certificate, server.key, password="")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or type(problem).__name__
        raise BadFile(
            "[server] certificate and key must be PEM files that fit together, the key without a "
            f"password: {reason}"
        ) from None
    if _out_of_date(context, server.certificate):
        raise BadFile("[server] certificate has expired, or is not valid yet: no client takes it")


def _out_of_date(context: ssl.SSLContext, certificate: str) -> bool:
    """What a client that trusts this certificate finds, by a handshake in memory."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusting.load_verify_locations(certificate)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, here = trusting.wrap_bio(back, there), context.wrap_bio(there, back, server_side=True)
    for side in (client, here, client):
        try:
            side.do_handshake()
        except ssl.SSLCertVerificationError as problem:
            return problem.verify_code in _OUT_OF_DATE
        except ssl.SSLError:  # it waits for the other side, or they do not agree
            pass
    return False


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
        """Load anew; what was changed ends the worker, and the service with it."""
        log_to_stderr()
        try:
            made = self._made()
            settle()
            return made
        except VoileError as problem:
            LOG.error("a worker cannot start: %s", problem)
            lasting = isinstance(problem, BadFile | InvalidInput)  # a database may come back
            raise SystemExit(_CANNOT_START if lasting else 1) from None

    def _made(self) -> Service:
        """A file that was changed meanwhile is refused, it is another guarantee."""
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
    with needs("uvicorn", extra="web"):
        import uvicorn

        from voile.service.headers import BoundedConnection
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
        http=BoundedConnection,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    listening = _listening(server.host, server.port)
    host, port = listening.getsockname()[:2]
    LOG.info("listening on %s://%s:%d", "https" if server.certificate else "http", host, port)
    with _stopping_in_order():
        if server.workers == 1:
            before = sys.getswitchinterval()
            settle()
            try:
                uvicorn.Server(options).run(sockets=[listening])
            finally:
                sys.setswitchinterval(before)
                gc.unfreeze()
        else:
            supervise(options, listening)


def settle() -> None:
    """Set this process up for answering many requests quickly, as long as it does so.

    What was loaded is for good: it is not looked through for garbage, which takes longer than a
    hundred requests. A thread that computes lets the others have the interpreter ten times as
    often as is usual, so that a request passes a long one by.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.0005)


def supervise(options: Any, listening: socket.socket) -> None:
    """Keep the workers alive; stop them all if one cannot be started anew."""
    from uvicorn.supervisors import Multiprocess

    class Supervisor(Multiprocess):  # type: ignore[misc]
        def failed(self) -> bool:
            return any(one.process.exitcode == _CANNOT_START for one in self.processes)

        def keep_subprocess_alive(self) -> None:
            if self.failed():
                self.should_exit.set()
            else:
                super().keep_subprocess_alive()

    supervisor = Supervisor(options, sockets=[listening])
    supervisor.run()
    if supervisor.failed():
        raise BadFile("a worker could not be started, its log says why; the service has stopped")


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
        made.listen(_BACKLOG)  # who comes before the workers are there waits for them
    except OSError as problem:
        made.close()
        raise CannotWrite(
            f"the service cannot listen on {host}:{port}: {problem.strerror}"
        ) from None
    made.set_inheritable(True)
    return made
