"""Numbers in the ways in which they are written, and texts for what is missing."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.forms import (
    NumberForm,
    find_missing,
    find_numbers,
    share_of_forms,
)


def texts(*values: str) -> pd.Series:
    return pd.Series(values, dtype="str")


@pytest.mark.parametrize(
    ("values", "form", "numbers"),
    [
        (("1", "2.5", "-3"), NumberForm(), [1, 2.5, -3]),
        (("1e3", "2"), NumberForm(), [1000, 2]),
        (("1'234.50", "12.00"), NumberForm(thousands="'"), [1234.5, 12]),
        (("1,234.50", "1,000,000"), NumberForm(thousands=","), [1234.5, 1e6]),
        (("1.234,5", "12,0"), NumberForm(",", "."), [1234.5, 12]),
        (("1,5", "12,25"), NumberForm(","), [1.5, 12.25]),
        (("1 234,50", "3"), NumberForm(",", " "), [1234.5, 3]),
        (("1\u202f234,50", "3"), NumberForm(",", " "), [1234.5, 3]),
        (("CHF 12.50", "CHF 1.00"), NumberForm(currency="CHF"), [12.5, 1]),
        (("72,5 kg", "100 kg"), NumberForm(decimal=",", currency="kg"), [72.5, 100]),
        (("5mm", "-7 mm"), NumberForm(currency="mm"), [5, -7]),
        (("36.6 °C", "40 °C"), NumberForm(currency="°C"), [36.6, 40]),
        (("0.5 kg", "0 kg"), NumberForm(currency="kg"), [0.5, 0]),
        (("12,50 €", "1.000,00 €"), NumberForm(",", ".", "€"), [12.5, 1000]),
        (("$85,000", "$1,200"), NumberForm(thousands=",", currency="$", ambiguous=True), [85000, 1200]),
        (("CHF 86'564.-", "CHF 100.–"), NumberForm(thousands="'", currency="CHF"), [86564, 100]),
        (("CHF 64'650", "CHF 5", "1'200.-"), NumberForm(thousands="'", currency="CHF"), [64650, 5, 1200]),
        (("CHF 5", "7"), NumberForm(currency="CHF"), [5, 7]),
        (("EUR 1.234,-", "EUR 12,50"), NumberForm(",", ".", "EUR"), [1234, 12.5]),
        (("12%", "3 %"), NumberForm(percent=True), [0.12, 0.03]),
        (("1.234", "2.345"), NumberForm(ambiguous=True), [1.234, 2.345]),
    ],
)
def test_numbers(values: tuple[str, ...], form: NumberForm, numbers: list[float]) -> None:
    found = find_numbers(texts(*values))
    assert found is not None
    got, read = found
    assert read.tolist() == pytest.approx(numbers)
    assert got.plain == (form == NumberForm())
    if form.currency != "$":
        assert got == form


def test_the_decimal_mark_of_the_file_decides_where_two_fit() -> None:
    found = find_numbers(texts("1.234", "2.345"), prefer=",")
    assert found is not None
    assert (found[0].decimal, found[0].thousands, found[1].tolist()) == (",", ".", [1234, 2345])


@pytest.mark.parametrize(
    "values",
    [
        *(("a",), ("1", "x"), ("1.2.3",), ("1'23",), ("12-13",), ("",), ("1e999",), ("5.", "7"), ("12.-",)),
        *(("CHF 5", "6", "7"), ("CHF 5", "EUR 6"), ("CHF 5", "on request"), ("CHF 5", "CHF 6", "A 7")),
    ],
)
def test_what_is_no_number(values: tuple[str, ...]) -> None:
    assert find_numbers(texts(*values)) is None


def test_texts_for_a_missing_value() -> None:
    assert find_missing(["-", "a", "N/A", "unknown"]) == (["-", "N/A"], ["unknown"])
    assert find_missing(["a"]) == ([], [])


def test_the_share_of_forms_is_that_of_all_forms_of_a_kind() -> None:
    texts = pd.Series([f"{day:02}.03.1960" for day in range(1, 31)])
    assert share_of_forms(texts) == 1
    assert share_of_forms(pd.concat([texts, pd.Series(["31.02.1960", "1.5"])])) == 30 / 32
    assert share_of_forms(pd.concat([texts, pd.Series(["1960-03-01", "1960-13-01"])])) == 31 / 32
    assert share_of_forms(pd.Series(["1.5", "2,5", "12", "1'200", "12-14"])) == 0.8


@pytest.mark.parametrize(
    ("tail", "others", "decimal", "ambiguous"),
    [
        (",100", ["12,50"], ",", True),  # incomes in thousands, and one that is none
        (".100", [f"{i}.73" for i in range(20)], ".", True),
        (",100", ["0,125"], ",", False),  # begins no number of thousands
        (",100", ["1234,567"], ",", False),
        (",100", ["1,2345"], ",", False),
        (".1", ["14.100"], ".", False),  # too few to ask
    ],
)
def test_three_digits_behind_the_mark_may_be_thousands(
    tail: str, others: list[str], decimal: str, ambiguous: bool
) -> None:
    found = find_numbers(pd.Series([*(f"{whole}{tail}" for whole in range(10, 40)), *others]))
    assert found is not None
    assert (found[0].decimal, found[0].ambiguous) == (decimal, ambiguous)
