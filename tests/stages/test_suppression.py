"""What the last stage refuses: a release without any record, and what it then says of ε."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.risk.suppression import Suppression
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means
from anon_pipeline.stages.suppression import refuse_nothing_left

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_nothing_left_is_infeasible_never_an_empty_table(small_policy: Small, small_people: People) -> None:
    policy = small_policy(gate={"t_closeness": {"income": 0.0}}, anonymize={"t_closeness": {}})
    with pytest.raises(InfeasibleError, match="No record is left"):
        pipeline.run(policy, small_people(), Means(Path(), None, seeded_entropy(1)))


def test_only_a_policy_with_noise_may_have_spent_epsilon(small_policy: Small) -> None:
    nobody = Suppression(np.zeros(3, np.bool_), 3, 0, {})
    with pytest.raises(InfeasibleError, match="its ε is booked"):
        refuse_nothing_left(small_policy(), nobody)
    columns = {"height": {"role": "insensitive", "resolution": None, "unit": None}}
    quiet = small_policy(columns=columns, perturb=None, suppress=None)
    with pytest.raises(InfeasibleError) as caught:
        refuse_nothing_left(quiet, nobody)
    assert "booked" not in str(caught.value)


def test_one_record_is_enough(small_policy: Small) -> None:
    refuse_nothing_left(small_policy(), Suppression(np.array([False, True]), 1, 0, {}))
