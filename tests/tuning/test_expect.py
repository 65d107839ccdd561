"""What tuning expects, against what the pipeline then does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.measures import linking_risk, linking_risk_share, suppression
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.grid import to_grid
from anon_pipeline.policy import Policy
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, perturbed, raw, shuffled, suppressed
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning.expect import expect
from anon_pipeline.tuning.recode_input import input_to_recode, recode_input
from anon_pipeline.tuning.results import Expected
from benchmarks.adult import adult_policy, find_adult, paper_table
from tests.tuning.policies import people, policy

DRAWS = 40


def expected(wanted: Policy, frame: pd.DataFrame, folder: Path = Path()) -> Expected:
    before = raw(wanted, frame, entropy=seeded_entropy(0))
    return expect(wanted, recode_input(wanted, before, hierarchies=folder), entropy=seeded_entropy(1))


MEASURED = ("linking", "linking_released", "suppression", "error")


def released(
    wanted: Policy, table: Staged, *, seed: int, measured: Sequence[str] = MEASURED
) -> tuple[float, float, float, float]:
    """Make a release: linking before and after suppression, share suppressed, relative error.

    What is not asked for is NaN.
    """
    noisy = shuffled(
        wanted, perturbed(wanted, table, entropy=seeded_entropy(seed)), entropy=seeded_entropy(seed + 1)
    )
    left = suppressed(wanted, noisy, table)
    risks = [
        linking_risk(evidence_from(stage.frame, wanted, originals=table.frame), wanted).risk
        if name in measured
        else math.nan
        for name, stage in (("linking", noisy), ("linking_released", left))
    ]
    gone = 1 - len(left.frame) / len(table.frame)
    if "error" not in measured:
        return risks[0], risks[1], gone, math.nan
    name, column = next(iter(wanted.perturbed.items()))
    own = table.frame.set_index("_record_id")[name].loc[noisy.frame["_record_id"]].to_numpy(np.float64)
    x, y = (to_grid(values, column.resolution) for values in (own, noisy.frame[name].to_numpy(np.float64)))
    error = float(np.mean(np.abs(y - np.round(x)) / np.abs(x)))
    return risks[0], risks[1], gone, error


def simulated(
    wanted: Policy, frame: pd.DataFrame, *, draws: int = DRAWS, measured: Sequence[str] = MEASURED
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and their standard errors over some releases."""
    table = k_anonymized(wanted, raw(wanted, frame, entropy=seeded_entropy(0)))
    found = np.array([released(wanted, table, seed=1000 + 2 * i, measured=measured) for i in range(draws)])
    return found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(draws)


MECHANISMS: dict[str, dict[str, Any]] = {
    "discrete_laplace": {},
    "staircase": {},
    "discrete_gaussian": {"delta": 0.001},
    "uniform": {"without_guarantee": True},
}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_expectations_follow_the_columns_own_mechanism(mechanism: str) -> None:
    height = {"role": "perturb", "resolution": 1, "mechanism": mechanism}
    wanted = policy(columns={"height": height}, perturb={"epsilon": 2, **MECHANISMS[mechanism]})
    found = expected(wanted, people())
    means, errors = simulated(wanted, people())
    got = np.array([found.linking, found.linking_released, found.suppression, found.error])
    assert (np.abs(got - means) < 3 * errors + 1e-12).all(), (got, means, errors)
    assert found.standard_error == (0.0, 0.0)
    assert found.suppression == found.suppression_at_most > 0


def test_expectations_hold_with_public_bounds() -> None:
    height = {
        "role": "perturb",
        "resolution": 1,
        "sensitivity": "declared",
        "input_bounds": [150, 190],
        "output_bounds": [140, 200],
    }
    wanted = policy(columns={"height": height}, perturb={"epsilon": 8})
    found = expected(wanted, people())
    means, errors = simulated(wanted, people())
    got = np.array([found.linking, found.linking_released, found.suppression, found.error])
    assert (np.abs(got - means) < 3 * errors + 1e-12).all(), (got, means, errors)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.5, 8])
def test_the_error_is_that_of_released_values_moved_to_their_bounds(mechanism: str, epsilon: float) -> None:
    height = {"role": "perturb", "resolution": 1, "mechanism": mechanism, "output_bounds": [140, 200]}
    wanted = policy(
        columns={"height": height}, perturb={"epsilon": epsilon, **MECHANISMS[mechanism]}, suppress={}
    )
    found = expected(wanted, people(200))
    means, errors = simulated(wanted, people(200), draws=12, measured=("error",))
    assert found.error is not None
    assert abs(found.error - means[3]) < 4 * errors[3]
    assert found.error_of_range is not None
    assert found.error_of_range < 1


