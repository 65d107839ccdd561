"""What an ε-DP release costs is said of its own account."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from anon_pipeline.declared.cost import declared_cost
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations


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
