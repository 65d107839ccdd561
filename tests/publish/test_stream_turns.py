"""What a stream asks a deployment: which partitions are out, and whether the budget lets one more be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import OFF, Locations
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.publish.manifest import promises
from anon_pipeline.publish.stream_turns import deployment_of, has_streamed
from tests.whole.test_streams import STREAM, WEEKS


@pytest.fixture
def where(tmp_path: Path) -> Locations:
    ledger = f"sqlite:///{tmp_path}/ledger.sqlite"
    return Locations(tmp_path, tmp_path, tmp_path, tmp_path / "vault", ledger=ledger)


def test_partitions_with_a_manifest_are_released(
    where: Locations, small_policy: Callable[..., Policy]
) -> None:
    policy = small_policy(**STREAM)
    asked = deployment_of(policy, where, booking(policy, where, partition=WEEKS[0]))
    assert asked.released() == set()
    for name in (WEEKS[0], "empty"):
        (where.releases / "out" / name).mkdir(parents=True)
    (where.releases / "out" / WEEKS[0] / "manifest.json").write_text("not even JSON")
    assert asked.released() == {WEEKS[0]}


def test_a_partition_whose_budget_is_spent_is_refused(
    where: Locations, small_policy: Callable[..., Policy]
) -> None:
    policy = small_policy(**{**STREAM, "budget": {"epsilon": 3, "per": "record"}})
    booked = booking(policy, where, partition=WEEKS[0])
    asked = deployment_of(policy, where, booked)
    asked.refuses()
    booked.book("a" * 32, booked.request_for(Fraction(2)), "0" * 64)
    with pytest.raises(GateRefused, match="budget"):
        asked.refuses()
    deployment_of(policy, where, booking(policy, where, partition=WEEKS[1])).refuses()


def publish(policy: Policy, where: Locations, week: str, *, number: int = 1) -> None:
    """Enter a partition's release as published; its folder is gone."""
    booked, release = booking(policy, where, partition=week), f"{number:032x}"
    assert booked.ledger is not None
    booked.ledger.open(booked.asked, release_id=release)
    booked.ledger.begin(release, booked.asked, "digest")
    booked.ledger.enter_published(release, "digest")


def test_partitions_that_the_ledger_has_as_published_are_released(
    where: Locations, small_policy: Callable[..., Policy]
) -> None:
    policy = small_policy(**STREAM)
    asked = deployment_of(policy, where, booking(policy, where, partition=WEEKS[0]))
    publish(policy, where, WEEKS[1])
    assert asked.released() == {WEEKS[1]}
    (where.releases / "out" / WEEKS[2]).mkdir(parents=True)
    (where.releases / "out" / WEEKS[2] / "manifest.json").write_text("{}")
    assert asked.released() == {WEEKS[1], WEEKS[2]}


@pytest.mark.parametrize("stream", [STREAM["stream"], None])
def test_the_ledger_tells_whether_there_was_a_stream(
    where: Locations, small_policy: Callable[..., Policy], stream: Any
) -> None:
    now = small_policy(**{**STREAM, "stream": None})
    asked = deployment_of(now, where, booking(now, where, partition=WEEKS[1]))
    assert not asked.streamed()
    publish(small_policy(**{**STREAM, "stream": stream}), where, WEEKS[0])
    assert asked.streamed() is (stream is not None)


POLICY = {"release": "small", "attributes": {"stream": {"delay": 1}}}
MANIFEST = {"release": "small", "guarantee": ["More.", promises.STREAM.format(3)]}


@pytest.mark.parametrize(
    ("name", "document", "expected"),
    [
        ("small-policy-0123456789abcdef.json", POLICY, True),
        ("small-policy-0123456789abcdef.json", {**POLICY, "release": "other"}, False),
        ("small-policy-0123456789abcdef.json", {**POLICY, "attributes": {"stream": None}}, False),
        ("small-policy-0123456789abcdef.json", ["stream"], False),
        ("manifest.json", MANIFEST, True),
        ("manifest.json", {**MANIFEST, "release": "other"}, False),
        ("manifest.json", {**MANIFEST, "guarantee": "stream", "facts": {"stream": 1}}, False),
    ],
)
def test_the_folders_of_releases_tell_whether_there_was_a_stream(
    where: Locations, small_policy: Callable[..., Policy], name: str, document: Any, expected: bool
) -> None:
    policy = small_policy(**{**STREAM, "stream": None, "budget": None})
    booked = booking(policy, replace(where, ledger=OFF), partition=WEEKS[1])
    folder = where.releases / "out" / WEEKS[0]
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('no JSON with "stream"')
    assert not has_streamed(policy, where, booked)
    (folder / name).write_text(json.dumps(document))
    assert has_streamed(policy, where, booked) is expected
