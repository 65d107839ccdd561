"""How often most values repeat."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.draft.profile.repeated_values import share_beyond, usual_rows


@pytest.mark.parametrize(
    ("counts", "rows", "beyond"),
    [
        ([1, 1, 1], 1, 0.0),
        ([2] * 95 + [100] * 5, 2, 490 / 690),
        ([2] * 94 + [100] * 6, 100, 0.0),
        ([], 1, 0.0),
    ],
)
def test_most_values_have_at_most_so_many_records(counts: list[int], rows: int, beyond: float) -> None:
    found = np.array(counts, np.int64)
    assert usual_rows(found) == rows
    assert share_beyond(found, rows) == pytest.approx(beyond)
