"""Cells become codes one by one: whatever a cell holds, and whatever the others hold."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.domain_codes import (
    code_of_otherwise,
    domain_codes,
    people_of,
    refuse_unread,
    share_of_otherwise,
    unread_shares,
    values_of,
    whole_numbers,
)
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.synthetic import SyntheticPolicy
from tests.epsilon_dp.neighbours import dp_policy

AT_THE_ENDS = ("9999-12-31 23:59:59", "0001-01-01 00:00:00")
AGE = DeclaredColumn(bounds=(18, 90), otherwise="20")
WEIGHT = DeclaredColumn(bounds=(-1, 1), resolution=0.1, otherwise="0.5")
CITY = DeclaredColumn(values=("Cork", "1", "true", "none"), otherwise="none")


def codes_of(column: DeclaredColumn, cells: Any) -> list[int]:
    policy = dp_policy(columns={"x": column, "y": CITY})
    frame = pd.DataFrame({"x": cells, "y": "Cork", "unused": 1})
    found: list[int] = domain_codes(policy, frame)[:, 0].tolist()
    return found


def test_records_of_a_person_have_one_number() -> None:
    """A record without a value is a person's own; a policy that names nobody says nothing."""
    policy = SyntheticPolicy.model_validate(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {"x": {"bounds": [18, 90], "otherwise": 20}},
            "method": "copula",
            "person": "id",
        }
    )
    found = people_of(policy, pd.DataFrame({"x": 30, "id": ["b", None, "a", "b", None]}))
    assert found is not None and found.tolist() == [0, 2, 1, 0, 3]
    with pytest.raises(InputError, match=r"person: the source must have .* not there: id"):
        people_of(policy, pd.DataFrame({"x": [30]}))
    assert people_of(dp_policy(), pd.DataFrame({"age": [1], "city": ["Cork"]})) is None


def test_numbers_are_rounded_and_moved_to_the_nearest_bound() -> None:
    assert codes_of(AGE, ["18", " 19 ", "19.5", "90", "91", "1e9", "-5", "+20"]) == [
        0,
        1,
        2,
        72,
        72,
        72,
        0,
        2,
    ]
    assert codes_of(AGE, ["1" * 500, "1e9999", "-1e999", ".5e2", "30."]) == [72, 72, 0, 32, 12]
    assert codes_of(WEIGHT, [-1.0, -0.05, 0.3, 1.0, 7.0, -np.inf, np.inf]) == [0, 10, 13, 20, 20, 0, 20]


def test_what_is_no_declared_value_counts_as_otherwise() -> None:
    strange = ["", None, "twenty", "1_9", "٢٥", "nan", "inf", "0x14", "1,9", "--1", "1e"]
    assert codes_of(AGE, strange) == [2] * len(strange)
    assert codes_of(AGE, [datetime.date(2020, 1, 1), [18], {"a": 1}, b"18", Decimal("19.2")])[:3] == [2, 2, 2]
    assert codes_of(CITY, ["cork", "Cork ", None, "Dublin", "Cork"]) == [3, 3, 3, 3, 0]
    assert code_of_otherwise(WEIGHT) == 15


def test_equal_objects_of_several_types_are_told_apart_whichever_comes_first() -> None:
    cells = pd.Series([True, 1, 1.0, "1", "true"], dtype=object)
    assert codes_of(CITY, cells) == [2, 1, 1, 1, 2]
    assert codes_of(CITY, cells[::-1].reset_index(drop=True)) == [2, 1, 1, 1, 2][::-1]


def test_texts_of_typed_cells() -> None:
    said = ("true", "false", "2024-01-31", "2024-01-31 12:30:00", "1.5", "2", "other")
    column = DeclaredColumn(values=said, otherwise="other")
    assert codes_of(column, pd.Series([True, False, True])) == [0, 1, 0]
    assert codes_of(column, pd.Series([True, None, False], dtype="boolean")) == [0, 6, 1]
    times = pd.Series([pd.Timestamp("2024-01-31"), pd.Timestamp("2024-01-31 12:30"), pd.NaT])
    assert codes_of(column, times) == [2, 3, 6]
    assert codes_of(column, pd.Series([datetime.date(2024, 1, 31), None], dtype=object)) == [2, 6]
    assert codes_of(
        DeclaredColumn(values=("0.1", "x"), otherwise="x"), pd.Series([0.1], dtype="float32")
    ) == [0]
    assert codes_of(column, pd.Series([Decimal("1.50"), Decimal(2)], dtype=object)) == [4, 5]


class Stubborn:
    """A cell that cannot be a number, and says so in an unusual way."""

    def __float__(self) -> float:
        raise RuntimeError("no")


def test_no_cell_whatever_it_is_raises() -> None:
    cells = pd.Series([10**5000, -(10**5000), Stubborn(), complex(1, 1), b"\xff"], dtype=object)
    assert codes_of(AGE, cells) == [72, 0, 2, 2, 2]
    assert codes_of(CITY, cells) == [3, 3, 3, 3, 3]


