"""The grid holds the policy's own values, and each point is the policy but for its values."""

from __future__ import annotations

import pytest

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.policy import policy_from
from anon_pipeline.tuning.grid import Choice, Grid, choices, default_grid, policy_at


def attributes(**sections: object) -> dict[str, object]:
    return {
        "name": "people",
        "source": {"path": "people.csv"},
        "columns": {
            "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10]}},
            "height": {"role": "perturb", "resolution": 1},
            "illness": {"role": "sensitive"},
        },
        "anonymize": {"k": 5},
        "perturb": {"epsilon": 2},
    } | sections


def test_the_default_grid_holds_the_policys_own_values() -> None:
    grid = default_grid(policy_from(attributes(anonymize={"k": 7}, perturb={"epsilon": 3})))
    assert 7 in grid.k and len(grid.k) == 8
    assert grid.epsilon == (0.1, 0.2, 0.5, 1, 2, 3)
    assert len(choices(policy_from(attributes()), Grid())) == 1


@pytest.mark.parametrize(
    ("left", "epsilons"),
    [(9.0, (0.1, 0.2, 0.5, 1, 2)), (0.7, (0.1, 0.2, 0.5)), (0.05, (0.05,)), (0.0, (2,))],
)
def test_no_epsilon_is_beyond_the_policys_or_what_the_budget_has_left(
    left: float, epsilons: tuple[float, ...]
) -> None:
    assert default_grid(policy_from(attributes(budget={"epsilon": 4})), left=left).epsilon == epsilons


def test_a_grid_that_does_not_fit_is_refused() -> None:
    own = attributes()["columns"] | {"height": {"role": "insensitive"}}  # type: ignore[operator]
    without = policy_from(attributes(columns=own, perturb=None))
    with pytest.raises(InputError, match="no column has noise of a scale"):
        choices(without, Grid(epsilon=(1.0,)))
    assert default_grid(without).epsilon == ()
    with pytest.raises(InputError, match="at most 10,000 points, got 40,000"):
        choices(
            policy_from(attributes()), Grid(k=tuple(range(2, 202)), epsilon=tuple(map(float, range(1, 201))))
        )
    with pytest.raises(PolicyError, match=r"anonymize\.k"):
        policy_at(policy_from(attributes()), Choice(1, 1.0, None, "ola"))


def test_a_point_is_the_policy_but_for_its_values() -> None:
    policy = policy_from(attributes(gate={"linking_risk": 0.1}))
    assert policy_at(policy, Choice(5, 2.0, None, "ola")).digest == policy.digest
    other = policy_at(policy, Choice(9, 0.5, 0.9, "mondrian"))
    assert (other.anonymize.k, other.anonymize.recoder) == (9, "mondrian")
    assert (other.perturb.epsilon, other.suppress.confidence) == (0.5, 0.9)  # type: ignore[union-attr]
    assert other.gate == policy.gate and other.columns == policy.columns
    height = {"role": "perturb", "resolution": 1, "mechanism": "rounding", "amount": 5}
    own = attributes()["columns"] | {"height": height}  # type: ignore[operator]
    masked = policy_from(attributes(columns=own, perturb={"epsilon": 2, "without_guarantee": True}))
    assert choices(masked, Grid()) == [Choice(5, None, None, "ola")]
    assert default_grid(masked).epsilon == ()
    moved = policy_at(masked, Choice(5, None, None, "ola", (("height", 20.0),)))
    assert (moved.perturbed["height"].amount, moved.perturb) == (20, masked.perturb)
