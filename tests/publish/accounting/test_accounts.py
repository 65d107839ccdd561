"""What a run says of its cost: it is true for fresh and for sticky noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import GateRefused, Locations, make_release
from anon_pipeline.gate import Status
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import OFF
from anon_pipeline.publish.accounting.accounts import describe_cost, remaining_epsilon
from anon_pipeline.publish.verify.verify import Against, verify_release

Small = Callable[..., Policy]


@pytest.fixture
def folders(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def said(policy: Policy, folders: Locations, *, refused: bool = False) -> str | None:
    return describe_cost(policy, folders, partition=None, refused=refused)


def test_without_noise_or_a_ledger_nothing_is_said(small_policy: Small, folders: Locations) -> None:
    height: dict[str, Any] = {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}
    assert said(small_policy(columns={"height": height}, perturb=None, suppress=None), folders) is None
    assert said(small_policy(), replace(folders, ledger=OFF)) is None


def test_a_release_without_a_budget_says_its_own_epsilon(small_policy: Small, folders: Locations) -> None:
    policy = small_policy()
    make_release(policy, folders)
    assert said(policy, folders) == "ε = 2 is booked. Running again draws new noise, which costs ε again."


def test_without_a_budget_the_sum_of_several_releases_is_said(
    small_policy: Small, folders: Locations
) -> None:
    policy = small_policy()
    for _ in range(2):
        make_release(policy, folders)
    assert said(policy, folders) == (
        "ε = 2 is booked; the releases of small have spent ε = 4 together, and no budget limits it. "
        "Running again draws new noise, which costs ε again."
    )
    other = small_policy(name="other", dataset="others", publish={"to": "other"})
    make_release(other, folders)
    assert said(other, folders) == "ε = 2 is booked. Running again draws new noise, which costs ε again."


def test_the_gate_warns_once_the_sum_is_above_the_usual_epsilon(
    small_policy: Small, folders: Locations
) -> None:
    policy = small_policy(perturb={"epsilon": 6})
    statuses = []
    for _ in range(2):
        published = make_release(policy, folders)
        statuses += [one.status for one in published.report.verdicts if one.limit == "repeated_noise"]
        for known in (Against(policy), Against(None)):
            found = verify_release(published.manifest_path, known)
            assert not found.with_status(Status.REFUSED)
    assert statuses == [Status.PASSED, Status.WARNED]


@pytest.mark.parametrize("refused", [False, True])
def test_noise_with_a_delta_says_it(small_policy: Small, folders: Locations, refused: bool) -> None:
    """(ε, δ) promises less than ε alone: a line with ε only would claim too much."""
    policy = small_policy(perturb={"mechanism": "discrete_gaussian", "delta": 1e-6})
    with_delta = said(policy, folders, refused=refused) or ""
    also = ", and δ = 1e-06 comes with it (each release adds its own)"
    assert with_delta.startswith(f"ε = 2 is booked{also}. Running again")
    assert with_delta.replace(also, "") == said(small_policy(), folders, refused=refused)


def test_a_refused_release_says_what_is_spent_and_is_not_left_open(
    small_policy: Small, folders: Locations
) -> None:
    policy = small_policy(gate={"attacks": {"prosecutor_risk": 0.001}}, budget={"epsilon": 3})
    with pytest.raises(GateRefused):
        make_release(policy, folders)
    assert "2 of the budget of 3 spent, 1 remaining" in (said(policy, folders, refused=True) or "")
    assert [event.event for event in ledger_at(folders.ledger).events()][-1] == "failed"


def test_sticky_noise_is_not_said_to_be_drawn_again(small_policy: Small, folders: Locations) -> None:
    policy = small_policy(
        columns={
            "mail": {"role": "identifier", "action": "hash"},
            "height": {"sensitivity": "declared", "input_bounds": [145, 195]},
        },
        record_key="person",
        deidentify={"key_env": "UNUSED"},
        perturb={"republish": "sticky"},
        budget={"epsilon": 4},
    )
    assert said(policy, folders) == (
        "0 of the budget of 4 spent, 4 remaining. Running again costs ε only for values that have changed."
    )


def test_what_a_budget_has_left_is_looked_up_and_nothing_is_made(
    small_policy: Small, folders: Locations
) -> None:
    policy = small_policy(budget={"epsilon": 3})
    before = sorted(folders.sources.rglob("*"))
    assert remaining_epsilon(policy, folders, partition=None) == 3
    assert sorted(folders.sources.rglob("*")) == before
    make_release(policy, folders)
    assert remaining_epsilon(policy, folders, partition=None) == 1
    assert remaining_epsilon(small_policy(), folders, partition=None) is None
    assert remaining_epsilon(policy, replace(folders, ledger=OFF), partition=None) is None
