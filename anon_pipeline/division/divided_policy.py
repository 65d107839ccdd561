"""The policy of the partitions: that of the whole table, with its levels or classes, files and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from anon_pipeline.base.disk import replace_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.spelling import escape
from anon_pipeline.catalog.class_limits import T_CLOSENESS
from anon_pipeline.policy.load import policy_from

_HEAD = """\
# Made by `anon-pipeline divide` from {name}: the policy of each of its partitions. It differs in name,
# source, folder and schedule, in its recoder, whose {chosen} were chosen for the whole table{more}.
"""


def divided_document(
    document: Mapping[str, Any],
    sections: Mapping[str, Any],
    *,
    levels: Mapping[str, int],
    classes: str | None,
    keys: Sequence[str],
    closeness: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """Write what the policy of the whole table becomes, as its file has it.

    Args:
        document: of the whole table.
        sections: what takes the place of the policy's own; what they do not say of a section stays.
        levels: of each generalize column.
        classes: column of the partitions that says which records are a class; None: they have the levels.
        keys: of the partitions.
        closeness: by section (``anonymize``, ``gate``), t of sensitive columns that is smaller within a
            partition.
    Raises:
        PolicyError: what it becomes is no policy.
    """
    made: dict[str, Any] = deepcopy(dict(document))
    attributes = made["attributes"]
    for key, value in sections.items():
        before = attributes.get(key)
        attributes[key] = {**before, **value} if isinstance(before, dict) and key != "source" else value
    anonymize = attributes["anonymize"]
    anonymize.pop("prefer", None)
    if classes is None:
        anonymize |= {"recoder": "fixed", "levels": dict(levels)}
    else:
        anonymize |= {"recoder": "given", "classes": classes}
    for key, smaller in closeness.items():
        section = attributes.get(key) or {}
        for name in {*smaller} & {*(section.get(T_CLOSENESS.name) or {})}:
            section[T_CLOSENESS.name][name] = min(section[T_CLOSENESS.name][name], smaller[name])
    if attributes.get("budget") is not None:
        attributes["budget"]["per"] = "record"
    attributes["schedule"] = {"partitions": "listed", "keys": [*keys]}
    policy_from(attributes)
    return made


def write_policy(path: Path, document: Mapping[str, Any], *, name: str, closer: bool) -> None:
    """Write the policy's file.

    Args:
        name: of the file of the whole table.
        closer: whether a t is smaller.
    Raises:
        InputError: it cannot be written.
    """
    more = ", and in budget.per" if document.get("attributes", {}).get("budget") is not None else ""
    recoded = document.get("attributes", {}).get("anonymize", {})
    chosen = "classes" if "classes" in recoded else "levels"
    shown = name if name.isprintable() else escape(name)  # a line feed would end the comment
    head = _HEAD.format(name=shown, chosen=chosen, more=more + ("; and it has a smaller t" if closer else ""))
    text = head + yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=110)
    reason = None
    try:
        replace_file(path, text.encode(), mode=0o644, what="policy")
    except OSError as error:
        reason = error_words(error)
    if reason is not None:
        raise InputError(f"{path.name}: must be a file that can be written: {reason}")
