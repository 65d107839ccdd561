"""Paths and URLs: which of them a text is, and that a URL is refused where a path is expected.

Belongs here: looking at texts. Does not belong here: which folders a deployment has
(`locations`), opening anything.
"""

from __future__ import annotations

import re
from pathlib import PurePath

__all__ = ["LOCAL", "is_local", "is_url"]

LOCAL = (
    "must be a local path, got a URL (not shown, it may hold credentials). Only the vault and the ledger "
    "can be at a URL (scheme://…)."
)
"""What is said where a path is expected; it never repeats the URL."""

_SCHEME = re.compile(
    r"(?:^|[/\\])\s*[A-Za-z][A-Za-z0-9+.-]+:[/\\]"
)  # also s3:/bucket, as pathlib leaves s3://


def is_url(place: str) -> bool:
    """Return whether a place is a URL, as fsspec writes them, and not a path."""
    return "://" in place or "::" in place


def is_local(place: str | PurePath) -> bool:
    """Return whether a place is a path, and neither a URL nor what is left of one in a path.

    A drive's letter (``C:/``) is none.

    Args:
        place: as somebody wrote it, or made a path of it.

    >>> [is_local(place) for place in ("out/a:b", "s3://b/out", "S3:/b", "/home/s3:/b", "zip::a.zip")]
    [True, False, False, False, False]
    """
    text = str(place)
    return not is_url(text) and _SCHEME.search(text) is None
