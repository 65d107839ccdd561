"""A released table as several data files, and the one table that they are.

Belongs here: where a table is cut, and how its files are joined again. Does not belong here: the formats
(`file_formats`), reading from a folder (`release_files`).
Decision: docs/adr/0081-a-release-in-several-files.md.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.releases import ReleaseFormat, format_of
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.parquet import parquet_table

MOST_FILES = 10_000
"""Data files of a release: a manifest that names more would be too large to be read."""


def cut_table(table: pa.Table, records_per_file: int | None) -> Iterator[pa.Table]:
    """Yield the parts of a table, in its order: all of as many records, but for the last one.

    Args:
        records_per_file: of each part, ≥ 1; None: one part. An empty table is one part, too.
    """
    step = records_per_file or max(len(table), 1)
    for start in range(0, max(len(table), 1), step):
        yield table.slice(start, step)


def expected_records(total: int, records_per_file: int | None) -> list[int]:
    """Return how many records each file of a release of so many records has."""
    step = records_per_file or max(total, 1)
    return [min(step, total - start) for start in range(0, max(total, 1), step)]


def join_files(files: Sequence[Held], limits: Limits) -> Held:
    """Return one file with the records of all, in their order; a single file is returned as it is.

    Args:
        files: of one release, in the order of its manifest; at least one, all of one format.
        limits: of each file, and of rows and bytes of all together.
    Raises:
        InputError: a file that cannot be read, files with different columns or types, or a limit that is
            not kept.
    """
    if len(files) == 1:
        return files[0]
    name = files[0].name
    form = format_of(name)
    if any(format_of(file.name) is not form for file in files):
        raise InputError(f"{name}: all data files must have the same format")
    with withhold_text(f"{name}: all data files must be readable", pa.ArrowException, OSError, ValueError):
        data = _joined_tables(files, form, limits) if form.typed else _joined_lines(files)
    return Held(name, data)


def _joined_tables(files: Sequence[Held], form: ReleaseFormat, limits: Limits) -> bytes:
    """Join files that say the types of their columns."""
    tables, rows, size = list[pa.Table](), 0, 0
    for file in files:
        table = parquet_table(file, limits=limits)
        rows, size = rows + len(table), size + table.nbytes
        for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
            if got > getattr(limits, limit):
                raise limit_error(files[0].name, limit, getattr(limits, limit))
        tables.append(table)
    if any(not table.schema.equals(tables[0].schema) for table in tables):
        raise InputError(f"{files[0].name}: all data files must have the same columns and types")
    buffer = io.BytesIO()
    import_entry(form.writes)(pa.concat_tables(tables).unify_dictionaries(), buffer)
    return buffer.getvalue()


def _joined_lines(files: Sequence[Held]) -> bytes:
    """Join files of lines, each with a header."""
    header = _header(files[0].data)
    if any(not header or not file.data.startswith(header) for file in files):
        raise InputError(f"{files[0].name}: all data files must have the same header")
    return b"".join([files[0].data, *(file.data[len(header) :] for file in files[1:])])


def _header(data: bytes) -> bytes:
    """Return the first line with its end; line breaks within quotes do not end it. Empty: there is none."""
    end = data.find(b"\n")
    while end >= 0 and data.count(b'"', 0, end) % 2:
        end = data.find(b"\n", end + 1)
    return data[: end + 1]
