"""Names of hosts, where @ or the point is spoken: a domain, or words of a sentence about a dot.

Source: RFC 1591 (two letters are a country's); generic domains are those in wide use.
"""

from __future__ import annotations

_DOMAINS = (
    "com org net edu gov mil int info biz name pro app dev io eu online shop site cloud email example test "
    "health hospital clinic swiss berlin zone social mobi museum coop jobs"
)
_ALSO_WORDS = "am an as at be by do he in is it me my no so to us we name"
"""Last labels that are English words, too: they end an address only where the sentence ends, or pauses."""
_ARTICLES = (
    "a an the this that these those each every any some no one which what another my our your his her its "
    "their first second last next single"
)
_GENERIC, _WORDS, _BEFORE_NOUNS = (frozenset(text.split()) for text in (_DOMAINS, _ALSO_WORDS, _ARTICLES))


def is_host(labels: list[str], rest: str = "") -> bool:
    """Tell whether labels are a host's, and not words of a sentence about a dot.

    Args:
        labels: of a name, the last one at the end.
        rest: what follows it in the text.

    >>> is_host(["mail", "org"]), is_host(["the", "product"]), is_host(["mail", "in"], " the morning")
    (True, False, False)
    """
    first, last = labels[0].lower(), labels[-1].lower()
    if first in _BEFORE_NOUNS or not (last in _GENERIC or (len(last) == 2 and last.isalpha())):
        return False
    return last not in _WORDS or not rest or rest[0] in ".,;:!?)>]\"'"