def test_several_columns_are_simulated_and_say_how_well() -> None:
    wanted = policy(columns={"weight": {"role": "perturb", "resolution": 1}}, perturb={"epsilon": 8})
    found = expected(wanted, people())
    means, errors = simulated(wanted, people(), measured=("linking_released", "suppression"))
    own = np.array(found.standard_error)
    assert (own > 0).all()
    got = np.array([found.linking_released, found.suppression])
    assert (np.abs(got - means[1:3]) < 3 * np.hypot(errors[1:3], own)).all()


@pytest.mark.parametrize(
    "gate",
    [
        {"t_closeness": {"illness": 0.3}},
        {"l_diversity": {"illness": {"kind": "distinct", "l": 3}}},
        {"l_diversity": {"illness": {"kind": "entropy", "l": 2.5}}},
    ],
)
def test_where_classes_may_yet_break_t_or_l_suppression_is_between_two_bounds(gate: dict[str, Any]) -> None:
    anonymize = {"k": 10, "suppression_limit": 0.1, "t_closeness": {}, "l_diversity": {}}
    wanted = policy(gate=gate, anonymize=anonymize)
    found = expected(wanted, people())
    means, errors = simulated(wanted, people(), draws=20, measured=("suppression",))
    assert found.suppression - 3 * errors[2] <= means[2] <= found.suppression_at_most + 3 * errors[2]
    assert found.suppression < found.suppression_at_most


@pytest.mark.parametrize(
    ("recoder", "k", "epsilon", "confidence"),
    [("mdav", 3, 4, 0.999), ("ola", 5, 2, 0.95), ("mdav", 4, 16, 0.99), ("mondrian", 3, 8, 0.9)],
)
@pytest.mark.parametrize("gate", [{}, {"t_closeness": {"illness": 0.7}}])
def test_the_most_that_is_suppressed_is_a_bound_of_the_mean_of_releases(
    recoder: str, k: int, epsilon: float, confidence: float, gate: dict[str, Any]
) -> None:
    wanted = policy(
        anonymize={"k": k, "recoder": recoder, "suppression_limit": 0.2, "t_closeness": {}},
        perturb={"epsilon": epsilon},
        suppress={"confidence": confidence},
        gate=gate,
    )
    found, n = expected(wanted, people(200)), 60
    means, errors = simulated(wanted, people(200), draws=n, measured=("suppression",))
    assert found.suppression_at_most is not None
    rare = 3 * k / (n * 200)  # the error of a mean of few is not known by them alone
    assert means[2] <= found.suppression_at_most + 4 * errors[2] + rare
    assert found.suppression <= means[2] + 4 * errors[2] + rare


def test_of_several_columns_suppression_is_an_estimate_with_its_error_and_no_bound() -> None:
    wanted = policy(
        columns={"weight": {"role": "perturb", "resolution": 1}},
        anonymize={"k": 3, "recoder": "mdav", "suppression_limit": 0.1},
        perturb={"epsilon": 4},
        suppress={"confidence": 0.999},
        gate={"suppression": 0.5},
    )
    found = expected(wanted, people())
    means, errors = simulated(wanted, people(), draws=60, measured=("suppression",))
    assert found.suppression_at_most is None
    assert found.suppression_judged == found.suppression + 3 * found.standard_error[1]
    assert abs(found.suppression - means[2]) < 4 * math.hypot(errors[2], found.standard_error[1])
    assert means[2] < found.suppression_judged + 3 * errors[2]


def test_what_no_draw_has_shown_has_an_error_all_the_same() -> None:
    wanted = policy(
        columns={"weight": {"role": "perturb", "resolution": 1}},
        perturb={"epsilon": 0.1},
        suppress={"confidence": 0.999999},
    )
    found = expected(wanted, people(200))
    if found.suppression == 1 - len(people(200)) / 200:
        assert found.suppression_judged > found.suppression
    assert found.standard_error[1] >= 20 / (64 * 200)


def test_without_confidence_what_breaks_t_or_l_is_left_out_for_certain() -> None:
    anonymize = {"k": 5, "suppression_limit": 0.1, "t_closeness": {}}
    wanted = policy(gate={"t_closeness": {"illness": 0.12}}, anonymize=anonymize, suppress={})
    found = expected(wanted, people())
    table = k_anonymized(wanted, raw(wanted, people(), entropy=seeded_entropy(0)))
    share = released(wanted, table, seed=7, measured=("suppression",))[2]
    assert 0 < found.suppression == found.suppression_at_most == pytest.approx(share, abs=1e-12)


