"""What anybody can count in a released file: which values name one record, which classes have one value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anon_pipeline.base.packed_tables import Table, counted_cells
from anon_pipeline.base.shares import percent
from anon_pipeline.base.values import column_codes
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.evidence.usefulness import hidden_share
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.policy.columns import Insensitive, Sensitive
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy

NEARLY_HIDDEN = 0.9
"""Share of the records in which a column is hidden, above which next to nothing is left of it."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A column that is neither generalized nor noisy: released as it is, or rounded, bounded or at a level.

    distinct: its different values; a missing one is none.
    alone: records whose value no other record has.
    told: records in classes with a single value of the sensitive column.
    shared: whether all records have the same value, or all have none.
    how: it is released, in words.
    """

    column: str
    sensitive: bool
    distinct: int
    alone: int
    told: int
    shared: bool
    how: str = "as it is"


@dataclass(frozen=True, slots=True)
class Level:
    """A generalized column: how far it was generalized, and what that leaves.

    level: None where each class has values of its own.
    top: its most general level; None where the policy does not say it.
    distinct: different values in the release, without the one that hides a cell.
    hidden: whether nothing but the top is released.
    share: of the records in which it is hidden.
    """

    column: str
    level: int | None
    top: int | None
    distinct: int
    hidden: bool
    share: float = 0.0

    @property
    def nearly_hidden(self) -> bool:
        """Whether next to nothing is left, though not in all records nothing."""
        return not self.hidden and self.share > NEARLY_HIDDEN

    def as_text(self) -> str:
        """Say it in words.

        >>> Level("age", 4, 4, 1, True).as_text()
        '4 of 4: everything is hidden'
        >>> Level("age", 2, 4, 7, False).as_text()
        '2 of 4: 7 different values are left'
        >>> Level("age", 2, 4, 3, False, 0.993).as_text()
        '2 of 4: hidden in 99.3 % of the records, next to nothing is left'
        """
        values = "1 value is left" if self.distinct == 1 else f"{self.distinct:,} different values are left"
        left = "everything is hidden" if self.hidden else values
        if self.nearly_hidden:
            left = f"hidden in {percent(self.share)} of the records, next to nothing is left"
        if self.level is None:
            return f"by class: {left}"
        own = "the value itself, " if self.level == 0 and not (self.hidden or self.nearly_hidden) else ""
        return f"{self.level}{'' if self.top is None else f' of {self.top}'}: {own}{left}"


def plain_columns(policy: Policy, frame: Table) -> Iterator[Plain]:
    """Yield what is counted of each column that is released as it is, in the file's order.

    Args:
        frame: (r, columns) the released table.
    """
    classes = value_classes(frame, list(policy.generalized))
    for name in frame.columns:
        column = policy.columns[name]
        if isinstance(column, (Sensitive, Insensitive)):
            codes, texts = column_codes(frame, name)
            counts = np.bincount(codes)[texts.is_valid().to_numpy(zero_copy_only=False)]
            first = np.empty(len(classes.sizes), np.int64)
            first[classes.labels] = codes  # a missing value is a value of its class
            several = np.bincount(classes.labels[codes != first[classes.labels]], minlength=len(first)) > 0
            yield Plain(
                name,
                isinstance(column, Sensitive),
                len(counts),
                int((counts == 1).sum()),
                int(classes.sizes[~several].sum()) if isinstance(column, Sensitive) else 0,
                len(texts) == 1,
                policy.coarsened[name].words if name in policy.coarsened else "as it is",
            )


def levels(policy: Policy, chosen: dict[str, int] | None, frame: Table) -> Iterator[Level]:
    """Yield how far each generalized column was generalized.

    Args:
        chosen: level of each column; None where each class has values of its own.
        frame: (r, columns) the released table.
    """
    for name, column in policy.generalized.items():
        values = column_codes(frame, name)[1].to_pylist()
        steps = None if column.hierarchy is None else hierarchy_kind(column.hierarchy).steps
        top = 1 if column.hierarchy is None else None if steps is None else steps(column.hierarchy)
        hidden = len(values) == 1 and values[0] == TOP
        share = hidden_share(*counted_cells(frame, name))
        shown = len(values) if hidden else sum(value != TOP for value in values)
        yield Level(name, None if chosen is None else chosen[name], top, shown, hidden, share)
