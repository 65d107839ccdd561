"""Numbers for the different texts of a column.

Arrow keeps different texts in a hash table, which needs some 140 bytes for each. Of huge columns a part is
numbered at a time: texts whose bytes have the same remainder of their sum.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.threads import HUGE

_PARTS = 16


def number_texts(texts: pa.Array | pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.LargeStringArray]:
    """Number texts in the order in which they are first there, missing ones as one of them.

    Args:
        texts: (n,) of the type large_string.
    Returns:
        (n,) numbers 0 … m−1, and (m,) the texts, each once.
    """
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if len(whole) >= HUGE:
        return _number_parts(whole)
    encoded = whole.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary


def _number_parts(texts: pa.LargeStringArray) -> tuple[NDArray[np.int64], pa.LargeStringArray]:
    """Number texts part by part, and then in the order of the whole."""
    numbers, first, many = np.empty(len(texts), np.int64), list[NDArray[np.int64]](), 0
    part_of = _parts_of(texts)
    for part in range(_PARTS):
        rows = np.flatnonzero(part_of == part)
        encoded = texts.take(pa.array(rows)).dictionary_encode(null_encoding="encode")
        own = encoded.indices.to_numpy()
        numbers[rows] = own
        numbers[rows] += many
        begins = np.empty(len(encoded.dictionary), np.int64)
        begins[own[::-1]] = rows[::-1]  # of places that are written twice the last one stays
        first.append(begins)
        many += len(begins)
    places = np.concatenate(first)
    del first, encoded, own
    order = np.argsort(places)
    ranks = np.empty(many, np.int64)
    ranks[order] = np.arange(many)
    for block in slices_of(len(numbers)):
        numbers[block] = ranks[numbers[block]]
    return numbers, texts.take(pa.array(places[order]))


def _parts_of(texts: pa.LargeStringArray) -> NDArray[np.uint8]:
    """Return a part for each text, (n,), the same for equal ones; missing and empty ones are in the first."""
    _, offsets, data = texts.buffers()
    bytes_ = np.frombuffer(data or b"", np.uint8)
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    parts = np.zeros(len(texts), np.uint8)
    for block in slices_of(len(texts)):
        begins, stops = ends[block], ends[block.start + 1 : block.stop + 1]
        there = np.flatnonzero(stops > begins)
        if len(there):  # of neighbors that are not empty one begins where the other one ends
            sums = np.add.reduceat(bytes_[: stops[-1]], begins[there], dtype=np.uint32)
            parts[block.start + there] = sums % _PARTS
    null = texts.is_null().to_numpy(zero_copy_only=False)
    parts[null] = 0
    return parts
