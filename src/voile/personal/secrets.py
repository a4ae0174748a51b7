"""Keys, tokens and passwords: by their issuers' prefixes, by a word before them, by their look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.personal.spans import Span

ARMOUR = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
JWT = re.compile(r"(?<![\w.-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?")
PREFIXED = re.compile(
    r"(?<![\w-])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,}+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{22,}+|gl(?:pat|dt|rt)-[\w-]{20,}+"
    r"|[srp]k_(?:live|test)_[0-9A-Za-z]{16,}+|whsec_\w{20,}+"
    r"|sk-(?:[a-z]{2,10}[0-9]{0,2}-){0,3}[\w-]{20,}+"
    r"|xox[abeoprs]-[\w-]{10,}+|xapp-[\w-]{10,}+|hf_[A-Za-z0-9]{20,}+|npm_[A-Za-z0-9]{30,}+"
    r"|pypi-[\w-]{40,}+|SG\.[\w-]{16,32}\.[\w-]{16,64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|do[opr]_v1_[a-f0-9]{64}|dckr_pat_[\w-]{20,}+|key-[0-9a-f]{32}|AGE-SECRET-KEY-1[0-9A-Z]{50,70}"
    r"|SK[0-9a-f]{32}|AC[0-9a-f]{32}|EAA[0-9A-Za-z]{60,}+|\d{8,10}:AA[\w-]{33}"
    r")(?![\w-])"
)
_NAMED = re.compile(
    r"(?i:\b(?P<key>(?:api|access|secret|auth|private|client|encryption)[ _-]?(?:key|token|secret)"
    r"|token|secret|bearer)|\b(?P<word>password|passwort|passphrase|passcode|passwd|pwd"
    r"|mot de passe|contraseña))"
    r"[\"']?(?:\s{0,2}[:=]{1,2}>?\s{0,2}|\s(?i:is|ist|est|es)(?:\s?:)?\s|\s)[\"'`]?"
    r"(?P<value>[^\s\"'`,;<>\x00]{6,400})"
)
RUN = re.compile(r"(?<![\w+/=.-])[\w+/=-]{20,}+")


def named_secrets(text: str) -> Iterator[Span]:
    """What follows `password:` or `token =`, if it holds a digit or a sign and so is no word."""
    for match in _NAMED.finditer(text):
        value = match["value"].rstrip(".?)]}")
        if len(value) < 6 or value.isalpha() or not any(map(str.isdigit, value)):
            continue
        start = match.start("value")
        yield Span(start, start + len(value), "PASSWORD" if match["word"] else "API_KEY")
