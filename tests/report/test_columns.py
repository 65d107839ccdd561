"""Which names the report shows of a column: none that could be read as one of its own words."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline.policy import Policy
from anon_pipeline.report.bins import quoted_category
from anon_pipeline.report.columns import distributions

Small = Callable[..., Policy]
OWN = ["missing", "other values", "all values", "value 1", "value 12", "“missing”", "““value 3””"]


def test_a_category_that_is_called_missing_is_told_from_missing_values(small_policy: Small) -> None:
    order = ["missing", "value 1", "rare"]
    policy = small_policy(columns={"illness": {"role": "sensitive", "distance": "ordered", "order": order}})
    frame = pd.DataFrame(
        {
            "city": ["missing"] * 6 + [None] * 5 + ["other values"] * 4 + ["Cork", "Dublin", "Galway"],
            "illness": ["missing"] * 6 + [None] * 5 + ["value 1"] * 4 + ["rare", "rare", "rare"],
        }
    ).astype("str")
    city, illness = distributions(policy, [frame], k=3)
    shown = {row.label: row.counts[0] for row in city.bins}
    assert shown == {"“missing”": 6, "missing": 5, "“other values”": 4, "other values": 3}
    shown = {row.label: row.counts[0] for row in illness.bins}
    assert shown == {"“missing”": 6, "missing": 5, "“value 1”": 4, "rare": 3}


@pytest.mark.parametrize("name", OWN)
def test_quotes_tell_every_own_word_apart(name: str) -> None:
    assert quoted_category(name) not in OWN[:5]
    assert len({quoted_category(each) for each in OWN}) == len(OWN)


@pytest.mark.parametrize("name", ["Cork", "missing leg", "value", "value x", "Other values", "“Cork”", ""])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert quoted_category(name) == name
