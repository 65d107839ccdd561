"""The partitions of a release are those of its schedule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.policy import Policy

WEEKLY = {"cron": "0 3 * * 1", "timezone": "Europe/Dublin", "partitions": "weekly", "start": "2026-01-05"}


@pytest.mark.parametrize(
    ("partitions", "keys"),
    [
        ("daily", ["2026-01-05", "2026-01-06"]),
        ("weekly", ["2026-01-05", "2026-01-12"]),  # Mondays
        ("monthly", ["2026-02-01", "2026-03-01"]),
    ],
)
def test_partitions(small_policy: Callable[..., Policy], partitions: str, keys: list[str]) -> None:
    found = partitions_of(small_policy(schedule={**WEEKLY, "partitions": partitions}))
    assert found is not None
    assert found.timezone == "Europe/Dublin"
    with dg.partition_loading_context(effective_dt=datetime(2026, 4, 2, tzinfo=ZoneInfo("UTC"))):
        assert list(found.get_partition_keys()[:2]) == keys


def test_a_release_of_one_piece_has_no_partitions(small_policy: Callable[..., Policy]) -> None:
    assert partitions_of(small_policy()) is None
    assert partitions_of(small_policy(schedule={"cron": "0 3 * * 1"})) is None


def test_a_week_begins_on_monday_even_when_the_start_does_not(small_policy: Callable[..., Policy]) -> None:
    found = partitions_of(small_policy(schedule={**WEEKLY, "start": "2026-01-01"}))
    assert found is not None
    assert found.get_first_partition_key() == "2026-01-05"


def test_listed_partitions_are_those_of_the_policy_in_its_order(small_policy: Callable[..., Policy]) -> None:
    found = partitions_of(small_policy(schedule={"partitions": "listed", "keys": ["south", "north"]}))
    assert isinstance(found, dg.StaticPartitionsDefinition)
    assert list(found.get_partition_keys()) == ["south", "north"]
