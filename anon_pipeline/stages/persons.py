"""Whose record it is: a keyed hash that never leaves the vault, and how many records a person may have."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import Mistake, mistakes_error
from anon_pipeline.base.packed_tables import Table, insert_column
from anon_pipeline.base.rows import keep_rows, some_rows
from anon_pipeline.base.values import to_arrow, to_texts
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.people import people_with_gaps

ID = 64
"""Characters of one hash of a person."""

_DOMAIN = b"anon-pipeline/person\x00"  # of the key as it is written, as memories before version 4 have it
_NORMAL = b"anon-pipeline/person in normal form\x00"
_NUMBER = re.compile(r"0*([0-9]+?)(\.0+)?")
_MEMORY = b"anon-pipeline/memory\x00"
_SHARED = b"anon-pipeline/person with several records\x00"
_ROW = b"anon-pipeline/record of a person\x00"


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
            f"and {repeated} repeated. Where a person has several records, name the column in person instead."
        )
    alike = len(normal) - len(set(normal))
    if alike:
        raise InputError(
            f"{column.name}: a record_key must distinguish people by more than case, white space, invisible "
            f"characters and leading zeros, got {alike} equal to another one without these. If two such "
            "records are one person's, give each person one record; else write the keys differently, for "
            "example with a prefix."
        )
    pairs = zip(normal, written, strict=True)
    hashed = [_hash(key, _NORMAL, str(one)) + _hash(key, _DOMAIN, str(other)) for one, other in pairs]
    return pd.Series(pd.array(np.array(hashed, dtype=object), dtype="str"), index=column.index)


_COMPLETE = "Complete these records in the source, or leave them out there."


def shared_ids(column: pd.Series, key: bytes | None) -> pd.Series:
    """Hash the identifier of people who may have several records: HMAC-SHA256 of its normal form.

    Two ways of writing one identifier are one person (`normal_key`): in doubt there are fewer people.

    Args:
        column: (n,) the identifier that the policy names as ``person``.
        key: that of ``deidentify``; None where there is none.
    Returns:
        (n,) texts of `ID` hexadecimal digits, equal for one person.
    Raises:
        InputError: no key; records without a value: how many, which ones are withheld.
    """
    if key is None:
        raise InputError("person: must have a key, got none. Name it under deidentify.")
    to_arrow(column)
    codes, written = pd.factorize(to_texts(column))
    normal = [normal_key(str(value)) for value in written]
    named = np.array([bool(text) for text in normal] + [False])
    missing = ~named[codes]
    if missing.any():
        rule, what = "a person must be named in every record", "without one"
        raise mistakes_error([Mistake(str(column.name), rule, what, missing, _COMPLETE)])
    hashed = np.array([_hash(key, _SHARED, text) for text in normal], dtype=object)
    return pd.Series(pd.array(hashed[codes], dtype="str"), index=column.index)


def bounded_rows(
    frame: Table, people: pd.Series, *, most: int | None, key: bytes | None
) -> NDArray[np.bool_]:
    """Choose which records of each person stay: those that come first by a keyed hash of what is in them.

    So neither the order of the source nor anybody else's records decide it, a release that is made again
    keeps the same records, and who does not have the key cannot say which ones these are.

    Args:
        frame: (n, columns) accepted data, without random ids.
        people: (n,) ids of `shared_ids`.
        most: records of a person that stay; None: all.
        key: that of ``deidentify``.
    Returns:
        (n,) whether a record stays. Of records that are equal in all columns, any of them.
    """
    sizes = people.map(people.value_counts()).to_numpy(np.int64)
    stays = np.ones(len(frame), np.bool_)
    if most is None or key is None or not (sizes > most).any():
        return stays
    over = np.flatnonzero(sizes > most)
    rows = some_rows(frame, over).apply(to_texts).astype(object)
    texts = [
        json.dumps([None if pd.isna(cell) else str(cell) for cell in row])
        for row in rows.itertuples(index=False, name=None)
    ]
    hashed = pd.Series([_hash(key, _ROW, text) for text in texts])
    ranks = hashed.groupby(people.iloc[over].to_numpy()).rank(method="first").to_numpy(np.int64)
    stays[over] = ranks <= most
    return stays


def _hash(key: bytes, domain: bytes, text: str) -> str:
    return hmac.digest(key, domain + text.encode(), "sha256").hex()


def memory_key(policy: Policy, key: bytes | None) -> str:
    """Say under which column and key the people of a memory are hashed, without revealing the key.

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


class Identified(NamedTuple):
    """A table in which each record says whose it is, where the policy asks for that.

    frame: (r, columns) the records that stay; without people the table as it was.
    kept: (n,) whether a record stays.
    facts: fields of the facts of `deidentified`: how many people, and records beyond what each may have;
        empty where records count.
    """

    frame: Table
    kept: NDArray[np.bool_]
    facts: dict[str, Any]


def with_people(policy: Policy, accepted: Table, without: Table, *, key: bytes | None) -> Identified:
    """Note whose each record is, and leave out those of a person beyond ``rows_per_person``.

    Args:
        accepted: (n, columns) personal data, with the identifiers.
        without: (n, columns) the same records, without them; it is not changed.
        key: that of ``deidentify``.
    Raises:
        InputError: see `person_ids` and `shared_ids`.
    """
    after, kept = without, np.ones(len(accepted), np.bool_)
    if policy.record_key is not None:
        after = insert_column(after, 1, PERSON, person_ids(accepted[policy.record_key], key))
    if policy.person is None:
        return Identified(after, kept, {})
    try:
        people = shared_ids(accepted[policy.person], key)
    except InputError as error:
        if policy.sample is None:
            raise
        raise InputError(error.problems) from None  # the numbers are those of the sample, not of the source
    after = insert_column(after, 1, PERSON, people)
    kept = bounded_rows(accepted.drop(columns=[RECORD]), people, most=policy.rows_per_person, key=key)
    facts = {"people": people.nunique(), "excess_records": int((~kept).sum())}
    return Identified(keep_rows(after, kept), kept, facts)


def people_facts(evidence: Evidence, keep: NDArray[np.bool_]) -> dict[str, int]:
    """Count the people who are released, and those of whom a record is not; nothing where records count.

    Args:
        evidence: of a table.
        keep: (r,) its records that are released.
    """
    behind = evidence.originals
    if behind is None or behind.people is None:
        return {}
    own = behind.own[keep]
    return {
        "released_people": len(np.unique(behind.people[own])),
        "people_with_gaps": people_with_gaps(own, behind.people),
    }
