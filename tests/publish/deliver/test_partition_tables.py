"""Each partition has a table of its own, whatever its key is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.publish.deliver.partition_tables import table_of_partition

Small = Callable[..., Policy]


def listed(small_policy: Small, *keys: str) -> Policy:
    source = {"path": "{partition}.csv"}
    return small_policy(source=source, schedule={"partitions": "listed", "keys": list(keys)})


def test_the_key_is_a_part_of_the_name(small_policy: Small) -> None:
    assert table_of_partition(small_policy(), "visits", None, key="k") == "visits"
    assert table_of_partition(small_policy(), "visits", "2026-01-01", key="k") == "visits_2026_01_01"
    assert table_of_partition(listed(small_policy, "a.b", "a.c"), "visits", "a.c", key="k") == "visits_a_c"


def test_of_keys_that_lead_to_one_name_the_first_has_it(small_policy: Small) -> None:
    policy = listed(small_policy, "x-1", "x.1", "other")
    assert table_of_partition(policy, "visits", "x-1", key="k") == "visits_x_1"
    assert table_of_partition(policy, "visits", "other", key="k") == "visits_other"
    with pytest.raises(
        InputError, match=r"^k: each partition must .* got visits_x_1 for both x-1 and x\.1\."
    ):
        table_of_partition(policy, "visits", "x.1", key="k")


def test_no_partition_has_the_name_of_the_table_that_says_what_others_hold(small_policy: Small) -> None:
    policy = listed(small_policy, "releases", "others")
    with pytest.raises(InputError, match="a name other than anon_pipeline_releases"):
        table_of_partition(policy, "anon_pipeline", "releases", key="k")
