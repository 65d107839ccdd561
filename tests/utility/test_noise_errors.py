"""Errors of noise, against each record and its own original."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import RECORD
from anon_pipeline.perturb.error import realized_error
from anon_pipeline.utility.comparison import compare
from anon_pipeline.utility.noise_errors import noise_errors
from tests.utility.released import Small, made


def test_errors_of_noise_are_of_each_record_and_its_own(small_policy: Small, people: pd.DataFrame) -> None:
    policy = small_policy()
    found = made(policy, people.assign(age=people["age"].fillna(50).astype(int))[list(policy.columns)])
    noise = noise_errors(compare(found.evidence(), policy, found.before))["height"]
    own = found.before.set_index(RECORD)["height"].loc[found.released[RECORD]].to_numpy()
    released = found.released["height"].to_numpy(float)
    span = float(np.ptp(found.before["height"]))
    assert noise.realized == realized_error(released, own, span=span)
    assert noise.sse == pytest.approx(((released - own) ** 2).sum())
    stated = found.noise["height"]["expected_relative_error"]
    assert float(f"{noise.expected:.2g}") == stated


def test_without_noise_there_is_no_error(small_policy: Small, people: pd.DataFrame) -> None:
    policy = small_policy(columns={"height": None}, perturb=None, suppress=None)
    whole = people.assign(age=people["age"].fillna(50).astype(int))[list(policy.columns)]
    found = made(policy, whole)
    assert noise_errors(compare(found.evidence(), policy, found.before)) == {}
