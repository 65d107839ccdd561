"""The classes of a whole table, as its recoder chooses them: by levels, or by cuts of the table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, slices_of
from anon_pipeline.catalog.losses import DEFAULT_LOSS
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.division.deciding_columns import Deciding
from anon_pipeline.division.grouped_records import group_records
from anon_pipeline.division.part_counter import PartCounter
from anon_pipeline.division.record_counter import MOST, RecordCounter
from anon_pipeline.division.record_keys import Levels
from anon_pipeline.recode import choose_elsewhere
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples


@dataclass(frozen=True, slots=True, eq=False)
class ChosenClasses:
    """What was chosen for n records.

    levels: of each generalize column, in their order; none if classes are made by cuts.
    table: of the m classes; ``kept``: (m,) whether each is released.
    codes: of each record, by which its class is found in the table.
    numbers: (n,) class of each record, 0 … m−1, where classes are made by cuts; −1 for one that is in none.
    """

    levels: tuple[int, ...]
    table: DistinctTuples = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    codes: Levels = field(repr=False)
    numbers: NDArray[np.int32] | None = field(default=None, repr=False)


def choose_classes(task: Task, deciding: Deciding) -> ChosenClasses:
    """Choose the classes of all records.

    Args:
        task: the question, with a recoder that chooses from counts.
    Raises:
        InfeasibleError, InputError: as `recode.choose_elsewhere`.
    """
    gone = deciding.gone if deciding.gone.any() else None
    if recoder_of(task.recoder).family.releases == "levels":
        return _by_levels(task, deciding, gone)
    return _by_cuts(task, deciding, gone)


def _by_levels(task: Task, deciding: Deciding, gone: NDArray[np.bool_] | None) -> ChosenClasses:
    """Choose one level for each column."""
    counter = RecordCounter(task, deciding.codes, deciding.limited, deciding.target, gone)
    choice = choose_elsewhere(task, counter, most=counter.most)
    levels = choice.levels or ()
    table = counter.table(levels)
    assert table is not None  # noqa: S101 - no number was given that it may exceed
    return ChosenClasses(levels, table, choice.finder.find(table.tuples) >= 0, counter.on(levels))


def _by_cuts(task: Task, deciding: Deciding, gone: NDArray[np.bool_] | None) -> ChosenClasses:
    """Cut the table into classes; none is suppressed. The cuts do not depend on the loss."""
    counter = PartCounter(deciding.hierarchies, deciding.codes, deciding.limited, gone)
    asked = replace(task, loss=DEFAULT_LOSS, weights=())
    finder = choose_elsewhere(asked, counter, most=MOST).finder
    del counter
    numbers = np.empty(deciding.records, np.int32)
    for part in slices_of(len(numbers)):
        numbers[part] = finder.find(np.stack([own[part] for own in deciding.codes], axis=1))
    if gone is not None:
        numbers[gone] = -1
    own = narrow_integers(np.arange(int(numbers.max()) + 1))
    codes = Levels((numbers,), [own], gone)
    found = group_records(codes, deciding.limited)
    assert found is not None  # noqa: S101 - no number was given that it may exceed
    table = found.table(slice(0, len(found.sizes)), [own], labeled=False)
    return ChosenClasses((), table, np.ones(len(table.counts), np.bool_), codes, numbers)
