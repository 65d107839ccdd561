"""ε-DP releases as a kind: their ε, their errors in words."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from anon_pipeline.epsilon_dp.epsilon_dp_parts import EPSILON_DP_PARTS
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy


def test_epsilon_is_exact_and_errors_are_said(changed: Callable[..., EpsilonDpPolicy]) -> None:
    policy = changed(epsilon=0.1)
    assert EPSILON_DP_PARTS.epsilon(policy) == Fraction(1, 10)
    (line,) = EPSILON_DP_PARTS.losses(policy, 10_000)
    assert line.startswith("expected error of age, city: ") and line.endswith("%")
    shown = EPSILON_DP_PARTS.shown(policy, 10_000)
    assert "ε = 0.1" in shown["headline"] and list(shown["errors"]) == ["age, city"]
