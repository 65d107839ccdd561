"""Changes the columns of a table whose mechanisms look at whole columns.

Decision: docs/adr/0088-columns-changed-as-a-whole.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.perturb.grid import LARGEST
from anon_pipeline.perturb.keys import Words
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers

Change = Callable[[Columns], Integers]

TOGETHER = 2**16 - 1
"""Number of the words of all columns whose values move together, see `perturb.keys.Words`."""


def change_columns(
    values: NDArray[np.signedinteger],
    labels: NDArray[np.signedinteger],
    *,
    noises: Sequence[Noise],
    words: Words,
    copies: int = 1,
    numbers: Sequence[int] | None = None,
) -> dict[int, Integers]:
    """Change the columns whose mechanisms look at whole columns; columns of one mechanism together.

    What is released of a record does not depend on the order of the records.

    Args:
        values: (n, p) original values in grid units, or codes of categories.
        labels: (n,) class of each record, 0 … m−1; −1 for a record of no class, which takes no part.
        noises: (p,) of the columns.
        words: random ones, of the n records.
        copies: equally long pieces of the table, one after another, each of which is changed by itself.
        numbers: (p,) by which the columns get their words; None: their places.
    Returns:
        What is released of each such column, (n,) likewise; of records of no class the original.
    """
    kinds: dict[str, list[int]] = {}
    for column, noise in enumerate(noises):
        if noise.whole_column:
            kinds.setdefault(noise.mechanism, []).append(column)
    found = {column: values[:, column].astype(np.int64) for places in kinds.values() for column in places}
    size = len(values) // copies
    for first in range(0, len(values) if found else 0, max(size, 1)):
        rows = first + np.flatnonzero(labels[first : first + size] >= 0)
        rows = rows[np.argsort(words.places[rows], kind="stable")]
        for kind, places in kinds.items():
            taken = [words.of_column(_number(column, noises[column], numbers)) for column in places]
            changed = _change(
                kind,
                Columns(
                    values[rows][:, places].astype(np.int64),
                    labels[rows].astype(np.int64),
                    tuple(float(noises[column].amount or 0) for column in places),
                    tuple(Words(one.key, one.places[rows], one.column) for one in taken),
                ),
            )
            for at, column in enumerate(places):
                found[column][rows] = changed[:, at]
    return found


def _number(column: int, noise: Noise, numbers: Sequence[int] | None) -> int:
    """Return the number of the words of a column."""
    if noise.together:
        return TOGETHER
    return column if numbers is None else numbers[column]


def _change(kind: str, columns: Columns) -> Integers:
    """Change columns by one mechanism; released values stay within the largest that are exact."""
    entry = MECHANISMS[kind].whole_column
    assert entry is not None  # noqa: S101 - the caller asks for no other
    run: Change = import_entry(entry.runs)
    found = run(columns) if len(columns.values) else columns.values
    if np.shape(found) != columns.values.shape or found.dtype != np.int64:
        raise PluginError(f"the mechanism {kind} must release an int64 for each value. Correct the plugin.")
    return np.clip(found, -LARGEST, LARGEST)
