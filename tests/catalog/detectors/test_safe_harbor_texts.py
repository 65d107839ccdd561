"""Dates, spans, ZIP codes and states as texts show them."""

from __future__ import annotations

import pytest

from anon_pipeline.catalog.detectors.safe_harbor_texts import (
    MORE_THAN_YEARS,
    OTHER_IDENTIFIERS,
    are_days,
    is_state,
    is_year,
    read_span,
    read_zip,
)

EXACT = (
    *("1970-05-17", "1970-05", "1970Q2", "17.05.1970", "5/17/1970", "17/5/70", "1970/5/17", "05/1970"),
    *("2020-03-04T10:00:00", "17 May 1970", "May 1970", "March 3rd, 2020", "seen on 2020-03-04 again"),
    "[1970-01-02, 1971-03-04]",
    *("1 août 2021", "5 janvier 2021", "3 luglio 2021", "1 de enero de 2020", "3 Mär. 2021", "maart 2020"),
    *("1. Jänner 2020", "12 set 2001", "5-out-1999", "2 mei 2020", "décembre 1999", "agosto de 2020"),
)


@pytest.mark.parametrize("text", EXACT)
def test_days_months_and_quarters_are_found(text: str) -> None:
    assert MORE_THAN_YEARS.search(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1970",
            "1970s",
            "[1970, 1980)",
            "< 1940",
            "1/2",
            "3.5",
            "12-34",
            "555-1234",
            "2020-2024",
            "v1.2.3",
        ),
        *("set 2020 goals", "dropped out 2019", "a decade 1970", "summary 2020"),
    ],
)
def test_years_and_other_numbers_are_not(text: str) -> None:
    assert not MORE_THAN_YEARS.search(text)


def test_eight_digits_are_days_only_if_all_are() -> None:
    assert are_days(["20200131", "20210228", "19991231"])
    assert not are_days(["20200131", "20210228", "19991331"])
    assert not are_days(["20200131"])
    assert are_days(["Monday", "Sunday"])
    assert not are_days(["Monday", "none"])
    assert are_days(["janvier", "février", "Août"])
    assert are_days(["mercredi", "sábado", "Donnerstag", "zondag"])


def test_years_are_read() -> None:
    assert all(map(is_year, ["1970", "1970s", "≥ 2000", "[1970, 1980)", "1970-1979"]))
    assert not any(map(is_year, ["70", "12", "1970-05", "3000", "19700517"]))


def test_spans_are_read() -> None:
    below, above = read_span("[80, 90)"), read_span("90 and above")
    assert below is not None and below.ends_below(90) and not below.ends_below(89)
    assert above is not None and above.opens_above(90) and not above.opens_above(80)
    closed = read_span("80-90")
    assert closed is not None and not closed.ends_below(90)
    early = read_span("under 1930")
    assert early is not None and early.opens_below(1930) and not early.opens_below(1931)
    assert read_span("old") is None


@pytest.mark.parametrize(
    ("text", "areas"),
    [
        ("021", {"021"}),
        ("21", {"021"}),
        ("021**", {"021"}),
        ("21**", {"021"}),
        ("021******", {"021"}),
        ("02***", set()),
        ("000", {"000"}),
        ("00000", {"000"}),
        ("[2100, 2300)", {"021", "022"}),
        ("02139", None),
        ("2139", None),
        ("0213*", None),
        ("213*", None),
        ("02139-****", None),
        ("[2101, 2139]", None),
        ("[2110, 2120)", None),
        ("Boston", None),
    ],
)
def test_zip_codes_are_read(text: str, areas: set[str] | None) -> None:
    assert read_zip(text) == areas


def test_states_are_known() -> None:
    assert all(map(is_state, ["Ohio", "oh", "New York", "District of Columbia", "PR"]))
    assert not any(map(is_state, ["Boston", "Middlesex", "Bavaria", ""]))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("web addresses", "see https://example.org/ann"),
        ("web addresses", "www.example.org"),
        ("addresses of devices", "00:1B:44:11:3A:B7"),
        ("numbers of vehicles", "1M8GDM9AXKP042788"),
    ],
)
def test_identifiers_without_a_detector_are_found(kind: str, text: str) -> None:
    assert OTHER_IDENTIFIERS[kind]([text])
    assert not OTHER_IDENTIFIERS[kind](["asthma", "12:30:00", "1M8GDM9A1KP042788"])
