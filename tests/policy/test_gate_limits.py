"""The section `gate`: its defaults, which values are refused, what a limit needs of other sections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy, sections
from anon_pipeline.policy.gate_limits import LIMIT_KEYS, Gate, Usefulness


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 1}, "greater than or equal to 2"),
        ({"confidence_k": 1}, "greater than or equal to 2"),
        ({"linking_risk": 1.1}, "less than or equal to 1"),
        ({"linking_risk": -0.1}, "greater than or equal to 0"),
        ({"linking_risk": True}, "must be a number, got true"),
        ({"suppression": True}, "must be a number, got true"),
        ({"t_closeness": {"a": True}}, "must be a number, got true"),
        ({"t_closeness": {"a": 2}}, "less than or equal to 1"),
        ({"t_closeness": 0.2}, "valid dictionary"),
        ({"utility": {"fully_generalized": -1}}, "greater than or equal to 0"),
        ({"released_identifiers": 0.06}, "less than or equal to 0.05"),
        ({"safe_harbor": 1}, "valid boolean"),
    ],
)
def test_values_that_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Gate.model_validate(given)
    assert message in "\n".join(error["msg"] for error in caught.value.errors())


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ({"cross_release_k": 3}, "gate.cross_release_k: needs record_key"),
        (
            {"utility": {"relative_error": {"city": 0.5}}},
            "must name columns with the role perturb and numbers",
        ),
    ],
)
def test_what_a_limit_needs_of_other_sections(
    small_policy: Callable[..., Policy], gate: dict[str, Any], says: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        small_policy(gate=gate)
    assert says in str(caught.value)


def test_defaults() -> None:
    assert Gate() == Gate(k=None, t_closeness={}, l_diversity={}, linking_risk=None, suppression=None)
    assert (Gate().linking, Gate().released_identifiers, Gate().safe_harbor) == ("expected", 0.05, False)
    assert Gate().utility == Usefulness(information_loss=None, relative_error={}, released=None)


def test_limits_of_one_policy_are_not_shared_with_another() -> None:
    assert Gate().t_closeness is not Gate().t_closeness


def test_the_section_is_importable_from_where_it_was() -> None:
    assert (sections.Gate, sections.Usefulness, sections.LIMIT_KEYS) == (Gate, Usefulness, LIMIT_KEYS)
