"""What an ε-DP release costs is said of its own account."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import make_release
from anon_pipeline.base.errors import GateRefused, PolicyError
from anon_pipeline.declared.cost import declared_cost
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.gate import Status
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.accounting.accounts import describe_cost


def test_it_says_what_is_booked_spent_and_left(
    dp_project: tuple[EpsilonDpPolicy, Locations], changed: Callable[..., EpsilonDpPolicy], tmp_path: Path
) -> None:
    policy, locations = dp_project
    make_declared_release(policy, locations)
    assert declared_cost(policy, locations) == (
        "ε = 1 is booked; the releases of this kind of people have spent ε = 1 together, and no budget "
        "limits it. Running again draws new noise, which costs ε again."
    )
    budgeted = changed(budget={"epsilon": 2.5})
    make_declared_release(budgeted, locations)
    said = str(declared_cost(budgeted, locations, refused=True))
    assert "2 of the budget of 2.5 spent, 0.5 remaining" in said and "costs nothing" in said
    assert declared_cost(policy, Locations.of(tmp_path, {"ANON_PIPELINE_LEDGER": "off"})) is None


Small = Callable[..., Policy]
Changed = Callable[..., EpsilonDpPolicy]


@pytest.fixture
def town(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    """Make a project whose table both kinds of policies can read."""
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def cost_of(policy: Policy, town: Locations) -> str:
    """Return what is said of the cost of an ordinary release."""
    return str(describe_cost(policy, town, partition=None, refused=False))


@pytest.mark.parametrize("dp_first", [True, False])
def test_both_kinds_of_epsilon_have_budgets_of_their_own(
    small_policy: Small, changed: Changed, town: Locations, dp_first: bool
) -> None:
    """Of one dataset: what one kind spends leaves the whole budget to the other, in either order."""
    ordinary = small_policy(dataset="town", budget={"epsilon": 2})
    private = changed(dataset="town", budget={"epsilon": 1})
    for dp in (dp_first, not dp_first):
        if dp:
            make_declared_release(private, town)
        else:
            make_release(ordinary, town)
    published = [one for one in ledger_at(town.ledger).events() if one.event == "published"]
    assert {(one.dataset, one.epsilon) for one in published} == {("town", "2"), ("epsilon_dp:town", "1")}
    assert "1 of the budget of 1 spent, 0 remaining" in str(declared_cost(private, town))
    assert "2 of the budget of 2 spent, 0 remaining" in str(
        describe_cost(ordinary, town, partition=None, refused=False)
    )
    with pytest.raises(GateRefused, match="spent 1, requested 1, remaining 0"):
        make_declared_release(private, town)
    with pytest.raises(GateRefused, match="spent 2, requested 2, remaining 0"):
        make_release(ordinary, town)


def test_without_budgets_neither_kind_counts_for_the_other(
    small_policy: Small, changed: Changed, town: Locations
) -> None:
    """ε = 9 and ε = 2 are more than the gate takes without a warning, if they were added."""
    private, ordinary = (
        changed(dataset="town", epsilon=9),
        small_policy(dataset="town"),
    )
    make_declared_release(private, town)
    verdicts = {one.limit: one.status for one in make_release(ordinary, town).report.verdicts}
    assert verdicts["repeated_noise"] is Status.PASSED
    assert "town have spent ε = 9 together" in str(declared_cost(private, town))
    assert cost_of(ordinary, town).startswith("ε = 2 is booked. ")


def test_no_policy_can_name_the_account_of_the_other_kind(small_policy: Small) -> None:
    with pytest.raises(PolicyError, match="dataset"):
        small_policy(dataset="epsilon_dp:town")
