"""Numba kernels of the lattice search: sensitive values and class labels, counted by class.

Every class keeps, column after column, the distinct values that it has and how often: the histograms of a
node are those of a node below it, added up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import ENTROPY, KIND, NONE, RECURSIVE, L, Rules, keeps_rules, tally
from anon_pipeline.risk.l_diversity import ENTROPY_TOLERANCE


def least_distinct(rules: Rules) -> NDArray[np.int64]:
    """Return how many distinct values a class must have, at the least, to be diverse, (a,).

    Every kind of l-diversity needs them: exp(H) of d values is at most d, and r_l + … is 0 below l values. A
    class with fewer consists of classes with fewer, so unlike the rest of the rules this one is monotone.
    """
    least = np.zeros(rules.bounds.shape[1], np.int64)
    for column, (kind, wanted) in enumerate(zip(rules.columns[KIND, :-1], rules.bounds[L], strict=True)):
        if kind == RECURSIVE:
            least[column] = int(wanted)
        elif kind != NONE:
            slack = 1e3 * ENTROPY_TOLERANCE if kind == ENTROPY else 0.0
            least[column] = int(np.ceil(wanted - slack))
    return least


@kernel
def by_class(labels: NDArray[np.int64], first: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """Sort classes below a node by the node's classes.

    Args:
        labels: (r,) class of each class below.
        first: (m + 1,) out: where each class begins in ``order``.
        order: (r,) out.
    """
    first[:] = 0
    for label in labels:
        first[label + 1] += 1
    for group in range(len(first) - 1):
        first[group + 1] += first[group]
    for row in range(len(labels)):
        order[first[labels[row]]] = row
        first[labels[row]] += 1
    for group in range(len(first) - 1, 0, -1):
        first[group] = first[group - 1]
    first[0] = 0


@kernel
def merge(
    below: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    members: tuple[NDArray[np.int64], NDArray[np.int64]],
    out: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    scratch: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    part: tuple[int, int, int],
) -> None:
    """Add up the histograms of the classes that become one.

    Args:
        below: (r·a + 1,) where the values of each class and column begin; (d,) values; (d,) counts.
        members: (m + 1,) and (r,) of `by_class`.
        out: (m·a + 1,), (≥ d,), (≥ d,): the same of the merged classes; its first number is 0.
        scratch: (≥ d,), (≥ d,), and (v,) of zeros, v the most values of a column.
        part: first class, the class after the last one, and a.
    """
    starts, values, counts = below
    first, order = members
    out_starts, out_values, out_counts = out
    codes, weights, seen = scratch
    begin, end, columns = part
    for group in range(begin, end):
        for column in range(columns):
            entries, at = 0, out_starts[group * columns + column]
            # Write the values of all members one after another.
            for member in range(first[group], first[group + 1]):
                place = order[member] * columns + column
                for entry in range(starts[place], starts[place + 1]):
                    codes[entries], weights[entries] = values[entry], counts[entry]
                    entries += 1
            # Those of a single member are sorted and distinct; others are added up.
            if first[group + 1] - first[group] == 1:
                for entry in range(entries):
                    out_values[at + entry], out_counts[at + entry] = codes[entry], weights[entry]
                found = entries
            else:
                found = tally(codes[:entries], weights[:entries], out_values[at:], out_counts[at:], seen)
            out_starts[group * columns + column + 1] = at + found


@kernel
def judge(
    rules: Rules,
    histograms: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    sizes: NDArray[np.int64],
    least: NDArray[np.int64],
    out: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    part: tuple[int, int, int],
) -> None:
    """Ask classes whether they keep every rule.

    Args:
        rules: of the first of the a columns.
        histograms: (m·a + 1,) starts, (d,) values, (d,) counts.
        sizes: (m,) records.
        least: distinct values that a class needs, of `least_distinct`.
        out: (m,) whether a class has k records and those values; (m,) whether it keeps every rule.
        part: first class, the class after the last one, and a.
    """
    starts, values, counts = histograms
    lasting, kept = out
    begin, end, columns = part
    ends = np.empty(len(least), np.int64)
    for group in range(begin, end):
        place = group * columns
        base = starts[place]
        enough = sizes[group] >= rules.k
        for column in range(len(least)):
            ends[column] = starts[place + column + 1] - base
            enough = enough and starts[place + column + 1] - starts[place + column] >= least[column]
        lasting[group] = enough
        last = starts[place + len(least)]
        kept[group] = enough and keeps_rules(rules, values[base:last], counts[base:last], ends, sizes[group])


@kernel
def mistakes(
    histograms: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    sizes: NDArray[np.int64],
    kept: NDArray[np.bool_],
    columns: int,
) -> tuple[int, int]:
    """Count the records whose label, the last of the columns, is not their class's most frequent one.

    Returns:
        Of the kept classes, and of all.
    """
    starts, _, counts = histograms
    own, every = 0, 0
    for group in range(len(sizes)):
        most, place = 0, group * columns + columns - 1
        for entry in range(starts[place], starts[place + 1]):
            most = max(most, counts[entry])
        every += sizes[group] - most
        if kept[group]:
            own += sizes[group] - most
    return own, every
