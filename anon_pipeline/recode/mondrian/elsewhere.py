"""Strict Mondrian on a table that does not fit into memory: it is cut until every part fits; the same cuts.

A cut of an axis depends on how many records, with which sensitive values, lie on each of its positions, and
on nothing else. So the parts that do not fit are cut by counts of one column at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.class_rules import Rules
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.contents import ClassContents, join_contents
from anon_pipeline.recode.mondrian.counter import EntryCounter, Part
from anon_pipeline.recode.mondrian.cuts import Cuts
from anon_pipeline.recode.mondrian.division import Ranges, divide, lines_of, mondrian_entries
from anon_pipeline.recode.mondrian.kernels import cut_axis, width
from anon_pipeline.recode.mondrian.mondrian import choose_parts, refuse_broken
from anon_pipeline.recode.mondrian.state import initial_state
from anon_pipeline.recode.mondrian.tries import NO_BOUND
from anon_pipeline.recode.ranges import Axis, make_axis
from anon_pipeline.recode.task import Task


class _Cutter(NamedTuple):
    """What cutting parts needs: question, counter, axes, rules for kernels, and how many entries fit."""

    task: Task
    counter: EntryCounter
    axes: list[Axis]
    rules: Rules
    most: int


class _Found(NamedTuple):
    """A finished piece of the division, or a cut between two: ``ranges`` and ``contents``, or ``cut``.

    cut: axis, greatest position on its left, number.
    """

    ranges: Ranges | None
    contents: ClassContents | None
    cut: tuple[int, int, int] | None


def mondrian_elsewhere(task: Task, counter: EntryCounter, *, most: int) -> Choice:
    """Choose as `mondrian.mondrian` does, with parts of more than ``most`` entries counted elsewhere.

    Args:
        most: entries that fit: combinations of a tuple and a value of each limited column.
    Raises:
        InfeasibleError: the table as one class does not keep the constraints.
    """
    whole = tuple(np.ones(hierarchy.leaves, np.bool_) for hierarchy in task.hierarchies)
    refuse_broken(task.constraints, counter.contents(whole))
    leaves = counter.leaves(whole)
    axes = [
        make_axis(hierarchy, np.flatnonzero(own))
        for hierarchy, own in zip(task.hierarchies, leaves, strict=True)
    ]
    cutter = _Cutter(task, counter, axes, rules_of(task.constraints), most)
    ranges, contents = _join(_pieces(cutter, whole), counter.records)
    return choose_parts(task, axes, ranges, contents, leaves)[0]


def _pieces(cutter: _Cutter, whole: Part) -> list[_Found]:
    """Divide the table, the left half first, into pieces in their order, with the cuts between them."""
    found: list[_Found] = []
    waiting: list[Part | _Found] = [whole]
    cuts = 0
    while waiting:
        here = waiting.pop()
        if isinstance(here, _Found):
            found.append(here)
            continue
        inside = _inside(cutter, here)
        if inside is not None:
            found.append(inside)
            continue
        column, bound = _top_cut(cutter, here)
        if bound == NO_BOUND:
            found.append(_uncut(cutter, here))
            continue
        left = cutter.axes[column].positions <= bound
        low, high = (_narrow(here, column, side) for side in (left, ~left))
        waiting += [high, _Found(None, None, (column, bound, cuts)), low]
        cuts += 1
    return found


def _narrow(part: Part, column: int, allowed: NDArray[np.bool_]) -> Part:
    """Keep the leaves of one column that are on one side of a cut."""
    return (*part[:column], part[column] & allowed, *part[column + 1 :])


def _inside(cutter: _Cutter, part: Part) -> _Found | None:
    """Divide a part in memory; None: it does not fit."""
    joint = cutter.counter.joint(part, cutter.most)
    if joint is None:
        return None
    ranges, owners = divide(cutter.task, joint.table, cutter.axes, mondrian_entries(cutter.task, joint))
    parts = np.empty(len(joint.table.counts), np.int64)
    parts[joint.tuples] = owners
    return _Found(ranges, joint.contents(parts), None)


def _extents(axes: Sequence[Axis], leaves: Sequence[NDArray[np.int64]]) -> list[tuple[int, int]]:
    """Return the least and the greatest position of a part on each axis."""
    found = []
    for axis, own in zip(axes, leaves, strict=True):
        positions = axis.positions[np.flatnonzero(own)]
        found.append((int(positions.min()), int(positions.max())))
    return found


def _top_cut(cutter: _Cutter, part: Part) -> tuple[int, int]:
    """Find the cut of a part: its axis, and the greatest position on the left; NO_BOUND where there is none.

    The widest axis first, the first one of equal ones, as the kernels do.
    """
    leaves = cutter.counter.leaves(part)
    if not leaves or int(leaves[0].sum()) < 2 * cutter.rules.k:
        return 0, NO_BOUND
    extents, lines = _extents(cutter.axes, leaves), lines_of(cutter.axes)
    widths = np.array([width(lines, column, *extent) for column, extent in enumerate(extents)])
    for column in np.argsort(-widths, kind="stable").tolist():
        if widths[column] < 0:
            break
        leaf, values, counts = cutter.counter.entries(part, column)
        cells = np.vstack([cutter.axes[column].positions[leaf], values]).astype(np.int32)
        sizes = [len(limit.whole) for limit in cutter.task.constraints.sensitive]
        state = initial_state(cells, counts.copy(), max([1, len(cutter.axes[column].leaves), *sizes]))
        bound = int(cut_axis(state, cutter.rules, extents[column], len(cutter.axes)))
        if bound != NO_BOUND:
            return column, bound
    return 0, NO_BOUND


def _uncut(cutter: _Cutter, part: Part) -> _Found:
    """Take a part that has no allowable cut as it is, however many entries it has."""
    contents = cutter.counter.contents(part)
    extents = np.array(_extents(cutter.axes, cutter.counter.leaves(part)), np.int64)
    none = np.zeros(0, np.int64)
    ranges = Ranges(contents.sizes, extents[:, :1], extents[:, 1:], Cuts(none, none, none))
    return _Found(ranges, contents, None)


def _join(found: Sequence[_Found], records: int) -> tuple[Ranges, ClassContents]:
    """Lay pieces side by side, with the cuts between them; cuts within a piece come after all of these."""
    pieces = [(one.ranges, one.contents) for one in found if one.ranges is not None]
    number, cuts = len(pieces) - 1, []
    for one in found:
        if one.cut is not None:
            cuts.append(np.array(one.cut, np.int64).reshape(3, 1))
        elif one.ranges is not None:
            own = one.ranges.cuts
            cuts.append(np.stack([own.axes, own.bounds, own.numbers + number]))
            number += len(own.axes)
    ranges = Ranges(
        np.concatenate([ranges.sizes for ranges, _ in pieces]),
        np.concatenate([ranges.low for ranges, _ in pieces], axis=1),
        np.concatenate([ranges.high for ranges, _ in pieces], axis=1),
        Cuts(*np.concatenate(cuts, axis=1)),
    )
    return ranges, join_contents([own for _, own in pieces if own is not None], records)