def test_without_noise_nothing_is_left_to_chance() -> None:
    columns = {"height": {"role": "insensitive"}}
    wanted = policy(columns=columns, perturb=None, suppress={})
    found = expected(wanted, people())
    table = k_anonymized(wanted, raw(wanted, people(), entropy=seeded_entropy(0)))
    sizes = table.frame["_class_id"].value_counts()
    sizes = sizes[sizes.index >= 0]
    assert found.linking_released == pytest.approx(len(sizes) / sizes.sum())
    assert found.smallest_class == sizes.min()
    assert (found.error, found.error_of_range) == (None, None)


def test_constant_and_zero_columns_divide_by_nothing() -> None:
    frame = people().assign(height=0.0)
    found = expected(policy(), frame)
    assert (found.error, found.error_of_range, found.suppression) == (None, 0.0, 0.0)
    assert found.linking == found.linking_released == 1.0  # all are at distance 0: every tie counts


@pytest.mark.parametrize("columns", [{}, {"weight": {"role": "perturb", "resolution": 1}}])
def test_noise_that_could_not_be_drawn_is_refused_by_column(columns: dict[str, Any]) -> None:
    wanted = policy(columns=columns, perturb={"epsilon": 1e-300})
    with pytest.raises(InputError, match=r"(?s)height: .*weight: " if columns else r"^height: "):
        expected(wanted, people())


def test_on_adult_closed_forms_are_within_three_standard_errors_of_releases() -> None:
    folder = find_adult()
    if folder is None:
        pytest.skip("needs Adult (ANON_PIPELINE_DATA)")
    frame = paper_table(folder)
    for k, epsilon, confidence in ((5, 2.0, 0.99), (10, 6.0, 0.9)):
        wanted = adult_policy(k, epsilon, "ola", confidence=confidence)
        found = expected(wanted, frame)
        means, errors = simulated(wanted, frame, draws=10)
        got = np.array([found.linking, found.linking_released, found.suppression, found.error])
        assert (np.abs(got - means) < 3 * errors + 1e-6).all(), (got, means, errors)


@pytest.mark.parametrize("noisy", [True, False])
def test_of_people_with_several_records_people_are_expected(noisy: bool) -> None:
    """Linked and missing people, against releases; of noise by simulation, without it exactly."""
    rng = np.random.default_rng(8)
    once = people()
    frame = once.loc[np.repeat(once.index, rng.integers(1, 4, len(once)))].reset_index(drop=True)
    frame["who"] = (~frame.duplicated(list(once.columns))).cumsum().astype(str)
    changes: dict[str, Any] = {"columns": {"who": {"role": "identifier"}}, "person": "who"}
    changes |= {"deidentify": {"key_env": "K"}, "anonymize": {"k": 20, "suppression_limit": 0.2}}
    if noisy:
        changes |= {"perturb": {"epsilon": 6}, "rows_per_person": 3}
    else:
        changes["columns"]["height"] = {"role": "insensitive"}
        changes |= {"perturb": None, "suppress": {}}
    wanted, key = policy(**changes), b"0123456789abcdef"
    before = deidentified(wanted, raw(wanted, frame, entropy=seeded_entropy(0)), key=key)
    found = expect(wanted, recode_input(wanted, before), entropy=seeded_entropy(1))
    table, told = k_anonymized(wanted, before), []
    for seed in range(20 if noisy else 1):
        drawn = shuffled(
            wanted, perturbed(wanted, table, entropy=seeded_entropy(seed)), entropy=seeded_entropy(seed)
        )
        left = suppressed(wanted, drawn, table)
        evidence = evidence_from(left.frame, wanted, originals=table.frame)
        told.append((linking_risk_share(evidence, wanted) if noisy else 0.0, suppression(evidence)))
    means, errors = np.mean(told, axis=0), np.std(told, axis=0) / math.sqrt(len(told))
    mine = np.array(found.standard_error)
    got = np.array([found.linking_released if noisy else 0.0, found.suppression])
    assert (np.abs(got - means) <= 4 * np.hypot(errors, mine) + 1e-12).all(), (got, means, errors, mine)
    assert found.smallest_class >= wanted.anonymize.k
    assert (found.suppression_at_most is None) == noisy


def test_columns_that_are_changed_as_a_whole_have_no_expectation() -> None:
    height = {"role": "perturb", "resolution": 1, "mechanism": "rounding", "amount": 5}
    own = policy(columns={"height": height}, perturb={"epsilon": 2, "without_guarantee": True}, suppress={})
    table = recode_input(own, input_to_recode(own, people()))
    with pytest.raises(InputError, match="height: a mechanism that changes a column as a whole has no dist"):
        expect(own, table, entropy=seeded_entropy(0))
