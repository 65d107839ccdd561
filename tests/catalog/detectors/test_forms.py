"""Numbers and dates in the ways in which they are written, and texts for what is missing."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.forms import (
    DateForm,
    NumberForm,
    find_dates,
    find_missing,
    find_numbers,
    holds_days,
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
    assert got.plain == (form == NumberForm() or form == NumberForm(ambiguous=True))
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


@pytest.mark.parametrize(
    ("values", "formats", "ambiguous", "first"),
    [
        (("2020-01-31", "1999-12-01"), ("%Y-%m-%d",), False, "2020-01-31"),
        (("31.01.2020", "01.12.1999"), ("%d.%m.%Y",), False, "2020-01-31"),
        (("01/31/2020", "12/01/1999"), ("%m/%d/%Y",), False, "2020-01-31"),
        (("01/02/2020", "03/04/2020"), ("%d/%m/%Y",), True, "2020-02-01"),
        (("20200131", "19991201"), ("%Y%m%d",), False, "2020-01-31"),
        (("31 Jan 2020", "01 Dec 1999"), ("%d %b %Y",), False, "2020-01-31"),
        (("2020-01-31 12:00:01",), ("%Y-%m-%d %H:%M:%S",), False, "2020-01-31"),
        (("2020-01-31", "31.12.1999"), ("%Y-%m-%d", "%d.%m.%Y"), False, "2020-01-31"),
        (("2020-01-31", "05.06.1999"), ("%Y-%m-%d", "%d.%m.%Y"), True, "2020-01-31"),
        (("6 September 2021", "05/06/2021"), ("%d/%m/%Y", "%d %B %Y"), True, "2021-09-06"),
        (("12. März 1961", "3. Juni 2001"), ("%d. %B %Y",), False, "1961-03-12"),
        (("1 févr. 2020", "30 août 1999"), ("%d %b %Y",), False, "2020-02-01"),
        (("12 de marzo de 1990", "1 de agosto de 2000"), ("%d de %B de %Y",), False, "1990-03-12"),
    ],
)
def test_dates(values: tuple[str, ...], formats: tuple[str, ...], ambiguous: bool, first: str) -> None:
    found = find_dates(texts(*values))
    assert found is not None
    assert found[0] == DateForm(formats, ambiguous)
    assert str(found[1].iloc[0])[:10] == first
    assert found[0].plain == (formats == ("%Y-%m-%d",))


@pytest.mark.parametrize(
    "values", [("12345678",), ("2020-13-01",), ("1700-01-01",), ("1.2.3",), ("a",), ("31.12.1999", "soon")]
)
def test_what_is_no_date(values: tuple[str, ...]) -> None:
    assert find_dates(texts(*values)) is None


def test_texts_for_a_missing_value() -> None:
    assert find_missing(["-", "a", "N/A", "unknown"]) == (["-", "N/A"], ["unknown"])
    assert find_missing(["a"]) == ([], [])


@pytest.mark.parametrize(
    ("values", "days"),
    [
        (["2026-01-05", "2025-12-31", None], True),
        (["2026-01", "2025-12"], True),
        (["2026-Q1", "2025-Q4"], True),
        (["2026-W07", "2025-W51"], True),
        (["05.01.2026", "31.12.2025"], True),
        (["2026-01-05", "2026-01-05"], False),
        (["2026", "2025"], False),
        (["asthma", "flu"], False),
        ([20260105, 20251231], False),
        ([None, None], False),
    ],
)
def test_days_weeks_months_and_quarters(values: list[object], days: bool) -> None:
    assert holds_days(pd.Series(values)) is days


def test_days_that_are_dates() -> None:
    assert holds_days(pd.Series(pd.to_datetime(["2026-01-05", "2025-12-31", None])))
    assert not holds_days(pd.Series(pd.to_datetime(["2026-01-05"] * 3)))


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
