"""Whose record it is, over releases: a keyed hash of the record key that never leaves the vault."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.values import to_arrow, to_texts
from anon_pipeline.policy.model import Policy

ID = 64
"""Characters of one hash of a person."""

_DOMAIN = b"anon-pipeline/person\x00"  # of the key as it is written, as memories before version 4 have it
_NORMAL = b"anon-pipeline/person in normal form\x00"
_NUMBER = re.compile(r"0*([0-9]+?)(\.0+)?")
_MEMORY = b"anon-pipeline/memory\x00"


def normal_key(key: str) -> str:
    """Return the form in which two ways of writing one person's key are equal.

    Case, white space around it, how much white space is inside, invisible characters, compatibility forms of
    Unicode (NFKC) and, of a number, leading zeros and a fraction of zeros do not count.

    >>> normal_key(" Ann\u00a0  LEE ") == normal_key("ann lee")
    True
    >>> normal_key("007") == normal_key("7.0") == "7"
    True
    """
    before, text = None, key
    while text != before:  # each step can make work for another; the form is where none changes anything
        before = text
        visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
        text = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
    number = _NUMBER.fullmatch(text)
    return text if number is None else number[1]


def person_ids(column: pd.Series, key: bytes | None) -> pd.Series:
    """Hash the record key: twice HMAC-SHA256 under the key of ``deidentify``, each `ID` hexadecimal digits.

    The first hash is of the key's normal form and says who it is; the second is of the key as it is written,
    by which memories before version 4 know the person (`history.memory.normalize_persons`). What is hashed
    begins with a
    constant, so that a released hash of the same column is another one: who has a release and the vault's
    memory cannot join them.

    Args:
        column: (n,) the identifier that the policy names as ``record_key``.
        key: secret; None where there is none.
    Returns:
        (n,) texts; the first hashes are all different.
    Raises:
        InputError: no key; records without a value, or with the same one, or with one that is the same but
            for its writing (their counts).
    """
    if key is None:
        raise InputError("record_key: must have a key, got none. Name it under deidentify.")
    to_arrow(column)
    written = to_texts(column)
    normal = [None if value is None or pd.isna(value) else normal_key(str(value)) for value in written]
    missing, repeated = sum(not value for value in normal), int(written.dropna().duplicated().sum())
    if missing or repeated:
        raise InputError(
            f"{column.name}: a record_key must be there and different in every record, got {missing} missing "
            f"and {repeated} repeated"
        )
    alike = len(normal) - len(set(normal))
    if alike:
        raise InputError(
            f"{column.name}: a record_key must tell persons apart by more than case, white space, invisible "
            f"characters and leading zeros, got {alike} records that differ from another in nothing else. If "
            f"they are one person's, give each person one record; else write their keys differently, for "
            f"example with a prefix."
        )
    pairs = zip(normal, written, strict=True)
    hashed = [_hashed(key, _NORMAL, str(one)) + _hashed(key, _DOMAIN, str(other)) for one, other in pairs]
    return pd.Series(pd.array(np.array(hashed, dtype=object), dtype="str"), index=column.index)


def _hashed(key: bytes, domain: bytes, text: str) -> str:
    return hmac.digest(key, domain + text.encode(), "sha256").hex()


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
