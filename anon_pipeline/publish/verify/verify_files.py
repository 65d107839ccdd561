"""The files of a release that is verified: data, page, what else lies there, and the shape of its
manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.size_bounds import REPORT_BYTES, Held
from anon_pipeline.catalog.releases import format_of
from anon_pipeline.gate import Status, Verdict
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.file_formats import column_types, file_types, from_bytes, schema_of
from anon_pipeline.publish.manifest.manifest import BESIDE
from anon_pipeline.publish.parts import has_expected_records
from anon_pipeline.publish.release_files import Read, is_page, limits_of, read_bytes, readings
from anon_pipeline.publish.verify.manifest_facts import broken_names, can_be_partition
from anon_pipeline.publish.verify.stray_files import count_stray_files

FOLDER = "folder"
"""Name of the verdict on files next to a manifest."""


def verdict_on(limit: str, wrong: str | None) -> Verdict:
    """Return the verdict on a check: refused with what is wrong, else passed."""
    return Verdict(limit, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def verdict_on_list(limit: str, problems: list[str]) -> Verdict:
    """Return the verdict on a check that can find several problems."""
    return verdict_on(limit, "; ".join(problems) or None)


def unmeasured_verdict(limit: str, why: str) -> Verdict:
    """Return the verdict on a check that could not be made, and why."""
    return Verdict(limit, Status.UNMEASURED, reason=why)


def check_files(read: Read, shape: list[str], *, policy: Policy | None, same: bool) -> Iterator[Verdict]:
    """Compare the data files with what the manifest says of them: bytes, names, types of their columns.

    The types are compared once the content was read, within the limits, and is the manifest's.

    Args:
        policy: whether there are several files, and of how many records; None: not known.
    """
    problems = _wrong_number(read, policy)
    problems += malformed_parts(shape, "files")
    if not problems and not malformed_parts(shape, "release", *BESIDE):
        problems += broken_names(read.document)
    if not problems and same and read.held is not None and not _same_types(read, read.held):
        problems.append("the types must be those of the file's columns")
    yield verdict_on_list("files", problems)
    found = dict[str, str | None]()
    for item, wrong in zip(read.items, read.wrong, strict=False):
        found[item["name"]] = found.get(item["name"]) or wrong
    for name, wrong in found.items():
        yield verdict_on(f"file.{name}", wrong)


def _wrong_number(read: Read, policy: Policy | None) -> list[str]:
    """Say whether a release has another number of data files, or of records in them, than its policy says.

    Manifests of version 1 name one file, whatever the policy says.
    """
    files, version = len(read.items), read.document["manifest_version"]
    if files != 1 and version == 1:
        return [f"a release has one data file, got {files}"]
    if any(item.get("types") != read.types for item in read.items):
        return ["all data files must have the same types"]
    if policy is None or version == 1:
        return []
    records = [item["records"] for item in read.items]
    if has_expected_records(records, policy.publish.records_per_file):
        return []
    return ["the data files must have as many records each as publish.records_per_file of the policy says"]


def _same_types(read: Read, held: Held) -> bool:
    """Tell whether the types that a manifest names, if it does, are the file's.

    Parquet says its own; a CSV must have the manifest's content when it is read with them, and then these
    types.
    """
    types = read.types
    if types is None:
        return True
    try:
        form = format_of(held.name)
        if form.typed:
            return list(file_types(held.data, form.name).items()) == list(types.items())
        found = list(_read_typed(held.data, types, form.name))
    except Exception:  # noqa: BLE001 - Arrow quotes what it could not read
        return False
    wanted = (read.document["data_digest"], list(types.items()))
    return any((digest_frame(frame), list(column_types(frame).items())) == wanted for frame in found)


def _read_typed(data: bytes, types: Mapping[str, str], form: str) -> Iterator[pd.DataFrame]:
    """Yield a file of a format without types, read with types, in each way that it may say its formulas."""
    like = schema_of(types)
    yield from_bytes(data, form, like=like)
    with suppress(InputError):  # then they were kept
        yield from_bytes(data, form, like=like, formulas="neutralize")


def check_report_file(folder: Path, document: Mapping[str, Any], shape: list[str]) -> Verdict:
    """Compare the report with its digest in the manifest; releases made before 0.1.0 have none."""
    if "report" not in document and not malformed_parts(shape, "report"):
        return unmeasured_verdict("report", "the manifest names none")
    item = document.get("report", {})
    try:
        if malformed_parts(shape, "report") or not is_page(item):
            raise InputError("the manifest must name it with digest and size")
        read_bytes(folder / item["name"], item, Limits(file_bytes=REPORT_BYTES))
    except OSError as error:
        return verdict_on("report", error_words(error))
    except InputError as error:
        return verdict_on("report", str(error))
    return verdict_on("report", None)


def check_folder(folder: Path, read: Read, policy: Policy | None) -> Verdict:
    """Refuse files next to the manifest that no release has written there."""
    try:
        found = count_stray_files(
            folder,
            read.document,
            most=limits_of(policy).file_bytes,
            divides=lambda key: policy is None or can_be_partition(key, policy),
        )
    except OSError as error:
        return unmeasured_verdict(FOLDER, error_words(error))
    if found.strangers:
        reason = f"the folder must hold only files that the manifest names, got {found.strangers} others"
        if found.folders:
            reason += f" ({found.folders} of them folders that are no partition of this release)"
        return verdict_on(FOLDER, reason)
    beside = [
        f"{many} {'file' if many == 1 else 'files'} {what}"
        for many, what in (
            (found.former, "of earlier releases"),
            (
                found.unfinished,
                "named like files of an interrupted run, whose content was not checked: delete them",
            ),
        )
        if many
    ]
    said = f"the folder also holds {' and '.join(beside)}; this manifest does not cover them"
    return Verdict(FOLDER, Status.PASSED, reason=said if beside else None)


def malformed_parts(shape: list[str], *parts: str) -> list[str]:
    """Say which places of some parts of the manifest are not as its version writes them."""
    wrong = [place for place in shape if top_level_key(place) in parts]
    return [f"not as its version writes it: {', '.join(dict.fromkeys(wrong))}"] if wrong else []


def top_level_key(place: str) -> str:
    """Return the top-level key that a place is below."""
    return re.split(r"[.:\[]", place, maxsplit=1)[0]


def check_content(read: Read, policy: Policy | None, known: Table | None) -> Iterator[Verdict]:
    """Compare the table's content with the manifest: its number of records, its digest.

    Args:
        known: the table as the policy reads it, which is compared first; if its digest differs, the file is
            read again. None: there is none.
    """
    name = read.name
    if read.held is None:
        yield verdict_on("data_digest", f"{name} is not the file that the manifest names")
        return
    records, same = 0, False
    try:
        for frame in chain([] if known is None else [known], readings(read, read.held, policy)):
            records = len(frame)
            if same := digest_frame(frame) == read.document["data_digest"]:
                break
    except InputError as error:
        yield verdict_on("data_digest", str(error))
        return
    except Exception as error:  # noqa: BLE001 - Arrow quotes what it could not read
        yield verdict_on("data_digest", f"{name} cannot be read as a table ({type(error).__name__})")
        return
    expected = read.records
    yield verdict_on("records", None if records == expected else f"must be {expected}, got {records}")
    if not same and not format_of(name).typed and policy is None and read.types is None:
        yield unmeasured_verdict(
            "data_digest", "a CSV does not say its columns' types, and neither does the manifest"
        )
    else:
        reason = f"the content of {name} has another digest than the manifest's"
        yield verdict_on("data_digest", None if same else reason)
