"""Releases of all kinds as plain tables: values of the data's own kind, one row for each released record."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.kinds.plain_releases import HIDDEN, plain_release, released_columns, sensitive_columns
from anon_pipeline.policy.locations import Locations
from anon_pipeline.sources import read_source
from tests.kinds.conftest import WARDS, class_policy, people, policies


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    return Locations(tmp_path, tmp_path, tmp_path / "releases", tmp_path / "vault")


@pytest.mark.parametrize(
    ("name", "records"), [("classes", range(320, 401)), ("copula", [2000]), ("dp", [400]), ("buckets", [400])]
)
def test_a_release_is_one_table_of_plain_values(name: str, records: list[int], locations: Locations) -> None:
    made = plain_release(policies()[name], people(), locations, judged=True)
    assert list(made.table.columns) == ["age", "sex", "ward"] and len(made.table) in records
    assert set(made.table["ward"]) <= set(WARDS) and set(made.table["sex"]) <= {"f", "m"}
    assert made.table["age"].astype(float).between(20, 79).all()
    assert made.refused is not None
    assert plain_release(policies()[name], people(), locations, judged=False).refused is None


def test_the_gate_of_each_kind_is_asked(locations: Locations) -> None:
    strict = class_policy(gate={"attacks": {"prosecutor_risk": 0.001}})
    refused = plain_release(strict, people(), locations, judged=True).refused
    assert refused is not None and "prosecutor_risk" in refused
    with pytest.raises(InfeasibleError):
        plain_release(class_policy(300), people(40), locations, judged=True)


def test_bucketized_columns_are_those_of_the_data(locations: Locations) -> None:
    data, made = people(), plain_release(policies()["buckets"], people(), locations, judged=False)
    for name in ("age", "sex", "ward"):
        assert sorted(made.table[name]) == sorted(data[name])
    joined = data.merge(made.table.drop_duplicates(), on=["age", "sex", "ward"])
    assert len(joined) < len(data)  # what goes together is not


def test_nothing_is_written(locations: Locations, tmp_path: Path) -> None:
    for policy in policies().values():
        plain_release(policy, people(), locations, judged=True)
    assert list(tmp_path.iterdir()) == []


def test_columns_and_secrets_of_policies() -> None:
    for policy in policies().values():
        assert released_columns(policy) == ["age", "sex", "ward"]
    assert {name: sensitive_columns(one) for name, one in policies().items()} == {
        "classes": ["ward"],
        "copula": ["ward"],
        "dp": [],
        "buckets": ["ward"],
    }


def test_a_declared_number_of_records_is_that_of_the_whole_table(locations: Locations) -> None:
    policy = policies()["dp"].model_copy(update={"records": 400})
    half = plain_release(policy, pd.DataFrame(people().iloc[:200]), locations, judged=False)
    assert len(half.table) == 200


def test_attackers_see_the_middle_of_what_a_cell_covers(locations: Locations, tmp_path: Path) -> None:
    """Numbers that a file holds as texts, too: who has the release knows the intervals."""
    people(400).to_csv(tmp_path / "people.csv", index=False)
    policy = class_policy()
    for frame in (people(400), read_source(policy, folder=tmp_path)):
        made = plain_release(policy, frame, locations, judged=False)
        middles = made.centers["age"].astype(float)
        assert middles.between(20, 79).all() and middles.nunique() < made.table["age"].nunique()
        assert (middles - made.table["age"].astype(float)).abs().max() <= 10
        assert set(made.centers["sex"]) <= {"f", "m", HIDDEN}
