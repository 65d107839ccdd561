"""What a release in memory loses: the mean over columns, by hand; and what the gate says of it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from anon_pipeline.perturb.error import RealizedError
from anon_pipeline.policy.locations import Locations
from anon_pipeline.tuning.trial_loss import judge_trial, loss_of, noise_of, replaced_shares
from anon_pipeline.utility.noise_errors import NoiseError
from anon_pipeline.utility.trial import make_trial, trial_means
from tests.tuning.policies import people, policy


def error(of_range: float | None) -> NoiseError:
    return NoiseError(RealizedError(0.0, 0, 0.0), None, of_range, 0.0)


def test_noise_is_the_mean_over_columns_each_at_most_the_whole_range() -> None:
    assert noise_of({}) is None
    assert noise_of({"a": error(0.2), "b": error(3.0), "c": error(None)}) == pytest.approx(0.4)


def test_loss_counts_each_column_alike_and_records_that_are_not_released_as_lost() -> None:
    own = policy()  # one column is generalized, one has noise
    assert loss_of(own, 0.1, 0.3, 1.0) == pytest.approx(0.2)
    assert loss_of(own, 0.1, 0.3, 0.5) == pytest.approx((0.1 + 0.3 * 0.5 + 0.5) / 2)
    bare = policy(columns={"height": {"role": "insensitive"}}, perturb=None, suppress={})
    assert loss_of(bare, 0.25, None, 1.0) == 0.25
    assert loss_of(bare, 0.25, None, 0.5, [0.4]) == pytest.approx((0.25 + 0.4 * 0.5 + 0.5) / 2)


def test_categories_lose_what_is_expected_to_be_replaced(tmp_path: Path) -> None:
    drawn = {"role": "perturb", "mechanism": "pram", "values": ["none", "cold", "cough", "flu"]}
    own = policy(
        columns={"height": {"role": "identifier"}, "illness": drawn | {"shares": [1, 1, 1, 1]}},
        perturb={"epsilon": 1},
        suppress={},
    )
    made = make_trial(own, people(), trial_means(own, Locations(*(tmp_path,) * 4)))
    kept = math.e / (math.e + 3)  # of randomized response, which PRAM with equal shares is
    assert replaced_shares(made.evidence(), own) == [pytest.approx(1 - kept)]


def test_the_gate_judges_a_release_in_memory_as_the_first_one(tmp_path: Path) -> None:
    places = Locations(*(tmp_path,) * 4)
    for bound, refused in ((1.0, []), (0.0, ["linking_risk"])):
        own = policy(columns={"weight": {"role": "identifier"}}, gate={"linking_risk": bound})
        report = judge_trial(make_trial(own, people(), trial_means(own, places)), places)
        assert [verdict.limit for verdict in report.unkept] == refused
