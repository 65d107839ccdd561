"""The edge: frames are accepted or refused without a quote; codes and back."""

from __future__ import annotations

import copy
import datetime as dt
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base import packed_tables
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import PackedTable, pack_large
from anon_pipeline.encode.codes import (
    CLASS,
    GIVEN,
    PERSON,
    PRIVATE,
    RECORD,
    accept,
    code_columns,
    code_quasi_identifiers,
    code_sensitive,
    code_sensitive_of,
    decode,
    mark_incomplete,
)
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.columns import Sensitive
from anon_pipeline.stages.coarsen import coarsen
from tests.example_counts import examples_of

CANARY = "-".join(["CANARY", "7f3a"])
NUMBER = 987_654 + 0.321

ATTRIBUTES: dict[str, Any] = {
    "name": "clinic",
    "source": {"generate": "patients"},
    "columns": {
        "id": {"role": "identifier", "action": "hash"},
        "ssn": {"role": "identifier"},
        "age": {"role": "generalize", "hierarchy": {"intervals": [5]}},
        "sex": {"role": "generalize", "hierarchy": {"tree": {"all": ["F", "M"]}}},
        "height": {"role": "perturb", "resolution": 0.1},
        "weight": {"role": "perturb", "resolution": 1, "missing": "suppress"},
        "disease": {"role": "sensitive"},
        "grade": {"role": "sensitive", "distance": "ordered", "order": ["low", "high"]},
        "stay": {"role": "sensitive", "distance": "ordered", "missing": "suppress"},
        "note": {"role": "insensitive"},
    },
    "deidentify": {"key_env": "K"},
    "anonymize": {"k": 2},
    "perturb": {"epsilon": 1},
}
POLICY = policy_from(ATTRIBUTES)


def frame(**columns: Any) -> pd.DataFrame:
    sound = {
        "id": ["a", "b", "c"],
        "ssn": ["1", None, "3"],
        "age": ["31", "32", None],
        "sex": ["F", "M", None],
        "height": ["170.5", "180", "165"],
        "weight": [70, 80.5, None],
        "disease": ["flu", "flu", "cold"],
        "grade": ["low", "high", "low"],
        "stay": ["1", "2", None],
        "note": ["x", None, ""],
    }
    return pd.DataFrame({**sound, **columns})


def refused(data: pd.DataFrame, policy: Policy = POLICY) -> list[str]:
    """The problems that `accept` lists, after a look for cells in everything that could be printed."""
    with pytest.raises(InputError) as caught:
        accept(data, policy)
    shown, error = "", caught.value
    chain: BaseException | None = error
    while chain is not None:
        shown += str(chain) + repr(chain) + "".join(traceback.format_exception(chain))
        chain = chain.__cause__ or chain.__context__
    assert CANARY not in shown
    assert "987654" not in shown
    return list(error.problems)


def test_what_is_accepted() -> None:
    accepted = accept(frame(), POLICY)
    assert list(accepted.columns) == list(POLICY.columns)
    assert accepted["height"].tolist() == [170.5, 180, 165]
    assert accepted["weight"].dtype == accepted["height"].dtype == np.float64
    assert accepted["stay"].dropna().tolist() == [1, 2]
    assert accepted["grade"].tolist() == ["low", "high", "low"]
    assert accepted["age"].tolist()[:2] == ["31", "32"]
    assert accepted.index.equals(pd.RangeIndex(3))
    assert mark_incomplete(accepted, POLICY).tolist() == [False, False, True]


def test_ordered_numbers_are_whole_where_they_are() -> None:
    assert accept(frame(stay=["1", "2", "3"]), POLICY)["stay"].dtype == np.int64
    assert accept(frame(stay=["1", "2.5", "3"]), POLICY)["stay"].tolist() == [1, 2.5, 3]


