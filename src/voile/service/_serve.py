"""`voile.serve`: records protected as they come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from voile.errors import InvalidInput
from voile.options import Option, use_case
from voile.progress import tell_nothing
from voile.report.model import Report
from voile.report.result import Result


@dataclass(frozen=True)
class Offered:
    """A route, and what it promises."""

    route: str
    guarantee: str
    mechanism: str
    explanation: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Served(Result):
    """A service that has stopped, or was checked; or a new token for one."""

    what: str
    routes: tuple[Offered, ...] = ()
    token: str | None = None
    sha256: str | None = None

    def _report(self) -> Report:
        sentences = tuple(
            line
            for one in self.routes
            for line in (
                f"/v1/{one.route}: {one.mechanism}; guarantee {one.guarantee}.",
                *one.explanation,
            )
        )
        notes = () if self.sha256 is None else (f'sha256 = "{self.sha256}"',)
        return Report(
            title="A service", answer=self.what, guarantee=sentences, notes=notes, about="Routes"
        )


@use_case("serve")
def serve(
    config: Annotated[Path | None, Option("The service's TOML file.", reads="public")] = None,
    *,
    check: Annotated[
        bool, Option("Build and certify all that is offered, and serve nothing.", "Running")
    ] = False,
    new_token: Annotated[
        bool, Option("Print a new bearer token, and the hash for the file.", "Running")
    ] = False,
) -> Served:
    """Protect text, places and labels as they come, over HTTP.

    Example: `voile serve service.toml`

    What each route does is stated in the file by the options of `voile text protect`, `places
    protect` and `labels protect`; mechanisms are built and certified before the first answer, and
    never changed while it runs. Every release charges its person, on the disk before the answer.
    """
    from voile.service.tokens import new_token as made_token

    if new_token:
        token, digest = made_token()
        return Served(f"The token, shown once: {token}", token=token, sha256=digest)
    if config is None:
        raise InvalidInput("name the service's TOML file; docs/how-to/serve.md has one")
    from voile.service.config import read_config
    from voile.service.running import load_domains, require_certificate, run

    stated = read_config(config)
    require_certificate(stated.server)
    domains = load_domains(stated)
    routes = tuple(
        Offered(
            name,
            domain.guarantee,
            domain.promise.mechanism,
            tuple(domain.promise.guarantee.explain().splitlines()),
        )
        for name, domain in domains.items()
    )
    if stated.gateway is not None and check:
        from voile.service.gateway import PromptGateway

        found = PromptGateway(stated.gateway, bytes(32))
        promised = tuple(found.blur.guarantee.explain().splitlines())
        routes += (Offered("chat/completions", found.guarantee, "stand-ins", promised),)
    if check:
        return Served(f"All {len(routes)} routes are built and certified.", routes)
    tell_nothing()
    run(stated, domains)
    return Served("The service has stopped.", routes)
