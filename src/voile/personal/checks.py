"""Check digits and ranges: what tells an identifier from any other number."""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise

_IBAN_LENGTHS = """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27
    DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28
    IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22
    MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
    SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
"""
IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS.split()}
"""How many signs an IBAN of a country has (SWIFT's registry)."""

_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|[689]\d)\d{11}(?:\d\d)?"  # Diners
    r"|35\d{14,17}|(?:2131|1800)\d{11}"  # JCB
    r"|(?:6011|64[4-9]\d|65\d\d|62\d\d)\d{12,15}"  # Discover, UnionPay
    r"|(?:220[0-4]|9792)\d{12}"  # Mir, Troy
    r"|(?:50|5[6-9]|6\d)\d{10,17}"  # Maestro
)


def is_card(digits: str) -> bool:
    """Luhn's check of a payment card number.

    >>> is_card("4111111111111111"), is_card("4111111111111112")
    (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def has_issuer(digits: str) -> bool:
    """Whether a card of this number and length is issued by anybody; none begins with 0.

    >>> has_issuer("4111111111111111"), has_issuer("00491712345678")
    (True, False)
    """
    return _ISSUERS.fullmatch(digits) is not None


def is_iban(written: str) -> bool:
    """The mod-97 check of an IBAN (ISO 13616) of its country's length; spaces, hyphens allowed.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    compact = re.sub(r"[\s-]", "", written).upper()
    if len(compact) != IBAN_LENGTHS.get(compact[:2]):
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


_VIN_VALUES = dict(
    zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", [*range(10), *range(1, 9), 1, 2, 3, 4, 5, 7, 9,
        *range(2, 10)], strict=True)
)  # fmt: skip
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def is_vin(written: str) -> bool:
    """The check digit of a vehicle's number (ISO 3779 as used in North America and China).

    >>> is_vin("1HGCM82633A004352"), is_vin("1HGCM82633A004353")
    (True, False)
    """
    if written.isdigit():
        return False  # as likely any other number
    rest = sum(_VIN_VALUES[c] * w for c, w in zip(written, _VIN_WEIGHTS, strict=True)) % 11
    return written[8] == ("X" if rest == 10 else str(rest))


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_wallet(written: str) -> bool:
    """The check of a Bitcoin address in base 58: four bytes of a double SHA-256; others have none.

    >>> is_wallet("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), is_wallet("1" * 30)
    (True, False)
    """
    if written[0] in "0b":
        return True
    value = 0
    for sign in written:
        value = value * 58 + _BASE58.index(sign)
    if value.bit_length() > 25 * 8:
        return False
    body = value.to_bytes(25, "big")
    return hashlib.sha256(hashlib.sha256(body[:21]).digest()).digest()[:4] == body[21:]


def is_ip(written: str) -> bool:
    """Whether this is an address of IP 4 or 6."""
    from ipaddress import ip_address

    try:
        ip_address(written)
    except ValueError:
        return False
    return True


def looks_drawn(written: str) -> bool:
    """Whether a long run of letters and digits looks drawn at random, as keys are.

    Small letters, capitals and digits take turns at two places in five or more: at random at three
    in five, in words joined together far less. Of hexadecimal digits it is enough that some
    are letters and four or more are not.

    >>> looks_drawn("f3a9c2e47b1d08a65c39"), looks_drawn("TheSecondEditionOf2024")
    (True, False)
    """
    signs = [c for c in written if c.isalnum()]
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in signs]
    if not {"d"} < set(classes):
        return False
    if all(c in "0123456789abcdefABCDEF" for c in signs):
        return classes.count("d") >= 4
    turns = sum(a != b for a, b in pairwise(classes))
    return 5 * turns >= 2 * len(classes)
