"""The column of partitions that says which records are a class, where cuts have made the classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anon_pipeline.policy.model import Policy

_NAME: Final = "division_class"


def class_column(policy: Policy) -> str:
    """Return the name of the column: one that the policy has no column of."""
    name = _NAME
    while name in policy.columns:
        name += "_"
    return name


def with_classes(rows: Iterable[pa.Table], name: str, classes: NDArray[np.integer]) -> Iterator[pa.Table]:
    """Yield records with the class of each in a column of its own.

    Args:
        rows: the records, some at a time.
        classes: (n,) class of each; of more records than these, none is yielded with a class.
    """
    begin = 0
    for table in rows:
        own = classes[begin : begin + len(table)]
        begin += len(table)
        if len(own) < len(table):  # the source has changed, which `write_parts` refuses
            own = np.concatenate((own, np.full(len(table) - len(own), -1, own.dtype)))
        yield table.append_column(name, pa.array(own))
