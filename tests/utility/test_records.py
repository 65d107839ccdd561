"""Records before and after belong together, in any order, or are refused without their values."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.utility.results import utility
from tests.utility.released import COLUMNS, Small, made, with_recoder


@pytest.mark.parametrize("recoder", ["optimal", "mondrian", "mdav"])
def test_the_order_of_rows_changes_nothing(recoder: str, small_policy: Small, people: pd.DataFrame) -> None:
    policy = small_policy(columns=COLUMNS, anonymize={"recoder": recoder, "suppression_limit": 0.2})
    found = made(policy, people)
    rng = np.random.default_rng(0)
    rows, others, third = (rng.permutation(len(f)) for f in (found.released, found.recoded, found.before))
    first = utility(found.evidence(), policy, found.before)
    assert utility(found.evidence(rows, others), policy, found.before.iloc[third]) == first


def test_what_does_not_belong_together_is_refused(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "optimal")
    found = made(policy, people)
    alone = evidence_from(found.released, policy)
    with pytest.raises(InputError, match="a file alone does not have"):
        utility(alone, policy, found.before)
    before = found.before
    for other in (before.iloc[1:], before.assign(**{RECORD: 1}), before.drop(columns=RECORD)):
        with pytest.raises(InputError, match="must have the records of the vault"):
            utility(found.evidence(), policy, other)


@pytest.mark.parametrize("recoder", ["optimal", "mondrian", "mdav"])
def test_values_that_no_hierarchy_makes_are_counted_and_not_shown(
    recoder: str, small_policy: Small, people: pd.DataFrame
) -> None:
    policy = with_recoder(small_policy, recoder)
    found = made(policy, people)
    text = found.recoded["city"].iloc[0]
    forged = dataclasses.replace(
        found,
        recoded=found.recoded.replace({"city": {text: "Atlantis"}}),
        released=found.released.replace({"city": {text: "Atlantis"}}),
    )
    with pytest.raises(InputError, match=r"city: every released value .* got \d+ values") as refused:
        utility(forged.evidence(), policy, found.before)
    assert "Atlantis" not in str(refused.value)
