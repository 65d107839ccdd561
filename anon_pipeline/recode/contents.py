"""What the classes of a partition hold: all that limits and losses ask, however the records were counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.tuples import DistinctTuples
from anon_pipeline.risk.histograms import ClassHistograms, class_histograms, join_histograms, merge_classes


@dataclass(frozen=True, slots=True, eq=False)
class ClassContents:
    """m classes of n records, those that are suppressed left out.

    records: n, suppressed ones included.
    sizes: (m,) records of each class.
    limited: values of each limited column, by class; none if there is no class.
    target: labels by class; None where the loss asks for none.
    """

    records: int
    sizes: NDArray[np.int64] = field(repr=False)
    limited: tuple[ClassHistograms, ...] = field(default=(), repr=False)
    target: ClassHistograms | None = field(default=None, repr=False)


def contents_of_records(
    labels: NDArray[np.int64],
    sensitive: Sequence[NDArray[np.int64]],
    target: NDArray[np.int64] | None = None,
) -> ClassContents:
    """Look into the classes of records.

    Args:
        labels: (n,) class of each record, 0 … m−1 without gaps; −1 for a suppressed one.
        sensitive: (n,) values of each limited column; ``target``: (n,) labels.
    """
    inside = labels >= 0
    kept = labels[inside]
    sizes = np.bincount(kept).astype(np.int64)
    m = len(sizes)
    if not m:
        return ClassContents(len(labels), sizes)
    limited = tuple(class_histograms(codes[inside], kept, m=m) for codes in sensitive)
    own = None if target is None else class_histograms(target[inside], kept, m=m)
    return ClassContents(len(labels), sizes, limited, own)


def contents_of_tuples(table: DistinctTuples, classes: NDArray[np.int64]) -> ClassContents:
    """Look into the classes of tuples.

    Args:
        classes: (t,) class of each tuple, 0 … m−1 without gaps; −1 for a suppressed one.
    """
    counted = table.counted
    if counted is None:
        return merge_contents(ClassContents(table.records, table.counts), classes)
    found = [counted.column(place, table.counts) for place in range(counted.columns)]
    target = found.pop() if counted.labeled else None
    return merge_contents(ClassContents(table.records, table.counts, tuple(found), target), classes)


def merge_contents(contents: ClassContents, into: NDArray[np.int64]) -> ClassContents:
    """Look into classes that are made of others.

    Args:
        into: (m,) class that each becomes, without gaps; −1 for one that is suppressed.
    """
    m = int(into.max(initial=-1)) + 1
    inside, sizes = into >= 0, np.zeros(m, np.int64)
    np.add.at(sizes, into[inside], contents.sizes[inside])
    if not m:
        return ClassContents(contents.records, sizes)
    limited = tuple(merge_classes(own, into, m=m) for own in contents.limited)
    target = None if contents.target is None else merge_classes(contents.target, into, m=m)
    return ClassContents(contents.records, sizes, limited, target)


def join_contents(parts: Sequence[ClassContents], records: int) -> ClassContents:
    """Put the classes of several parts of a table side by side.

    Args:
        parts: one at least, with the same columns.
        records: of the table.
    """
    limited = tuple(join_histograms(own) for own in zip(*(part.limited for part in parts), strict=True))
    targets = [part.target for part in parts if part.target is not None]
    sizes = np.concatenate([part.sizes for part in parts])
    return ClassContents(records, sizes, limited, join_histograms(targets) if targets else None)
