"""Columns of numbers to be changed as a whole, with random words of a fixed key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.perturb.whole_column.columns_to_change import Columns


@pytest.fixture(scope="session")
def columns() -> Callable[..., Columns]:
    """Make columns of values (n, q) or (n,); all records in one class unless ``labels`` are given."""

    def make(
        values: ArrayLike,
        amounts: float | Sequence[float] = 0.0,
        *,
        labels: ArrayLike | None = None,
        key: int = 0,
    ) -> Columns:
        table = np.asarray(values, np.int64)
        table = table[:, None] if table.ndim == 1 else table
        n, q = table.shape
        each = (float(amounts),) * q if isinstance(amounts, (int, float)) else tuple(amounts)
        words = Words(NoiseKey(key.to_bytes(32, "big")), np.arange(n, dtype=np.int64))
        classes = np.zeros(n, np.int64) if labels is None else np.asarray(labels, np.int64)
        return Columns(table, classes, each, tuple(words.of_column(j) for j in range(q)))

    return make
