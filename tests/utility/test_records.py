"""Records before and after belong together, in any order, or are refused without their values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.utility.results import utility
from tests.utility.released import COLUMNS, Small, made


@pytest.mark.parametrize("recoder", ["optimal", "mondrian", "mdav"])
def test_the_order_of_rows_changes_nothing(recoder: str, small_policy: Small, people: pd.DataFrame) -> None:
    policy = small_policy(columns=COLUMNS, anonymize={"recoder": recoder, "suppression_limit": 0.2})
    found = made(policy, people)
    rng = np.random.default_rng(0)
    rows, others, third = (rng.permutation(len(f)) for f in (found.released, found.recoded, found.before))
    first = utility(found.evidence(), policy, found.before)
    assert utility(found.evidence(rows, others), policy, found.before.iloc[third]) == first
