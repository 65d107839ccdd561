"""The information loss of a finished partition, whatever recoder or release it comes from.

Belongs here: adding up what cells and classes lost. Does not belong here: what one of them costs (`loss`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.recode.contents import ClassContents
from anon_pipeline.recode.loss import ColumnCosts, Kept, LossUnits, cell_loss, exact_weights
from anon_pipeline.recode.task import Task


def measured_loss(task: Task, classes: ClassContents, columns: Sequence[ColumnCosts] = ()) -> float:
    """Measure the task's loss on any finished partition, whatever recoder made it.

    Args:
        classes: m of them, with the target where the loss asks for labels.
        columns: q of them for a loss that adds up cells; unused for the others.
    Returns:
        In [0, 1], as the module says; a full-domain recoding measures as the search scored it.
    """
    sizes, n = classes.sizes, classes.records
    if (kind := cell_loss(task.loss)) is not None:
        weights = exact_weights(task.weights, len(columns))
        share = lost_in_cells(
            [(column, sizes) for column in columns], weights, records=n, alike=kind.offset is None
        )
        return (share * n + task.gone) / max(1, n + task.gone)
    mistakes = count_mistaken(classes) if LOSSES[task.loss].labels else 0
    return float(lost_in_classes(task.loss, sizes, records=n, gone=task.gone, mistakes=mistakes))


def lost_in_cells(
    columns: Sequence[tuple[ColumnCosts, NDArray[np.int64]]],
    weights: Sequence[int],
    *,
    records: int,
    alike: bool,
) -> float:
    """Return what the cells of a release lose, in [0, 1].

    Args:
        columns: q of them: what each of its released values costs, (v,), and the records that have it, (v,);
            all others are suppressed.
        weights: q of them.
        records: n of the input.
        alike: whether every column counts alike, whatever it costs to lose it.
    """
    lost, most = [], []
    for weight, (column, counts) in zip(weights, columns, strict=True):
        suppressed = records - int(counts.sum())
        cost = math.fsum((column.classes * counts).tolist()) + suppressed * column.suppressed - column.offset
        full = records * column.suppressed - column.offset
        if not alike:
            lost.append(weight * cost)
            most.append(weight * full)
        else:
            lost.append(weight * cost / full if full else 0.0)
            most.append(float(weight))
    return min(1.0, max(0.0, math.fsum(lost) / (math.fsum(most) or 1.0)))


def lost_in_classes(
    name: str, sizes: NDArray[np.integer], *, records: int, gone: int = 0, mistakes: int = 0
) -> Fraction:
    """Return what a loss that looks at classes says, in [0, 1].

    Args:
        sizes: (m,) records of each class.
        records: n of the input, those that are suppressed included; ``gone``: more, suppressed before.
        mistakes: see `count_mistaken`.

    >>> lost_in_classes("discernibility", np.array([2, 3]), records=6) * 6**2
    Fraction(19, 1)
    """
    own = sizes.tolist()
    kept = Kept(records - sum(own), len(own), sum(size * size for size in own), mistakes)
    units = LossUnits(name, records, gone)
    return units.loss(units.score(kept))


def count_mistaken(classes: ClassContents) -> int:
    """Count the released records whose label is not their class's most frequent one; 0 without labels."""
    target = classes.target
    if target is None:
        return 0
    return int((classes.sizes - np.maximum.reduceat(target.counts, target.starts[:-1])).sum())