def test_columns_that_do_not_fit_are_all_listed() -> None:
    data = frame(extra=1, more=CANARY).drop(columns=["age", "note"])
    assert refused(data) == [
        "the policy does not declare 2 columns of the data: columns 9, 10. "
        "Give each a role (identifier with action: drop removes it).",
        "columns of the policy must be in the data, not there: age, note",
        "Undeclared names are hidden because they may be data. To see them, run with --show-values on a "
        "terminal.",
    ]


def test_columns_that_are_named_twice() -> None:
    twice = pd.concat([frame(), frame()[["age", "sex"]]], axis=1)
    assert refused(twice) == ["columns must be named once, got twice: age, sex"]


def test_names_that_are_equal_as_texts_are_named_twice() -> None:
    attributes = copy.deepcopy(ATTRIBUTES)
    attributes["columns"]["1"] = {"role": "insensitive"}
    policy = policy_from(attributes)
    assert refused(frame(**{"1": 1}).assign(**{"x": 2}).rename(columns={"x": 1}), policy) == [
        "columns must be named once, got twice: 1"
    ]
    assert accept(frame().assign(one=7).rename(columns={"one": 1}), policy)["1"].tolist() == [7, 7, 7]


def test_a_file_without_a_header_does_not_tell_its_first_record() -> None:
    data = frame().set_axis([f"{CANARY}{i}" for i in range(10)], axis=1)
    assert refused(data) == [
        "columns of the policy must be in the data, got none of 10, but 10 others. Is there a header line?",
        "Undeclared names are hidden because they may be data. To see them, run with --show-values on a "
        "terminal.",
    ]


@pytest.mark.parametrize("data", [frame().head(0), pd.DataFrame(columns=list(POLICY.columns))])
def test_no_record(data: pd.DataFrame) -> None:
    assert refused(data) == ["the input must have at least one record, got none"]


def test_no_column() -> None:
    assert refused(pd.DataFrame()) == [
        f"columns of the policy must be in the data, not there: {', '.join(sorted(POLICY.columns))}"
    ]


def test_one_record_is_accepted() -> None:
    assert len(accept(frame().head(1), POLICY)) == 1


def test_values_that_do_not_fit_are_all_listed_with_counts() -> None:
    data = frame(
        id=[[CANARY], None, None],
        height=[CANARY, np.inf, None],
        weight=["1,5", CANARY, NUMBER],
        disease=[None, None, CANARY],
        grade=["low", CANARY, None],
        stay=[CANARY, "-inf", "3"],
        note=[CANARY, NUMBER, None],
    )
    one_kind = "must hold numbers, booleans, texts or dates, all of one kind"
    assert refused(data) == [
        f"id: {one_kind}, got something else",
        "height: must be a number, got 1 record with something else",
        "height: must be finite, got 1 record with infinite numbers",
        "height: must have a value in every record, got 1 missing. "
        "Set missing: suppress to suppress those records.",
        "weight: must be a number, got 2 records with something else",
        "disease: must have a value in every record, got 2 missing. "
        "Set missing: suppress to suppress those records.",
        "grade: every value must be in the declared order, got 1 record with others",
        "grade: must have a value in every record, got 1 missing. "
        "Set missing: suppress to suppress those records.",
        "stay: must be a number, got 1 record with something else",
        "stay: must be finite, got 1 record with infinite numbers",
        f"note: {one_kind}: ArrowTypeError",
    ]


@pytest.mark.parametrize("name", ["height", "disease", "grade"])
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=["None", "nan", "NA"])
def test_missing_values_where_they_are_not_allowed(name: str, missing: Any) -> None:
    data = frame()
    data[name] = pd.Series([missing, data[name][1], missing], dtype=object)
    assert refused(data) == [
        f"{name}: must have a value in every record, got 2 missing. "
        "Set missing: suppress to suppress those records."
    ]


