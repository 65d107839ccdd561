"""What is known of released columns before noise is drawn: values, of columns with noise their types."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base.packed_tables import Table, pack_large
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.policy import Policy
from anon_pipeline.publish.expected_columns import expected_columns, unwritable_columns

Small = Callable[..., Policy]
CATEGORIES: dict[str, Any] = {
    "columns": {
        "job": {"role": "perturb", "mechanism": "randomized_response", "values": ["cook", "nurse"]},
        "extra": {"role": "insensitive"},
    }
}


def recoded(people: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    """Return a table as `k_anonymized` has it; the first record is suppressed."""
    labels = [-1, *([0] * (len(people) - 1))]
    return people.assign(job="none of the policy", **columns, **{CLASS: labels})


@pytest.fixture(params=[False, True], ids=["small", "packed"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[pd.DataFrame], Table]:
    """A table as it is, or packed as a large one."""
    if request.param:
        monkeypatch.setattr("anon_pipeline.base.packed_tables.PACKED_FROM", 1)
    return pack_large if request.param else lambda table: table


def test_no_value_that_is_not_released_is_in_them(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], form: Callable[[pd.DataFrame], Table]
) -> None:
    policy = small_policy(**CATEGORIES)
    frame = recoded(small_people(), extra=pd.Categorical(["gone", *("x" * 239)]))
    found = dict(expected_columns(policy, form(frame)))
    assert list(found) == policy.released
    assert found["height"].to_pylist() == [0.0]
    assert set(found["job"].to_pylist()) < {"cook", "nurse"}
    assert found["income"].to_pylist() == frame["income"].tolist()[1:]
    assert set(found["extra"].to_pylist()) == {"x"}
    assert not pa.types.is_dictionary(found["extra"].type)


@pytest.mark.parametrize(
    ("values", "unwritable"),
    [
        ([Decimal("1.5"), None], {"csv": False, "parquet": False}),
        ([Decimal(10**50), Decimal("0.5")], {"csv": True, "parquet": False}),
        ([2**64, 1], {"csv": True, "parquet": True}),
        (["a", None], {"csv": False, "parquet": False}),
    ],
)
def test_what_no_file_can_hold_is_found(
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    form: Callable[[pd.DataFrame], Table],
    values: list[object],
    unwritable: dict[str, bool],
) -> None:
    column = pd.Series([values[-1], *(values * 120)][:240], dtype=object)
    for name, wrong in unwritable.items():
        policy = small_policy(**CATEGORIES, publish={"format": name})
        table = form(recoded(small_people(), extra=column))
        assert unwritable_columns(policy, table) == (["extra"] if wrong else [])
