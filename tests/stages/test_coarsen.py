"""Released columns as coarse as the policy says: on the grid, within the bounds, of the level; no other."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline import Policy, anonymize
from anon_pipeline.base.errors import InputError
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.columns import Insensitive
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.coarsen import at_level, coarse_numbers
from anon_pipeline.stages.contracts.stages import broken_contract, deidentified_contract, release_contract

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def insensitive(**how: object) -> Insensitive:
    return Insensitive.model_validate({"role": "insensitive", **how})


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.25, 1, 5, 500]),
    st.integers(-20, 0),
    st.integers(1, 20),
)
def test_numbers_are_the_nearest_multiple_within_the_bounds(
    values: list[float | None], step: float, low: int, high: int
) -> None:
    exact = Fraction(repr(float(step)))
    bottom, top = float(low * exact), float(high * exact)
    column = insensitive(round=step, bottom=bottom, top=top)
    given_values = pd.Series(values, dtype="float64")
    made = coarse_numbers(given_values, column)
    assert made.isna().equals(given_values.isna())
    for before, after in zip(given_values.dropna(), made.dropna(), strict=True):
        assert (Fraction(repr(float(after))) / exact).denominator == 1
        assert bottom <= after <= top
        clipped = min(max(before, bottom), top)
        assert abs(after - clipped) <= step / 2 * (1 + 1e-6)
    again = coarse_numbers(made, column)
    assert again.equals(made)


def test_whole_numbers_stay_whole_and_a_half_goes_up() -> None:
    made = coarse_numbers(pd.Series([2, 3, 7, 8]), insensitive(round=5))
    assert made.dtype == np.int64
    assert made.tolist() == [0, 5, 5, 10]
    assert coarse_numbers(pd.Series([2.5]), insensitive(round=5)).tolist() == [5]
    assert coarse_numbers(pd.Series([0.14, 99.0]), insensitive(round=0.1, top=1)).tolist() == [0.1, 1.0]


def test_numbers_too_large_for_their_step_are_refused_without_a_value() -> None:
    with pytest.raises(InputError, match=r"^income: values must be finite and within 2\^52"):
        coarse_numbers(pd.Series([2.0**52], name="income"), insensitive(round=0.001))


def test_values_of_a_level_and_missing_ones() -> None:
    days = pd.Series(["1970-05-17", None, "1981-01-01"], name="born")
    column = insensitive(hierarchy={"dates": ["year", "decade"]}, level=2)
    assert at_level(days, column).tolist()[::2] == ["1970s", "1980s"]
    assert at_level(days, column).isna().tolist() == [False, True, False]
    towns = pd.Series(["02139", "94139"], name="zip")
    assert at_level(towns, insensitive(hierarchy={"mask": [2, 3]}, level=1)).tolist() == ["021**", "941**"]
    with pytest.raises(InputError, match="zip: level must be at most 3"):
        at_level(towns, insensitive(hierarchy={"mask": [2, 3]}, level=4))


COARSE = {
    "income": {"round": 5000, "bottom": 25000},
    "note": {"hierarchy": {"tree": {"both": ["a", "b"]}}, "level": 1},
}


def test_the_stage_and_the_contracts_know_the_result(small_policy: Small, small_people: People) -> None:
    policy = small_policy(columns=COARSE)
    raw = pipeline.raw(policy, small_people(), entropy=seeded_entropy(0))
    clean = pipeline.deidentified(policy, raw, key=None)
    assert set(clean.frame["income"]) == {25000, 30000, 35000, 40000}
    assert set(clean.frame["note"]) == {"both"}
    assert broken_contract(clean.frame, deidentified_contract(policy)) == []
    assert broken_contract(raw.frame.drop(columns="person"), deidentified_contract(policy)) == [
        "income: must be to the nearest 5000, not below 25000",
        "note: must be at level 1 of its hierarchy",
    ]


def test_what_is_released_and_measured_is_coarse(small_policy: Small, small_people: People) -> None:
    gate = {"gate": {"t_closeness": {"income": 0.9}}}
    coarse = anonymize(small_policy(columns=COARSE, **gate), small_people())
    assert set(coarse.frame["income"]) <= {25000, 30000, 35000, 40000}
    assert broken_contract(coarse.frame, release_contract(small_policy(columns=COARSE))) == []
    exact = anonymize(small_policy(**gate), small_people())
    [of_coarse], [of_exact] = (
        [v.value for v in made.report.verdicts if v.limit == "t_closeness.income"] for made in (coarse, exact)
    )
    assert of_coarse != of_exact
