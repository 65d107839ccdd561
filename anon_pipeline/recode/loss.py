"""Information loss in whole numbers, so that no sum depends on its order and every tie is a tie.

Three losses add up cells; each column has its weight w:

* `precision`: Σ w·loss / Σ w over the columns, a cell on level l loses l/(h − 1), a suppressed one 1.
* `granularity`: the same; a cell that covers c of D leaves loses (c − 1)/(D − 1), a suppressed one 1.
* `entropy`: a cell of value v, generalized to g, loses w·log₂(count(g)/count(v)), counted over the whole
  table; a suppressed one as if generalized to the top. Divided by what suppressing every record would lose.

Three look at classes, N records in all, s of them suppressed:

* `discernibility`: (Σ m² + N·s)/N².
* `average_class_size`: (N/(classes + 1 if s > 0))/N.
* `classification`: (s + records whose label is not their class's most frequent one)/N.

So each is in [0, 1], divided by its largest value. Records gone before recoding count as suppressed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.task import LossName, Task

CELL_LOSSES = ("precision", "granularity", "entropy")
CLASS_LOSSES = ("discernibility", "average_class_size")
_BITS = 30  # log₂ in units of 2^-30: the sum over 2^28 records of 2^28 values fits


class Kept(NamedTuple):
    """What a partition keeps, as far as a loss asks for it.

    suppressed: records.
    classes: that are released.
    squares: Σ m² over them.
    mistakes: records in them whose label is not the most frequent one.
    sums: costs of their cells, by column.
    """

    suppressed: int
    classes: int = 0
    squares: int = 0
    mistakes: int = 0
    sums: tuple[int, ...] = ()


def information(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return log₂ of each count, in units of 2^-30; 0 for 0. Whole numbers, so differences add up."""
    distinct, inverse = np.unique(counts, return_inverse=True)
    logs = [round(math.log2(count) * 2**_BITS) if count > 0 else 0 for count in distinct.tolist()]
    return np.array(logs, np.int64)[inverse].reshape(counts.shape)


