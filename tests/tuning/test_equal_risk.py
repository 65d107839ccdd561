"""k and ε at equal risk or loss: no point of a grid keeps the goal and is better."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.policy import Policy
from anon_pipeline.tuning.equal_risk import Goal, find_pair, goal_of
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.recode_input import input_to_recode
from anon_pipeline.tuning.results import Point
from anon_pipeline.tuning.tune import tune
from tests.tuning.policies import people, policy

HERE = Path()
Tuned = tuple[Policy, tuple[Point, ...]]


@pytest.fixture(scope="module", params=[{}, {"weight": {"role": "perturb", "resolution": 1}}])
def at_k_10(request) -> Tuned:
    """A policy and what a grid expects of it, whatever the goal."""
    own = policy(
        columns=request.param,
        anonymize={"k": 10, "loss": "granularity", "suppression_limit": 0.1},
        perturb={"epsilon": 5},
    )
    grid = Grid(k=(10, 20, 30, 50, 100), epsilon=(0.1, 0.2, 0.5, 1, 2, 5))
    return own, tune(own, people(), grid).points


@pytest.mark.parametrize("most", [0.03, 0.08])
def test_a_grid_of_points_has_none_that_is_as_safe_and_loses_less(at_k_10: Tuned, most: float) -> None:
    own, points = at_k_10
    before = input_to_recode(own, people())
    found = find_pair(own, before, Goal("linking", most), hierarchies=HERE)
    assert found is not None and found.epsilon is not None
    assert (found.policy.anonymize.k, found.policy.perturb.epsilon) == (found.k, found.epsilon)
    assert goal_of("linking", found.policy, before, HERE).most <= most
    assert found.k >= 10 and found.epsilon <= 5
    safe = [p for p in points if p.expected.linking_released <= most]
    assert all(p.expected.loss >= found.loss - 1e-9 for p in safe)


@pytest.fixture(scope="module")
def at_k_5() -> Tuned:
    """A policy and what a grid expects of it, whatever the goal."""
    own = policy(
        anonymize={"k": 5, "loss": "granularity", "suppression_limit": 0.1},
        perturb={"epsilon": 5},
        gate={"k": 5},
    )
    return own, tune(own, people(), Grid(k=(5, 10, 15, 25, 50), epsilon=(0.1, 0.2, 0.5, 1, 2, 5))).points


@pytest.mark.parametrize("most", [0.35, 0.6])
def test_a_grid_of_points_has_none_that_loses_as_little_and_links_less(at_k_5: Tuned, most: float) -> None:
    own, points = at_k_5
    before = input_to_recode(own, people())
    found = find_pair(own, before, Goal("loss", most), hierarchies=HERE)
    assert found is not None
    assert goal_of("loss", found.policy, before, HERE).most <= most
    assert found.k >= 5 and found.epsilon is not None and found.epsilon <= 5
    cheap = [p for p in points if p.expected.loss <= most]
    assert cheap
    passing = [p for p in cheap if p.passes] if found.passes else cheap
    assert all(p.expected.linking_released >= found.linking - 1e-9 for p in passing)


def test_nothing_loses_as_little_as_the_data_itself() -> None:
    own = policy()
    assert find_pair(own, input_to_recode(own, people()), Goal("loss", 0.0), hierarchies=HERE) is None


def test_without_noise_k_alone_makes_it_safe() -> None:
    bare = policy(columns={"height": {"role": "insensitive"}}, perturb=None, suppress={})
    before = input_to_recode(bare, people())
    found = find_pair(bare, before, Goal("linking", 0.004), hierarchies=HERE)
    assert found is not None
    assert found.epsilon is None and goal_of("linking", found.policy, before, HERE).most <= 0.004
    assert goal_of("linking", bare, before, HERE).most > 0.004


def test_nothing_is_as_safe_as_no_link_at_all() -> None:
    own = policy()
    assert find_pair(own, input_to_recode(own, people()), Goal("linking", 0.0), hierarchies=HERE) is None


def test_no_recoding_with_any_k_says_why() -> None:
    own = policy(anonymize={"k": 20, "l_diversity": {"illness": {"l": 5}}})
    with pytest.raises(InfeasibleError, match="l_diversity"):
        find_pair(own, input_to_recode(own, people()), Goal("linking", 0.1), hierarchies=HERE)
