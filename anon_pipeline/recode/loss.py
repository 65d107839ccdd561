"""Information loss in whole numbers, so that no sum depends on its order and every tie is a tie.

`cell_losses` add up what every cell loses, with a weight for each column; `class_losses` look at the classes.
Each is in [0, 1], divided by its largest value. Records gone before recoding count as suppressed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.losses import LOSSES, WEIGHED
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.task import Task
from anon_pipeline.risk.capacity import WORD

if TYPE_CHECKING:
    from anon_pipeline.recode.ranges import Axis

_BITS = 30  # of a bit that an information of up to 304,788,810 records is counted in


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


class ColumnCosts(NamedTuple):
    """What one column of a finished partition costs, for the losses that add up cells.

    classes: (m,) of a cell of each class, ≥ 0.
    suppressed: of a suppressed cell, at least as much.
    offset: cost of the whole column, ungeneralized; taken off.
    """

    classes: NDArray[np.number]
    suppressed: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class CellLoss:
    """A loss that adds up cells.

    levels: from a hierarchy and the records of each leaf, (D,), to the cost of a cell: for each level an
        array of whole numbers ≥ 0 over its codes. On a higher level it costs at least as much.
    suppressed: from a hierarchy and the number of records to the cost of a suppressed cell, at least that of
        any other; 0 where there is nothing to lose.
    ranges: from an axis, the least and the greatest position of each class, (m,), and the records of each
        leaf, (D,), to the costs of a column of which ranges are released.
    offset: from the records of each leaf to the cost of the whole column, ungeneralized, which is taken off.
        None: nothing is, and every column counts alike, whatever it costs to lose it.
    """

    levels: Callable[[Hierarchy, NDArray[np.int64]], list[NDArray[np.int64]]]
    suppressed: Callable[[Hierarchy, int], int]
    ranges: Callable[[Axis, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ColumnCosts]
    offset: Callable[[NDArray[np.int64]], int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClassLoss:
    """A loss that looks at classes. Scores are whole numbers, the less the better.

    score: from the units and what is kept to the score.
    share: from a score and all records to the loss in [0, 1].
    floors: from the units, the most classes that each node can have, an array, k, and 1 if anything may be
        suppressed, else 0, to an array: what no node's score falls below.
    above: what the nodes above one do not fall below: from the units, what that node keeps if nothing is
        suppressed, what it keeps lastingly, k, and 1 or 0 as before.
    below: what the nodes below one do not fall below: from the units, the records that it
        suppresses lastingly and those gone before, k, and 1 or 0 as before; it must grow with the records.
    most_records: of a table, those gone before included, whose every score is below 2^63; None: of any.
    """

    score: Callable[[LossUnits, Kept], int]
    share: Callable[[int, int], Fraction]
    floors: Callable[[LossUnits, NDArray[np.int64], int, int], NDArray[np.int64]]
    above: Callable[[LossUnits, Kept, Kept, int, int], int]
    below: Callable[[LossUnits, int, int, int], int]
    most_records: int | None = None


def cell_loss(name: str) -> CellLoss | None:
    """Return a loss that adds up cells; None where it looks at classes."""
    if name not in WEIGHED:
        return None
    found: CellLoss = import_entry(LOSSES[name].measures, CellLoss)
    return found


def class_loss(name: str) -> ClassLoss:
    """Return a loss that looks at classes."""
    found: ClassLoss = import_entry(LOSSES[name].measures, ClassLoss)
    return found


def information_bits(records: int) -> int:
    """Return b such that log₂ is counted in units of 2^-b: the finest, up to 30, whose sums stay below 2^63.

    Args:
        records: of the whole table; every one of them may cost log₂(records).

    >>> information_bits(304_788_810), information_bits(304_788_811), information_bits(10**10)
    (30, 29, 24)
    """
    bits = _BITS
    while records > 1 and records * (math.floor(math.log2(records) * 2**bits) + 1) >= WORD:
        bits -= 1
    return bits


def information(counts: NDArray[np.int64], bits: int = _BITS) -> NDArray[np.int64]:
    """Return log₂ of each count, in units of 2^-bits; 0 for 0. Whole numbers, so differences add up.

    Args:
        bits: of `information_bits` of the whole table.
    """
    distinct, inverse = np.unique(counts, return_inverse=True)
    logs = [round(math.log2(count) * 2**bits) if count > 0 else 0 for count in distinct.tolist()]
    return np.array(logs, np.int64)[inverse].reshape(counts.shape)


def cell_costs(hierarchy: Hierarchy, loss: str, counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return what a released cell costs: for each level an array over its codes.

    Args:
        loss: its name; if it looks at classes, no cell costs anything.
        counts: (D,) records of each leaf.
    """
    own = cell_loss(loss)
    if own is None:
        return [np.zeros(len(values), np.int64) for values in hierarchy.values]
    return own.levels(hierarchy, counts)


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

    name: str
    records: int
    gone: int
    weights: tuple[int, ...] = ()
    suppressed: int = 0
    offset: int = 0
    denominator: int = 1

    def score(self, kept: Kept) -> int:
        """Return the exact score of a recoding."""
        if self.name not in WEIGHED:
            return class_loss(self.name).score(self, kept)
        cells = sum(weight * cost for weight, cost in zip(self.weights, kept.sums, strict=True))
        return cells + kept.suppressed * self.suppressed - self.offset

    def loss(self, score: int) -> Fraction:
        """Return the loss in [0, 1] that a score stands for, records gone included."""
        every = self.records + self.gone
        if self.name not in WEIGHED:
            return class_loss(self.name).share(score, every)
        return (Fraction(score, self.denominator) * self.records + self.gone) / max(1, every)


def loss_units(task: Task, counts: Sequence[NDArray[np.int64]], *, records: int) -> LossUnits:
    """Find the units in which every loss of this table is a whole number.

    Args:
        counts: q times (D,) records of each leaf.
        records: of the table (n).
    Source:
        Sweeney (2002) for precision; [methods 9.1]; [UT 2.5.2] after Gionis and
        Tassa; [UT 2.5.3] after Iyengar.
    """
    hierarchies = task.hierarchies
    weights = exact_weights(task.weights, len(hierarchies))
    kind = cell_loss(task.loss)
    if kind is None:
        return LossUnits(task.loss, records, task.gone, (0,) * len(hierarchies))
    full = [kind.suppressed(hierarchy, records) for hierarchy in hierarchies]
    if kind.offset is not None:
        own = [kind.offset(leaves) for leaves in counts]
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
