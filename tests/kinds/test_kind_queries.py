"""The user's queries, asked of releases of several kinds: by hand, and as `utility --sql` asks them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.kinds.compare_kinds import compare_kinds
from anon_pipeline.kinds.kind_queries import measure_queries, refuse_queries
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.utility.sql_workload import Workload
from anon_pipeline.utility.trial import measure_trial
from tests.kinds.conftest import DECLARED, SOURCE, class_policy, people, policies

BY_WARD = "select ward, count(*) n from records group by ward"
DATA = pd.DataFrame({"ward": ["a", "a", "b", "b"], "age": [1, 2, 3, 4]})


@pytest.fixture
def where(tmp_path: Path) -> Locations:
    """The folder of a project with a table of people."""
    people(600).to_csv(tmp_path / "people.csv", index=False)
    return Locations(tmp_path, tmp_path, tmp_path / "releases", tmp_path / "vault")


def test_errors_are_means_over_the_answering_tables() -> None:
    """Of two and two records: one and three in the first table, four and four in the second."""
    moved, doubled = DATA.assign(ward=["a", "b", "b", "b"]), pd.concat([DATA, DATA])
    workload = Workload([BY_WARD, "select avg(age) from records"])
    by_ward, mean = measure_queries(workload, DATA, iter([moved, doubled, DATA]), ["ward", "age"])
    assert (by_ward.rows, by_ward.missing, by_ward.invented) == (2, 0, 0)
    assert by_ward.mean == pytest.approx(((1 / 2 + 1 / 3) / 2 + 1 / 2 + 0) / 3)
    assert by_ward.worst == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert mean.worst == 0


def test_days_and_booleans_can_be_asked_for_as_such() -> None:
    days = pd.to_datetime(["2026-01-05", "2026-02-05", "2027-01-05", "2027-03-05"])
    frame = DATA.assign(day=days, ill=[True, False, True, True])
    query = "select count(*) from records where year(day) = 2027 and ill"
    (same,) = measure_queries(Workload([query]), frame, [frame], ["day", "ill"])
    assert (same.rows, same.worst) == (1, 0)
    (other,) = measure_queries(Workload([query]), frame, [frame.assign(ill=False)], ["day", "ill"])
    assert other.worst == 1


def test_numbers_are_numbers_in_texts_too() -> None:
    query = "select count(*) from records where age > 2"
    (found,) = measure_queries(Workload([query]), DATA, [DATA.assign(age=["1", "2", "3", "1"])], ["age"])
    assert found.mean == 0.5


@pytest.mark.parametrize(
    "query", ["select avg(pay) from records", "selec", "select cast(ward as int) from records"]
)
def test_wrong_queries_are_refused_before_a_release_is_made(query: str) -> None:
    with pytest.raises(InputError, match=r"query 2: .*those of all releases: ward, age") as refused:
        refuse_queries(Workload([BY_WARD, query]), DATA.assign(pay=1), ["ward", "age"])
    assert "'a'" not in str(refused.value)
    refuse_queries(Workload([BY_WARD]), DATA, ["ward"])


def test_all_kinds_answer(where: Locations) -> None:
    workload = Workload([BY_WARD, "select sex, avg(age) from records group by sex"])
    named = policies()
    found = {one.name: one for one in compare_kinds(named, dict.fromkeys(named, where), workload=workload)}
    for one in found.values():
        assert one.found is not None, one.problem
        assert one.found.queries is not None
        assert [loss.name for loss in one.found.queries] == ["1", "2"]
        assert [loss.rows for loss in one.found.queries] == [4, 2]
        assert all(loss.missing == loss.invented == 0 for loss in one.found.queries)
    buckets, classes = found["buckets"].found, found["classes"].found
    assert buckets is not None and buckets.queries is not None and classes is not None
    assert buckets.queries[0].worst == 0  # slices lose nothing of one column, and of pairs within a slice
    assert buckets.queries[1].worst == 0


def test_classes_answer_as_utility_says(where: Locations) -> None:
    workload = Workload(["select (age::int // 7)::text as years, count(*) n from records group by years"])
    policy = class_policy()
    assert isinstance(policy, Policy)
    named = {"one": policy, "other": class_policy(20)}
    first, _ = compare_kinds(named, dict.fromkeys(named, where), workload=workload)
    own = measure_trial(policy, where, workload=workload).get("workload")
    assert first.found is not None and first.found.queries is not None and own is not None
    assert first.found.queries[0].mean == pytest.approx(
        own["1"].mean, abs=0.03
    )  # rows are shuffled, then filled
    assert 0 < own["1"].mean < 1


def test_copies_are_asked_one_by_one(where: Locations) -> None:
    """Three copies together would count every record three times, two thirds too many."""
    named = {"name": "people", "source": SOURCE, "columns": DECLARED, "method": "copula", "copies": 3}
    both = {"one": SyntheticPolicy.model_validate(named), "other": class_policy()}
    first, _ = compare_kinds(
        both, dict.fromkeys(both, where), workload=Workload(["select count(*) from records"])
    )
    assert first.found is not None and first.found.queries is not None
    assert first.found.queries[0].worst == 0 and first.found.records == 1_800


def test_a_wrong_query_ends_the_comparison(where: Locations) -> None:
    named = policies()
    with pytest.raises(InputError, match="query 1: "):
        list(
            compare_kinds(named, dict.fromkeys(named, where), workload=Workload(["select pay from records"]))
        )
