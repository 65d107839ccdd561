"""Search of fronts: the question, and one answer to it.

A *state* says for each inner value of each column's tree whether it is opened, one column after the other.
Every state is some front of each column, so that states can be changed and crossed at will.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_columns
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode.capacity import refuse_overflow
from anon_pipeline.recode.constraints import broken_classes, infeasible_error
from anon_pipeline.recode.contents import ClassContents, contents_of_tuples
from anon_pipeline.recode.loss import Kept, LossUnits, cell_costs, loss_units
from anon_pipeline.recode.subtree.trees import Tree, front_of, make_tree
from anon_pipeline.recode.task import Progress, Task
from anon_pipeline.recode.tuples import DistinctTuples, leaf_counts

State = NDArray[np.bool_]
_TELL = 0.1  # seconds between two reports


class Outcome(NamedTuple):
    """What decides between states, in this order: the least one is the best.

    excess: records suppressed beyond the limit; 0 if the state keeps all constraints.
    score: exact loss, in the units of `LossUnits`.
    suppressed: records in classes that break a constraint.
    """

    excess: int
    score: int
    suppressed: int


@dataclass(slots=True, eq=False)
class _Told:
    """Time of the last progress report, and states looked at."""

    at: float = 0.0
    looked: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One question, laid out for looking at many states.

    task: the question; ``table``: what it is asked of.
    trees: one for each of q columns. starts: (q + 1,) where the parts of the columns begin in a state, and
        the last one ends.
    costs: q arrays (v,): of a cell with each value, in whole numbers.
    units: how costs become scores.
    limit: records that may be suppressed; fewer than all of them.
    """

    task: Task
    table: DistinctTuples = field(repr=False)
    trees: tuple[Tree, ...] = field(repr=False)
    starts: NDArray[np.int64] = field(repr=False)
    costs: tuple[NDArray[np.int64], ...] = field(repr=False)
    units: LossUnits
    limit: int
    told: _Told = field(default_factory=_Told, repr=False)

    @property
    def size(self) -> int:
        """Length of a state."""
        return int(self.starts[-1])


def prepare_search(task: Task, table: DistinctTuples) -> Search:
    """Lay out a table for the recoders that choose fronts.

    Args:
        table: its n ≥ k records, with the values of the limited columns and of the target.
    Raises:
        InputError: the loss cannot be counted for so many records.
    """
    hierarchies, leaves = task.hierarchies, leaf_counts(table, task.hierarchies)
    costs = [
        cell_costs(hierarchy, task.loss, own) for hierarchy, own in zip(hierarchies, leaves, strict=True)
    ]
    refuse_overflow(task, table.records, costs)
    trees = tuple(make_tree(hierarchy) for hierarchy in hierarchies)
    return Search(
        task=task,
        table=table,
        trees=trees,
        starts=np.cumsum([0, *(len(tree.inner) for tree in trees)]).astype(np.int64),
        costs=tuple(_value_costs(tree, own) for tree, own in zip(trees, costs, strict=True)),
        units=loss_units(task, leaves, records=table.records),
        limit=min(task.constraints.max_suppressed, table.records - 1),
    )


def _value_costs(tree: Tree, costs: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return what a cell with each value of a tree costs, (v,).

    Args:
        costs: for each level an array over its codes.
    """
    return np.array(
        [costs[level][code] for level, code in zip(tree.levels, tree.codes, strict=True)], np.int64
    )


def fronts_of(search: Search, state: State) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield for each column the value of each leaf, (D,), and which parts of the state matter, (w,)."""
    for column, tree in enumerate(search.trees):
        yield front_of(tree, state[search.starts[column] : search.starts[column + 1]])


def reached_in(search: Search, state: State) -> State:
    """Return which inner values are in a front or above it; to flip any other one changes nothing."""
    return np.concatenate([np.zeros(0, np.bool_), *(reached for _, reached in fronts_of(search, state))])


class Classes(NamedTuple):
    """The classes that a state makes of the table's t tuples.

    values: q arrays (t,) of the value that each tuple gets.
    labels: (t,) class of each tuple. first: (m,) first tuple of each class.
    contents: of the classes. broken: (m,) whether each breaks a constraint.
    """

    values: list[NDArray[np.int64]]
    labels: NDArray[np.int64]
    first: NDArray[np.int64]
    contents: ClassContents
    broken: NDArray[np.bool_]


def classes_of(search: Search, state: State) -> Classes:
    """Group the table by the fronts of a state."""
    table = search.table
    values = [front[table.tuples[:, column]] for column, (front, _) in enumerate(fronts_of(search, state))]
    first, labels, _ = group_columns(values, len(table.counts))
    if search.task.constraints.sensitive or table.labeled:
        contents = contents_of_tuples(table, labels)
    else:
        sizes = np.bincount(labels, table.counts, len(first)).astype(np.int64)
        contents = ClassContents(table.records, sizes)
    return Classes(values, labels, first, contents, broken_classes(search.task.constraints, contents))


def look_at(search: Search, state: State) -> Outcome:
    """Say how good a state is."""
    return outcome_of(search, classes_of(search, state))


def outcome_of(search: Search, found: Classes) -> Outcome:
    """Say how good classes are."""
    sizes, broken = found.contents.sizes, found.broken
    suppressed = int(sizes[broken].sum())
    kept = ~broken[found.labels]
    counts = np.where(kept, search.table.counts, 0)
    sums = tuple(
        int(costs[values] @ counts) for costs, values in zip(search.costs, found.values, strict=True)
    )
    released = sizes[~broken]
    mistakes = count_mistaken(found.contents, broken) if search.table.labeled else 0
    whole = Kept(suppressed, len(released), int((released * released).sum()), mistakes, sums)
    _tell(search)
    return Outcome(max(0, suppressed - search.limit), search.units.score(whole), suppressed)


def count_mistaken(contents: ClassContents, broken: NDArray[np.bool_]) -> int:
    """Count the records whose label is not the most frequent one of their class, in classes not broken."""
    target = contents.target
    assert target is not None  # noqa: S101 - the table has labels
    most = np.maximum.reduceat(target.counts, target.starts[:-1])
    return int((contents.sizes - most)[~broken].sum())


def _tell(search: Search) -> None:
    """Say how far the search is, every tenth of a second."""
    search.told.looked += 1
    now = monotonic()
    if now - search.told.at >= _TELL:
        search.told.at = now
        search.task.told(Progress("searching", search.told.looked, 0))


def hidden_state(search: Search) -> State:
    """Return the state that opens nothing: every column is hidden."""
    return np.zeros(search.size, np.bool_)


def no_front_error(search: Search) -> InfeasibleError:
    """Say that no state keeps the constraints, by the table as one class."""
    contents = classes_of(search, hidden_state(search)).contents
    return infeasible_error(
        search.task.constraints, contents, advice="Relax that limit, or raise suppression_limit."
    )
