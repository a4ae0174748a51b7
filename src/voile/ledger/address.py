"""Where a ledger is said to be: a file, or a PostgreSQL server. A password is never repeated.

What does not parse is the danger: a `%`, `@` or space in a password moves the borders between the
fields, and a library that quotes the field it does not understand quotes the password. So an
address is taken apart here, strictly, before anybody else sees it, and a refusal names the fault
and never the text.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from voile.errors import InvalidInput

URLS = ("postgresql://", "postgres://")
_SETTING = re.compile(
    r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options)\s*=",
    re.I,
)
_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.\-]+:(?:/|[^/\\]*@)", re.I)
_POSTGRES = re.compile(r"\s*(?:jdbc:)?postgres", re.I)
_HEX = re.compile(r"%(?![0-9a-fA-F]{2})")
_SIGN = re.compile(r"[\s\x00-\x1f\x7f#\"<>\\^`{|}]")
_HOSTS = re.compile(r"(?:(?:[\w.\-~%]*|\[[0-9a-fA-F:.%]+\])(?::[0-9]{1,5})?(?:,|$))*")
_KNOWN = """
host hostaddr port dbname user password passfile service options sslmode sslcert sslkey
sslpassword sslrootcert sslcrl sslcrldir sslcompression sslsni ssl_min_protocol_version
ssl_max_protocol_version requirepeer krbsrvname gsslib gssencmode channel_binding
target_session_attrs load_balance_hosts connect_timeout application_name keepalives
keepalives_idle keepalives_interval keepalives_count tcp_user_timeout client_encoding
fallback_application_name require_auth sslnegotiation sslcertmode gssdelegation
"""
_LOGIN = re.compile("[@;=]")
_PLACES = ("host", "hostaddr", "port", "dbname", "user", "service", "options")
_ADVICE = (
    "write postgresql://USER@HOST:PORT/DATABASE, with other signs than letters and digits as %XX, "
    "and leave the password to ~/.pgpass or PGPASSWORD"
)


@dataclass(frozen=True)
class ServerAddress:
    """A well-formed `postgresql://` URL, and what of it must never be shown."""

    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    def told(self, reason: str) -> str:
        """A library's or server's reason, unless it repeats a secret."""
        if any(secret in reason for secret in self.secrets):
            return "the server's reason repeats the password and is not shown"
        return reason


def is_server(where: str) -> bool:
    """Whether an address is a server's; an error if it is neither that nor a file's name.

    >>> is_server("ledger.db"), is_server("postgresql://voile@db.example/ledgers")
    (False, True)
    """
    if where.startswith(URLS):
        server_address(where)
        return True
    if _SETTING.search(where):
        raise _refused("it looks like connection settings (name=value)")
    if _SCHEME.match(where) or (_POSTGRES.match(where) and ":" in where):
        raise _refused("it looks like a URL of another kind")
    if "\x00" in where or not where.strip():
        raise _refused("it is empty, or holds a sign that no file name may hold")
    return False


def named(where: object) -> str:
    """A file's name for a sentence, unless it may be an address with a password that got here.

    >>> named("ledger.db"), named("voile:secret@db.example/ledgers")
    ("'ledger.db'", 'at that address')
    """
    return "at that address" if _LOGIN.search(str(where)) else repr(str(where))


def place_of(where: str) -> str:
    """What tells an address from others however it is written; without a password.

    A file goes by its name in its real folder: a link that leads elsewhere is the same place.

    >>> place_of("postgresql://voile:secret@db.example/ledgers?sslpassword=secret")
    'postgresql://voile@db.example/ledgers?'
    """
    if not is_server(where):
        folder, name = os.path.split(os.path.abspath(where))
        return os.path.join(os.path.realpath(folder), name)
    address, _, query = where.partition("?")
    _, _, rest = address.partition("://")
    login, at, place = rest.rpartition("@")
    parts = [p for p in query.split("&") if p.partition("=")[0] in _PLACES]
    return f"postgresql://{login.partition(':')[0]}{at}{place}?{'&'.join(sorted(parts))}"


def server_address(url: str) -> ServerAddress:
    """A `postgresql://` URL taken apart; refused without repeating any of it."""
    scheme = next(name for name in URLS if url.startswith(name))
    authority, _, rest = _cut(url.removeprefix(scheme), "/?")
    if _SIGN.search(url):
        raise _refused("it holds a space or a sign that a URL must write as %XX")
    if "%00" in url:
        raise _refused("it holds a sign that no name may hold")
    if _HEX.search(url):
        raise _refused("a % in it is not followed by two hexadecimal digits; write it as %25")
    if "@" in rest or authority.count("@") > 1:
        raise _refused("it holds a second @, or one after the host; write it as %40")
    login, at, hosts = authority.rpartition("@")
    user, _, password = login.partition(":")
    if ":" in password or (at and not user):
        raise _refused("USER:PASSWORD must come before the @, with any other colon as %3A")
    if not _HOSTS.fullmatch(hosts):
        raise _refused("HOST:PORT must be a name and a number")
    query = rest.partition("?")[2]
    parameters = query.split("&") if query else []
    names = [parameter.partition("=")[0] for parameter in parameters]
    if not all("=" in p for p in parameters) or not set(names) <= set(_KNOWN.split()):
        raise _refused("what follows its ? must be settings that PostgreSQL knows, NAME=VALUE")
    hidden = [p.partition("=")[2] for p in parameters if "password" in p.partition("=")[0]]
    secrets = {text for one in (password, *hidden) for text in (one, unquote(one)) if text}
    return ServerAddress(url, tuple(sorted(secrets)))


def _cut(text: str, signs: str) -> tuple[str, str, str]:
    """Before the first of some signs, the sign, and what follows; a `?` is kept with the rest."""
    place = min((text.find(sign) for sign in signs if sign in text), default=len(text))
    sign, rest = text[place : place + 1], text[place + 1 :]
    return text[:place], sign, ("?" + rest if sign == "?" else rest)


def _refused(reason: str) -> InvalidInput:
    return InvalidInput(
        f"a ledger must be a file's name or a postgresql:// URL, and this is neither: {reason}; "
        f"{_ADVICE}"
    )
