"""Number lines along which classes are cut or measured; what a range on one releases and costs."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.loss import ColumnCosts, cell_loss, information, information_bits


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The leaves of one quasi-identifier in the order in which they may be cut.

    hierarchy: of the quasi-identifier.
    leaves: (D,) leaf on each position.
    positions: (D,) position of each leaf.
    coordinates: (D,) where each position lies: the number; ordered categories: the rank; NaN for missing;
        other categories: the position.
    span: length that a width is normalized by: greatest − least number or rank in the table, or D − 1.
    """

    hierarchy: Hierarchy
    leaves: NDArray[np.int64] = field(repr=False)
    positions: NDArray[np.int64] = field(repr=False)
    coordinates: NDArray[np.float64] = field(repr=False)
    span: float

    @property
    def is_line(self) -> bool:
        """Whether ranges release `[min, max]`."""
        return self.hierarchy.coordinates is not None or self.hierarchy.ordered


@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """What m ranges of one axis release.

    codes: (m,) index into ``values``; equal values have equal codes.
    values: the released values.
    """

    codes: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.object_] = field(repr=False)


def make_axis(hierarchy: Hierarchy, present: NDArray[np.int64]) -> Axis:
    """Order the leaves of a quasi-identifier.

    Args:
        hierarchy: D leaves.
        present: leaf codes that occur in the table, repeated or not.
    """
    places = hierarchy.places
    if places is None:
        leaves = np.arange(hierarchy.leaves)
        coordinates, span = leaves.astype(np.float64), float(hierarchy.leaves - 1)
    else:
        leaves = np.argsort(places, kind="stable")  # NaN goes last
        coordinates, numbers = places[leaves], places[present]
        numbers = numbers[~np.isnan(numbers)]
        span = float(numbers.max() - numbers.min()) if len(numbers) else 0.0
    positions = np.empty_like(leaves)
    positions[leaves] = np.arange(len(leaves))
    return Axis(hierarchy, leaves, positions, coordinates, span)


def _text(value: object) -> str:
    """Write a value as the end of an interval: whole numbers without ``.0``, midnights as dates."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time.min:
        return value.date().isoformat()
    return str(value)


def _is_mixed(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each range holds a number and a missing value, (m,)."""
    mixed: NDArray[np.bool_] = (low != high) & np.isnan(axis.coordinates[high])
    return mixed


def _lowest_ancestor_levels(
    hierarchy: Hierarchy, low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Lowest level on which the two ends of each range are one value, (m,)."""
    levels = np.zeros(len(low), np.int64)
    for lookup in hierarchy.lookups[:-1]:
        levels += lookup[low] != lookup[high]
    return levels


def _line_value(axis: Axis, low: int, high: int) -> object:
    """Value that a range of numbers or ordered categories releases."""
    leaf_values = axis.hierarchy.values[0]
    if low == high:
        return leaf_values[axis.leaves[low]]
    if np.isnan(axis.coordinates[high]):
        return axis.hierarchy.values[-1][0]
    return f"[{_text(leaf_values[axis.leaves[low]])}, {_text(leaf_values[axis.leaves[high]])}]"


def release_ranges(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64]) -> Released:
    """Say what ranges release.

    Args:
        low: (m,) least position of each class.
        high: (m,) greatest position.
    Returns:
        Numbers and ordered categories: the value itself, ``[min, max]``, or the hierarchy's top where they
        are mixed with missing. Other categories: the lowest common ancestor.
    """
    hierarchy = axis.hierarchy
    if axis.is_line:
        pairs, codes = np.unique(low * len(axis.leaves) + high, return_inverse=True)
        ends = zip(*(side.tolist() for side in np.divmod(pairs, len(axis.leaves))), strict=True)
        found = [_line_value(axis, least, greatest) for least, greatest in ends]
    else:
        levels = _lowest_ancestor_levels(hierarchy, low, high)
        ancestors = np.stack(hierarchy.lookups)[levels, low]
        pairs, codes = np.unique(levels * len(axis.leaves) + ancestors, return_inverse=True)
        nodes = zip(*(side.tolist() for side in np.divmod(pairs, len(axis.leaves))), strict=True)
        found = [hierarchy.values[level][code] for level, code in nodes]
    ranks: dict[object, int] = {}
    codes = np.array([ranks.setdefault(value, len(ranks)) for value in found], np.int64)[codes]
    values = np.empty(len(ranks), np.object_)
    values[:] = list(ranks)
    return Released(codes, values)


def lengths(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64]) -> ColumnCosts:
    """Say what a record loses by the range of its class: max − min, or a category's level.

    Args:
        low: (m,) least position of each class.
        high: (m,) greatest position.
    Returns:
        Costs; mixing numbers and missing values loses everything.
    Source:
        [methods 9.1], numerical precision.
    """
    if not axis.is_line:
        levels = _lowest_ancestor_levels(axis.hierarchy, low, high)
        return ColumnCosts(levels.astype(np.float64), float(axis.hierarchy.height - 1))
    full = axis.span or float(len(axis.leaves) > 1)
    wide = axis.coordinates[high] - axis.coordinates[low]
    return ColumnCosts(np.where(low == high, 0.0, np.where(np.isnan(wide), full, wide)), full)


def covered_leaves(axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64]) -> ColumnCosts:
    """Say what a record loses by the range of its class: the leaves that it covers, without the first.

    Args:
        low: (m,) least position of each class.
        high: (m,) greatest position.
    Source:
        [methods 9.1], granularity.
    """
    full = len(axis.leaves) - 1
    if axis.is_line:
        covered = np.where(_is_mixed(axis, low, high), full, high - low)
    else:
        levels = _lowest_ancestor_levels(axis.hierarchy, low, high)
        below = [axis.hierarchy.leaves_below(i)[lookup] for i, lookup in enumerate(axis.hierarchy.lookups)]
        covered = np.stack(below)[levels, low] - 1
    return ColumnCosts(covered.astype(np.float64), float(full))


def range_information(
    axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64], counts: NDArray[np.int64]
) -> ColumnCosts:
    """Say what a record loses by the range of its class, in bits.

    Args:
        low: (m,) least position of each class.
        high: (m,) greatest position.
        counts: (D,) records of each leaf.
    """
    if axis.is_line:
        below = np.concatenate(([0], np.cumsum(counts[axis.leaves])))
        within = np.where(_is_mixed(axis, low, high), counts.sum(), below[high + 1] - below[low])
    else:
        levels = _lowest_ancestor_levels(axis.hierarchy, low, high)
        sums = [np.bincount(lookup, counts)[lookup] for lookup in axis.hierarchy.lookups]
        within = np.stack(sums)[levels, low].astype(np.int64)
    bits = information_bits(int(counts.sum()))
    most = int(information(counts.sum().reshape(1), bits)[0])
    return ColumnCosts(information(within, bits), most, float(counts @ information(counts, bits)))


def column_costs(
    loss: str, axis: Axis, low: NDArray[np.int64], high: NDArray[np.int64], counts: NDArray[np.int64]
) -> ColumnCosts:
    """Say what the cells of one column lose by the ranges of their classes.

    Args:
        loss: name of one that adds up cells.
        low: (m,) least position of each class; high: (m,) greatest position.
        counts: (D,) records of each leaf.
    """
    own = cell_loss(loss)
    if own is None:
        raise ValueError(f"loss must add up cells, got {loss}.")
    return own.ranges(axis, low, high, counts)
