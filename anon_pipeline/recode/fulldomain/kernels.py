"""Numba kernels of the lattice search: the classes of one node, from the table of a node below it.

A class is known by its key: the generalized code of each attribute in bits of its own, in as many words as
that takes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads neighboring keys
_HALF = np.uint64(32)


@kernel
def _slot(keys: NDArray[np.int64], row: int, mask: np.uint64) -> np.uint64:
    """Hash all words of a key to the slot where probing begins."""
    mixed = np.uint64(0)
    for word in range(keys.shape[0]):
        mixed = (mixed ^ np.uint64(keys[word, row])) * _MIX
        mixed ^= mixed >> _HALF
    return (mixed * _MIX) >> _HALF & mask


@kernel
def _same(keys: NDArray[np.int64], left: int | np.int64, right: int | np.int64) -> bool:
    """Whether two keys agree in every word."""
    for word in range(keys.shape[0]):  # noqa: SIM110 - numba knows no generator expressions
        if keys[word, left] != keys[word, right]:
            return False
    return True


@kernel
def _roll_up_one(below, changes, slots, out, part):  # type: ignore[no-untyped-def]
    """`roll_up` for keys of one word: a third faster. What is new is written as what is not: few branches."""
    keys, sizes = below[0][0], below[1]
    fields, codes = changes
    table, used = slots
    own, records, labels = out[0][0], out[1], out[2]
    begin, end, found = part
    # Slots are chosen by the highest bits of the mixed key.
    bits = 0
    while (1 << bits) < used:
        bits += 1
    mask, down, labeled = np.uint64(used - 1), np.uint64(64 - bits), len(labels) > 0
    for row in range(begin, end):
        # Write the new codes of the attributes that change into the key.
        key = keys[row]
        for change in range(fields.shape[0]):
            shift = fields[change, 1]
            old = (key >> shift) & fields[change, 2]
            key += (codes[fields[change, 3] + old] - old) << shift
        # Probe from its slot on until the key or a free slot is found.
        slot = (np.uint64(key) * _MIX) >> down
        label = np.int64(table[slot])
        while label >= 0 and own[label] != key:
            slot = (slot + np.uint64(1)) & mask
            label = np.int64(table[slot])
        # Add the records to the class, which begins here if the slot was free.
        new = label < 0
        label = found if new else label
        table[slot] = label
        own[label] = key
        records[label] = sizes[row] + (0 if new else records[label])
        found += new
        if labeled:
            labels[row] = label
    return found


@kernel
def roll_up(
    below: tuple[NDArray[np.int64], NDArray[np.int64]],
    changes: tuple[NDArray[np.int64], NDArray[np.int64]],
    slots: tuple[NDArray[np.int32], int],
    out: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    part: tuple[int, int, int],
) -> int:
    """Generalize the classes of a node further and merge those that become one.

    Keys are compared in full, never by their hash.

    Args:
        below: (w, r) keys and (r,) sizes of the node below.
        changes: (c, 4) word, shift, mask of each attribute that changes and where its new codes begin in the
            second array, (x,), by old code.
        slots: (≥ power of two,) scratch, and that power of two, ≥ 2·r; cleared with the first row.
        out: (w, ≥ r) keys, (≥ r,) sizes, and (r,) class of each class below, or (0,) where nobody asks.
        part: first row, the row after the last one, and classes found in the rows before.
    Returns:
        Number of classes, in order of their first row.
    """
    keys, sizes = below
    fields, codes = changes
    table, used = slots
    own, records, labels = out
    begin, end, found = part
    mask = np.uint64(used - 1)
    if begin == 0:
        table[:used] = -1
    if keys.shape[0] == 1:
        return int(_roll_up_one(below, changes, slots, out, part))
    for row in range(begin, end):
        # Copy the key after those found so far, and write the new codes into it.
        for word in range(keys.shape[0]):
            own[word, found] = keys[word, row]
        for change in range(fields.shape[0]):
            word, shift, bits = fields[change, 0], fields[change, 1], fields[change, 2]
            old = (own[word, found] >> shift) & bits
            own[word, found] += (codes[fields[change, 3] + old] - old) << shift
        # Probe from its slot on until the key or a free slot is found.
        slot = _slot(own, found, mask)
        while table[slot] >= 0 and not _same(own, np.int64(table[slot]), found):
            slot = (slot + np.uint64(1)) & mask
        # A free slot: the copy stays, and a class begins.
        label = np.int64(table[slot])
        if label < 0:
            label = np.int64(found)
            table[slot] = label
            records[label] = 0
            found += 1
        if len(labels) > 0:
            labels[row] = label
        records[label] += sizes[row]
    return found


@kernel
def count_sizes(sizes: NDArray[np.int64], k: int, kept: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Tell the classes of at least k records from the others.

    Args:
        sizes: (m,) records.
        kept: (m,) out.
    Returns:
        Records in smaller classes, number of kept classes, Σ of their squared sizes, and Σ of all.
    """
    small, classes, squares, every = 0, 0, 0, 0
    for group in range(len(sizes)):
        size = sizes[group]
        kept[group] = size >= k
        every += size * size
        if size >= k:
            classes += 1
            squares += size * size
        else:
            small += size
    return small, classes, squares, every


@kernel
def price(
    keys: NDArray[np.int64],
    sizes: NDArray[np.int64],
    kept: NDArray[np.bool_],
    fields: NDArray[np.int64],
    cost: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Add up what the cells of the kept classes cost.

    Args:
        keys: (w, m).
        sizes: (m,) records.
        kept: (m,) whether a class is released.
        fields: (c, 4) word, shift, mask of an attribute, and where the costs of its codes begin in ``cost``.
        cost: (x,) of a cell of each code.
    Returns:
        Cost over the kept records by attribute, (c,).
    """
    sums = np.zeros(fields.shape[0], np.int64)
    for place in range(fields.shape[0]):
        word, shift, bits, start = fields[place]
        total = 0
        for group in range(len(sizes)):
            if kept[group]:
                total += sizes[group] * cost[start + ((keys[word, group] >> shift) & bits)]
        sums[place] = total
    return sums
