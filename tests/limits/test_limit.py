"""A verdict on a demand: a kept limit has finite numbers within its bound, whatever a limit says."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Demand, Limit
from anon_pipeline.limits.verdicts import Status, Verdict

CASE = cast(Case, SimpleNamespace(has={}, policy=None))


class Forged(Verdict):
    """Says something else of itself than it holds."""


def judged(**limit: Any) -> Verdict:
    return Demand(Limit("mine", "x", **limit), "", 0.5).verdict(CASE)


def test_a_measure_within_the_bound_is_kept() -> None:
    assert judged(measure=lambda case, demand: 0.4).status is Status.PASSED
    assert judged(measure=lambda case, demand: 0.6).status is Status.REFUSED


@pytest.mark.parametrize(
    ("value", "sense"), [(math.inf, "at least"), (-math.inf, "at most"), (-1.0, "at most")]
)
def test_a_measure_that_no_manifest_can_record_does_not_keep_a_limit(value: float, sense: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        judged(sense=sense, measure=lambda case, demand: value)


@pytest.mark.parametrize(
    "verdict",
    [
        lambda: Verdict("k", Status.PASSED, 0.4, 0.5, "at most"),
        lambda: Forged("mine", Status.PASSED, 0.4, 0.5, "at most"),
        lambda: Verdict("mine", cast(Status, "passed"), 0.4, 0.5, "at most"),
        lambda: Verdict("mine", Status.PASSED, cast(float, "flu"), 0.5, "at most"),
        lambda: Verdict("mine", Status.PASSED, True, 0.5, "at most"),
        lambda: Verdict("mine", Status.PASSED, math.nan, 0.5, "at most"),
        lambda: Verdict("mine", Status.PASSED, 0.9, 0.5, "at most"),
        lambda: Verdict("mine", Status.PASSED, 0.9, 0.95, "at most"),
        lambda: Verdict("mine", Status.PASSED, 0.4, 0.5, "flu"),
        lambda: Verdict("mine", Status.PASSED, 0.4, 0.5, "at most", reason="flu"),
        lambda: Verdict("mine", Status.PASSED),
        lambda: Verdict("mine", Status.PASSED, 0.4, 0.5, "at most", realized=0.4),
        lambda: None,
    ],
)
def test_a_verdict_that_contradicts_the_demand_is_none(verdict: Callable[[], Verdict]) -> None:
    with pytest.raises(ValueError, match="must be"):
        judged(judge=lambda case, demand: verdict())
