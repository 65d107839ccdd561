"""People with several records in a draft: which records a policy is tuned on, of how many people."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.disk import replace_file
from anon_pipeline.draft.profile.separation import sampled_rows

_KEY_FILE = "people.key"
_KEY_BYTES = 32


def tuned_rows(records: int, owner: pd.Series | None, most: int) -> NDArray[np.int64] | None:
    """Choose the records that a policy is tuned on; None: all.

    Args:
        records: n, of the table.
        owner: (n,) whose record each is, of which each person has all records or none; None: records count.
        most: records; with people at least one of them.

    >>> tuned_rows(6, pd.Series([1, 1, 2, 2, 3, 3]), 4).tolist() in ([0, 1, 2, 3], [0, 1, 4, 5], [2, 3, 4, 5])
    True
    """
    if owner is None or records <= most:
        return sampled_rows(records, most)
    codes = pd.factorize(owner)[0]
    order = np.random.default_rng(records).permutation(int(codes.max(initial=0)) + 1)
    sizes = np.bincount(codes[codes >= 0], minlength=len(order))[order]
    taken = max(int((sizes.cumsum() <= most).sum()), 1)
    return np.flatnonzero(np.isin(codes, order[:taken]))


def count_people(frame: pd.DataFrame, owner: str | None) -> int:
    """Count the people of a table, which are its records where no column says whose they are."""
    return len(frame) if owner is None else int(frame[owner].nunique())


def with_key_file(attributes: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a policy's attributes with a key of its own for people, where the key's variable may not be set.

    Args:
        attributes: of a policy.
        folder: that the key is written to, for as long as the policy is tried.
    """
    if "person" not in attributes:
        return attributes
    if not (folder / _KEY_FILE).exists():
        key = secrets.token_hex(_KEY_BYTES).encode()
        replace_file(folder / _KEY_FILE, key, mode=0o600, what="key")
    return attributes | {"deidentify": {"key_file": _KEY_FILE}}
