"""The one private table that a memory is stored as."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.stages.facts.fact_rules import is_digest, is_release_id
from anon_pipeline.stages.history.memory import KEY, MEMBERS, VALUES, Memory, Past

_NORMAL = _VERSION = (
    4  # from 4 on people are hashed by the normal form of their key, once they were met again
)
_READABLE = (1, 2, 3, _VERSION)
_EXACT = re.compile(r"[0-9]{1,400}(/[1-9][0-9]{0,400})?")


def to_table(memory: Memory) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Put a memory into one table and its facts, as the vault stores them.

    Of a member ``release`` is the position of its release; of a value −2 minus that, or −1 for none.
    """
    members = memory.members.assign(column="", original=0, terms="", noisy=0)
    values = memory.values.assign(release=-2 - memory.values["release"])
    columns = list(VALUES)
    table = pd.concat([members[columns], values[columns]], ignore_index=True)
    releases = _lists(memory.releases)
    return table, {
        "memory": {"version": _VERSION, "releases": releases, "key": memory.key, "written": memory.written}
    }


def from_table(frame: pd.DataFrame, facts: Mapping[str, Mapping[str, Any]]) -> Memory:
    """Read a memory back; of values that differ only in their class, the last one.

    Raises:
        InputError: it is none, or of a version that this program does not know.
    """
    document = facts.get("memory", {})
    if not _is_memory(document) or not set(VALUES) <= set(frame.columns):
        raise InputError("the memory of a release must be one that this version wrote")
    member = (frame["release"] >= 0).to_numpy()
    values = frame.loc[~member, list(VALUES)]
    return Memory(
        tuple(Past(*past) for past in document["releases"]),
        frame.loc[member, list(MEMBERS)].astype(MEMBERS).reset_index(drop=True),
        values.assign(release=-2 - values["release"])
        .drop_duplicates(KEY, keep="last")
        .astype(VALUES)
        .reset_index(drop=True),
        document["key"],
        document["written"] if document["version"] >= _NORMAL else len(document["releases"]),
    )


def _lists(releases: tuple[Past, ...]) -> list[list[str | None]]:
    return [[past.digest, past.partition, past.release_id, past.epsilon] for past in releases]


def _is_memory(document: Mapping[str, Any]) -> bool:
    """Tell whether facts are a memory's: digests and plain names of partitions, no other text."""
    key, releases, version = (document.get(name) for name in ("key", "releases", "version"))
    if type(version) is not int or version not in _READABLE or not isinstance(releases, list):
        return False
    written = document.get("written") if version >= _NORMAL else 0
    return (
        set(document) | {"written"} == {"version", "releases", "key", "written"}
        and (key is None or is_digest(key))
        and type(written) is int
        and 0 <= written <= len(releases)
        and all(map(_is_past, releases))
    )


def _is_past(past: Any) -> bool:
    """Tell whether this is a release as a memory lists it.

    Before version 3 it has no id of the ledger, before version 4 no ε.
    """
    if not isinstance(past, list) or len(past) not in (2, 3, 4) or not is_digest(past[0]):
        return False
    release_id, epsilon = [*past[2:], None, None][:2]
    return (
        (past[1] is None or _is_partition(past[1]))
        and (release_id is None or is_release_id(release_id))
        and (epsilon is None or (isinstance(epsilon, str) and bool(_EXACT.fullmatch(epsilon))))
    )


def _is_partition(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > 200:
        return False
    try:
        return plain_partition(value) == value
    except InputError:
        return False
