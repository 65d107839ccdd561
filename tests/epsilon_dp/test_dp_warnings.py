"""What ε-DP releases are warned of: a large ε, small cells, releases that add up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from anon_pipeline.declared.declared_verify import verify_declared
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.epsilon_dp.dp_warnings import REPEATED, judge_cells, judge_epsilon, judge_repeats
from anon_pipeline.gate import Status
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations

Changed = Callable[..., EpsilonDpPolicy]
BUDGET = {"epsilon": 9}


@pytest.mark.parametrize(("epsilon", "status"), [(3, Status.PASSED), (3.1, Status.WARNED)])
def test_a_large_epsilon_warns(changed: Changed, epsilon: float, status: Status) -> None:
    verdict = judge_epsilon(changed(epsilon=epsilon))
    assert (verdict.status, verdict.value, verdict.bound) == (status, epsilon, 3)


def test_more_cells_than_records_warn(changed: Changed) -> None:
    """By hand: 8 bins of ages and 3 cities."""
    assert judge_cells(changed(), 24).status is Status.PASSED
    verdict = judge_cells(changed(), 23)
    assert (verdict.status, verdict.value) == (Status.WARNED, 24 / 23)
    assert judge_cells(changed(histograms={"tables": [["age"], ["city"]]}), 8).value == 1
    assert judge_cells(changed(column_means={"k": 2}), 2).status is Status.PASSED


@pytest.mark.parametrize(
    ("changes", "earlier", "said"),
    [
        ({}, None, None),
        ({}, Fraction(0), None),
        ({}, Fraction(1, 2), "the releases of people have ε = 1.5 together, and no budget ends it"),
        ({"dataset": "all"}, Fraction(1), "the releases of all have ε = 2 together, and no budget"),
        ({"budget": BUDGET}, Fraction(1), None),
        ({"budget": BUDGET | {"window": 30}}, Fraction(1), "the budget forgets what was spent"),
        ({"schedule": {"cron": "0 3 * * *"}}, None, "the schedule draws new noise"),
        ({"schedule": {"cron": "0 3 * * *"}, "budget": BUDGET}, None, None),
        ({"source": {"generate": "patients", "records": 100, "seed": 0}}, Fraction(1), None),
    ],
)
def test_releases_that_add_up_without_an_end_warn(
    changed: Changed, changes: dict[str, Any], earlier: Fraction | None, said: str | None
) -> None:
    verdict = judge_repeats(changed(**changes), earlier, from_files=False)
    assert verdict.status is (Status.PASSED if said is None else Status.WARNED)
    assert said is None or said in str(verdict.reason)
    assert judge_repeats(changed(**changes), earlier, from_files=True).status is Status.UNMEASURED


def test_a_second_release_without_a_budget_is_published_with_a_warning(
    dp_project: tuple[EpsilonDpPolicy, Locations],
) -> None:
    policy, locations = dp_project
    for status in (Status.PASSED, Status.WARNED):
        made = make_declared_release(policy, locations)
        assert [one.status for one in made.report.verdicts if one.limit == REPEATED] == [status]
        assert not verify_declared(made.manifest_path).with_status(Status.REFUSED)
