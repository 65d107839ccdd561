"""What the gate measures of drawn categories: against releases that were made, and against its bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.known_categories import expected_of_category, realized_of_category
from anon_pipeline.gate import Status
from anon_pipeline.limits import known_columns
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS
from anon_pipeline.policy.contradictions import refuse_contradictions

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
TRADES = [f"trade {i}" for i in range(12)]
TRADE = {"role": "perturb", "mechanism": "randomized_response", "values": TRADES}
BARE: dict[str, Any] = {"columns": {"height": None, "trade": TRADE}, "suppress": None}


def with_trades(people: pd.DataFrame) -> pd.DataFrame:
    trades = np.random.default_rng(4).choice(TRADES, len(people))
    return people.drop(columns="height").assign(trade=trades)


def known(*entries: tuple[list[str], float]) -> dict[str, Any]:
    return {"attacks": {"known_columns": [{"columns": names, "risk": risk} for names, risk in entries]}}


@pytest.mark.parametrize("epsilon", [1, 4])
def test_releases_that_are_made_link_what_is_expected(
    small_policy: Small, small_people: People, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[float, float]] = []

    policy = small_policy(**BARE, perturb={"epsilon": epsilon}, gate={"linking": "realized"})
    table = with_trades(small_people(240))

    def seen(evidence: Evidence, policy: Policy, name: str) -> float:
        value = realized_of_category(evidence, policy, name)
        found.append((value, expected_of_category(evidence, policy, name).mean))
        return value

    monkeypatch.setattr(known_columns, "realized_of_category", seen)
    for _ in range(40):
        anonymize(policy, table)
    drawn, expected = np.array(found).T
    assert np.ptp(expected) == 0
    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    assert abs(drawn.mean() - expected[0]) < 4 * error


@pytest.mark.parametrize(("epsilon", "status"), [(1, Status.PASSED), (9, Status.REFUSED)])
def test_drawn_categories_have_the_usual_bound(
    small_policy: Small, small_people: People, epsilon: float, status: Status
) -> None:
    gate = {"k": 10, "linking": "realized" if status is Status.REFUSED else "expected"}
    policy = small_policy(**BARE, perturb={"epsilon": epsilon}, anonymize={"k": 10}, gate=gate)
    report = anonymize(policy, with_trades(small_people(240))).report
    verdict = next(one for one in report.verdicts if one.limit == "known_columns.trade")
    assert (verdict.status, verdict.bound) == (status, 0.2)


def test_without_noisy_numbers_the_mean_over_the_noise_is_judged(
    small_policy: Small, small_people: People
) -> None:
    """What was drawn differs from draw to draw: whether it is accepted must not tell of the originals."""
    policy = small_policy(**BARE, perturb={"epsilon": 2}, gate=known((["trade"], 1)))
    table = with_trades(small_people(240))
    found = [
        next(one for one in anonymize(policy, table).report.verdicts if one.limit == "known_columns.trade")
        for _ in range(3)
    ]
    assert len({one.value for one in found}) == 1
    assert len({one.realized for one in found}) > 1


def test_a_policy_sets_a_bound_of_its_own(small_policy: Small) -> None:
    policy = small_policy(**BARE, gate=known((["trade"], 0.7)))
    assert {one.name: one.bound for one in KNOWN_COLUMNS.demands(policy)}["known_columns.trade"] == 0.7
    policy = small_policy(**BARE, gate=known((["trade", "note"], 0.7)))
    assert {one.name: one.bound for one in KNOWN_COLUMNS.demands(policy)}["known_columns.note + trade"] == 0.7


def test_a_large_epsilon_needs_a_limit_on_each_column_of_categories(small_policy: Small) -> None:
    large = {**BARE, "perturb": {"epsilon": 10.5}}
    with pytest.raises(PolicyError, match=r"for each column of categories, .*\[trade\]"):
        refuse_contradictions(small_policy(**large))
    with pytest.raises(PolicyError, match="without one for trade"):
        refuse_contradictions(small_policy(**large, gate=known((["trade"], 1))))
    refuse_contradictions(small_policy(**large, gate=known((["trade"], 0.4))))
    refuse_contradictions(small_policy(**{**BARE, "perturb": {"epsilon": 10}}))
