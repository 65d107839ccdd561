"""The whole of it on real releases: what recoders say that they lost, invariance, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.evidence.selection import Bias, Part, Selection
from anon_pipeline.perturb.error import RealizedError
from anon_pipeline.policy import Policy
from anon_pipeline.utility.measures import GROUPS, MEASURES
from anon_pipeline.utility.noise_errors import NoiseError
from anon_pipeline.utility.results import Row, Utility, rows, utility
from tests.utility.released import Small, made, with_recoder


def cut(policy: Policy, people: pd.DataFrame) -> pd.DataFrame:
    own = people[list(policy.columns)]
    return own if policy.anonymize.classes is None else own.assign(own=np.arange(len(own)) // 15)


@pytest.mark.parametrize("recoder", RECODERS)
@pytest.mark.parametrize("loss", ["precision", "granularity", "entropy"])
def test_a_recoder_lost_what_it_says(
    recoder: str, loss: str, small_policy: Small, people: pd.DataFrame
) -> None:
    found = made(policy := with_recoder(small_policy, recoder, loss=loss), cut(policy, people))
    measured = utility(found.evidence(), policy, found.before)
    assert getattr(measured, loss) == pytest.approx(found.facts["information_loss"], abs=1e-8)
    if found.facts["levels"] is not None:
        assert measured.absolute_distance <= sum(found.facts["levels"].values())
    else:
        assert measured.absolute_distance is None


@pytest.mark.parametrize("loss", ["discernibility", "average_class_size", "classification"])
@pytest.mark.parametrize("recoder", ["optimal", "mondrian", "mdav"])
def test_it_lost_as_many_classes_as_it_says(
    recoder: str, loss: str, small_policy: Small, people: pd.DataFrame
) -> None:
    target = {"target": "illness"} if loss == "classification" else {}
    policy = with_recoder(small_policy, recoder, loss=loss, **target)
    found = made(policy, people)
    measured = utility(found.evidence(), policy, found.before)
    most = {"discernibility": 150**2, "average_class_size": 150, "classification": 1}[loss]
    assert getattr(measured, loss) / most == pytest.approx(found.facts["information_loss"])


def test_blanked_cells_are_on_top(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "optimal", suppress="cells", k=4)
    found = made(policy, people)
    assert found.facts["suppressed_cells"] > 0
    measured = utility(found.evidence(), policy, found.before)
    assert measured.precision == pytest.approx(found.facts["information_loss"])


@pytest.mark.parametrize("far", [np.inf, 1e200, 1.7e308])
@pytest.mark.filterwarnings("error")
def test_infinite_numbers_are_missing_and_huge_ones_count(
    far: float, small_policy: Small, people: pd.DataFrame
) -> None:
    policy = small_policy()
    table = people.assign(note=np.where(np.arange(len(people)) % 3, 1.0, far))
    found = made(policy, cut(policy, table.assign(age=people["age"].fillna(50).astype(int))))
    measured = utility(found.evidence(), policy, found.before)
    assert measured.moments.columns == (3 if np.isinf(far) else 4)
    assert all(np.isfinite([measured.moments.means, measured.moments.variances, measured.propensity]))


def test_a_policy_without_noise_or_sensitive_columns(small_policy: Small, people: pd.DataFrame) -> None:
    gone = dict.fromkeys(("height", "income", "illness", "note"))
    policy = small_policy(columns=gone, perturb=None, suppress=None, anonymize={"suppression_limit": 0.3})
    found = made(policy, cut(policy, people))
    measured = utility(found.evidence(), policy, found.before)
    assert measured.noise == {}
    assert (measured.target, measured.classification, measured.classifier) == (None, None, None)
    assert measured.queries.queries == 1000


def result(**more: Any) -> Utility:
    """A result in which every measure has nothing to measure, but for those that are given."""
    return Utility({**dict.fromkeys(MEASURES), **more})


def test_numbers_of_a_column_name_it_and_what_is_not_measured_is_a_dash() -> None:
    noise = NoiseError(RealizedError(0.5, 2, 0.1), 0.6, 0.2, 12.0)
    shown = list(rows(result(noise={"pay": noise}, discernibility=1234567)))
    expected = next(row for row in shown if row.words.startswith("expected error"))
    words = "expected error, in multiples of the value"
    assert expected == Row("What noise loses", words, "pay", "0.6", "times", "less")
    assert {row.value for row in shown if row.words.startswith("predicted correctly")} == {"–"}
    assert len([row for row in shown if row.column == "pay"]) == 6
    assert next(row.value for row in shown if row.unit == "pairs") == "1,234,567"
    every = sum(len(measure.numbers) for measure in MEASURES.values())
    assert len(list(rows(result(noise={})))) == every - 6
    assert [row.group for row in shown] == sorted((row.group for row in shown), key=list(GROUPS).index)


def test_whom_the_confidence_leaves_out_is_said_by_column_quantile_and_tenth() -> None:
    bias = Bias(0.1, None, {0.5: 0.3, 0.95: 2.0}, (Part(10, 0.4), Part(12, 0.7)))
    shown = list(rows(result(selection=Selection(0.1, 0.2, 30, 4, 64, 0.125, 0.02, 0.03, {"pay": bias}))))
    said = {(row.words, row.column): row.value for row in shown}
    assert said["bias of a quantile", "pay, 0.95"] == "2"
    assert said["mean chance of these", "pay, 2"] == "0.7"
    assert said["bias of the variance, of the variance", "pay"] == "–"
