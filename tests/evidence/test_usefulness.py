"""What a release keeps: the expected error against a sum over the law, columns that say nothing any more."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.usefulness import error_of_spread, fully_generalized_columns, relative_error
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]


def of(policy: Policy, heights: list[float], labels: list[int]) -> Evidence:
    """Return the evidence of a release whose classes are given; −1 was suppressed."""
    table = pd.DataFrame(
        {
            "age": [f"age {label}" for label in labels],
            "city": ["*"] * len(labels),
            "height": heights,
            "income": [20000] * len(labels),
            "illness": ["flu"] * len(labels),
            "note": ["a"] * len(labels),
            RECORD: range(len(labels)),
            CLASS: labels,
        }
    )
    released = table[table[CLASS] >= 0].drop(columns=CLASS)
    return evidence_from(released, policy, originals=table)


def laplace_mean(scale: float) -> float:
    """Return E|Z| of discrete Laplace noise as a sum over its law."""
    q = math.exp(-1 / scale)
    return sum(2 * z * (1 - q) / (1 + q) * q**z for z in range(1, 5000))


def test_the_expected_error_is_the_mean_over_records_of_classes(small_policy: Small) -> None:
    policy = small_policy(perturb={"epsilon": 2})
    found = relative_error(of(policy, [100, 110, 180, 200, math.nan], [0, 0, 1, 1, -1]), policy, "height")
    by_class = [laplace_mean(10 / 2), laplace_mean(20 / 2)]
    wanted = np.mean([by_class[0] / 100, by_class[0] / 110, by_class[1] / 180, by_class[1] / 200])
    assert found == pytest.approx(wanted, rel=1e-9)


def test_the_error_of_the_spread_is_of_the_records_in_classes(small_policy: Small) -> None:
    policy = small_policy(perturb={"epsilon": 2})
    found = error_of_spread(of(policy, [100, 110, 180, 200, 900], [0, 0, 1, 1, -1]), policy, "height")
    spread = min(np.std([100, 110, 180, 200]), (185 - 107.5) / 1.349)
    assert found == pytest.approx((laplace_mean(10 / 2) + laplace_mean(20 / 2)) / 2 / spread, rel=1e-9)


def test_zeros_have_no_relative_error(small_policy: Small) -> None:
    policy = small_policy()
    assert relative_error(of(policy, [0, 0, 0], [0, 0, 0]), policy, "height") == 0.0
    some = relative_error(of(policy, [0, 10, 10], [0, 0, 0]), policy, "height")
    assert some == pytest.approx(laplace_mean(10 / 2) / 10, rel=1e-9)


def test_the_error_is_what_releases_have_on_average(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    gate = {"suppression": None, "k": None}
    policy = small_policy(
        anonymize={"suppression_limit": 0}, suppress={"confidence": None}, gate=gate, perturb={"epsilon": 5}
    )
    people, means = small_people(240), []
    for _ in range(40):
        made = anonymize(policy, people)
        error = (made.frame["height"].mean() / people["height"].mean()) - 1
        expected = next(v.value for v in made.report.verdicts if v.limit == "utility_relative_error.height")
        assert expected is not None
        means.append((abs(error), expected))
    assert len({expected for _, expected in means}) == 1  # it does not depend on the noise
    assert max(error for error, _ in means) < means[0][1]  # a mean moves less than a record


def test_columns_with_one_value_are_named(small_policy: Small) -> None:
    policy = small_policy()
    assert fully_generalized_columns(of(policy, [1, 2, 3, 4], [0, 0, 1, 1]), policy) == ["city"]
    assert fully_generalized_columns(of(policy, [1, 2, 3, 4], [0, 0, 0, 0]), policy) == ["age", "city"]
