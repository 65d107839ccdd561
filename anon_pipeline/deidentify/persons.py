"""Whose record it is, over releases: a keyed hash of the record key that never leaves the vault.

Belongs here: the hash. Does not belong here: hashes that are released (`identifiers`), what is done with it
(`compose`).
"""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import pandas as pd

from anon_pipeline.errors import InputError
from anon_pipeline.policy.model import Policy
from anon_pipeline.values import arrow, texts

__all__ = ["memory_key", "person_ids"]

_DOMAIN = b"anon-pipeline/person\x00"
_MEMORY = b"anon-pipeline/memory\x00"


def person_ids(column: pd.Series, key: bytes | None) -> pd.Series:
    """Hash the record key: HMAC-SHA256 under the key of ``deidentify``, as 64 hexadecimal digits.

    What is hashed begins with a constant, so that a released hash of the same column is another one: who has
    a release and the vault's memory cannot join them.

    Args:
        column: (n,) the identifier that the policy names as ``record_key``.
        key: secret; None where there is none.
    Returns:
        (n,) texts, all different.
    Raises:
        InputError: no key; records without a value, or with the same one (their count).
    """
    if key is None:
        raise InputError("record_key: must have a key, got none. Name it under deidentify.")
    arrow(column)
    written = texts(column)
    missing, repeated = int(written.isna().sum()), int(written.dropna().duplicated().sum())
    if missing or repeated:
        raise InputError(
            f"{column.name}: a record_key must be there and different in every record, got {missing} missing "
            f"and {repeated} repeated"
        )
    hashed = [hmac.new(key, _DOMAIN + str(value).encode(), hashlib.sha256).hexdigest() for value in written]
    return pd.Series(pd.array(np.array(hashed, dtype=object), dtype="str"), index=column.index)


def memory_key(policy: Policy, key: bytes | None) -> str:
    """Say under which column and key the persons of a memory are hashed, without telling the key.

    Under another key everybody would be a stranger: nothing would count as published before.

    Args:
        policy: its ``record_key``.
        key: the one that `person_ids` uses.
    Returns:
        64 hexadecimal digits; kept in the vault alone.
    Raises:
        InputError: no key.
    """
    if key is None:
        raise InputError("record_key: must have a key, got none. Name it under deidentify.")
    return hmac.new(key, _MEMORY + str(policy.record_key).encode(), hashlib.sha256).hexdigest()
