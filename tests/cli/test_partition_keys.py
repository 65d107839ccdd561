"""Which partitions a command is about: all of the schedule from one to another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.cli.partition_keys import check_partition, partitions_between
from anon_pipeline.policy import Policy

WEEKLY = {"cron": "0 3 * * 1", "timezone": "UTC", "partitions": "weekly", "start": "2026-01-05"}


@pytest.fixture
def weekly(small_policy: Callable[..., Policy]) -> Policy:
    return small_policy(schedule=WEEKLY, source={"path": "{partition}.csv"})


def test_a_range_holds_both_ends_in_order(weekly: Policy) -> None:
    weeks = ["2026-01-05", "2026-01-12", "2026-01-19"]
    assert partitions_between(weekly, "2026-01-05...2026-01-19") == weeks
    assert partitions_between(weekly, "2026-01-12...2026-01-12") == weeks[1:2]


@pytest.mark.parametrize(
    "text",
    (
        "2026-01-12",
        "2026-01-12..2026-01-19",
        "2026-01-19...2026-01-12",
        "2026-01-05...2026-01-06",
        "2025-12-29...2026-01-05",
        "...",
        "",
    ),
)
def test_what_is_no_range_of_the_schedule_is_refused(weekly: Policy, text: str) -> None:
    with pytest.raises(InputError, match=r"must be FIRST\.\.\.LAST .*, which are 2026-01-05\.\.\.20"):
        partitions_between(weekly, text)


def test_a_policy_without_partitions_has_no_range(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy()
    with pytest.raises(InputError, match="--partitions must be left out"):
        partitions_between(policy, "2026-01-05...2026-01-12")


@pytest.mark.parametrize("key", ["north", None, ""])
def test_a_listed_partition_must_be_among_the_keys(
    small_policy: Callable[..., Policy], key: str | None
) -> None:
    policy = small_policy(
        schedule={"partitions": "listed", "keys": ["east", "west"]}, source={"path": "{partition}.csv"}
    )
    check_partition(policy, "east")
    assert partitions_between(policy, "east...west") == ["east", "west"]
    said = "be given: the policy has partitions" if key is None else "be one of the schedule's partitions"
    with pytest.raises(InputError, match=f"--partition must {said}, such as west"):
        check_partition(policy, key)


def test_a_period_must_be_one_of_the_schedule(weekly: Policy) -> None:
    check_partition(weekly, "2026-01-12")
    with pytest.raises(InputError, match="--partition must be one of the schedule's partitions, such as 20"):
        check_partition(weekly, "2026-01-13")


@pytest.mark.parametrize("partition", ["2026-01-05", ""])
def test_a_partition_is_refused_where_there_are_none(
    small_policy: Callable[..., Policy], partition: str
) -> None:
    with pytest.raises(InputError, match="--partition must be left out"):
        check_partition(small_policy(), partition)
    check_partition(small_policy(), None)
