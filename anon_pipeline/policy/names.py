"""Names that a reader cannot tell apart, and characters that no name or path may hold.

Belongs here: comparing names by their look. Does not belong here: which names are compared (`rules`,
`encode`).
Source: the idea of a skeleton is Unicode Technical Standard 39, section 4; the table is a small part of its
confusables: Greek, Cyrillic and a few others that look like Latin letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["escaped", "look_alikes", "plain", "skeleton"]

_LIKE = {
    "a": "аαɑАΑ",
    "b": "ВΒЬƅ",
    "c": "сϲⅽСϹ",
    "d": "ԁⅾ",
    "e": "еҽЕΕ",
    "f": "ſƒϜ",
    "g": "ɡցԌ",
    "h": "һհНΗ",
    "i": "іιıІΙӀӏ",
    "j": "јϳЈ",
    "k": "КΚκк",
    "l": "ⅼ",
    "m": "МΜⅿ",
    "n": "ոΝ",
    "o": "оοσОΟօ",
    "p": "рρРΡ",
    "q": "ԛԚ",
    "r": "гᴦ",
    "s": "ѕЅ",
    "t": "ТΤ",
    "u": "υսԱ",
    "v": "νѵѴ",
    "w": "ԝԜѡ",
    "x": "хχХΧ",
    "y": "уγүУΥҮ",
    "z": "ΖᴢԐ",
    "3": "ЗзӠ",
    "-": "‐‑‒–—―−⁃﹘",
    "'": "’‘ʼ′`´ʹ",
    "/": "⁄∕",
    ".": "․",
    ":": "։׃∶",
}
_CONFUSABLE = str.maketrans({other: latin for latin, others in _LIKE.items() for other in others})
_UNSEEN = {"\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u2800", "\u3164", "\uffa0"}
_BIDI = {*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}


def plain(text: str) -> bool:
    """Tell whether a text has no control character, no line separator, and none that turns the direction."""
    return not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _BIDI for char in text)


def escaped(text: str) -> str:
    """Write a name in ASCII, so that names that look alike can be told apart.

    >>> escaped("аge")
    '\\\\u0430ge'
    """
    return text.encode("unicode_escape").decode()


def skeleton(name: str) -> str:
    """Return what names that look alike have in common.

    Compatible forms are made equal (NFKC), what is not seen is removed, letters of other scripts become the
    Latin ones that they look like, and case does not count.
    """
    shown = "".join(
        char for char in unicodedata.normalize("NFKC", name.translate(_CONFUSABLE)) if _seen(char)
    )
    latin = shown.translate(_CONFUSABLE).casefold().translate(_CONFUSABLE)
    return " ".join(unicodedata.normalize("NFKC", latin).split())


def _seen(char: str) -> bool:
    variation = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return not (unicodedata.category(char) == "Cf" or char in _UNSEEN or variation)


def look_alikes(names: Iterable[str], others: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """List pairs of different names that look alike.

    Args:
        names: compared with each other, or with ``others`` if these are given.
        others: names of another place.
    Returns:
        Pairs, in the order of ``names``; each name is in one pair at most.
    """
    seen: dict[str, str] = {}
    pairs = []
    if others is not None:
        seen = {skeleton(name): name for name in others}
    for name in names:
        before = seen.get(key := skeleton(name))
        if before is not None and before != name:
            pairs.append((before, name))
        elif others is None:
            seen[key] = name
    return pairs
