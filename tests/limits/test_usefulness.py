"""What a release may lose: demanded where the policy says so, advised elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.limits.table import advice_on, demands, limits_of
from anon_pipeline.limits.usefulness import (
    CLIPPED_SHARE,
    ERROR,
    EXCESS,
    HIDDEN,
    LOSS,
    RELEASED,
    SPREAD_ERROR,
)
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


def test_a_larger_epsilon_is_advised_last(small_policy: Small) -> None:
    """Where outliers cause the error, bounds end it, and a larger ε shows the outliers."""
    said = advice_on("utility_relative_error.height", small_policy())
    assert said.index("input_bounds") < said.index("perturb fewer") < said.index("A larger ε last")
    assert "can be linked" in said


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


TOP = {"columns": {"income": {"top": 28_000}}}
DECLARED = {"columns": {"height": {"sensitivity": "declared", "input_bounds": [150, 165]}}}
OUTPUT = {"columns": {"height": {"output_bounds": [150, 165]}}}


@pytest.mark.parametrize(
    ("bounds", "column", "beyond"),
    [
        (TOP, "income", lambda people: people["income"] > 28_000),
        (DECLARED, "height", lambda people: ~people["height"].between(150, 165)),
        (OUTPUT, "height", lambda people: ~people["height"].between(150, 165)),
    ],
)
def test_bounds_that_cut_off_much_of_a_column_warn(
    small_policy: Small,
    small_people: People,
    bounds: dict[str, Any],
    column: str,
    beyond: Callable[[pd.DataFrame], pd.Series],
) -> None:
    """It keeps every limit on safety, and passed without a word before this limit."""
    people = small_people()
    share = float(beyond(people).mean())
    assert share > 2 * CLIPPED_SHARE
    found = {v.limit: v for v in anonymize(small_policy(**bounds), people).report.verdicts}
    verdict = found[f"utility_clipped.{column}"]
    assert (verdict.status, verdict.value, verdict.bound) == (Status.WARNED, share, CLIPPED_SHARE)
    assert "value" not in {key for key, value in verdict.to_json().items() if value is not None}


def test_bounds_that_cut_off_little_pass_and_what_the_policy_sets_must_be_kept(
    small_policy: Small, small_people: People
) -> None:
    wide = {"columns": {"income": {"top": 100_000}}}
    found = {v.limit: v.status for v in anonymize(small_policy(**wide), small_people()).report.verdicts}
    assert found["utility_clipped.income"] is Status.PASSED
    set_ = small_policy(gate={"utility": {"clipped": {"income": 0.5}}}, **TOP)
    with pytest.raises(GateRefused, match=r"utility_clipped.income \(at most 0.5\) refused"):
        _ = anonymize(set_, small_people()).frame


def test_the_share_is_of_the_records_that_a_person_may_have(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records beyond rows_per_person are left out before anything is released, and do not count."""
    one, three = small_people(60, seed=1), small_people(60, seed=2)
    three["person"] = "other " + three["person"]
    one["income"], three["income"] = 20_000, 40_000
    people = pd.concat([one, *[three] * 3], ignore_index=True)
    counted = {"person": "person", "rows_per_person": 1, "deidentify": {"key_env": "KEY"}}
    monkeypatch.setenv("KEY", "0123456789abcdef")
    facts = anonymize(small_policy(**TOP, **counted), people).facts["deidentified"]
    assert facts["excess_records"] == 120
    assert facts["clipped"] == {"income": 0.5}  # 0.75 of all records


def test_it_is_asked_and_digests_stay(small_policy: Small) -> None:
    policy = small_policy(**TOP)
    assert "utility_clipped.income" in limits_of(policy)
    assert "clipped" not in policy.model_dump()["gate"]["utility"]


def test_noise_that_drowns_a_column_warns_though_it_is_small_beside_its_values(
    small_policy: Small, small_people: People
) -> None:
    """Declared bounds and a small ε: most heights are at a bound, and passed without a word before."""
    wide = {"sensitivity": "declared", "input_bounds": [100, 220], "output_bounds": [100, 220]}
    drowned = small_policy(columns={"height": wide}, perturb={"epsilon": 0.1})
    found = {v.limit: v for v in anonymize(drowned, small_people()).report.verdicts}
    assert found["utility_relative_error.height"].status is Status.PASSED
    verdict = found["utility_error_of_spread.height"]
    assert (verdict.status, verdict.bound) == (Status.WARNED, SPREAD_ERROR)
    assert verdict.value is not None and verdict.value > 2 * SPREAD_ERROR
    assert verdict.to_json()["value"] is None
    light = small_policy(columns={"height": wide}, perturb={"epsilon": 10})
    found = {v.limit: v for v in anonymize(light, small_people()).report.verdicts}
    assert found["utility_error_of_spread.height"].status is Status.PASSED
    limited = small_policy(
        columns={"height": wide},
        perturb={"epsilon": 10},
        gate={"utility": {"error_of_spread": {"height": 0.1}}},
    )
    with pytest.raises(GateRefused, match=r"utility_error_of_spread.height \(at most 0.1\) refused"):
        _ = anonymize(limited, small_people()).frame


PEOPLE = {"person": "person", "deidentify": {"key_env": "KEY"}}


def test_records_beyond_rows_per_person_warn(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three records a person of which one is released: the share released, of people, is 1."""
    monkeypatch.setenv("KEY", "0123456789abcdef")
    people = pd.concat([small_people()] * 3, ignore_index=True)
    found = {v.limit: v for v in anonymize(small_policy(rows_per_person=1, **PEOPLE), people).report.verdicts}
    assert found["utility_released"].status is Status.PASSED
    verdict = found["utility_excess"]
    assert (verdict.status, verdict.value, verdict.bound) == (Status.WARNED, 2 / 3, EXCESS)
    assert verdict.to_json()["value"] is None
    three = small_policy(rows_per_person=3, **PEOPLE)
    found = {v.limit: v for v in anonymize(three, people).report.verdicts}
    assert (found["utility_excess"].status, found["utility_excess"].value) == (Status.PASSED, 0)
    wanted = {"utility": {"excess": 0.5}}
    with pytest.raises(GateRefused, match=r"utility_excess \(at most 0.5\) refused"):
        _ = anonymize(small_policy(rows_per_person=1, gate=wanted, **PEOPLE), people).frame


def test_the_newest_measures_are_asked_and_change_no_digest(small_policy: Small) -> None:
    policy = small_policy(rows_per_person=1, **PEOPLE)
    new = {"utility_error_of_spread.height", "utility_excess"}
    assert new <= {*limits_of(policy)}
    assert not {"error_of_spread", "excess"} & policy.model_dump()["gate"]["utility"].keys()
    assert "utility_excess" not in limits_of(small_policy())
