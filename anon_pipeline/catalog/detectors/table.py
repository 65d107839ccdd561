"""The table of all detectors: addresses, telephones, accounts, then national numbers of people.

A new kind of identifier is one entry here or in `national`.
Source: formats as their issuers publish them: RFC 5321 (e-mail), ISO 13616 (IBAN), SSA (no area 000, 666 or
9xx, no group 00, no serial 0000), ISO/IEC 7812 (payment cards).
"""

from __future__ import annotations

import ipaddress
import re

from anon_pipeline.catalog.detectors.detector import Detector, Form
from anon_pipeline.catalog.detectors.domains import is_host
from anon_pipeline.catalog.detectors.lookalikes import are_amounts, are_versions
from anon_pipeline.catalog.detectors.national import NATIONAL, passes_luhn
from anon_pipeline.catalog.detectors.telephone import TELEPHONE

_EMAIL = re.compile(
    r"""(?<![\w.%+'-])[\w.%+'-]+[ ]?@[ ]?[\w-]+(?:\.[\w-]+)+
    |"[^"@]{1,64}"@[\w-]+(?:\.[\w-]+)+
    |(?<![\w.%+'-])[\w.%+'-]+@\[[0-9a-f.:]{3,45}\]""",
    re.VERBOSE | re.IGNORECASE,
)
_SSN = re.compile(r"(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])")
_IP4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IP6 = re.compile(r"(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.IGNORECASE)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?![A-Za-z0-9])"
)
_IBAN_LENGTHS = {
    int(length): countries.split()
    for length, countries in {
        "15": "NO",
        "16": "BE",
        "18": "DK FI FO GL NL SD",
        "19": "MK SI",
        "20": "AT BA EE KZ LT LU MN XK",
        "21": "CH HR LI LV",
        "22": "BG BH CR DE GB GE IE ME RS VA",
        "23": "AE GI IL IQ OM SO TL",
        "24": "AD CZ ES MD PK RO SA SE SK TN VG",
        "25": "LY PT ST",
        "26": "IS TR",
        "27": "BI DJ FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO GT HN HU LB NI PL SV",
        "29": "BR EG PS QA UA",
        "30": "JO KW MU YE",
        "31": "MT SC",
        "32": "LC",
        "33": "RU",
    }.items()
}
IBAN_LENGTH = {country: length for length, countries in _IBAN_LENGTHS.items() for country in countries}


def _is_address(text: str) -> bool:
    """Tell an e-mail address from ``5@3.50``: a domain ends in letters, or is a number in brackets."""
    domain = text.rpartition("@")[2].strip()
    last = domain.rpartition(".")[2]
    if "@ " in text or " @" in text:
        return domain[:1].isalpha() and is_host(domain.split("."))
    return domain.endswith("]") or any(char.isalpha() for char in last)


def _is_ip(text: str) -> bool:
    if ":" in text and (len(text) < 6 or not any(char.isdigit() for char in text)):
        return False  # a::b
    if re.fullmatch(r"\d(?:\.\d){3}", text):
        return False  # a section or a version
    address = ipaddress.ip_address(text)
    return not (address.is_loopback or address.is_unspecified or address.is_multicast)


def _own(text: str) -> str:
    """Return the part of a text that is as long as an IBAN of its country; a word may follow."""
    compact = text.replace(" ", "").replace("-", "").upper()
    length = IBAN_LENGTH.get(compact[:2], 0)
    return compact[:length] if len(compact) >= length else ""


def _is_iban(text: str) -> bool:
    from stdnum import iban  # noqa: PLC0415 - only where a text looks like one

    own = _own(text)
    return bool(own) and bool(iban.is_valid(own, check_country=False))


def _is_like_iban(text: str) -> bool:
    """Tell whether a text is an IBAN but for its check digits: "no12 that saw the …" is not."""
    from stdnum import iban  # noqa: PLC0415 - only where a text looks like one

    own = _own(text)
    return bool(own) and bool(
        iban.is_valid(own[:2] + iban.calc_check_digits(own) + own[4:], check_country=False)
    )


def _is_ssn(digits: str) -> bool:
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


_GROUPS = 0.99 * 0.9999  # where all areas are valid, as those of amounts below 900,000,000
_AREAS = 0.898 * _GROUPS

DETECTORS = (
    Detector(
        "email",
        "e-mail addresses",
        (Form(_EMAIL, _is_address, alone=True, needs="@"),),
        ("ann.lee@mail.example.org",),
    ),
    TELEPHONE,
    Detector(
        "ssn",
        "social security numbers (United States)",
        (
            Form(_SSN, alone=True, needs=r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
            Form(re.compile(r"\d{9}"), _is_ssn, chance=_AREAS, share=0.98, unlike=are_amounts),
            Form(re.compile(r"\d{9}"), _is_ssn, chance=_GROUPS, share=0.98),
        ),
        ("987-65-4321",),
    ),
    Detector(
        "iban",
        "bank account numbers (IBAN)",
        (
            Form(
                _IBAN,
                _is_iban,
                1 / 97,
                alone=True,
                needs=r"(?i)(?:^|[^a-z0-9])[a-z]{2}[0-9]{2}[ -]?[a-z0-9]{4}",
                counts=_is_like_iban,
            ),
        ),
        ("DE89 3704 0044 0532 0130 00",),
    ),
    Detector(
        "ip_address",
        "IP addresses",
        (
            Form(_IP4, _is_ip, alone=True, needs=r"(?:[0-9]{1,3}\.){3}[0-9]", unlike=are_versions),
            Form(_IP6, _is_ip, alone=True, needs=r"(?::[0-9A-Fa-f]{0,4}){2}"),
        ),
        ("203.0.113.7",),
    ),
    Detector(
        "payment_card",
        "payment card numbers",
        (
            Form(
                re.compile(r"4\d{12}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}"),
                passes_luhn,
                chance=0.1,
            ),
        ),
    ),
    *NATIONAL,
)
"""All detectors, in the order in which messages name them."""

NAMES = tuple(detector.name for detector in DETECTORS)
