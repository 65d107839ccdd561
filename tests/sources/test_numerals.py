"""Texts that are numbers are taken apart; what is no number is told by its kind."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.sources.numerals import is_numeral, numerals
from tests.sources.number_twin import decimal_of


def how(**changes: Any) -> ColumnCleaning:
    return ColumnCleaning(COLUMN_TYPES["number"], **changes)


def column(*texts: str | None) -> pa.Array:
    return pa.array(texts, pa.large_string())


def test_the_parts_of_numbers() -> None:
    texts = column("CHF -1'234.50", "7", None, "x", ".5e-3")
    found = numerals(texts, how(thousands="'", currency=("CHF",)), exponents=True)
    assert found.minus.to_pylist() == ["-", "", None, "", ""]
    assert found.whole.to_pylist() == ["1234", "7", None, "0", "0"]
    assert found.fraction.to_pylist() == ["50", "", None, "", "5"]
    assert found.exponent.to_pylist() == ["", "", None, "", "e-3"]
    assert found.is_other.tolist() == [False, False, False, True, False]
    assert found.write("").to_pylist() == ["-1234.500", "7.0", None, "0.0", "0.50e-3"]


@pytest.mark.parametrize(
    ("texts", "all_in_threes"),
    [
        (["1.234", "7"], True),
        (["1.234", "1.5"], False),
        (["0.125"], False),
        (["1234.567"], False),
        (["7"], True),
    ],
)
def test_points_that_could_be_thousands(texts: list[str], all_in_threes: bool) -> None:
    assert numerals(column(*texts), how()).all_in_threes is all_in_threes


@given(
    st.sampled_from(["", "Fr.", "-Fr.", "Fr. -", "Fr. "]),
    st.text("0123.,'", max_size=7),
    st.sampled_from(["", " Fr.", "Fr."]),
)
def test_a_currency_stands_on_one_side(before: str, number: str, behind: str) -> None:
    wanted = decimal_of(number, thousands="'")
    found = numerals(column(before + number + behind), how(thousands="'", currency=("Fr.",)))
    if wanted is None or (before and behind):
        assert found.is_other[0]
    else:
        assert not found.is_other[0]
        assert float(found.write("")[0].as_py()) == float(wanted) * (-1 if "-" in before else 1)


def test_a_dash_in_place_of_cents_is_zero() -> None:
    texts = column("CHF 86'564.-", "-5.—", "7.-- CHF", "5.-3", "5-", "5.-e3", "12.50")
    read = numerals(texts, how(thousands="'", currency=("CHF",)), exponents=True)
    assert read.is_other.tolist() == [False, False, False, True, True, True, False]
    assert read.write("").to_pylist()[:3] == ["86564.0", "-5.0", "7.0"]
    assert numerals(texts, how(thousands="'")).is_other.tolist() == [True] * 6 + [False]


def test_all_kinds_at_once_are_told_apart() -> None:
    texts = column("1", "n/a", "5%", "1,5", "EUR 5", "1/2", None)
    found = numerals(texts, how())
    kinds = {kind: rows.nonzero()[0].tolist() for kind, rows, _ in found.unread(texts, how())}
    assert kinds == {
        "without a digit": [1],
        "with %": [2],
        "with another decimal or thousands sign": [3],
        "with a text next to the number": [4],
        "with something else": [5],
    }
    assert is_numeral(texts, how()).tolist() == [True, *[False] * 6]
