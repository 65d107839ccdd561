"""Mistakes in the cells of a column: what kind, how many, what to write; which records they are is withheld.

In a sorted register the number of a record is a person. So numbers of records are in no message: they go
along with the error for a terminal that asks for them, or for a private file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.record_numbers import RecordNumbers


def counted_records(records: int) -> str:
    """Say how many records, for messages.

    >>> counted_records(1), counted_records(2)
    ('1 record', '2 records')
    """
    return f"{records} record{'s' * (records != 1)}"


@dataclass(frozen=True, slots=True, eq=False)
class Mistake:
    """One kind of mistake in one column.

    column: its name.
    rule: what its values must be: "must be a number".
    kind: what they are instead: "with another decimal or thousands sign".
    rows: (n,) whether the record has it.
    advice: how to fix it, a sentence.
    """

    column: str
    rule: str
    kind: str
    rows: NDArray[np.bool_] = field(repr=False)
    advice: str

    @property
    def text(self) -> str:
        """Say it without a cell and without the number of a record."""
        counted = counted_records(int(self.rows.sum()))
        return f"{self.column}: {self.rule}, got {counted} {self.kind}. {self.advice}"

    @property
    def where(self) -> RecordNumbers:
        """Return its records, from 1: private, as a cell is."""
        return RecordNumbers(f"{self.column}, {self.kind}", np.flatnonzero(self.rows) + 1)


def mistakes_error(
    mistakes: Sequence[Mistake], others: Sequence[str] = (), *, names: Sequence[str] = ()
) -> InputError:
    """Return the error that lists mistakes, and what else is wrong.

    Args:
        others: further problems, a line each.
        names: names from the data, see `InputError`.
    """
    lines = [*(mistake.text for mistake in mistakes), *others]
    return InputError(lines, names=names, records=[mistake.where for mistake in mistakes])
