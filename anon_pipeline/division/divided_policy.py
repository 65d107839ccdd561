"""The policy of the partitions: that of the whole table, with its levels, its files and their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import yaml

from anon_pipeline.catalog.class_limits import T_CLOSENESS
from anon_pipeline.policy.load import policy_from

_HEAD = """\
# Made by `anon-pipeline divide` from {name}: the policy of each of its partitions. It differs in its source,
# its levels, which were chosen for the whole table, and its keys{closeness}.
"""


def divided_document(
    document: Mapping[str, Any],
    *,
    path: str,
    levels: Mapping[str, int],
    keys: Sequence[str],
    closeness: Mapping[str, float],
) -> dict[str, Any]:
    """Write what the policy of the whole table becomes, as its file has it.

    Args:
        document: of the whole table.
        path: of the partitions' files, with ``{partition}``.
        levels: of each generalize column.
        keys: of the partitions.
        closeness: t of sensitive columns that is smaller within a partition.
    Raises:
        PolicyError: what it becomes is no policy.
    """
    made: dict[str, Any] = deepcopy(dict(document))
    attributes = made["attributes"]
    source = attributes["source"]
    attributes["source"] = {"path": path, "format": "parquet"}
    if source.get("limits") is not None:
        attributes["source"]["limits"] = source["limits"]
    anonymize = attributes["anonymize"]
    anonymize.pop("prefer", None)
    anonymize |= {"recoder": "fixed", "levels": dict(levels)}
    for section in (attributes["gate"], anonymize):
        for name in {*closeness} & {*(section.get(T_CLOSENESS.name) or {})}:
            section[T_CLOSENESS.name][name] = min(section[T_CLOSENESS.name][name], closeness[name])
    if attributes.get("budget") is not None:
        attributes["budget"]["per"] = "record"
    attributes["schedule"] = {"partitions": "listed", "keys": [*keys]}
    policy_from(attributes)
    return made


def divided_text(document: Mapping[str, Any], *, name: str, closer: bool) -> str:
    """Return the policy's file.

    Args:
        name: of the file of the whole table.
        closer: whether a t is smaller.
    """
    head = _HEAD.format(name=name, closeness="; and in a smaller t" if closer else "")
    return head + yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=110)
