"""What stands in a release for a suppressed value, and which values a reader would take for it."""

from __future__ import annotations

import unicodedata

TOP = "*"
"""What is released in place of a suppressed value, and how every hierarchy but a table of files ends."""


def looks_suppressed(value: object) -> bool:
    """Tell whether a reader would take a value for a suppressed one, blanks and invisible signs left aside.

    >>> [looks_suppressed(value) for value in ("*", " *\u200b", "\uff0a", "**", "a*", 5)]
    [True, True, True, False, False, False]
    """
    if not isinstance(value, str) or (value.isascii() and TOP not in value):
        return False
    shown = unicodedata.normalize("NFKC", value)
    return "".join(sign for sign in shown if sign.isprintable() and not sign.isspace()) == TOP
