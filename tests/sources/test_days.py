"""Texts that are days: what strptime reads, and nothing that has two readings."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.policy.cleaning import ISO
from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.sources.days import read_days
from anon_pipeline.sources.type_readers import Read, dates
from tests.sources.number_twin import day_of


def read(texts: Sequence[str], *formats: str) -> Read:
    cleaning = ColumnCleaning(COLUMN_TYPES["date"], format=formats or (ISO,))
    return dates(pa.array(texts, pa.large_string()), cleaning)


def wrong(found: Read) -> dict[str, list[int]]:
    return {one.kind: np.flatnonzero(one.rows).tolist() for one in found.wrong}


@given(
    st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1),
    st.sampled_from(["%d/%m/%Y", "%Y%m%d", "%j %Y"]),
)
def test_a_day_that_is_written_is_read(days: list[datetime.date], form: str) -> None:
    assert read([day.strftime(form) for day in days], form).values.to_pylist() == days


@given(st.lists(st.text("0123/.- ", max_size=11), min_size=1, max_size=6))
@example(["31/02/2020", "29/02/2020", "29/02/2019", "1/2/2020", " 01/02/2020 ", "01/02/20", "01/02/2020x"])
def test_days_are_those_of_strptime(texts: list[str]) -> None:
    found = read(texts, "%d/%m/%Y")
    assert found.values.to_pylist() == [day_of(text, "%d/%m/%Y") for text in texts]


def test_days_that_may_be_others_are_not_guessed() -> None:
    both = read(["01/02/2020", "13/02/2020", "02/02/2020"], "%d/%m/%Y", "%m/%d/%Y")
    assert wrong(both) == {"with two different days by two formats": [0]}
    assert wrong(read(["2020111"], "%Y%m%d")) == {"in another form than %Y%m%d": [0]}
    assert wrong(read(["now", "today", "NaT"])) == {"without a digit": [0, 1, 2]}


def test_a_format_that_fits_is_proposed() -> None:
    assert 'format: "%d.%m.%Y",' in read(["2020-01-01", "31.12.2020"]).wrong[0].advice
    assert "%d/%m/%Y or %m/%d/%Y" in read(["01/02/2020"]).wrong[0].advice


@pytest.mark.parametrize(
    "form",
    [
        *("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y/%m/%d %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S"),
        *("%m/%d/%Y %H:%M", "%d-%m-%Y %H:%M", "%Y-%m-%d %H:%M:%S.%f"),
    ],
)
def test_formats_with_a_time_of_day_are_proposed(form: str) -> None:
    texts = [datetime.datetime(2024, 1, day, 14, day, 5).strftime(form) for day in range(13, 32)]
    (one,) = read(texts).wrong
    assert one.advice.startswith(f'Write format: "{form}", or missing')


def test_a_thirteenth_month_of_a_year_that_comes_first_does_not_exist() -> None:
    none = "of a day or time that does not exist"
    assert wrong(read(["2024-01-31", "2024-13-01", "2024-02-30"])) == {none: [1, 2]}
    assert wrong(read(["2024/13/01"], "%Y/%m/%d")) == {none: [0]}
    assert wrong(read(["13.25.2024", "25.13.2024"], "%d.%m.%Y")) == {none: [0, 1]}


def test_a_day_that_is_in_no_calendar_is_said_to_be_none() -> None:
    none = "of a day or time that does not exist"
    assert wrong(read(["31.02.1960", "28.02.1960", "x1"], "%d.%m.%Y")) == {
        none: [0],
        "in another form than %d.%m.%Y": [2],
    }
    assert wrong(read(["1960-366", "00/00/0000"], "%Y-%j", "%d/%m/%Y")) == {none: [1]}
    assert wrong(read(["12/25/2020"], "%d/%m/%Y")) == {"in another form than %d/%m/%Y": [0]}  # a day by %m/%d
    assert wrong(read(["31 02 2020 (a)"], "%d %m %Y (a)")) == {none: [0]}
    assert wrong(read(["20200231", "2020231"], "%Y%m%d")) == {none: [0], "in another form than %Y%m%d": [1]}
    assert wrong(read(["12/25/2020", "02/30/2020"], "%d/%m/%Y")) == {
        none: [1],
        "in another form than %d/%m/%Y": [0],
    }
    assert wrong(read(["12-25-2020 10:00"], "%d-%m-%Y %H:%M")) == {"in another form than %d-%m-%Y %H:%M": [0]}
    assert wrong(read(["31–02·1960", "31.02.1960"], "%d–%m·%Y")) == {
        none: [0],
        "in another form than %d–%m·%Y": [1],
    }
    assert wrong(read(["2020-02-28 24:00"], "%Y-%m-%d %H:%M")) == {none: [0]}
    assert wrong(read(["0000-01-01", "0001-01-01"])) == {none: [0]}
    assert wrong(read(["20203"], "%Y%j")) == {"in another form than %Y%j": [0]}
    assert wrong(read(["31. February 2020"], "%d. %B %Y")) == {"in another form than %d. %B %Y": [0]}


def test_a_format_that_fits_nearly_all_is_proposed() -> None:
    texts = [f"{day:02}.01.2020" for day in range(13, 32)] + ["31.02.2020"]
    (one,) = read(texts).wrong
    assert one.advice.startswith('Write format: "%d.%m.%Y", which fits 19 of them, or missing')


def test_missing_texts_are_missing_days() -> None:
    found = read_days(pa.array([None, "2020-02-29"], pa.large_string()), (ISO,))
    assert found.values.to_pylist() == [None, datetime.date(2020, 2, 29)]
    assert not found.unread.any()
    assert not found.doubtful.any()
    assert len(read_days(pa.array([], pa.large_string()), (ISO,)).values) == 0


def test_names_of_months_in_other_languages() -> None:
    texts = ["12. März 1961", "3. juin 2001", "3. Mär 2001", "3. Marzipan 2001"]
    found = read(texts, "%d. %B %Y")
    assert found.values.to_pylist()[:2] == [datetime.date(1961, 3, 12), datetime.date(2001, 6, 3)]
    assert wrong(found) == {"in another form than %d. %B %Y": [2, 3]}
    assert 'format: "%d. %B %Y",' in read(["12. Dezember 1961"]).wrong[0].advice
