"""Keys of partitions are names of folders."""

from __future__ import annotations

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.partition_names import can_be_listed, plain_partition


@pytest.mark.parametrize("key", ["north", "2026q1.north", "a-b_c:d", "1f0c.07"])
def test_a_plain_name(key: str) -> None:
    assert plain_partition(key) == key
    assert can_be_listed(key)


@pytest.mark.parametrize("key", ["", "a/b", "..", "a..b", ".a", "a.", "a b", "{partition}", "é"])
def test_what_names_no_folder_or_another_one(key: str) -> None:
    with pytest.raises(InputError, match="plain name"):
        plain_partition(key)
    assert not can_be_listed(key)


@pytest.mark.parametrize("key", ["2026-01-05", "20260105", "2026-W01-1"])
def test_dates_are_keys_of_periods(key: str) -> None:
    assert plain_partition(key) == key
    assert not can_be_listed(key)
