"""What a stream asks a deployment: which partitions are out, and whether the budget lets one more be."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.publish.stream_turns import deployment_of
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
