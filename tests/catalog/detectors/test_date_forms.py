"""Dates in the ways in which they are written."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.date_forms import DateForm, are_dates, find_dates, holds_days


def texts(*values: str) -> pd.Series:
    return pd.Series(values, dtype="str")


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


def test_texts_of_different_formats_are_dates() -> None:
    found = are_dates(texts("1960-03-01", "01.03.1960", "31.02.1960", "1.5", "1960-03-01 12:00"))
    assert found.tolist() == [True, True, False, False, True]
