"""Columns in order of what they tell, one more at a time; a far value decides nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anon_pipeline.evidence.attacked_columns import attacked_columns, median_shifts
from anon_pipeline.evidence.evidence import Originals


def test_medians_are_of_each_column() -> None:
    released, own = np.array([[1, 10], [2, 20], [10**12, 30]]), np.array([[1, 11], [2, 22], [3, 33]])
    assert median_shifts(released, own).tolist() == [0.0, 2.0]


def test_the_column_that_is_moved_least_for_its_class_comes_first() -> None:
    random, n = np.random.default_rng(0), 400
    own = np.stack([random.normal(0, scale, n) for scale in (1_000, 10, 1)], axis=1)
    own[:, 2] = 7.0  # constant: it tells nothing
    released = own + np.stack([random.normal(0, scale, n) for scale in (100, 20, 1)], axis=1)
    released[0, 0] = 10**9
    behind = Originals(pd.DataFrame(index=range(n)), np.arange(n) % 4, np.arange(n), own)
    assert [some.tolist() for some in attacked_columns(behind, released)] == [[0], [0, 1], [0, 1, 2]]
