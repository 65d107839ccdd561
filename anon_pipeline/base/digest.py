"""A digest of what a table says: names, types, values and missing ones, in order."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.coded_columns import CodedTexts, PackedColumn
from anon_pipeline.base.packed_tables import PackedTable, Table
from anon_pipeline.base.size_bounds import file_size
from anon_pipeline.base.values import to_arrow

_TEXTS = 2**15  # records whose texts are written out at once


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
    if isinstance(frame, PackedTable):
        for name in frame.columns:
            _update_packed(sha, name, frame.packed_column(name))
        return sha.hexdigest()
    for name, column in frame.items():
        _update(sha, str(name), *_canonical(to_arrow(column)))
    return sha.hexdigest()


def digest_packed(name: str, column: PackedColumn, records: int) -> str:
    """Return what `digest_frame` returns of a table of this packed column alone.

    Args:
        records: n.
    Raises:
        InputError: see `digest_frame`.
    """
    sha = hashlib.sha256(str(records).encode())
    _update_packed(sha, name, column)
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
    sha.update(_validity(array))
    if pa.types.is_large_string(array.type):
        filled = array.fill_null("") if array.null_count else array  # it would be copied
        ends = _ends(filled)
        for part in slices_of(len(filled)):
            sha.update(np.diff(ends[part.start : part.stop + 1]).data)
        sha.update(_text_bytes(filled, ends))
        return
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int64())
    filled = array
    if array.null_count:
        filled = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    sha.update(np.ascontiguousarray(filled.to_numpy(zero_copy_only=False)).data)


def _update_packed(sha: hashlib._Hash, name: str, column: PackedColumn) -> None:
    """Add a column; of texts that repeat some at a time, which stay in the processor's cache."""
    if not isinstance(column, CodedTexts):
        _update(sha, name, *_canonical(to_arrow(column.unpack(name))))
        return
    codes, texts = column.codes, column.values.cast(pa.large_string())
    there = texts.is_valid().to_numpy(zero_copy_only=False)
    filled = texts.fill_null("")
    lengths = np.diff(_ends(filled))
    sha.update(f"\x00{len(name)}:{name}\x00{texts.type}\x00".encode(errors="surrogatepass"))
    sha.update(np.packbits(there.take(codes)).data)
    for part in slices_of(len(codes)):
        sha.update(lengths.take(codes[part]).data)
    for part in slices_of(len(codes), most=_TEXTS):
        own = pc.take(filled, pa.array(codes[part]), boundscheck=False)
        sha.update(_text_bytes(own, _ends(own)))


def _validity(array: pa.Array) -> memoryview:
    """Return a bit for each value, 0 where it is missing: eight in a byte, the first one its highest."""
    if array.null_count:
        return np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).data
    bits = np.full(-(-len(array) // 8), 255, np.uint8)
    if len(array) % 8:
        bits[-1] = 256 - (1 << 8 - len(array) % 8)
    return bits.data


def _ends(array: pa.LargeStringArray) -> NDArray[np.int64]:
    """Return where the bytes of the first text begin, and where those of each text end, (n + 1,)."""
    if not len(array):
        return np.zeros(1, np.int64)
    return np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]


def _text_bytes(array: pa.LargeStringArray, ends: NDArray[np.int64]) -> memoryview:
    """Return the texts' UTF-8 bytes end to end; they are not copied."""
    buffer = array.buffers()[2]
    return memoryview(b"") if buffer is None else memoryview(buffer)[ends[0] : ends[-1]]


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a plain file's bytes, as 64 hexadecimal digits.

    Raises:
        OSError: it is not there, or no plain file.
    """
    file_size(path)  # of a device the end may never come
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
