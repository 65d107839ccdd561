"""The order of partitions, against Dagster's own."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.windows.partition_order import in_order, partition_before, same_stream
from tests.windows.conftest import stream_policy


@pytest.mark.parametrize("kind", ["daily", "weekly", "monthly"])
def test_each_partition_is_the_one_before_the_next(kind: str) -> None:
    policy = stream_policy(schedule={"partitions": kind, "start": "2024-01-01"})
    partitions = partitions_of(policy)
    assert partitions is not None
    keys = partitions.get_partition_keys(current_time=datetime.datetime(2026, 3, 5, tzinfo=datetime.UTC))
    assert len(keys) > 20
    assert [partition_before(policy, key) for key in keys] == [None, *keys[:-1]]
    assert in_order(policy, reversed(keys)) == keys


def test_a_schedule_that_begins_within_a_week_has_no_week_before() -> None:
    policy = stream_policy(schedule={"partitions": "weekly", "start": "2026-01-07"})
    assert partition_before(policy, "2026-01-12") is None
    assert partition_before(policy, "2026-01-19") == "2026-01-12"


def test_listed_partitions_are_in_the_order_of_the_list() -> None:
    policy = stream_policy(schedule={"partitions": "listed", "keys": ["late", "early", "morning"]})
    assert partition_before(policy, "late") is None and partition_before(policy, "morning") == "early"
    assert in_order(policy, ["morning", "gone", "late"]) == ["gone", "late", "morning"]


@pytest.mark.parametrize("schedule", [None, {"cron": "0 3 * * 1"}])
def test_without_partitions_there_is_none_before(schedule: dict[str, Any] | None) -> None:
    policy = stream_policy(schedule=schedule, stream=None, source={"path": "people.csv"})
    assert partition_before(policy, "2026-01-01") is None


def test_groups_are_streams_of_their_own() -> None:
    keys = ["g1.a", "g2.a", "g1.b", "plain", "other"]
    policy = stream_policy(schedule={"partitions": "listed", "keys": keys})
    assert [partition_before(policy, key) for key in keys] == [None, None, "g1.a", None, "plain"]
    assert same_stream(policy, "g1.b", reversed(keys)) == ["g1.a", "g1.b"]
    daily = stream_policy()
    assert same_stream(daily, "2026-01-02", ["2026-01-03", "2026-01-01"]) == ["2026-01-01", "2026-01-03"]
