"""A released table as several data files, and the one table that they are.

Belongs here: where a table is cut, and how its files are joined again. Does not belong here: the formats
(`file_formats`), reading from a folder (`release_files`).
Decision: docs/adr/0081-a-release-in-several-files.md.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence

import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, Held, limit_error
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.releases import ReleaseFormat, format_of
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.parquet import parquet_table

MOST_FILES = 10_000
"""Data files of a release: a manifest that names more would be too large to be read."""
_ITEM = 512  # bytes of a manifest for a data file, but for the types of its columns
_TYPE = 64  # for the type of a column, with quotes and space


def most_files(columns: Sequence[str]) -> int:
    """Return how many data files a release may have so that its manifest, which lists them, can be read.

    Half of a manifest is left for everything else in it.

    Args:
        columns: names of the released columns, which the manifest repeats for each file.
    """
    types = sum(len(json.dumps(name, ensure_ascii=False).encode()) + _TYPE for name in columns)
    return min(MOST_FILES, MANIFEST_BYTES // 2 // (types + _ITEM))


def cut_records(total: int, records_per_file: int | None) -> Iterator[tuple[int, int]]:
    """Yield where each part of a table begins and ends: all have as many records, but for the last one.

    Args:
        total: records of the table.
        records_per_file: of each part, ≥ 1; None: one part. An empty table is one part, too.
    """
    step = records_per_file or max(total, 1)
    for start in range(0, max(total, 1), step):
        yield start, min(start + step, total)


def expected_records(total: int, records_per_file: int | None) -> list[int]:
    """Return how many records each file of a release of so many records has."""
    return [stop - start for start, stop in cut_records(total, records_per_file)]


def has_expected_records(records: Sequence[int], records_per_file: int | None) -> bool:
    """Tell whether files have as many records each as `cut_records` gives them; the numbers may be forged."""
    total = sum(records)
    step = records_per_file or max(total, 1)
    if len(records) != max(-(-total // step), 1):
        return False
    return list(records) == expected_records(total, records_per_file)


def join_files(files: Sequence[Held], records: Sequence[int], limits: Limits) -> Held:
    """Return one file with the records of all, in their order; a single file is returned as it is.

    Args:
        files: of one release, in the order of its manifest; at least one, all of one format.
        records: how many each must have; of a single file that is not asked here.
        limits: of each file, and of rows and bytes of all together.
    Raises:
        InputError: a file that cannot be read or has another number of records, files with different columns
            or types, or a limit that is not kept.
    """
    if len(files) == 1:
        return files[0]
    name = files[0].name
    form = format_of(name)
    if any(format_of(file.name) is not form for file in files):
        raise InputError(f"{name}: all data files must have the same format")
    with withhold_text(f"{name}: all data files must be readable", pa.ArrowException, OSError, ValueError):
        if form.typed:
            return Held(name, _joined_tables(files, records, form, limits))
        data = _joined_lines(files, records, limits)
    return Held(name, data)


def _joined_tables(
    files: Sequence[Held], records: Sequence[int], form: ReleaseFormat, limits: Limits
) -> bytes:
    """Join files that say the types of their columns."""
    tables, rows, size = list[pa.Table](), 0, 0
    for file, many in zip(files, records, strict=True):
        table = parquet_table(file, limits=limits)
        _refuse_other_number(file, len(table), many)
        rows, size = rows + len(table), size + table.nbytes
        for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
            if got > getattr(limits, limit):
                raise limit_error(files[0].name, limit, getattr(limits, limit))
        tables.append(table)
    if any(not table.schema.equals(tables[0].schema) for table in tables):
        raise InputError(f"{files[0].name}: all data files must have the same columns and types")
    buffer = io.BytesIO()
    import_entry(form.writes)([pa.concat_tables(tables).unify_dictionaries()], buffer)
    return buffer.getvalue()


def _joined_lines(files: Sequence[Held], records: Sequence[int], limits: Limits) -> bytes:
    """Join files of lines, each with a header; each is read alone first: none may end within a record."""
    header, rows = _header(files[0].data, limits.line_bytes), 0
    for file, many in zip(files, records, strict=True):
        if not header or not file.data.startswith(header) or not file.data.endswith(b"\n"):
            raise InputError(
                f"{file.name}: all data files must have the same header, and end with the end of a line"
            )
        found = len(import_entry(format_of(file.name).loads)(file, limits))
        _refuse_other_number(file, found, many)
        rows += found
        if rows > limits.rows:
            raise limit_error(files[0].name, "rows", limits.rows)
    return b"".join([files[0].data, *(file.data[len(header) :] for file in files[1:])])


def _refuse_other_number(file: Held, found: int, stated: int) -> None:
    """Refuse a file with another number of records than its manifest states."""
    if found != stated:
        raise InputError(f"{file.name}: must have {stated} records as the manifest states, got {found}")


def _header(data: bytes, most: int) -> bytes:
    """Return the first line with its end; line breaks within quotes do not end it.

    Args:
        most: bytes of it.
    Returns:
        Empty if there is no such line.
    """
    quotes, start, end = 0, 0, data.find(b"\n", 0, most)
    while end >= 0:
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return data[: end + 1]
        start, end = end, data.find(b"\n", end + 1, most)
    return b""
