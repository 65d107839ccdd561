"""What a command is given to look at: a table's own file, its URL, or a file that says where the table lies.

The last is a YAML file with the section `source` of a policy: of a database, of a file elsewhere, of a
sheet. So each kind of source that a policy can name can be looked at before there is a policy. How a file is
written is found out, wherever it is, unless the section says it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pydantic import ValidationError

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.base.places import TableUrl
from anon_pipeline.base.project import project_root
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.draft.profile.layout import Layout, find_layout, folder_layout, read_table
from anon_pipeline.policy.hierarchies import ALL_OR_NOTHING
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.policy_file import SUFFIXES, read_document
from anon_pipeline.policy.source import Source
from anon_pipeline.sources import read_source
from anon_pipeline.sources.excel import SheetNotNamedError
from anon_pipeline.sources.paths import local_path
from anon_pipeline.sources.urls import remote_file

_SECTION = "source"
_ANY = {"columns": {"any": {"role": "generalize", "hierarchy": ALL_OR_NOTHING}}, "anonymize": {"k": 2}}


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A table that was given.

    frame: (n, columns) as it is read: private.
    layout: how its file is written, or the kind of its source.
    source: the section of a policy that says where it lies, and how it is written as far as that was found
        out; None: the file is the table.
    """

    frame: pd.DataFrame = field(repr=False)
    layout: Layout
    source: dict[str, Any] | None = None


def names_source(data: Path | TableUrl) -> bool:
    """Tell whether what is given says where the table lies, and is not the table."""
    return isinstance(data, Path) and data.suffix.lower() in SUFFIXES


def read_given(data: Path | TableUrl) -> Given:
    """Read the table that a file is, that is at a URL, or that a YAML file names.

    Args:
        data: paths in a YAML file are relative to its project, as in a policy.
    Raises:
        InputError: see `layout.find_layout`, `layout.read_table` and `sources.read_source`; no section
            ``source``, or more than it; a source with partitions;
            a workbook with several sheets.
    """
    try:
        return _read_one(data)
    except SheetNotNamedError:
        if names_source(data):
            raise
        raise InputError(_name_sheet(data)) from None


def _read_one(data: Path | TableUrl) -> Given:
    if isinstance(data, Path) and not names_source(data):
        layout = find_layout(data)
        return Given(read_table(data, layout), layout)
    document = _document(data) if isinstance(data, Path) else {"url": data.url}
    if _has_partitions(document):
        raise InputError(
            f"{data.name}: must name one table, got a source with partitions. Name one of them, "
            "and write the partition into the policy afterwards."
        )
    policy, folder = _policy(document), project_root(data) if isinstance(data, Path) else Path()
    source = policy.source
    if {"format", "options"} & {*document} or (source.watched is None and source.kind.remote is None):
        return Given(unpack_table(read_source(policy, folder=folder)), Layout(source.kind.name), document)
    file = _file_of(policy, folder)
    layout = folder_layout() if file is None else find_layout(file)
    document = {**document, **_how_written(layout)}
    frame = (
        unpack_table(read_source(_policy(document), folder=folder))
        if file is None
        else read_table(file, layout, source.limits)
    )
    return Given(frame, layout, document)


def _name_sheet(data: Path | TableUrl) -> str:
    """Say how to name the sheet of a workbook where there is no policy yet that could name it."""
    form = next(one.name for one in FORMATS.values() if one.first_rows)
    section: dict[str, Any] = {"format": form, "options": {"sheet": "NAME"}}
    if isinstance(data, TableUrl):
        section = {"url": data.url, **section}
    else:
        file, folder = data.resolve(), project_root(data).resolve()
        path = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else data.name
        section = {"path": path, **section}
    written = yaml.safe_dump(
        section, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9
    )
    return (
        f"{data.name}: has several sheets. Write a file sheet.yaml that names the one to read "
        "(and skip_lines, if lines come before the names of the columns):\n"
        f"  {_SECTION}: {written.strip()}\n"
        f"Then give sheet.yaml in place of {data.name}; init also needs --to POLICY."
    )


def _policy(document: Any) -> Policy:
    """Return a policy with a source, for what reads sources."""
    return policy_from({"name": "source", _SECTION: document, **_ANY})


def _file_of(policy: Policy, folder: Path) -> Path | Held | None:
    """Return the file, or the folder here, that a source is; None: a folder at a URL."""
    path = policy.source.watched
    if path is None:
        return remote_file(policy)
    return local_path(path, f"{_SECTION}.{policy.source.kind.name}", folder, None)


def _how_written(layout: Layout) -> dict[str, Any]:
    form = {} if layout.is_text else {"format": layout.format}
    return form | ({"options": layout.written} if layout.written else {})


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
