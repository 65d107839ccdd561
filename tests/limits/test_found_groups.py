"""What warns of a group of which most are found: which columns are asked, and what ends it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.limits.table import limits_of
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import Policy

BASE = {
    "name": "a",
    "source": {"path": "a.csv"},
    "one_record_per_person": True,
    "anonymize": {"k": 10, "recoder": "ola"},
}
AGE = {"role": "generalize", "hierarchy": {"intervals": [1, 2]}}


def verdicts(nation: dict[str, object], people: pd.DataFrame) -> dict[str, Verdict]:
    columns = {"age": AGE, "nation": nation, "illness": {"role": "sensitive"}}
    report = anonymize(Policy.model_validate({**BASE, "columns": columns}), people).report
    assert report.passed
    return {one.limit: one for one in report.verdicts}


@pytest.fixture
def people() -> pd.DataFrame:
    """Return 1,200 people of sixty ages; a tenth are of one of ten rare nations."""
    random, n = np.random.default_rng(5), 1_200
    rare = [f"nation {place}" for place in range(10)]
    nation = np.where(np.arange(n) % 10 == 0, random.choice(rare, n), "home")
    illness = random.choice(["flu", "gout", "none", "hiv"], n)
    return pd.DataFrame({"age": 20 + np.arange(n) // 20, "nation": nation, "illness": illness})


def test_a_tenth_of_the_table_warns_while_known_columns_keeps_its_bound(people: pd.DataFrame) -> None:
    found = verdicts({"role": "insensitive"}, people)
    assert found["known_columns.nation"].status is Status.PASSED
    assert found["found_groups.nation"].status is Status.WARNED
    assert found["found_groups.nation"].value == pytest.approx(0.1, abs=0.02)


def test_one_large_group_of_the_others_ends_it(people: pd.DataFrame) -> None:
    people["nation"] = np.where(people["nation"] == "home", "home", "elsewhere")
    assert verdicts({"role": "insensitive"}, people)["found_groups.nation"].value == 0


def test_insensitive_columns_are_asked(small_policy: Callable[..., Policy]) -> None:
    asked = [name for name in limits_of(small_policy()) if name.startswith("found_groups")]
    assert asked == [f"found_groups.{name}" for name in sorted(small_policy().insensitive)]
    assert asked
