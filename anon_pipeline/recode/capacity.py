"""Numbers of records for which a loss does not add up in 63 bits: refused by name, never counted wrong.

Entropy is not refused: it is counted in larger units (`loss.information_bits`). Nor is closeness
(`risk.capacity`).
Decision: docs/adr/0076-the-search-counts-tuples.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.losses import WEIGHED
from anon_pipeline.recode.loss import class_loss
from anon_pipeline.recode.task import Task
from anon_pipeline.risk.capacity import WORD


def most_records(task: Task, costs: Sequence[Sequence[NDArray[np.int64]]]) -> int | None:
    """Return of how many records a search can add up the task's loss.

    Args:
        costs: of `loss.cell_costs`: q columns, an array of whole numbers for each level.
    Returns:
        For a loss that looks at classes, those gone before included. None: of any number.
    """
    if task.loss not in WEIGHED:
        return class_loss(task.loss).most_records
    dearest = max((int(cost.max(initial=0)) for levels in costs for cost in levels), default=0)
    return None if dearest == 0 else (WORD - 1) // dearest


def refuse_overflow(task: Task, records: int, costs: Sequence[Sequence[NDArray[np.int64]]]) -> None:
    """Refuse more records than the task's loss can be added up for.

    Args:
        records: that are searched.
        costs: of `loss.cell_costs`.
    Raises:
        InputError: says how many may be.
    """
    most, every = most_records(task, costs), records + (0 if task.loss in WEIGHED else task.gone)
    if most is not None and every > most:
        raise InputError(
            f"anonymize.loss: {task.loss} must have at most {most:,} records, got {every:,}: its sums "
            "would not be exact. Take another loss, or a part of the table."
        )
