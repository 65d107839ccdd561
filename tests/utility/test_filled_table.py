"""A release as a table of plain values: every filled cell is one of the values that the cell covers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import Means
from anon_pipeline.utility.filled_table import fillable_tables
from anon_pipeline.utility.trial import make_trial


@pytest.mark.parametrize("recoder", ["ola", "mondrian", "local", "mdav", "top_down"])
def test_filled_cells_are_values_that_they_cover(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], recoder: str
) -> None:
    policy = small_policy(
        anonymize={"recoder": recoder, "suppression_limit": 0.5}, suppress={"confidence": None}
    )
    made = make_trial(policy, small_people(), Means(Path(), None, seeded_entropy(0)))
    before = unpack_table(made.before)
    tables = fillable_tables(made.evidence(), policy, before)
    filled = tables.fill(np.random.default_rng(0))
    released = unpack_table(made.chain.suppressed.frame)
    assert list(filled.columns) == policy.released == list(tables.before.columns)
    assert len(filled) == len(released) and len(tables.before) == len(before)
    for name in policy.released:
        if name in policy.generalized:
            if recoder != "mdav":
                assert set(filled[name]) <= set(before[name])
        else:
            assert (filled[name].to_numpy() == released[name].to_numpy()).all()
    if recoder in ("mondrian", "local"):
        ends = released["age"].str.extract(r"^\[(\d+), (\d+)\]$").astype(float)
        inside = ends[0].isna() | ((filled["age"] >= ends[0]) & (filled["age"] <= ends[1]))
        assert inside.all() and ends[0].notna().any()
