"""What a report says first is a function of what its readers may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.policy import Policy
from anon_pipeline.report.columns import class_sizes
from anon_pipeline.report.findings import Findings, findings
from anon_pipeline.report.manifest_data import table_description

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
Making = Callable[..., Any]


def found_of(made: Any) -> Findings:
    said = table_description(made.document, made.policy, made.frame)
    return findings(made.policy, said, made.frame, class_sizes(made.policy, made.frame), internal=False)


@pytest.mark.parametrize("name", ["linking_risk", "t_closeness.illness", "utility_information_loss"])
def test_it_needs_no_value_that_is_the_curators(
    small_policy: Small, small_people: People, making: Making, name: str
) -> None:
    limits = {"linking_risk": 0.8, "linking": "realized", "t_closeness": {"illness": 0.9}}
    made = making(small_policy(gate=limits), small_people())
    before = found_of(made)
    (verdict,) = [v for v in made.document["gate"]["verdicts"] if v["limit"] == name]
    verdict["value"] = None
    assert found_of(made) == before
