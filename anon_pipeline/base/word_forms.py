"""What the spellings of one word have in common."""

from __future__ import annotations

import re
import unicodedata

_MARKS = {202, 216, 220, 230, 240}
"""Combining classes of the marks on letters of Latin, Greek and Cyrillic; other marks distinguish words."""
_HYPHEN = re.compile(r"(?<=\w)[-‐-―−](?=\w)")
_POINT = re.compile(r"(?<=\d)[.,](?=\d)")
_CODE = re.compile(r"^([a-z]\d\d)[., ](\d{1,4}[a-z]?)$")


def plain_word(text: str) -> str:
    """Return a text without case, accents, punctuation and more blanks than one.

    A sign stays where it may distinguish values: a hyphen that joins no words, a point between digits; not in
    codes such as those of illnesses (ICD), which begin with a letter and two digits.

    >>> [plain_word(text) for text in (" Grippe,", "GRIPPÉ", "type-1  diabetes", "A-", "A", "1.5")]
    ['grippe', 'grippe', 'type 1 diabetes', 'a-', 'a', '1.5']
    >>> [plain_word(text) for text in ("E11.9", "e11,9", "E119", "E11", "B1.5")]
    ['e119', 'e119', 'e119', 'e11', 'b1.5']
    """
    if text.isascii() and text.isalnum():
        return text.casefold()
    folded = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in folded if unicodedata.combining(char) not in _MARKS)
    joined = _HYPHEN.sub(" ", bare)
    kept = {match.start() for match in _POINT.finditer(joined)}
    shown = "".join(
        char if place in kept or not _is_punctuation(char) else " " for place, char in enumerate(joined)
    )
    plain = " ".join(shown.split()) or text
    return _CODE.sub(r"\1\2", plain)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char) in ("Pc", "Po", "Ps", "Pe", "Pi", "Pf", "Cf")
