"""What bounds cut off a column, counted by hand: values at a bound are not beyond it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from anon_pipeline.evidence.clipped_values import clipped_shares
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_values_beyond_a_bound_count_and_those_at_it_do_not(
    small_policy: Small, small_people: People
) -> None:
    columns = {
        "height": {"sensitivity": "declared", "input_bounds": [150, 180], "output_bounds": [140, 170]},
        "income": {"bottom": 20000, "top": 30000},
    }
    frame = small_people(8)
    frame["height"] = [149, 150, 170, 171, 200, 160, 160, 160]  # 149, 171 and 200 are beyond [150, 170]
    frame["income"] = [20000, 30000, 30001, 10000, 25000, 25000, 25000, 25000]
    assert clipped_shares(frame, small_policy(columns=columns)) == {"height": 3 / 8, "income": 2 / 8}


def test_missing_values_count_in_neither_number(small_policy: Small, small_people: People) -> None:
    policy = small_policy(columns={"income": {"top": 30000, "missing": "suppress"}})
    frame = small_people(5)
    frame["income"] = pd.array([10000, 40000, None, None, 50000], dtype="Int64")
    assert clipped_shares(frame, policy) == {"income": 2 / 3}
    frame["income"] = np.nan
    assert clipped_shares(frame, policy) == {"income": 0.0}


def test_columns_without_bounds_are_not_asked(small_policy: Small, small_people: People) -> None:
    assert clipped_shares(small_people(5), small_policy(columns={"income": {"round": 1000}})) == {}
