"""What a release may lose: demanded where the policy says so, advised elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import GateRefused, PolicyError
from anon_pipeline.limits.table import demands
from anon_pipeline.limits.usefulness import ERROR, HIDDEN, LOSS, RELEASED
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
NAMES = ["information_loss", "relative_error.height", "fully_generalized", "released"]


def asked(policy: Policy) -> dict[str, tuple[Any, bool]]:
    found = {demand.name: (demand.wanted, demand.advised) for demand in demands(policy)}
    return {name: found[f"utility_{name}"] for name in NAMES}


def test_what_is_not_set_only_warns(small_policy: Small) -> None:
    assert list(asked(small_policy()).values()) == [
        (bound, True) for bound in (LOSS, ERROR, HIDDEN, RELEASED)
    ]


def test_what_is_set_must_be_kept(small_policy: Small) -> None:
    utility = {
        "information_loss": 0.9,
        "relative_error": {"height": 2},
        "fully_generalized": 1,
        "released": 0.5,
    }
    wanted = asked(small_policy(gate={"utility": utility}))
    assert list(wanted.values()) == [(0.9, False), (2.0, False), (1, False), (0.5, False)]


@pytest.mark.parametrize("wrong", [{"income": 1}, {"nobody": 1}, {"height": 0}, {"height": True}])
def test_an_error_is_limited_of_perturb_columns_with_numbers(
    small_policy: Small, wrong: dict[str, Any]
) -> None:
    with pytest.raises(PolicyError, match="relative_error"):
        small_policy(gate={"utility": {"relative_error": wrong}})


def test_one_class_of_everybody_warns_or_is_refused(small_policy: Small, small_people: People) -> None:
    """It keeps every limit on safety, and says nothing: measured on 0.1.0, passed without a word."""
    one = {"columns": {"age": {"hierarchy": {"intervals": None, "suppress": True}}}, "anonymize": {"k": 100}}
    made = anonymize(small_policy(gate={"k": 100}, **one), small_people())
    found = {verdict.limit: verdict for verdict in made.report.verdicts}
    assert made.report.passed
    assert len(made.frame)
    assert found["utility_information_loss"].status is Status.WARNED
    assert (found["utility_fully_generalized"].status, found["utility_fully_generalized"].value) == (
        Status.WARNED,
        2,
    )
    limited = small_policy(gate={"k": 100, "utility": {"fully_generalized": 1}}, **one)
    with pytest.raises(GateRefused, match=r"utility_fully_generalized \(at most 1\) refused"):
        _ = anonymize(limited, small_people()).frame
