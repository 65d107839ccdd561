"""A synthetic release says first that it guarantees nothing."""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.synthetic_guarantee import synthetic_guarantee


def test_it_says_method_attackers_and_copies(synthetic: Callable[..., SyntheticPolicy]) -> None:
    said = synthetic_guarantee(synthetic(sensitive=["pay"]))
    assert said[0].startswith("No guarantee") and "copula" in said[1] and "columns: pay" in said[3]
    assert "5 copies" in said[-1]
    assert "one copy" in synthetic_guarantee(synthetic(copies=1, method="trees"))[-1]
