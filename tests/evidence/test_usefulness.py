"""What a release keeps: the expected error against a sum over the law, columns that say nothing any more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.encode.categories import category_noises, draw_category_columns
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.usefulness import (
    error_of_spread,
    fully_generalized_columns,
    kept_share,
    relative_error,
)
from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.policy import Policy, policy_from

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


@pytest.mark.parametrize(("hidden", "nothing"), [(94, False), (95, True), (99, True)])
def test_a_column_that_is_hidden_in_nearly_all_records_says_nothing(
    small_policy: Small, hidden: int, nothing: bool
) -> None:
    policy = small_policy()
    evidence = of(policy, [1.0] * 100, [*range(100)])
    ages = ["*"] * hidden + [f"age {row}" for row in range(100 - hidden)]
    evidence = replace(evidence, released=evidence.released.assign(age=ages))
    assert fully_generalized_columns(evidence, policy) == (["age", "city"] if nothing else ["city"])


def drawn(mechanism: str, epsilon: float, **how: object) -> Policy:
    column = {"role": "perturb", "mechanism": mechanism, **how}
    columns = {"age": {"role": "generalize", "hierarchy": {"suppress": True}}, "job": column}
    return policy_from(
        {
            "name": "drawn",
            "source": {"path": "a.csv"},
            "columns": columns,
            "anonymize": {"k": 3},
            "perturb": {"epsilon": epsilon},
        }
    )


def jobs(policy: Policy, values: list[str], labels: list[int]) -> Evidence:
    table = pd.DataFrame({"age": [str(label) for label in labels], "job": values})
    table = table.assign(**{RECORD: range(len(labels)), CLASS: labels})
    return evidence_from(table[table[CLASS] >= 0].drop(columns=CLASS), policy, originals=table)


@pytest.mark.parametrize(("values", "epsilon"), [(60, 1.0), (2, 1.0), (24, 3.0)])
def test_of_randomized_response_what_is_kept_follows_from_the_number_of_values(
    values: int, epsilon: float
) -> None:
    names = [f"job {i}" for i in range(values)]
    policy = drawn("randomized_response", epsilon, values=names)
    found = kept_share(jobs(policy, ["job 0", "job 1", "job 0", "job 9"], [0, 0, 0, -1]), policy, "job")
    assert found == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + values - 1), rel=1e-9)
    if values == 60:
        assert 1 / found == pytest.approx(22.7, abs=0.01)  # one in twenty-three


def test_what_is_kept_is_what_many_draws_keep() -> None:
    """Of the exponential mechanism it depends on the value: one with near ones is kept less often."""
    tree = {"care": ["nurse", "doctor", "midwife", "aide"], "sea": ["sailor"], "land": ["farmer", "miller"]}
    policy = drawn("exponential", 3, hierarchy={"tree": tree})
    frame = pd.DataFrame({"age": "40", "job": ["nurse"] * 2_000 + ["sailor"] * 1_000})
    made = anonymize(policy, frame)
    chances = {}
    for job in ("nurse", "sailor"):
        chances[job] = kept_share(jobs(policy, [job] * 3, [0] * 3), policy, "job")
    assert chances["nurse"] < chances["sailor"]
    found = kept_share(jobs(policy, [*frame["job"]], [0] * 3_000), policy, "job")
    assert found == pytest.approx((2 * chances["nurse"] + chances["sailor"]) / 3)
    (verdict,) = (one for one in made.report.verdicts if one.limit == "utility_kept.job")
    assert verdict.value == pytest.approx(found)
    facts = made.facts["perturbed"]["columns"]["job"]
    assert facts["least_kept"] == pytest.approx(chances["nurse"], rel=1e-5)
    assert facts["most_kept"] == pytest.approx(chances["sailor"], rel=1e-5)
    noise = category_noises(policy)["job"]
    own = pd.Index(noise.domain.values).get_indexer(pd.Index(frame["job"]))
    words = Words(NoiseKey(b"0" * 32), np.arange(3_000))
    codes = draw_category_columns(policy, own[:, None], np.zeros(3_000, np.int64), words=words)
    kept = float((codes[:, 0] == own).mean())
    assert kept == pytest.approx(found, abs=4 * math.sqrt(found * (1 - found) / 3_000))
