"""Dates in the ways in which they are written."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.date_forms import (
    DateForm,
    are_dates,
    find_dates,
    holds_days,
    look_like_dates,
)


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
        (("2025-09-19T07:16:40Z", "2025-09-20T07:16:40Z"), ("%Y-%m-%dT%H:%M:%SZ",), False, "2025-09-19"),
        (("2025-09-19T07:16:40.123Z",), ("%Y-%m-%dT%H:%M:%S.%fZ",), False, "2025-09-19"),
        (
            ("2025-09-19T07:16:40.1Z", "2025-09-20T07:16:40Z"),
            ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ"),
            False,
            "2025-09-19",
        ),
        (
            ("2025-09-19T23:16:40+02:00", "2025-12-19T07:16:40+01:00"),
            ("%Y-%m-%dT%H:%M:%S+02:00", "%Y-%m-%dT%H:%M:%S+01:00"),
            False,
            "2025-09-19",
        ),
        (("31.12.2025 07:16 Uhr", "01.12.2025 07:16 Uhr"), ("%d.%m.%Y %H:%M Uhr",), False, "2025-12-31"),
        (("2025-09-19 07:16",), ("%Y-%m-%d %H:%M",), False, "2025-09-19"),
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
    "values",
    [
        ("03.02.76",),
        ("2020-01-31Z",),
        tuple(f"2020-01-31T10:00:00+0{hour}:00" for hour in range(4)),
        ("12345678",),
        ("2020-13-01",),
        ("1700-01-01",),
        ("1.2.3",),
        ("a",),
        ("31.12.1999", "soon"),
    ],
)
def test_what_is_no_date(values: tuple[str, ...]) -> None:
    assert find_dates(texts(*values)) is None


@pytest.mark.parametrize(
    ("values", "like"),
    [
        (("03.02.76", "25.02.80"), True),
        (("03/02/1976", "25 Feb 1980", "1980-02-25T10:00:00.5+01:00 x"), True),
        (("03.04.2025, 09:59 Uhr",), True),
        (("2025-09-19T07:16:40+05:30",), True),
        (("25.02.80", "soon"), False),
        (("044 668 18 00", "756.9217.0769.85", "1.2.3.4", "12-345-67"), False),
        ((), False),
    ],
)
def test_what_looks_like_dates(values: tuple[str, ...], like: bool) -> None:
    assert look_like_dates(texts(*values)) == like


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
