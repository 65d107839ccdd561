"""The whole of it on real releases: what recoders say that they lost, invariance, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.perturb.error import realized_error
from anon_pipeline.policy import Policy
from anon_pipeline.utility.results import before_and_after, utility
from tests.utility.released import Small, made, with_recoder


def cut(policy: Policy, people: pd.DataFrame) -> pd.DataFrame:
    return people[list(policy.columns)]


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


def test_what_a_range_covers_is_what_it_says(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "mondrian", k=8)
    found = made(policy, people)
    table = before_and_after(found.evidence(), policy, found.before)
    for column in table.generalized.values():
        assert (column.low[column.codes] <= column.own).all()
        assert (column.own <= column.high[column.codes]).all()
    ages, hierarchy = table.generalized["age"], table.generalized["age"].hierarchy
    texts = {
        f"[{hierarchy.values[0][a]}, {hierarchy.values[0][b]}]" if a < b else hierarchy.values[0][a]
        for a, b, level in zip(ages.low, ages.high, ages.levels, strict=True)
        if level <= 0
    }
    assert set(found.released["age"].dropna()) - {"*"} == texts - {None}


def test_means_are_the_numbers_that_are_released(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "mdav")
    found = made(policy, people)
    table = before_and_after(found.evidence(), policy, found.before)
    ages = table.generalized["age"]
    released = pd.to_numeric(found.released["age"]).dropna()
    own = ages.midpoints()[ages.codes[ages.codes >= 0]]
    assert sorted(own[~np.isnan(own)].tolist()) == sorted(released.tolist())
    days = table.generalized["born"]
    own = days.midpoints()[days.codes[days.codes >= 0]]
    born = pd.to_datetime(found.released["born"].dropna()).to_numpy().astype("datetime64[D]")
    assert sorted(own[~np.isnan(own)].tolist()) == sorted(born.astype(int).tolist())


def test_errors_of_noise_are_of_each_record_and_its_own(small_policy: Small, people: pd.DataFrame) -> None:
    policy = small_policy()
    found = made(policy, cut(policy, people.assign(age=people["age"].fillna(50).astype(int))))
    noise = utility(found.evidence(), policy, found.before).noise["height"]
    own = found.before.set_index(RECORD)["height"].loc[found.released[RECORD]].to_numpy()
    released = found.released["height"].to_numpy(float)
    span = float(np.ptp(found.before["height"]))
    assert noise.realized == realized_error(released, own, span=span)
    assert noise.sse == pytest.approx(((released - own) ** 2).sum())
    stated = found.noise["height"]["expected_relative_error"]
    assert float(f"{noise.expected:.2g}") == stated


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


def test_the_target_is_chosen_or_told(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "optimal")
    found = made(policy, people)
    assert utility(found.evidence(), policy, found.before).target == "illness"
    told = utility(found.evidence(), policy, found.before, target="note")
    assert (told.target, told.classifier.tested) == ("note", 50)
    for wrong in ("height", "person", "nobody"):
        with pytest.raises(InputError, match="target must be a sensitive or insensitive column"):
            utility(found.evidence(), policy, found.before, target=wrong)
