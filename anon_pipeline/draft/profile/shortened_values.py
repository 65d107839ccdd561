"""Words that occur both shortened and written out, as m and male, in a column of categories."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_MOST: Final = 100  # different values; a column of more has names of many things
_LEAST: Final = 3  # letters of a word that is written out: a, b and ab are groups of blood


def has_shortened(texts: Collection[str]) -> bool:
    """Tell whether a letter, or an abbreviation with a point, begins exactly one of the longer words.

    Args:
        texts: (v,) different values, in small letters.

    >>> has_shortened(["m", "f", "male", "female"]), has_shortened(["verh.", "verheiratet", "ledig"])
    (True, True)
    >>> has_shortened(["a", "b", "ab", "o"]), has_shortened(["s", "single", "separated"])
    (False, False)
    """
    if len(texts) > _MOST:
        return False
    words = [text for text in texts if len(text) >= _LEAST and text.isalpha()]
    short = [text.removesuffix(".") for text in texts if len(text) == 1 or text.endswith(".")]
    return any(
        sum(word.startswith(text) and len(word) > len(text) for word in words) == 1
        for text in short
        if text.isalpha()
    )