def test_the_type_of_a_column_does_not_decide() -> None:
    """One empty cell turns a column of whole numbers into one of floats: the others keep their codes."""
    values = DeclaredColumn(values=("1", "2", "none"), otherwise="none")
    assert codes_of(values, pd.Series([1, 2, 2])) == [0, 1, 1]
    assert codes_of(values, pd.Series([1, None, 2])) == [0, 2, 1]
    assert codes_of(values, pd.Series([1, None, 2], dtype="Int64")) == [0, 2, 1]
    large = DeclaredColumn(values=("9007199254740992", "none"), otherwise="none")
    for cells in ([2**53 + 1, 2**53], [2**53 + 1, None, 2**53]):
        kept = [code for code, cell in zip(codes_of(large, pd.Series(cells)), cells, strict=True) if cell]
        assert kept == [0, 0]
    assert codes_of(AGE, pd.Series([18, None, 90])) == codes_of(AGE, pd.Series(["18", None, "90"]))


CELLS = st.one_of(st.text(max_size=5), st.integers(), st.floats(), st.booleans(), st.none())


@given(cells=st.lists(CELLS, min_size=1, max_size=6), other=CELLS, data=st.data())
def test_a_record_has_its_code_whatever_the_other_records_hold(
    cells: list[Any], other: Any, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(cells) - 1))
    changed = [other if at == place else cell for at, cell in enumerate(cells)]
    for column in (AGE, WEIGHT, CITY):
        one, same = codes_of(column, cells), codes_of(column, changed)
        assert [code for at, code in enumerate(one) if at != place] == [
            code for at, code in enumerate(same) if at != place
        ]
        assert all(0 <= code < column.size for code in same)


def test_codes_and_values_are_inverse() -> None:
    for column in (AGE, WEIGHT, CITY, DeclaredColumn(bounds=(0, 10**9), resolution=1000, otherwise="0")):
        codes = np.unique(np.linspace(0, column.size - 1, 50).astype(np.int64))
        assert codes_of(column, values_of(column, codes)) == codes.tolist()
    assert values_of(WEIGHT, np.array([0, 13])).tolist() == [-1.0, 0.3]
    assert whole_numbers(AGE) and not whole_numbers(WEIGHT) and not whole_numbers(CITY)


def test_a_table_must_have_the_columns_and_the_records() -> None:
    frame = pd.DataFrame({"age": [1, 2], "city": ["Cork", "x"]})
    assert domain_codes(dp_policy(records=2), frame).shape == (2, 2)
    with pytest.raises(InputError, match="as many records as the policy says, 3, got 2"):
        domain_codes(dp_policy(records=3), frame)
    with pytest.raises(InputError, match="not there: city"):
        domain_codes(dp_policy(), frame[["age"]])
    with pytest.raises(InputError, match="at least one record"):
        domain_codes(dp_policy(), frame[:0])


def test_shares_of_cells_that_are_not_read_leave_out_empty_ones() -> None:
    policy = dp_policy(columns={"x": AGE, "y": CITY})
    frame = pd.DataFrame({"x": ["20", "2,5", None, "", "31"], "y": ["Cork", "cork", "1", None, None]})
    assert unread_shares(policy, frame) == {"x": pytest.approx(1 / 3), "y": pytest.approx(1 / 3)}
    assert unread_shares(policy, frame.assign(x=20.0, y="none")) == {}
    assert unread_shares(policy, frame.assign(x=None, y=None)) == {}


def test_a_column_that_is_hardly_read_is_refused_without_a_value() -> None:
    policy = dp_policy(columns={"x": AGE, "y": CITY})
    frame = pd.DataFrame({"x": ["2345,5"] * 96 + ["20"] * 4, "y": "Cork"})
    with pytest.raises(InputError, match=r"x: nearly all of its cells.*count as 20.*decimal") as refused:
        refuse_unread(policy, frame)
    assert "2345" not in str(refused.value)
    refuse_unread(policy, frame.assign(x=["2345,5"] * 94 + ["20"] * 6))
    with pytest.raises(InputError, match=r"y: .*declared values, and count as none.*spelled"):
        refuse_unread(policy, frame.assign(x="20", y="Sligo"))


def test_the_share_of_otherwise_counts_its_bin() -> None:
    binned = DeclaredColumn(bounds=(0, 100), bins=10, otherwise="5")
    assert share_of_otherwise(binned, pd.Series([0, 3, 8, 60])) == 0.75
    assert share_of_otherwise(AGE, pd.Series([20, 21, 90, 20])) == 0.5
    assert share_of_otherwise(CITY, pd.Series(["none", "Cork"])) == 0.5


@pytest.mark.parametrize("zone", ["Europe/Zurich", "America/New_York", "UTC"])
@pytest.mark.parametrize("end", AT_THE_ENDS)
def test_a_time_that_its_zone_cannot_write_is_otherwise(zone: str, end: str) -> None:
    """The next cell has the same code whatever stands beside it."""
    times = pd.Series(np.array(["2026-01-01T00:00:00", end.replace(" ", "T")], "datetime64[us]"))
    cells = times.dt.tz_localize("UTC").dt.tz_convert(zone)
    known = str(cells[0])
    column = DeclaredColumn(values=(known, "other"), otherwise="other")
    assert [*codes_of(column, cells)] == [0, 1]
