"""What a partition's key may be: the name of a folder, and of nothing else."""

from __future__ import annotations

import re
from datetime import date

from anon_pipeline.base.errors import InputError


def plain_partition(partition: str) -> str:
    """Return a partition's key if it can name a folder and nothing else.

    Raises:
        InputError: it has other characters than letters, digits, ``-``, ``_``, ``:`` and single points.
    """
    if not re.fullmatch(r"[A-Za-z0-9_:-]+(\.[A-Za-z0-9_:-]+)*", partition):
        raise InputError("a partition must be a plain name (letters, digits, - _ : .)")
    return partition


def can_be_listed(key: str) -> bool:
    """Tell whether a policy may list a partition's key: a plain name that is no date.

    Dates are the keys of periods, which other releases of the same dataset may have.

    >>> can_be_listed("north"), can_be_listed("2026-01-05"), can_be_listed("../north")
    (True, False, False)
    """
    try:
        plain_partition(key)
    except InputError:
        return False
    try:
        date.fromisoformat(key)
    except ValueError:
        return True
    return False