@pytest.mark.parametrize(
    "cells",
    [[[1], [2], [3]], [{CANARY: 1}, None, None], [CANARY.encode()] * 3, [CANARY, 1, None], [1j, 2j, 3j]],
    ids=["lists", "mappings", "bytes", "mixed", "complex"],
)
@pytest.mark.parametrize("name", ["id", "age", "sex", "disease", "note"])
def test_cells_that_no_table_holds(name: str, cells: list[Any]) -> None:
    data = frame()
    data[name] = pd.Series(cells, dtype=None if cells == [1j, 2j, 3j] else object)
    problem, *more = refused(data)
    assert problem.startswith(f"{name}: must hold numbers, booleans, texts or dates, all of one kind")
    assert all("missing" in line for line in more)


def test_what_is_dropped_may_be_anything() -> None:
    assert len(accept(frame(ssn=[[CANARY], b"x", 3]), POLICY)) == 3


def as_dtype(dtype: Any, **columns: Any) -> pd.DataFrame:
    return frame(**{name: pd.Series(values, dtype=dtype) for name, values in columns.items()})


@pytest.mark.parametrize(
    ("data", "height"),
    [
        (
            as_dtype("category", height=["170.5", "180", "165"], sex=["F", "M", None], grade=["low"] * 3),
            170.5,
        ),
        (as_dtype("Int64", height=[170, 180, 165], weight=[1, None, 2], stay=[1, 2, None]), 170),
        (as_dtype("Float64", height=[170.5, 180, 165], weight=[1, None, 2]), 170.5),
        (as_dtype("float64[pyarrow]", height=[170.5, 180, 165], weight=[1, None, 2]), 170.5),
        (as_dtype("string", height=["170.5", "180", "165"], note=["a", None, ""]), 170.5),
        (as_dtype(object, height=["170.5", 180, 165.0], weight=[1, None, "2"]), 170.5),
        (as_dtype("boolean", height=[True, False, True], note=[True, None, False]), 1),
        (as_dtype("datetime64[us, Europe/Berlin]", note=[dt.datetime(2020, 1, 1), None, None]), 170.5),
        (as_dtype("int8", height=[17, 18, 19], disease=[1, 2, 3]), 17),
    ],
    ids=lambda value: None,
)
def test_types_of_columns(data: pd.DataFrame, height: float) -> None:
    accepted = accept(data, POLICY)
    assert accepted["height"].dtype == np.float64
    assert accepted["height"][0] == height
    assert accepted["note"].isna().tolist() == data["note"].isna().tolist()
    assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in accepted.dtypes)


@pytest.mark.parametrize(
    "index",
    [[7, 7, 7], [2, 0, 1], ["a", "b", "c"], [None, 1, 1], pd.date_range("2020", periods=3)],
    ids=["equal", "shuffled", "texts", "missing", "dates"],
)
def test_the_index_does_not_matter(index: Any) -> None:
    odd = frame().set_axis(index, axis=0)
    pd.testing.assert_frame_equal(accept(odd, POLICY), accept(frame(), POLICY))


def test_the_order_of_columns_does_not_matter() -> None:
    pd.testing.assert_frame_equal(
        accept(frame()[list(POLICY.columns)[::-1]], POLICY), accept(frame(), POLICY)
    )


def test_the_input_is_not_changed() -> None:
    data = frame().set_axis([3, 3, 1], axis=0)
    before = data.copy(deep=True)
    accepted = accept(data, POLICY)
    pd.testing.assert_frame_equal(data, before)
    for name in accepted.columns:
        accepted.loc[0, name] = accepted.loc[1, name]
    pd.testing.assert_frame_equal(data, before)


CELLS = st.lists(
    st.none()
    | st.text(max_size=3)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.booleans()
    | st.binary(max_size=2)
    | st.dates()
    | st.lists(st.integers(), max_size=2),
    min_size=3,
    max_size=3,
)


@settings(max_examples=examples_of(80), deadline=None)
@given(name=st.sampled_from(list(POLICY.columns)), cells=CELLS)
def test_whatever_the_cells_are_the_frame_is_accepted_or_refused(name: str, cells: list[Any]) -> None:
    data = frame()
    data[name] = pd.Series(cells, dtype=object)
    try:
        accepted = accept(data, POLICY)
    except InputError as error:
        assert all(problem.startswith(f"{name}: ") for problem in error.problems)
    else:
        assert len(accepted) == 3


