"""A verdict on a demand: a kept limit has finite numbers within its bound, whatever a limit says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from anon_pipeline.limits.case import Case
from anon_pipeline.limits.classes import L_DIVERSITY
from anon_pipeline.limits.contradiction import contradiction
from anon_pipeline.limits.limit import Advised, Demand, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.recoding import LDiversity

CASE = cast(Case, SimpleNamespace(has={}, policy=None))


class Forged(Verdict):
    """Says something else of itself than it holds."""


def mine(*, advisable: bool = False, **judging: Any) -> Limit:
    return Limit("mine", Words("x"), Judged(**judging), advisable=advisable)


def judged(**limit: Any) -> Verdict:
    return Demand(mine(**limit), "", 0.5).verdict(CASE)


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


def test_an_advised_limit_warns_beyond_its_bound_and_only_then() -> None:
    limit = mine(measure=lambda case, demand: demand.wanted + 0.1, advisable=True)
    beyond = Demand(limit, "", 0.5, advised=True).verdict(CASE)
    assert (beyond.status, beyond.value, beyond.bound) == (Status.WARNED, 0.6, 0.5)
    assert beyond.status.publishable
    assert contradiction(limit, beyond) is None
    assert Demand(limit, "", 0.5).verdict(CASE).status is Status.REFUSED
    within = mine(measure=lambda case, demand: 0.4, advisable=True)
    assert Demand(within, "", 0.5, advised=True).verdict(CASE).status is Status.PASSED


def test_a_policy_that_advises_is_a_demand_that_only_warns() -> None:
    limit = replace(
        mine(measure=lambda case, demand: 1), demanded=lambda policy: {"a": Advised(0.5), "b": 0.5}
    )
    found = [(demand.of, demand.wanted, demand.advised) for demand in limit.demands(cast(Any, None))]
    assert found == [("a", 0.5, True), ("b", 0.5, False)]


def test_a_limit_cannot_warn_by_itself_nor_where_it_is_not_advisable() -> None:
    said = Verdict("mine", Status.WARNED, 0.6, 0.5, "at most")
    with pytest.raises(ValueError, match="kept or refused"):
        judged(judge=lambda case, demand: said, advisable=True)
    limit = mine(measure=lambda case, demand: 0.6)
    assert Demand(limit, "", 0.5, advised=True).verdict(CASE).status is Status.REFUSED  # fails closed
    assert contradiction(limit, said) == "mine must be kept, it never only warns"


@pytest.mark.parametrize(
    ("value", "sense"), [(0.4, "at most"), (0.6, "at least"), (0.6, "flu"), (None, "at most")]
)
def test_a_recorded_warning_within_its_bound_is_broken(value: float | None, sense: str) -> None:
    limit = mine(measure=lambda case, demand: 0.6, advisable=True)
    assert contradiction(limit, Verdict("mine", Status.WARNED, value, 0.5, sense)) is not None


def test_an_advised_limit_that_cannot_be_measured_refuses() -> None:
    limit = mine(measure=lambda case, demand: math.nan, advisable=True)
    assert Demand(limit, "", 0.5, advised=True).verdict(CASE).status is Status.REFUSED


@pytest.mark.parametrize(
    ("wanted", "sense", "bound"),
    [({"l": 3}, "at least", 3), ({"kind": "recursive", "l": 2, "c": 4.0}, "below", 4)],
)
def test_the_sense_of_a_limit_that_was_not_measured(wanted: dict[str, Any], sense: str, bound: float) -> None:
    demand = Demand(L_DIVERSITY, "illness", LDiversity(**wanted))
    of_people = SimpleNamespace(has={"originals": False}, policy=SimpleNamespace(person="who"))
    verdict = demand.verdict(cast(Case, of_people))
    assert (verdict.status, verdict.sense, verdict.bound) == (Status.UNMEASURED, sense, bound)
