"""Queries of the user: what each loses, by hand; mistakes are named by number, and no value gets out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.utility import sql_workload
from anon_pipeline.utility.filled_table import Cells, Tables
from anon_pipeline.utility.sql_workload import Workload, ask_all, measure_workload, read_workload

CANARY = "CANARY-7f3a"
BEFORE = pd.DataFrame({"town": ["a", "a", "b", "c"], "income": [10.0, 30.0, 40.0, 7.0]})


def asked(query: str, after: pd.DataFrame, before: pd.DataFrame = BEFORE) -> tuple[float, ...]:
    (found,) = measure_workload(Workload([query]), before, [after])
    return (found.rows, found.missing, found.invented, found.mean, found.median, found.worst)


def test_equal_tables_lose_nothing() -> None:
    for query in (
        "select count(*) from records",
        "select town, sum(income) s, min(income) from records group by 1",
    ):
        assert asked(query, BEFORE)[1:] == (0, 0, 0, 0, 0)


def test_errors_are_shares_of_the_larger_number() -> None:
    after = BEFORE.assign(income=[10.0, 30.0, 20.0, 14.0])
    found = asked("select town, sum(income) from records group by town", after)
    assert found == (3, 0, 0, pytest.approx((0 + 0.5 + 0.5) / 3), 0.5, 0.5)


def test_rows_of_one_side_have_lost_everything() -> None:
    after = BEFORE.assign(town=["a", "a", "b", "d"])
    found = asked("select town, count(*) from records group by town", after)
    assert found == (3, pytest.approx(1 / 3), 1, 0.5, 0.5, 1.0)


@pytest.mark.parametrize(
    ("one", "other", "error"), [(0, 0, 0.0), (0, 5, 1.0), (-3, 3, 1.0), (None, None, 0.0), (None, 2, 1.0)]
)
def test_zeros_signs_and_missing_numbers(one: float | None, other: float | None, error: float) -> None:
    before, after = (BEFORE.assign(income=[value, 0, 0, 0]) for value in (one, other))
    query = "select any_value(income) from records where town = 'a' and income is not distinct from "
    found = asked(f"{query}{'null' if one is None else one}", before, before)
    assert found[3] == 0
    both = asked("select first(income) as income from records", after, before)
    assert both[3] == pytest.approx(error)


def test_generalized_cells_stand_for_what_they_cover() -> None:
    """Half of the cells say a value, half any of two: a count of one of these is 25 of 100 off on average."""
    values = pd.Series(["a", "b"])
    leaves = np.array([[0, 0]] * 5_000 + [[0, 1]] * 5_000)
    cells = Cells(leaves, values, np.full(10_000, np.nan))
    before = pd.DataFrame({"town": ["a"] * 10_000})
    whole = Tables(before, pd.DataFrame(index=range(10_000)), {"town": cells}, ["town"])
    query = Workload(["select count(*) from records where town = 'a'"])
    (found,) = measure_workload(query, before, whole.fill_often())
    assert found.mean == pytest.approx(0.25, abs=0.01)
    means = Cells(np.array([[0, 1]]), pd.Series([1, 9]), np.array([4.5])).fill(np.random.default_rng(0))
    assert means.tolist() == [4.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be 1 to 1,000 SELECT statements, got 0"),
        ("select 1; drop table records; select 2", "got others: 2"),
        ("copy records to 'x.csv'", "got others: 1"),
        ("selec 1", "must be SQL queries: Parser Error"),
    ],
)
def test_other_files_are_refused_before_anything_is_read(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "q.sql").write_text(text)
    with pytest.raises(InputError, match=said):
        read_workload(tmp_path / "q.sql")
    with pytest.raises(InputError, match=r"none.sql: must be a readable"):
        read_workload(tmp_path / "none.sql")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select nothing from records", 'Referenced column "nothing" not found'),
        ("select * from other", "Table with name other does not exist"),
        ("select town from records", "must give at least one number"),
        ("select town, income from records", "rows that differ in the columns that are no numbers"),
        ("select count(*) from read_csv('/etc/passwd')", "must succeed on input and release"),
        ("select cast(town as integer) from records", "must succeed on input and release"),
        (
            "select json_deserialize_sql(json_serialize_sql('select 1 a ' || chr(34) || town "
            "|| chr(34))) a, 1 n from records",
            "must succeed on input and release",
        ),
    ],
)
def test_queries_that_fail_are_named_by_number_without_values(query: str, said: str) -> None:
    frame = BEFORE.assign(town=[CANARY, "b", CANARY, "c"])
    with pytest.raises(InputError, match="query 2") as caught:
        measure_workload(Workload(["select count(*) from records", query]), frame, [frame])
    assert said in str(caught.value) and CANARY not in str(caught.value)


def test_infinite_numbers_are_equal_or_not() -> None:
    assert asked("select 'inf'::double as n", BEFORE)[3] == 0
    before, after = BEFORE.assign(income=[1.0, 0, 0, 0]), BEFORE.assign(income=[-1.0, 0, 0, 0])
    assert asked("select first(income) * 'inf'::double as n from records", after, before)[3] == 1
    assert (
        asked(
            "select case when first(income) > 0 then 'inf'::double else 3 end as n from records",
            after,
            before,
        )[3]
        == 1
    )


def test_comments_may_stand_anywhere(tmp_path: Path) -> None:
    text = "-- one; first\nselect 1 n; -- next\nselect ';' t, 2 n /* ; */; /* end; */ select 3 n -- last; one"
    (tmp_path / "q.sql").write_text(text)
    found = measure_workload(read_workload(tmp_path / "q.sql"), BEFORE, [BEFORE])
    assert [(one.rows, one.worst) for one in found] == [(1, 0.0)] * 3


def test_a_query_that_never_ends_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_workload, "_SECONDS", 0.5)
    frame = pd.DataFrame({"a": range(20_000)})
    endless = "SELECT count(*) AS n FROM records r, records s, records t WHERE r.a * s.a + t.a = 7"
    with pytest.raises(InputError, match=r"query 2: must take at most 0\.5 s"):
        ask_all(Workload(["SELECT count(*) AS n FROM records", endless]), frame)
    assert int(ask_all(Workload(["SELECT count(*) AS n FROM records"]), frame)[0]["n"].iloc[0]) == 20_000