def test_quasi_identifiers_are_coded() -> None:
    coded = code_quasi_identifiers(accept(frame(), POLICY), POLICY)
    assert [hierarchy.column for hierarchy in coded.hierarchies] == ["age", "sex"]
    assert coded.codes.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert coded.codes.dtype == np.int64


def test_values_outside_their_hierarchies_are_all_listed() -> None:
    data = accept(frame(age=["31", CANARY, None], sex=[CANARY, CANARY, "F"]), POLICY)
    with pytest.raises(InputError) as caught:
        code_quasi_identifiers(data, POLICY)
    assert caught.value.problems == (
        "age: must be a number, got 1 record with something else",
        "sex: every value must be a leaf of its hierarchy, 2 records have values that it does not list. "
        "`anon-pipeline hierarchy DATA sex --policy POLICY --not-leaves FILE` writes which. Add them to it, "
        "or map them to leaves in clean.columns (sex: {values: ...}).",
    )
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("column", "values", "codes"),
    [
        (Sensitive(role="sensitive"), ["b", "a", None, "b"], [1, 0, -1, 1]),
        (Sensitive(role="sensitive"), [2, 10, 2, 2], [1, 0, 1, 1]),
        (
            Sensitive(role="sensitive", distance="ordered", order=("low", "mid", "high")),
            ["high", "low", None, "low"],
            [2, 0, -1, 0],
        ),
        (Sensitive(role="sensitive", distance="ordered"), [10.0, 9.0, np.nan, 9.0], [1, 0, -1, 0]),
    ],
)
def test_sensitive_columns_are_coded_in_their_order(
    column: Sensitive, values: list[Any], codes: list[int]
) -> None:
    found, hierarchy = code_sensitive(pd.Series(values, name="s"), column)
    assert found.tolist() == codes
    assert hierarchy is None


