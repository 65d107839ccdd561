"""Streams in a policy: what they need, what they do not go with, and what a change of them is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.stream import Stream, unfit_stream
from tests.windows.conftest import ATTRIBUTES, stream_policy

KEY = {"deidentify": {"key_env": "K"}}


def test_half_of_a_partition_may_wait_unless_it_is_said_otherwise() -> None:
    assert stream_policy().stream == Stream(delay=2, waiting=0.5)


def test_without_it_a_policy_has_the_digest_that_it_had(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy()
    assert policy.stream is None and "stream" not in policy.model_dump(mode="json")
    assert stream_policy().digest != stream_policy(stream={"delay": 3}).digest


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schedule": {"cron": "0 3 * * 1"}}, "stream: needs schedule.partitions"),
        ({"schedule": None}, "stream: needs schedule.partitions"),
        ({"person": "id", "one_record_per_person": None, **KEY}, "person: must be left out with stream"),
        (
            {"record_key": "id", "one_record_per_person": None, **KEY},
            "record_key: must be left out with stream",
        ),
        ({"one_record_per_person": None}, "one_record_per_person: make sure that each person has one record"),
        ({"sample": {"share": 0.5}, **KEY}, "sample: must be left out with stream"),
        ({"stream": {"delay": 0}}, "stream.delay: must be at least 1"),
        ({"stream": {"delay": 1, "waiting": 1}}, "stream.waiting: must be below 1"),
        ({"stream": {}}, "stream.delay: must be given"),
        ({"source": {"path": "all.csv"}}, "stream: needs {partition} in the source"),
        ({"stream": {"delay": 1, "wait": 1}}, "stream.wait: is not known here"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    source = {"path": "all.csv"} if "schedule" in changes else ATTRIBUTES["source"]
    with pytest.raises(PolicyError) as refused:
        stream_policy(**{"source": source, **changes})
    assert any(line.startswith(said) for line in refused.value.problems)


def test_an_asset_may_be_partitioned_itself() -> None:
    assert stream_policy(source={"asset": "arrivals"}).stream is not None


def test_sections_that_did_not_parse_are_not_judged() -> None:
    assert list(unfit_stream({"stream": Stream(delay=1)})) == []
    assert list(unfit_stream({"stream": None, "schedule": None})) == []
