"""Personal data from CSV files, as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from anon_pipeline.base.errors import InputError, raise_alone, withhold_text
from anon_pipeline.base.record_numbers import RecordNumbers
from anon_pipeline.base.size_bounds import BoundedLines, Held, limit_error, open_readable
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.bounds import refuse_large_file, refuse_long_lines, refuse_long_texts
from anon_pipeline.sources.encodings import refuse_utf8_read_otherwise
from anon_pipeline.sources.separators import refuse_other_separator
from anon_pipeline.sources.swallowed_records import refuse_swallowed_records
from anon_pipeline.sources.typed_cells import TITLED, refuse_repeated

_UNREADABLE = (OSError, pa.ArrowException, ValueError, LookupError, csv.Error)
_LIMITS = Limits()
_BLOCK = 2**20
_FEW, _NEARLY_ALL = 3, 0.8  # lines, and their share, that do not fit the first one: it may be a title


def read_csv(
    path: Path | Held,
    *,
    options: SourceOptions,
    limits: Limits = _LIMITS,
    numbers: Sequence[str] = (),
    quoted_missing: bool = True,
) -> pd.DataFrame:
    """Read a CSV file with a header; every column stays text, so that ``02139`` keeps its zero.

    Args:
        path: the file, or what is held of it.
        options: separator, encoding, decimal mark, texts for a missing value (the empty one always is).
        numbers: columns whose decimal mark is made a point.
        quoted_missing: whether ``""`` stands for a missing value, or for an empty text.
    Returns:
        (n, columns) texts.
    Raises:
        InputError: unreadable, no header, repeated column names, lines of the wrong length (their number),
            a limit that is not kept (its name).
    """
    with withhold_text(f"{path.name}: must be a readable CSV file", *_UNREADABLE, encoding=options.encoding):
        refuse_large_file(path, limits)
        lines = refuse_long_lines(path, options.encoding, limits)
        refuse_utf8_read_otherwise(path, options.encoding)
        names = _header(path, options, limits)
        how = _how(names, options, limits, quoted_missing=quoted_missing)
        if lines > limits.rows + 1:  # unless they are lines within quotes
            for _ in _blocks(path, how, limits):
                pass
        table, torn = _parse(path, how, limits)
        if table is None:
            titled = len(torn) >= max(_FEW, _NEARLY_ALL * (lines - 2))
            raise _torn_error(path.name, len(names), torn, titled=titled)
        refuse_long_texts(path, table, limits)
        refuse_swallowed_records(path.name, table, options.sep)
        frame: pd.DataFrame = table.to_pandas()
    if list(frame.columns) != names:  # then their types were guessed
        raise _guessed_header(path)
    for name in set(numbers) & set(names) if options.decimal == "," else ():
        frame[name] = _with_points(frame[name])
    return frame


def csv_portions(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the records of a CSV file some at a time, as `read_csv` reads them.

    Files that are not UTF-8 are held in memory as a whole.

    Raises:
        InputError: see `read_csv`; lines of the wrong length are not counted.
    """
    with withhold_text(f"{path.name}: must be a readable CSV file", *_UNREADABLE, encoding=options.encoding):
        refuse_large_file(path, limits)
        refuse_long_lines(path, options.encoding, limits)
        refuse_utf8_read_otherwise(path, options.encoding)
        names = _header(path, options, limits)
        how = _how(names, options, limits, quoted_missing=True)
        yield pa.schema([(name, pa.string()) for name in names]).empty_table()
        marked = [name for name in names if name in numbers] if options.decimal == "," else []
        before = 0
        for block in _blocks(path, how, limits):
            if block.schema.names != names:
                raise _guessed_header(path)
            refuse_long_texts(path, block, limits)
            table = pa.Table.from_batches([block])
            refuse_swallowed_records(path.name, table, options.sep, before=before)
            before += len(block)
            for name in marked:
                column = _with_points(table[name].to_pandas().astype(object))
                whole = pa.array(column, pa.string(), from_pandas=True)
                table = table.set_column(names.index(name), name, whole)
            yield table


def _guessed_header(path: Path | Held) -> InputError:
    return InputError(f"{path.name}: must have a plain header line, got one that can be read in two ways")


def _with_points(column: pd.Series) -> pd.Series:
    """Exchange commas and points: a point is no decimal mark then, so 1.234 must not be read as one."""
    swapped: pd.Series = column.str.translate(str.maketrans(",.", ".,"))
    return swapped


@dataclass(frozen=True, slots=True, eq=False)
class _How:
    """The encoding of one CSV file, and Arrow's options for it."""

    encoding: str
    read: pa_csv.ReadOptions
    parse: Mapping[str, Any]
    convert: pa_csv.ConvertOptions


def _how(names: Sequence[str], options: SourceOptions, limits: Limits, *, quoted_missing: bool) -> _How:
    return _How(
        # a record must fit into a block, and Arrow counts blocks in 32 bits
        options.encoding,
        pa_csv.ReadOptions(block_size=max(_BLOCK, limits.line_bytes), skip_rows=options.skip_lines),
        {
            "delimiter": options.sep,
            "newlines_in_values": True,
            "ignore_empty_lines": len(names) > 1,  # in a single column an empty line is a missing value
        },
        pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=["", *options.missing],
            strings_can_be_null=True,
            quoted_strings_can_be_null=quoted_missing,
        ),
    )