def test_a_sensitive_column_with_a_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("flu;virus;*\nbroken leg;trauma;*\ncold;virus;*\n")
    column = Sensitive(role="sensitive", distance="hierarchical", hierarchy={"table": "d.csv"})
    codes, hierarchy = code_sensitive(
        pd.Series(["cold", None, "broken leg"], name="s"), column, folder=tmp_path
    )
    assert codes.tolist() == [1, -1, 2]
    assert hierarchy is not None
    assert hierarchy.values[0].tolist() == ["flu", "cold", "broken leg", None]


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_a_packed_column_is_coded_cell_by_cell(data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 20))

    def drawn(values: list[Any]) -> list[Any]:
        return data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "word": pd.Series(drawn(["b", "a", None, "c"]), dtype="str"),
            "number": pd.Series(drawn([10.0, 9.0, np.nan, -0.0, 0.0])),
            "day": pd.to_datetime(pd.Series(drawn(["2020-01-05", "2021-03-01"]))),
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_tables, "PACKED_FROM", 1)
        table = pack_large(frame)
    assert isinstance(table, PackedTable)
    ordered = Sensitive(role="sensitive", distance="ordered")
    for name, column in (("word", Sensitive(role="sensitive")), ("number", ordered)):
        for found in (code_sensitive_of(table, name, column), code_sensitive_of(frame, name, column)):
            assert found[0].tolist() == code_sensitive(frame[name], column)[0].tolist()
    policy = policy_from(
        {
            "name": "days",
            "source": {"path": "a.csv"},
            "columns": {
                "word": {"role": "generalize", "hierarchy": {"suppress": True}},
                "number": {"role": "insensitive"},
                "day": {"role": "generalize", "hierarchy": {"dates": ["month", "year"]}},
            },
            "anonymize": {"k": 2},
            "gate": {"k": 2},
        }
    )
    if frame["word"].isna().all():
        return
    one, other = code_columns(table, policy), code_columns(frame, policy)
    assert [own.tolist() for own in one[0]] == [own.tolist() for own in other[0]]
    for mine, yours in zip(one[1], other[1], strict=True):
        assert [own.tolist() for own in mine.values] == [own.tolist() for own in yours.values]


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_a_packed_table_is_accepted_as_any_other(data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 20))

    def drawn(values: list[Any], dtype: str) -> pd.Series:
        cells = data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        return pd.Series(cells, dtype=dtype)

    odd = data.draw(st.booleans())
    frame = pd.DataFrame(
        {
            "sex": drawn(["f", "m", None], "str"),
            "height": drawn(["1.5", "2", "1e3", *(["tall"] if odd else [])], "str"),
            "weight": drawn([10.5, 9.0, *([np.inf] if odd else [])], "float64"),
            "pay": drawn([100.0, 3.0, 7.25, *([np.nan] if odd else [])], "float64"),
            "visits": drawn([1, 2, 2**40], "int64"),
        }
    )
    policy = policy_from(
        {
            "name": "people",
            "source": {"path": "a.csv"},
            "columns": {
                "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {"role": "perturb", "resolution": 0.5},
                "weight": {"role": "perturb", "resolution": 0.5, "missing": "suppress"},
                "pay": {"role": "sensitive", "distance": "ordered", "round": 5},
                "visits": {"role": "insensitive", "top": 100},
            },
            "anonymize": {"k": 2},
            "perturb": {"epsilon": 1},
            "gate": {"k": 2},
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_tables, "PACKED_FROM", 1)
        table = pack_large(frame)
        found, said = coarse_or_problems(table, policy)
    wanted, also = coarse_or_problems(frame, policy)
    assert said == also
    if wanted is not None:
        assert isinstance(found, PackedTable)
        pd.testing.assert_frame_equal(found.unpack(), wanted, check_exact=True)


def coarse_or_problems(table: Any, policy: Any) -> tuple[Any, Any]:
    try:
        return coarsen(accept(table, policy), policy), None
    except InputError as error:
        return None, error.problems


def test_mistakes_of_a_packed_column_are_counted_in_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 1)
    column = Sensitive(
        role="sensitive", distance="hierarchical", hierarchy={"tree": {"virus": ["flu", "cold"]}}
    )
    table = pack_large(pd.DataFrame({"s": ["flu", "gout", "gout", "cold", "gout"]}))
    with pytest.raises(InputError, match="3 records have values"):
        code_sensitive_of(table, "s", column)


def test_decode() -> None:
    values = [np.array(["a", "b"], dtype=object), np.array(["*", None], dtype=object)]
    decoded = pd.DataFrame(dict(decode(np.array([[1, 0], [0, 1], [-1, -1]]), values, ["x", "y"])))
    assert decoded["x"].tolist()[:2] == ["b", "a"]
    assert decoded["y"][0] == "*"
    assert decoded.isna().to_numpy().tolist() == [[False, False], [False, True], [True, True]]
    assert [str(dtype) for dtype in decoded.dtypes] == ["str", "str"]


def test_private_columns_begin_with_an_underscore() -> None:
    """The policy refuses such names, so that no column of the data can be taken for one."""
    assert PRIVATE == (RECORD, CLASS, PERSON, GIVEN)
    assert all(name.startswith("_") for name in PRIVATE)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Zurich", "America/New_York"])
@pytest.mark.parametrize("name", ["ssn", "note"])
def test_times_that_no_text_can_be_made_of_are_refused_and_counted(name: str, zone: str | None) -> None:
    """Such as 9999-12-31 23:59:59 of New York, which other programs take for "never", in UTC."""
    values = pd.Series(np.array([253402318799999999, 0, -62135596800000001], "datetime64[us]"))
    values = values if zone is None else values.dt.tz_localize("UTC").dt.tz_convert(zone)
    said = f"^{name}: times must be of the years 1 to 9999, got 2 records beyond$"
    with pytest.raises(InputError, match=said):
        accept(frame(**{name: values}), POLICY)
    assert len(accept(frame(**{name: values.where([False, True, False])}), POLICY)) == 3