def cell_costs(hierarchy: Hierarchy, loss: LossName, counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return what a released cell costs: for each level an array over its codes.

    Args:
        hierarchy: of the column.
        loss: one of the cell-wise losses; for the others nothing costs.
        counts: (D,) records of each leaf. For ``entropy`` a cell costs log₂(count(g)), its own value's
            information not yet taken off: that is the same for all nodes (``LossUnits.offset``).
    """
    if loss == "precision":
        return [np.full(len(values), level, np.int64) for level, values in enumerate(hierarchy.values)]
    if loss == "granularity":
        return [hierarchy.leaves_below(level) - 1 for level in range(hierarchy.height)]
    if loss == "entropy":
        return [
            information(np.bincount(lookup, counts, len(values)).astype(np.int64))
            for lookup, values in zip(hierarchy.lookups, hierarchy.values, strict=True)
        ]
    return [np.zeros(len(values), np.int64) for values in hierarchy.values]


def suppressed_cost(hierarchy: Hierarchy, loss: LossName, records: int) -> int:
    """Return what a suppressed cell costs; 0 where there is nothing to lose (h = 1, D = 1)."""
    if loss == "precision":
        return hierarchy.height - 1
    if loss == "granularity":
        return hierarchy.leaves - 1
    return int(information(np.array([records]))[0]) if loss == "entropy" else 0


def exact_weights(weights: Sequence[float], columns: int) -> tuple[int, ...]:
    """Return the columns' weights as whole numbers in the same proportion; none given: all alike.

    >>> exact_weights((0.1, 0.25), 2)
    (2, 5)
    """
    exact = [Fraction(str(weight)) for weight in weights] or [Fraction(1)] * columns
    common = math.lcm(*(weight.denominator for weight in exact))
    whole = [int(weight * common) for weight in exact]
    divisor = math.gcd(*whole) or 1
    return tuple(weight // divisor for weight in whole)


@dataclass(frozen=True, slots=True)
class LossUnits:
    """How what is kept becomes one exact score, the less the better.

    name: of the loss.
    records: searched; ``gone``: suppressed before.
    weights: score of one unit of cost, by column.
    suppressed: score of a suppressed record, for cell-wise losses.
    offset: taken off every score.
    denominator: score of a loss of 1.
    """

    name: LossName
    records: int
    gone: int
    weights: tuple[int, ...] = ()
    suppressed: int = 0
    offset: int = 0
    denominator: int = 1

    def score(self, kept: Kept) -> int:
        """Return the exact score of a recoding."""
        gone = kept.suppressed + self.gone
        if self.name == "discernibility":
            return kept.squares + (self.records + self.gone) * gone
        if self.name == "average_class_size":
            return self.records + self.gone + 1 - kept.classes - (gone > 0)
        if self.name == "classification":
            return kept.mistakes + gone
        cells = sum(weight * cost for weight, cost in zip(self.weights, kept.sums, strict=True))
        return cells + kept.suppressed * self.suppressed - self.offset

    def loss(self, score: int) -> Fraction:
        """Return the loss in [0, 1] that a score stands for, records gone included."""
        every = self.records + self.gone
        if self.name == "discernibility":
            return Fraction(score, every**2)
        if self.name == "average_class_size":
            return Fraction(1, every + 1 - score)
        if self.name == "classification":
            return Fraction(score, every)
        return (Fraction(score, self.denominator) * self.records + self.gone) / max(1, every)


def loss_units(
    hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]], task: Task
) -> LossUnits:
    """Find the units in which every loss of this table is a whole number.

    Args:
        hierarchies: q hierarchies.
        counts: q times (D,) records of each leaf.
        task: its loss, weights, and records gone.
    Source:
        Sweeney (2002) for precision; [methods 9.1]; [UT 2.5.2] after Gionis and
        Tassa; [UT 2.5.3] after Iyengar.
    """
    records, weights = len(task.codes), exact_weights(task.weights, len(hierarchies))
    if task.loss not in CELL_LOSSES:
        return LossUnits(task.loss, records, task.gone, (0,) * len(hierarchies))
    full = [suppressed_cost(hierarchy, task.loss, records) for hierarchy in hierarchies]
    if task.loss == "entropy":
        own = [int(leaves @ information(leaves)) for leaves in counts]
        each = sum(weight * cost for weight, cost in zip(weights, full, strict=True))
        offset = sum(weight * cost for weight, cost in zip(weights, own, strict=True))
        return LossUnits(
            task.loss, records, task.gone, weights, each, offset, max(1, each * records - offset)
        )
    common = math.lcm(*(cost for cost in full if cost))
    scores = tuple(
        weight * (common // cost) if cost else 0 for weight, cost in zip(weights, full, strict=True)
    )
    each = common * sum(weight for weight, cost in zip(weights, full, strict=True) if cost)
    most = max(1, records * common * sum(weights))
    return LossUnits(task.loss, records, task.gone, scores, each, 0, most)


class ColumnCosts(NamedTuple):
    """What one column of a finished partition costs, for the cell-wise losses.

    classes: (m,) of a cell of each class, ≥ 0.
    suppressed: of a suppressed cell, at least as much.
    offset: cost of the whole column, ungeneralized; taken off (``entropy`` only).
    """

    classes: NDArray[np.number]
    suppressed: float
    offset: float = 0.0


def measured_loss(task: Task, labels: NDArray[np.int64], columns: Sequence[ColumnCosts] = ()) -> float:
    """Measure the task's loss on any finished partition, whatever recoder made it.

    Args:
        task: its loss, weights, target, and records gone.
        labels: (n,) class of each record, 0 … m−1 without gaps; −1 for a suppressed record.
        columns: q of them for a cell-wise loss; unused for the others. For ``entropy`` the cost of a cell is
            `information` of the records whose value lies in what is released, a suppressed cell's that of
            n, and the offset Σ count(v)·information(count(v)).
    Returns:
        In [0, 1], as the module says; a full-domain recoding measures as the search scored it.
    """
    sizes = np.bincount(labels[labels >= 0])
    n = len(labels)
    suppressed = n - int(sizes.sum())
    if task.loss in CELL_LOSSES:
        weights = exact_weights(task.weights, len(columns))
        lost, most = _cells(task, sizes, suppressed, columns, weights)
        return (min(1.0, max(0.0, lost / most)) * n + task.gone) / max(1, n + task.gone)
    squares = sum(size * size for size in sizes.tolist())
    kept = Kept(suppressed, len(sizes), squares, _mistaken(task, labels))
    units = LossUnits(task.loss, n, task.gone)
    return float(units.loss(units.score(kept)))


def _cells(
    task: Task,
    sizes: NDArray[np.int64],
    suppressed: int,
    columns: Sequence[ColumnCosts],
    weights: Sequence[int],
) -> tuple[float, float]:
    """Return what the cells of a partition lose, and what they would lose at most."""
    n, lost, most = len(task.codes), [], []
    for weight, column in zip(weights, columns, strict=True):
        cost = math.fsum((column.classes * sizes).tolist()) + suppressed * column.suppressed - column.offset
        full = n * column.suppressed - column.offset
        if task.loss == "entropy":
            lost.append(weight * cost)
            most.append(weight * full)
        else:
            lost.append(weight * cost / full if full else 0.0)
            most.append(float(weight))
    return math.fsum(lost), math.fsum(most) or 1.0


def _mistaken(task: Task, labels: NDArray[np.int64]) -> int:
    """Count the released records whose label is not their class's most frequent one."""
    if task.loss != "classification" or task.target is None:
        return 0
    kept = labels >= 0
    pairs = np.stack([labels[kept], task.target[kept]])
    (classes, _), counts = np.unique(pairs, axis=1, return_counts=True)
    most = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, classes, counts)
    return int(kept.sum() - most.sum())
