"""The number of each expectation, worked out on paper, and errors that carry no value."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.gate.great_expectations import (
    ExpectReleaseLinkingRiskToBeAtMost,
    ExpectReleaseSuppressionToBeAtMost,
    ExpectReleaseToBeConfidentlyKAnonymous,
    ExpectReleaseToBeKAnonymous,
    ExpectReleaseToBeLDiverse,
    ExpectReleaseToBeTClose,
)
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.gate.great_expectations.failures import MeasureFailed, without_values

Measured = Callable[[pd.DataFrame, ReleaseExpectation], float | None]
QUASI: dict[str, Any] = {"quasi_identifiers": ["zip"], "released": "out"}
NOISY: dict[str, Any] = {
    "released_columns": ["height"],
    "original_columns": ["was"],
    "class_column": "class",
    "resolutions": [0.1],
    "released": "out",
}


def test_k_is_the_smallest_released_class(by_hand: pd.DataFrame, measured: Measured) -> None:
    assert measured(by_hand, ExpectReleaseToBeKAnonymous(k=2, **QUASI)) == 2
    assert measured(by_hand, ExpectReleaseToBeKAnonymous(k=2, quasi_identifiers=["zip"])) == 1


def test_t_is_measured_against_all_rows_of_the_batch(by_hand: pd.DataFrame, measured: Measured) -> None:
    # pay: whole 1: 3/7, 2: 1/7, 3: 1/7, 4: 2/7; class b is {1, 1}; ordered: (4 + 3 + 2)/7/3
    ordered = ExpectReleaseToBeTClose(column="pay", distance="ordered", t=1, **QUASI)
    assert measured(by_hand, ordered) == pytest.approx(9 / 21, rel=1e-12)
    # without the suppressed rows the whole is 3/5, 1/5, 1/5: class b is (2 + 1)/5/2 away
    assert measured(by_hand[by_hand["out"]], ordered) == pytest.approx(0.3, rel=1e-12)
    equal = ExpectReleaseToBeTClose(column="pay", distance="equal", t=1, **QUASI)
    assert measured(by_hand, equal) == pytest.approx(4 / 7, rel=1e-12)


def test_numbers_written_as_texts_are_ordered_as_numbers(by_hand: pd.DataFrame, measured: Measured) -> None:
    ordered = ExpectReleaseToBeTClose(column="pay", distance="ordered", t=1, **QUASI)
    by_hand["pay"] = by_hand["pay"].map({1: 9, 2: 10, 3: 100, 4: 1000})  # as texts, 9 would be the last
    expected = measured(by_hand, ordered)
    assert measured(by_hand.assign(pay=by_hand["pay"].astype(str)), ordered) == expected
    assert measured(by_hand.assign(pay=by_hand["pay"].astype("category")), ordered) == expected


def test_t_by_a_tree_moves_mass_only_as_far_as_it_must(by_hand: pd.DataFrame, measured: Measured) -> None:
    # ill: whole x 3/7, y 3/7, z 1/7; class b all x: y's share moves within the branch (½), z's to the top (1)
    tree = {"tree": {"one": ["x", "y"], "two": ["z"]}}
    far = ExpectReleaseToBeTClose(column="ill", distance="hierarchical", hierarchy=tree, t=1, **QUASI)
    assert measured(by_hand, far) == pytest.approx(3 / 7 / 2 + 1 / 7, rel=1e-12)


def test_diversity_is_that_of_the_least_diverse_class(by_hand: pd.DataFrame, measured: Measured) -> None:
    def diversity(frame: pd.DataFrame, **kind: Any) -> float | None:
        return measured(frame, ExpectReleaseToBeLDiverse(column="pay", **kind, **QUASI))

    assert diversity(by_hand, kind="distinct", l=2) == 1
    assert diversity(by_hand, kind="entropy", l=2) == pytest.approx(1)
    assert diversity(by_hand, kind="recursive", l=1, c=2) == 1
    assert diversity(by_hand, kind="recursive", l=2, c=2) is None  # infinite
    only_a = by_hand[by_hand["zip"] == "a"]
    assert diversity(only_a, kind="entropy", l=2) == pytest.approx(3)
    assert diversity(only_a, kind="recursive", l=2, c=2) == 0.5


def test_values_that_the_coding_makes_equal_are_one_value_of_diversity(
    by_hand: pd.DataFrame, measured: Measured
) -> None:
    by_hand["pay"] = ["2020-01-05", "2020-01-05 12:00", "2020-01-05T13:30", *["2020-02-01"] * 4]
    only_a = by_hand[by_hand["zip"] == "a"]
    plain = {"column": "pay", "kind": "distinct", "l": 2} | QUASI
    dates = {"distance": "hierarchical", "hierarchy": {"dates": ["year"]}}
    assert measured(only_a, ExpectReleaseToBeLDiverse(**plain)) == 3
    assert measured(only_a, ExpectReleaseToBeLDiverse(**plain, **dates)) == 1


def test_linking_risk_counts_ties_and_suppressed_originals(by_hand: pd.DataFrame, measured: Measured) -> None:
    # a: 160 and 170 are their own, 180 ties 170 with its own 190: linked
    # b: 150 is its own; 150.4 is that of the suppressed record
    assert measured(by_hand, ExpectReleaseLinkingRiskToBeAtMost(limit=1, **NOISY)) == 4 / 5


def test_suppression_is_the_share_of_the_batch_that_is_not_released(
    by_hand: pd.DataFrame, measured: Measured
) -> None:
    assert measured(by_hand, ExpectReleaseSuppressionToBeAtMost(limit=1, released="out")) == 1 - 5 / 7


def test_confident_k_is_the_fewest_originals_in_an_interval_that_has_any(
    by_hand: pd.DataFrame, measured: Measured
) -> None:
    def fewest(k: int, epsilon: float) -> float | None:
        wanted = {"k": k, "confidence": 0.9, "epsilons": [epsilon]} | NOISY
        return measured(by_hand, ExpectReleaseToBeConfidentlyKAnonymous(**wanted))

    # radius = diam·ln 10/ε: ε = 10: a: 6.9 (only its own; 180 has none), b: 0.09 (only its own)
    assert fewest(2, 10.0) == 1
    # ε = 1: a: 69, b: 0.9: all three of each
    assert fewest(3, 1.0) == 3
    # ... and counting stops at k
    assert fewest(2, 1.0) == 2
    said = {"mechanism": DEFAULT_MECHANISM, "epsilon": "10", "delta": None, "inputs": None}
    wanted = {"k": 2, "confidence": 0.9, "epsilons": [1.0], "noises": [said]} | NOISY
    assert measured(by_hand, ExpectReleaseToBeConfidentlyKAnonymous(**wanted)) == 1
    by_hand["height"] = [999.0] * 7  # records without any original in their interval do not count
    assert fewest(4, 10.0) == 4


@pytest.mark.parametrize("name", ["_zip", "column", "group 0", "zíp", "noisy 0"])
def test_columns_of_a_table_may_have_any_name(by_hand: pd.DataFrame, measured: Measured, name: str) -> None:
    renamed = by_hand.rename(columns={"zip": name})
    expectation = ExpectReleaseToBeTClose(
        column="pay", distance="ordered", t=1, quasi_identifiers=[name], released="out"
    )
    assert measured(renamed, expectation) == pytest.approx(9 / 21, rel=1e-12)


def _chained() -> int:
    """Raise an error whose cause and context quote a value too."""
    try:
        try:
            raise KeyError("CANARY-7f3a")
        except KeyError as error:
            raise ValueError("CANARY-7f3a") from error
    except ValueError:
        raise TypeError("CANARY-7f3a")  # noqa: B904 - the context is the point


def test_an_unknown_error_loses_its_text_its_causes_and_its_frames() -> None:
    with pytest.raises(MeasureFailed) as caught:
        without_values("release.k", _chained)
    failure = caught.value
    assert (failure.kind, failure.__cause__, failure.__context__) == ("TypeError", None, None)
    assert str(failure).startswith("release.k could not be measured: TypeError: The stage release.k crashed")
    text = "".join(traceback.format_exception(failure))
    assert "CANARY" not in text
    assert "in _chained" not in text


def test_a_named_error_keeps_its_text_but_not_its_context() -> None:
    def named() -> int:
        try:
            return int("CANARY-7f3a")
        except ValueError:
            raise InputError(["a: got 2 texts", "b: got 1"])  # noqa: B904 - the context is the point

    with pytest.raises(MeasureFailed) as caught:
        without_values("release.k", named)
    assert (caught.value.kind, caught.value.reason) == ("InputError", "a: got 2 texts\nb: got 1")
    assert "CANARY" not in "".join(traceback.format_exception(caught.value))


def test_an_interrupt_passes() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        without_values("release.k", interrupted)


def test_what_is_measured_is_returned() -> None:
    assert without_values("release.k", lambda: np.int64(3)) == 3