def _parse(path: Path | Held, how: _How, limits: Limits) -> tuple[pa.Table | None, list[int]]:
    """Return a CSV file's table, or none and the numbers of the records with too many or too few fields.

    Arrow's threads never call Python: what is left of such a call when the process ends would abort it. So
    the lines are counted in a second reading, in this thread alone.
    """
    try:
        with _within_a_block(path, limits), _as_utf8(path, how.encoding) as file:
            table = pa_csv.read_csv(
                file,
                read_options=how.read,
                parse_options=pa_csv.ParseOptions(**how.parse),
                convert_options=how.convert,
            )
    except pa.ArrowInvalid as error:
        if not _is_torn(error):
            raise
    else:
        return table, []
    return None, _torn_lines(path, how, limits)


def _is_torn(error: pa.ArrowInvalid) -> bool:
    """Tell whether Arrow met a line with too many or too few fields."""
    return re.search(r"Expected \d+ columns, got \d+", str(error)) is not None


def _torn_error(name: str, fields: int, torn: Sequence[int], *, titled: bool) -> InputError:
    """Return the error about lines with too many or too few fields; which they are is withheld.

    Args:
        titled: whether the first line may be a title, and no header.
    """
    wanted, got = f"{fields} field{'s' * (fields != 1)}", f"{len(torn)} line{'s' * (len(torn) != 1)}"
    said = f"{name}: every line must have {wanted}, got {got} with more or fewer"
    return InputError(
        f"{said}. {TITLED}" if titled else said,
        records=[RecordNumbers(f"{name}, with more or fewer fields", torn)],
    )


def _torn_lines(path: Path | Held, how: _How, limits: Limits) -> list[int]:
    """Number the records with too many or too few fields; with one thread Arrow calls Python in this one.

    Returns:
        Their numbers, from 1: the header, lines before it, and empty lines are not counted.
    """
    torn: list[int] = []

    def count(row: pa_csv.InvalidRow) -> str:
        """Note the number of a line, and continue after it."""
        torn.append((row.number or 1) - 1 - how.read.skip_rows)  # Arrow counts the header
        return "skip"

    alone = pa_csv.ReadOptions(
        block_size=how.read.block_size, skip_rows=how.read.skip_rows, use_threads=False
    )
    with _within_a_block(path, limits), _as_utf8(path, how.encoding) as file:
        pa_csv.read_csv(
            file,
            read_options=alone,
            parse_options=pa_csv.ParseOptions(**how.parse, invalid_row_handler=count),
            convert_options=how.convert,
        )
    return torn


def _blocks(path: Path | Held, how: _How, limits: Limits) -> Iterator[pa.RecordBatch]:
    """Yield the records of a file block by block.

    Raises:
        InputError: more than ``rows``, or lines of the wrong length.
    """
    rows = 0
    try:
        with (
            _within_a_block(path, limits),
            _as_utf8(path, how.encoding) as file,
            pa_csv.open_csv(file, how.read, pa_csv.ParseOptions(**how.parse), how.convert) as blocks,
        ):
            for block in blocks:
                rows += len(block)
                if rows > limits.rows:
                    raise limit_error(path.name, "rows", limits.rows)
                yield block
    except pa.ArrowInvalid as error:
        if not _is_torn(error):
            raise
    else:
        return
    raise InputError(f"{path.name}: every line must have as many fields as the header")


def as_arrow_file(path: Path | Held) -> pa.NativeFile:
    """Open a file for Arrow, which would unpack a path that ends in ``.gz``, within no limit.

    Bytes are copied into Arrow's own memory: its threads must not free any of Python's when the process ends.
    """
    if not isinstance(path, Held):
        return pa.OSFile(str(path))
    own = pa.BufferOutputStream()
    own.write(path.data)
    return pa.BufferReader(own.getvalue())


def _as_utf8(path: Path | Held, encoding: str) -> pa.NativeFile:
    """Open a file of any encoding for Arrow, which would call Python's decoder from its threads."""
    if codecs.lookup(encoding).name == "utf-8":
        return as_arrow_file(path)
    own = pa.BufferOutputStream()
    with io.TextIOWrapper(open_readable(path), encoding=encoding, newline="") as text:
        while piece := text.read(_BLOCK):
            own.write(piece.encode())
    return pa.BufferReader(own.getvalue())


@contextmanager
def _within_a_block(path: Path | Held, limits: Limits) -> Iterator[None]:
    """Name the limit when a quoted record, whose lines are short, does not fit into Arrow's block.

    Raises:
        UnicodeDecodeError: the bytes are not UTF-8; without any of them.
    """
    try:
        yield
    except pa.ArrowInvalid as error:
        if "invalid UTF8" in str(error):
            raise UnicodeDecodeError("utf-8", b"", 0, 0, "") from None
        if "straddling" not in str(error):
            raise
    else:
        return
    raise_alone(limit_error(path.name, "line_bytes", limits.line_bytes))


def _header(path: Path | Held, options: SourceOptions, limits: Limits) -> list[str]:
    """Return the column names; refuse an empty file, repeated names, and too many."""
    marked = codecs.lookup(options.encoding).name == "utf-8"  # perhaps with a byte order mark
    encoding = "utf-8-sig" if marked else options.encoding
    with io.TextIOWrapper(open_readable(path), encoding=encoding, newline="") as file:
        head = BoundedLines(file, limits.line_bytes, limit_error(path.name, "line_bytes", limits.line_bytes))
        for _ in islice(head, options.skip_lines):
            head.next_record()
        rows = csv.reader(head, delimiter=options.sep)
        names = next((row for row in rows if row), [])
        head.next_record()
        refuse_other_separator(path, names, next(rows, []) if len(names) == 1 else [], options.sep)
    if not names:
        raise InputError(f"{path.name}: must have a header line, got an empty file")
    if len(names) > limits.columns:
        raise limit_error(path.name, "columns", limits.columns, got=len(names))
    refuse_repeated(path.name, names, titled=not options.skip_lines and names.count("") > len(names) // 2)
    return names
