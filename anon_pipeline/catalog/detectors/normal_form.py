"""Texts in one spelling, so that an identifier is found however it is written."""

from __future__ import annotations

import re
import unicodedata

from anon_pipeline.base.spelling import to_latin
from anon_pipeline.catalog.detectors.domains import is_host

UNEVEN = r"(?i)[\t\r\n\f\v]|  |\bat [^ ]+ dot |@[^ ]+ dot |[(\[{<] ?(?:at|ät|dot|punkt|@|\.)|&#|&commat|%40"
"""Expression (RE2) that finds the ASCII texts that `normalize` may change."""

_BRACKETS = frozenset("([{<&%")
_QUOTES = dict.fromkeys("“”„‟″«»", '"')
_SIGN = re.compile(r" ?[(\[{<] ?(?:at|ät|@) ?[)\]}>] ?|&#(?:64|x40);|&commat;|%40", re.IGNORECASE)
_POINT = re.compile(r" ?[(\[{<] ?(?:dot|punkt|\.) ?[)\]}>] ?", re.IGNORECASE)
_SPOKEN = re.compile(
    r"(?<=\w)( at |@)((?:[\w-]+ dot )+)([a-z]{2,})(?!\w)", re.I
)  # at a host that is spoken, or @ one


class Characters(dict[int, str]):
    """What each character stands for, worked out once for all texts of a column."""

    def __missing__(self, code: int) -> str:
        """Work out a character that has not been seen."""
        self[code] = _character(chr(code))
        return self[code]


def normalize(text: str, characters: Characters | None = None) -> str:
    """Write a text in one spelling.

    Compatible forms are made equal (NFKC), digits of all scripts become ASCII, letters the Latin ones that
    they look like, dashes ``-``; what is not seen goes, white space is one space; ``(at)``, ``[at]``,
    ``%40`` and ``name at host dot org`` become an address.

    Args:
        characters: kept from text to text by who has many.

    >>> normalize("ann＠mail\u200b.example (dot) org"), normalize("ann at mail dot org")
    ('ann@mail.example.org', 'ann@mail.org')
    """
    if not text.isascii():
        known = Characters() if characters is None else characters
        text = unicodedata.normalize("NFKC", text).translate(known)
    text = " ".join(text.split())
    if not _BRACKETS.isdisjoint(text):
        text = _POINT.sub(".", _SIGN.sub("@", text))
    return _SPOKEN.sub(_with_points, text) if " dot " in text.lower() else text


def _with_points(match: re.Match[str]) -> str:
    """Write a spoken host with points; words of a sentence about a dot stay as they are."""
    labels = [*re.split(" dot ", match[2], flags=re.IGNORECASE)[:-1], match[3]]
    if match[1] != "@" and not is_host(labels, match.string[match.end() :]):
        return match[0]
    return "@" + ".".join(labels).lower()


def _character(char: str) -> str:
    """Return what a character stands for; nothing for marks and for what is not seen."""
    if char.isascii():
        return char
    if unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return ""
    decimal = unicodedata.decimal(char, None)
    return to_latin(_QUOTES.get(char, char)) if decimal is None else str(decimal)
