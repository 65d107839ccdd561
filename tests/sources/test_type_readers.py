"""Texts become numbers, days, booleans: what is read is what was written, and nothing is misread."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.sources.type_readers import Read
from tests.sources.number_twin import decimal_of

SIGNS = [(".", None), (",", None), (".", ","), (".", "'"), (",", "."), (",", " "), (".", "_"), (",", "'")]
CONVENTIONS = st.sampled_from(SIGNS)
MOST = 2**53


def read(kind: str, texts: Sequence[str | None], **how: Any) -> Read:
    cleaning = ColumnCleaning(COLUMN_TYPES[kind], **how)
    found: Read = import_entry(cleaning.type.reads)(pa.array(texts, pa.large_string()), cleaning)
    return found


def wrong(found: Read) -> dict[str, list[int]]:
    return {one.kind: np.flatnonzero(one.rows).tolist() for one in found.wrong}


def written(number: Decimal, decimal: str, thousands: str | None, minus: str = "-") -> str:
    text = f"{abs(number):,f}".replace(",", thousands or "").replace(".", "\0")
    if thousands == ".":
        text = f"{abs(number):,f}".replace(".", "\0").replace(",", ".")
    return (minus if number < 0 else "") + text.replace("\0", decimal)


@given(
    st.lists(st.decimals(-(10**15), 10**15, allow_nan=False, allow_infinity=False, places=4), min_size=1),
    CONVENTIONS,
    st.sampled_from(["-", "\u2212"]),
)
def test_a_number_that_is_written_is_read(
    numbers: list[Decimal], signs: tuple[str, str | None], minus: str
) -> None:
    texts = [written(number, *signs, minus) for number in numbers]
    found = read("number", texts, decimal=signs[0], thousands=signs[1])
    assert found.values.to_pylist() == [float(number) for number in numbers]
    assert found.wrong == ()


@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1), CONVENTIONS)
def test_an_integer_that_is_written_is_read(numbers: list[int], signs: tuple[str, str | None]) -> None:
    texts = [written(Decimal(number), *signs) for number in numbers]
    found = read("integer", texts, decimal=signs[0], thousands=signs[1])
    assert found.values.to_pylist() == numbers
    assert found.values.type == pa.int64()


@given(st.lists(st.text("01239.,'_ +-\u2212\u00a0x", max_size=9), min_size=1, max_size=8), CONVENTIONS)
@example(["1'2'3", "12'34", "0'123", "1'234'", "'123", "1'234.5"], (".", "'"))
@example(["1.234", "1.23", "1.2345", "1.234,5", "1.234.5"], (",", "."))
@example([".5", "5.", ".", "", "-", "+-5", "- 5"], (".", None))
def test_numbers_are_those_of_the_slow_twin(texts: list[str], signs: tuple[str, str | None]) -> None:
    decimal, thousands = signs
    plain = [text.replace("\u00a0", " ") if thousands == " " else text for text in texts]
    twin = [decimal_of(text, decimal=decimal, thousands=thousands) for text in plain]
    found = read("number", texts, decimal=decimal, thousands=thousands)
    assert found.values.to_pylist() == [None if one is None else float(one) for one in twin]
    others = sorted(row for rows in wrong(found).values() for row in rows)
    assert others == [row for row, one in enumerate(twin) if one is None]


@pytest.mark.parametrize(
    ("texts", "how", "values"),
    [
        (
            ["CHF 1'200", "-CHF 5", "CHF -5", "5 CHF", "7"],
            {"thousands": "'", "currency": ("CHF",)},
            [1200, -5, -5, 5, 7],
        ),
        (["CHF 5 CHF", "-CHF -5", "EUR 5", "CHF"], {"currency": ("CHF",)}, [None] * 4),
        (["Fr. 5.50", "-Fr.5", "5 Fr.", ".5 Fr.", "Fr 5"], {"currency": ("Fr.",)}, [5.5, -5, 5, 0.5, None]),
        (
            ["kr,5", "kr,,5", "kr, 1.234,5"],
            {"currency": ("kr,",), "decimal": ",", "thousands": "."},
            [5, 0.5, 1234.5],
        ),
        (["5 $", "$5", "US$ 5"], {"currency": ("$", "US$")}, [5, 5, 5]),
        (["12.3%", "7 %", "-0.1\u00a0%"], {"percent": True}, [0.123, 0.07, -0.001]),
        (["0.5", "%", "5%%"], {"percent": True}, [None] * 3),
        (["1e5", "1E-2", "1e"], {}, [100_000, 0.01, None]),
        (["1\u2019234", "1'234"], {"thousands": "'"}, [1234, 1234]),
        (["1\u202f234", "1\u00a0234", "1 234"], {"thousands": " "}, [1234] * 3),
        (["\u0661", "\uff11", "now", "inf", "nan", "0x10", "1_000", "True"], {}, [None] * 8),
        (["9007199254740991", "9007199254740992", "1e999"], {}, [9007199254740991, None, None]),
        (["-0", None], {}, [0, None]),
    ],
)
def test_numbers(texts: list[str | None], how: dict[str, Any], values: list[float | None]) -> None:
    found = read("number", texts, **how)
    assert found.values.to_pylist() == values
    assert "-0.0" not in map(str, found.values.to_pylist())


@given(st.lists(st.decimals(-999, 999, places=3, allow_nan=False, allow_infinity=False), min_size=1))
def test_percents_are_the_nearest_floats(numbers: list[Decimal]) -> None:
    found = read("number", [f"{number} %" for number in numbers], percent=True, decimal=".")
    assert found.values.to_pylist() == [float(number / 100) for number in numbers]


def test_points_that_may_be_thousands_are_not_guessed() -> None:
    for kind in ("number", "auto"):
        found = read(kind, ["1.234", "12.500", "7"])
        assert wrong(found) == {"in which a point may be a decimal or a thousands sign": [0, 1]}
        assert found.wrong[0].advice.startswith('Write decimal: "." if')
        assert read(kind, ["1.234", "12.5"]).wrong == ()
        assert read(kind, ["1.234"], decimal=".").values.to_pylist() == [1.234]
        assert read(kind, ["1.234"], decimal=",", thousands=".").values.to_pylist() == [1234]


@pytest.mark.parametrize(
    ("texts", "how", "kinds", "advice"),
    [
        (["1", "n/a"], {}, {"without a digit": [1]}, "missing: [...]"),
        (["5", "5 %"], {}, {"with %": [1]}, "percent: true"),
        (["5%", "5"], {"percent": True}, {"without %": [1]}, "percent out"),
        (["1", "2,5"], {}, {"with another decimal or thousands sign": [1]}, 'decimal: ","'),
        (
            ["50,118", "49'726"],  # with these signs 50,118 would be 50.118
            {"thousands": ","},
            {"with another decimal or thousands sign": [1]},
            "Correct the source",
        ),
        (
            ["50,118.0", "1000", "49.726,00"],
            {"thousands": ","},
            {"with another decimal or thousands sign": [2]},
            "Correct the source",
        ),
        (
            ["1,234", "2"],
            {},
            {"with another decimal or thousands sign": [0]},
            'decimal: "," or decimal: ".", thousands: ","',
        ),
        (["1'234.5"], {}, {"with another decimal or thousands sign": [0]}, 'decimal: ".", thousands: "\'"'),
        (
            ["1.234,5", "1.23"],
            {"decimal": ",", "thousands": "."},
            {"with another decimal or thousands sign": [1]},
            "Correct the source",
        ),
        (["5", "CHF 5"], {}, {"with a text next to the number": [1]}, "currency"),
        (["12/7"], {}, {"with something else": [0]}, "missing"),
    ],
)
def test_each_kind_of_mistake_says_what_to_write(
    texts: list[str], how: dict[str, Any], kinds: dict[str, list[int]], advice: str
) -> None:
    found = read("number", texts, **how)
    assert wrong(found) == kinds
    assert advice in found.wrong[0].advice


def test_integers() -> None:
    found = read("integer", ["007", "12.00", "1.5", "9" * 18, "9" * 19, None], decimal=".")
    assert found.values.to_pylist() == [7, 12, None, 10**18 - 1, None, None]
    assert wrong(found) == {"with a fraction": [2], "with larger ones than can be distinguished": [4]}


def test_booleans() -> None:
    found = read("boolean", ["true", "FALSE", "1", "0", "yes", None])
    assert found.values.to_pylist() == [True, False, True, False, None, None]
    assert wrong(found) == {"with something else": [4]}


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-2", None], "int64"),
        (["1.5", "2"], "double"),
        (["2020-01-01"], "date32[day]"),
        (["true", "False"], "bool"),
        (["1", "true"], "large_string"),
        (["02139", "12"], "large_string"),
        (["+41791234567"], "large_string"),
        (["1e5"], "large_string"),
        (["9007199254740993"], "large_string"),
        (["2020-01-01", "01.02.2020"], "large_string"),
        (["1,5"], "large_string"),
        ([None, None], "large_string"),
        ([], "large_string"),
    ],
)
def test_a_column_is_of_the_first_type_that_all_its_texts_are(texts: list[str | None], kind: str) -> None:
    found = read("auto", texts)
    assert str(found.values.type) == kind
    assert found.wrong == ()
    assert str(read("auto", texts[::-1]).values.type) == kind


@given(st.lists(st.none() | st.text(max_size=5), max_size=9))
def test_inference_loses_no_text(texts: list[str | None]) -> None:
    found = read("auto", texts)
    if pa.types.is_large_string(found.values.type):
        assert found.values.to_pylist() == texts
    elif not found.wrong:
        assert [value is None for value in found.values.to_pylist()] == [text is None for text in texts]


@given(st.lists(st.text(max_size=30), min_size=1), st.integers(1, 20))
def test_texts_are_cut_by_characters(texts: list[str], most: int) -> None:
    texts = [unicodedata.normalize("NFC", text) for text in texts]
    assert read("text", texts, truncate=most).values.to_pylist() == [text[:most] for text in texts]
