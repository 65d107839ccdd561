"""Numba kernels of cubes: plain loops over cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel


@kernel
def fill(
    below: tuple[NDArray[np.int64], NDArray[np.int64]],
    fields: NDArray[np.int64],
    moves: NDArray[np.int64],
    out: NDArray[np.int32],
    part: tuple[int, int],
) -> None:
    """Add the classes of a table below to a cube.

    Args:
        below: (w, r) keys and (r,) sizes of a node at or below the cube's.
        fields: (≥ 4, 4) of each run of bits in a key: word, shift, mask, where its moves begin. The first
            four are in the first word.
        moves: (x,) what the bits add to the place of the cell.
        out: (cells,) the cube, zeros before the first part.
        part: first row, the row after the last one.
    """
    keys, sizes = below
    first = keys[0]
    shift, other, third, fourth = fields[0, 1], fields[1, 1], fields[2, 1], fields[3, 1]
    mask, mask_2, mask_3, mask_4 = fields[0, 2], fields[1, 2], fields[2, 2], fields[3, 2]
    one, two = moves[fields[0, 3] :], moves[fields[1, 3] :]
    three, four = moves[fields[2, 3] :], moves[fields[3, 3] :]
    for row in range(part[0], part[1]):
        key = first[row]
        cell = one[(key >> shift) & mask] + two[(key >> other) & mask_2]
        cell += three[(key >> third) & mask_3] + four[(key >> fourth) & mask_4]
        for run in range(4, fields.shape[0]):
            code = (keys[fields[run, 0], row] >> fields[run, 1]) & fields[run, 2]
            cell += moves[fields[run, 3] + code]
        out[cell] += np.int32(sizes[row])


@kernel
def fold_axis(source, out, firsts, sizes):  # type: ignore[no-untyped-def]
    """Generalize one attribute of a cube.

    Args:
        source: (outer · width below · inner,) the cube below, of any kind of integers.
        out: (outer · width · inner,) of the same kind.
        firsts: (> width,) first rank below of what each rank covers, and one more.
        sizes: cells before the attribute's axis; its codes below, and after; cells after it.
    """
    outer, below, width, inner = sizes
    to = 0
    for block in range(outer):
        start = block * below * inner
        for code in range(width):
            first, last = firsts[code], firsts[code + 1]
            at = start + first * inner
            # Cells of the last axis lie side by side: add them up in one run.
            if inner == 1:
                total = 0
                for cell in range(at, start + last):
                    total += source[cell]
                out[to] = total
            else:
                # Else whole blocks are added: the first is copied, the others are added to it.
                own, more = out[to : to + inner], source[at : at + inner]
                for cell in range(inner):
                    own[cell] = more[cell]
                for _ in range(first + 1, last):
                    at += inner
                    more = source[at : at + inner]
                    for cell in range(inner):
                        own[cell] += more[cell]
            to += inner


@kernel
def fold(
    source: NDArray[np.int32],
    widths: NDArray[np.int64],
    steps: NDArray[np.int64],
    firsts: NDArray[np.int64],
    out: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> int:
    """Generalize a cube, one attribute after the other.

    Args:
        source: (c,) the cube below.
        widths: (q,) codes of each of its attributes; overwritten.
        steps: (s ≥ 1, 3) attribute, where its first ranks begin, codes after the step.
        firsts: of `cube_layout.CubeLayout`.
        out: (≥ cells after the first step,) two of them, written in turn.
    Returns:
        Which of the two holds the result.
    """
    here = source
    for step in range(steps.shape[0]):
        attribute, begin, width = steps[step]
        there = out[0] if step % 2 == 0 else out[1]
        outer, inner = 1, 1
        for other in range(attribute):
            outer *= widths[other]
        for other in range(attribute + 1, len(widths)):
            inner *= widths[other]
        fold_axis(here, there, firsts[begin:], (outer, widths[attribute], width, inner))
        widths[attribute] = width
        here = there
    return int((steps.shape[0] - 1) % 2)


@kernel
def count_cells(sizes: NDArray[np.int32], k: int) -> tuple[int, int, int, int, int]:
    """Tell the classes of at least k records from the others; empty cells are none.

    Returns:
        Records in smaller classes, number of classes of at least k, Σ of their squared sizes; number of all,
        and Σ of their squared sizes.
    """
    small, kept, squares, classes, every = 0, 0, 0, 0, 0
    for cell in range(len(sizes)):
        size = int(sizes[cell])
        square = size * size
        enough = size >= k
        every += square
        classes += size > 0
        kept += enough
        squares += square if enough else 0
        small += 0 if enough else size
    return small, kept, squares, classes, every


@kernel
def price_cells(
    sizes: NDArray[np.int32], k: int, fields: NDArray[np.int64], cost: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Add up what the cells of the classes of at least k records cost.

    Args:
        sizes: (c,) the cube.
        fields: (p, 3) codes of an attribute, distance of neighboring codes in the cube, and where the costs
            of its ranks begin in ``cost``.
        cost: (x,) of a cell of each rank.
    Returns:
        Cost over the kept records by attribute, (p,).
    """
    sums = np.zeros(fields.shape[0], np.int64)
    for place in range(fields.shape[0]):
        width, inner, begin = fields[place]
        total, start = 0, 0
        while start < len(sizes):
            for code in range(width):
                records = 0
                for cell in range(start, start + inner):
                    records += sizes[cell] if sizes[cell] >= k else 0
                total += records * cost[begin + code]
                start += inner
        sums[place] = total
    return sums
