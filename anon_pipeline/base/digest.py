"""A digest of what a table says: names, types, values and missing ones, in order."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.size_bounds import file_size
from anon_pipeline.base.values import to_arrow


def digest_frame(frame: Table) -> str:
    """Return the SHA-256 of a table's content, independent of its index, chunks and file format.

    Args:
        frame: (n, columns); columns of numbers, booleans, dates or texts.
    Returns:
        64 hexadecimal digits; equal for equal names, types and values in equal order. Integers with missing
        values count as floats, a date as its midnight.
    Raises:
        InputError: a column of several kinds of values, or of lists, bytes and the like.
    """
    sha = hashlib.sha256(str(len(frame)).encode())
    for name, column in frame.items():
        _update(sha, str(name), *_canonical(to_arrow(column)))
    return sha.hexdigest()


def digest_column(name: str, column: pa.Array | pa.ChunkedArray) -> str:
    """Return what `digest_frame` returns of a table of this column alone.

    Args:
        column: (n,) as `to_arrow` returns it.
    """
    sha = hashlib.sha256(str(len(column)).encode())
    _update(sha, name, *_canonical(column))
    return sha.hexdigest()


def _canonical(column: pa.Array | pa.ChunkedArray) -> tuple[str, pa.Array]:
    """Name the type and bring the values to the form in which every file format gives them back."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_integer(kind) and column.null_count and _exact(column):
        column = column.cast(pa.float64())  # what pandas makes of them
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = _moments(column)
    elif pa.types.is_decimal(kind) or pa.types.is_time(kind):
        return str(kind), _whole(column.cast(pa.large_string()))
    elif not (pa.types.is_primitive(kind) or pa.types.is_boolean(kind)):
        column = column.cast(pa.large_string())
    return str(column.type), _whole(column)


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _exact(integers: pa.Array | pa.ChunkedArray) -> bool:
    """Tell whether a float can hold each of them."""
    bounds = pc.min_max(integers).as_py()
    return all(bound is None or abs(bound) <= 2**53 for bound in bounds.values())


def _moments(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Bring dates and times to microseconds, where that loses nothing."""
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    micro = column.cast(pa.timestamp("us", tz=zone), safe=False)
    return micro if micro.cast(column.type, safe=False).equals(column) else column


def _update(sha: hashlib._Hash, name: str, kind: str, array: pa.Array) -> None:
    sha.update(f"\x00{len(name)}:{name}\x00{kind}\x00".encode(errors="surrogatepass"))
    sha.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).data)
    if pa.types.is_large_string(array.type):
        filled = array.fill_null("")
        for part in slices_of(len(filled)):
            lengths = pc.binary_length(filled.slice(part.start, part.stop - part.start))
            sha.update(lengths.to_numpy(zero_copy_only=False).astype(np.int64, copy=False).data)
        sha.update(_text_bytes(filled))
        return
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int64())
    filled = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    sha.update(np.ascontiguousarray(filled.to_numpy(zero_copy_only=False)).data)


def _text_bytes(array: pa.LargeStringArray) -> memoryview:
    """Return the texts' UTF-8 bytes end to end; they are not copied."""
    buffer = array.buffers()[2]
    if buffer is None or not len(array):
        return memoryview(b"")
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return memoryview(buffer)[offsets[0] : offsets[-1]]


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a plain file's bytes, as 64 hexadecimal digits.

    Raises:
        OSError: it is not there, or no plain file.
    """
    file_size(path)  # of a device the end may never come
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
