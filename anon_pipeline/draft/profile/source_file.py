"""What a command is given to look at: a table's own file, or a file that says where the table lies.

The second is a YAML file with the section `source` of a policy: of a database, of a file elsewhere, of a
sheet. So each kind of source that a policy can name can be looked at before there is a policy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.project import project_root
from anon_pipeline.draft.profile.layout import Layout, find_layout, read_table
from anon_pipeline.policy.hierarchies import ALL_OR_NOTHING
from anon_pipeline.policy.load import policy_from, read_document
from anon_pipeline.policy.source import Source
from anon_pipeline.sources import read_source

_SECTION = "source"
_SUFFIXES = (".yaml", ".yml")
_ANY = {"columns": {"any": {"role": "generalize", "hierarchy": ALL_OR_NOTHING}}, "anonymize": {"k": 2}}


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A table that was given.

    frame: (n, columns) as it is read: private.
    layout: how its file is written, or the kind of its source.
    source: the section of a policy that says where it lies; None: the file is the table.
    """

    frame: pd.DataFrame = field(repr=False)
    layout: Layout
    source: dict[str, Any] | None = None


def read_given(path: Path) -> Given:
    """Read the table that a file is, or that a YAML file names.

    Args:
        path: of either; paths in the second are relative to its project, as in a policy.
    Raises:
        InputError: see `layout.find_layout`, `layout.read_table` and `sources.read_source`; no section
            ``source``, or more than it; a source with partitions.
    """
    if path.suffix.lower() not in _SUFFIXES:
        layout = find_layout(path)
        return Given(read_table(path, layout), layout)
    document = _document(path)
    if _has_partitions(document):
        raise InputError(
            f"{path.name}: must name one table, got a source with partitions. Name one of them, "
            "and write the partition into the policy afterwards."
        )
    policy = policy_from({"name": "given", _SECTION: document, **_ANY})
    frame = read_source(policy, folder=project_root(path))
    return Given(frame, Layout(policy.source.kind.name), document)


def _has_partitions(document: Any) -> bool:
    """Tell whether a section names a partition; one with mistakes does not: they are said later."""
    try:
        return bool(Source.model_validate(document).named_partitions())
    except ValidationError:
        return False


def _document(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"{path.name}: must be a readable file, got none")
    document = read_document(path)
    if not isinstance(document, dict) or [*document] != [_SECTION]:
        said = f"must have the key {_SECTION} alone, as a policy has it, to say where the table lies"
        raise PolicyError([f"{path.name}: {said}"])
    return document[_SECTION]
