"""The limits of a source, taken from a file before it is read, and from what was read so far."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import FOOTER_BYTES, Held, file_size, limit_error, open_readable
from anon_pipeline.policy.files import Limits

_BLOCK = 2**20
_UNDIVIDED = ("utf-8", "ascii", "iso8859-", "cp125", "latin")  # whose newline is the byte 10, and only that


def refuse_large_file(path: Path | Held, limits: Limits) -> None:
    """Refuse a file by its size.

    Raises:
        InputError: more than ``file_bytes``.
        OSError: not there, or no plain file.
    """
    size = file_size(path)
    if size > limits.file_bytes:
        raise limit_error(path.name, "file_bytes", limits.file_bytes, got=size)


@dataclass(slots=True)
class _Lines:
    """What a scan has seen: the length of the line that it is in, and the lines before."""

    begun: int = 0
    ended: int = 0


def refuse_long_lines(path: Path | Held, encoding: str, limits: Limits) -> int:
    """Read a CSV file once, a block at a time, and refuse a line that is too long.

    Args:
        limits: ``line_bytes`` and, in case the file grows, ``file_bytes``.
    Returns:
        An upper bound of its lines.
    Raises:
        InputError: naming the limit.
        OSError, ValueError, LookupError: unreadable.
    """
    seen, read = _Lines(), 0
    for block in _blocks(path, encoding):
        read += len(block)
        if read > 4 * limits.file_bytes:  # a character of an encoding may be four bytes of UTF-8
            raise limit_error(path.name, "file_bytes", limits.file_bytes)
        longest = _advance(seen, block)
        if longest > limits.line_bytes:
            raise limit_error(path.name, "line_bytes", limits.line_bytes)
    return seen.ended + 1


def _blocks(path: Path | Held, encoding: str) -> Iterator[bytes]:
    """Yield a file's bytes, or their UTF-8 where the encoding hides its newlines."""
    if codecs.lookup(encoding).name.startswith(_UNDIVIDED):
        with open_readable(path) as file:
            while block := file.read(_BLOCK):
                yield block
    else:
        with io.TextIOWrapper(open_readable(path), encoding=encoding, newline="") as text:
            while part := text.read(_BLOCK):
                yield part.encode(errors="surrogatepass")


def _advance(seen: _Lines, block: bytes) -> int:
    """Count a block's lines; return the longest, the one that has begun included."""
    values = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((values == 10) | (values == 13))
    if not len(ends):
        seen.begun += len(block)
        return seen.begun
    seen.ended += len(ends) - block.count(b"\r\n")
    longest = max(seen.begun + int(ends[0]), int(np.diff(ends).max(initial=1)) - 1)
    seen.begun = len(block) - int(ends[-1]) - 1
    return max(longest, seen.begun)


def refuse_metadata(path: Path | Held, file: pq.ParquetFile, limits: Limits) -> None:
    """Refuse a Parquet file by what its metadata says, before any value is read.

    Args:
        limits: ``columns``, ``rows``, ``uncompressed_bytes``, ``cell_bytes`` for values of a fixed length.
    Raises:
        InputError: every limit that is not kept; or sizes below 0.
    """
    data = file.metadata
    groups = [data.row_group(group) for group in range(data.num_row_groups)]  # of a column, Arrow may abort
    stored = sum(group.total_byte_size for group in groups)
    rows = max(data.num_rows, sum(group.num_rows for group in groups))
    widest = max((data.schema.column(c).length or 0 for c in range(data.num_columns)), default=0)
    sizes = {"columns": data.num_columns, "rows": rows, "uncompressed_bytes": stored, "cell_bytes": widest}
    problems = [
        limit_error(path.name, limit, most, got=size).problems[0]
        for limit, size in sizes.items()
        if size > (most := getattr(limits, limit))
    ]
    if min((size for group in groups for size in (group.total_byte_size, group.num_rows)), default=0) < 0:
        problems.append(f"{path.name}: sizes in the metadata must not be below 0")
    if problems:
        raise InputError(problems)


def refuse_footer(path: Path | Held) -> None:
    """Refuse a Parquet file whose metadata alone would fill the memory."""
    with open_readable(path) as file:
        file.seek(max(file_size(path) - 8, 0))
        length, mark = int.from_bytes(file.read(4), "little"), file.read(4)
    if mark == b"PAR1" and length > FOOTER_BYTES:
        raise limit_error(path.name, "of a Parquet file's metadata", FOOTER_BYTES, got=length)


def _text_bytes(column: pa.Array | pa.ChunkedArray) -> tuple[int, int]:
    """Return a column's bytes once written out, and those of its longest text; (bytes, 0) without texts.

    Args:
        column: (n,) any type; of a dictionary only the texts are looked at, not written out.
    """
    kind = column.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        lengths = _view_lengths(column)
        return int(lengths.sum()) + 4 * len(column), int(lengths.max(initial=0))
    if isinstance(column, pa.ChunkedArray):
        sizes = [_text_bytes(chunk) for chunk in column.chunks]
        return sum(size for size, _ in sizes), max((longest for _, longest in sizes), default=0)
    if pa.types.is_dictionary(kind):
        if not _of_text(kind.value_type):
            return column.nbytes, 0
        lengths = pc.binary_length(column.dictionary)
        used = lengths.take(column.indices)
        return (pc.sum(used).as_py() or 0) + 4 * len(column), pc.max(used).as_py() or 0
    if not _of_text(kind):
        return column.nbytes, 0
    return column.nbytes, pc.max(pc.binary_length(column)).as_py() or 0


def _view_lengths(column: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each text of a column of views, (n,); 0: missing.

    The first four bytes of a view are its text's length, which no function of Arrow returns.
    """
    views = column.buffers()[1]
    if views is None or not len(column):
        return np.zeros(0, np.int64)
    words = np.frombuffer(views, np.int32).reshape(-1, 4)[column.offset : column.offset + len(column), 0]
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), words, 0).astype(np.int64)


def _of_text(kind: pa.DataType) -> bool:
    return any(
        fits(kind)
        for fits in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def refuse_long_texts(
    path: Path | Held, table: pa.Table | pa.RecordBatch, limits: Limits, *, first: int = 0
) -> int:
    """Refuse a text that is too long, by its column.

    Args:
        limits: ``cell_bytes``.
        first: place of the table's first column in the file, from 0.
    Returns:
        Bytes of the table once its dictionaries are written out.
    Raises:
        InputError: naming the columns by their place (their names may be cells, without a header).
    """
    sizes = [_text_bytes(table.column(place)) for place in range(table.num_columns)]
    long = [str(place) for place, (_, longest) in enumerate(sizes, first + 1) if longest > limits.cell_bytes]
    if long:
        raise limit_error(f"{path.name}, column {', '.join(long)}", "cell_bytes", limits.cell_bytes)
    return sum(size for size, _ in sizes)
