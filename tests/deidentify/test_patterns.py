"""What looks like an e-mail address, a telephone number, a social security number; and what does not."""

from __future__ import annotations

import hashlib
import re
import uuid

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.deidentify import PATTERNS, matches

EMAIL, SSN, PHONE = "e-mail address", "social security number", "telephone number"


def found(text: str) -> list[str]:
    return list(matches(pd.Series([text])))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("anna@example.com", EMAIL),
        ("anna.b+c%d_e-f'g@mail.example.co.uk", EMAIL),
        ("Anna <anna@example.com>, by letter", EMAIL),
        ("jürgen@example.com", EMAIL),
        ("info@münchen.de", EMAIL),
        ("mailto:a@b.co", EMAIL),
        ("078-05-1120", SSN),
        ("078 05 1120", SSN),
        ("SSN:078-05-1120.", SSN),
        ("patient 078-05-1120 discharged", SSN),
        ("(212) 555-0100", PHONE),
        ("(212)555-0100", PHONE),
        ("(212)-555-0100", PHONE),
        ("(212) 555.0100", PHONE),
        ("212-555-0100", PHONE),
        ("212.555.0100", PHONE),
        ("212 555 0100", PHONE),
        ("1-212-555-0100", PHONE),
        ("1 (212) 555-0100", PHONE),
        ("+1 212 555 0100", PHONE),
        ("+1 (212) 555-0100", PHONE),
        ("+12125550100", PHONE),
        ("+44 20 7123 4567", PHONE),
        ("+49 (0)89 1234567", PHONE),
        ("+49/89/123-4567", PHONE),
        ("+1.2125550100", PHONE),
        ("tel:212-555-0100", PHONE),
        ("212-555-0100x12", PHONE),
        ("call 212-555-0100, please", PHONE),
    ],
)
def test_identifiers(text: str, name: str) -> None:
    assert found(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12345-6789",
        "2026-01-05",
        "2026-01-05 12:30:00",
        "2026-01-05T12:30:00+01:00",
        "2026-01-05 12:30:00.123456+0100",
        "20260105",
        "01/05/2026",
        "I10.9",
        "E11.65",
        "1,234.56",
        "1.234.567,89",
        "+1000000.50",
        "+10.125",
        "-1234.5678",
        "+12345",
        "1e+10",
        "[1970, 1974)",
        "[100, 200]",
        "≥ 1970",
        "< 160",
        "160-165",
        "100-200-300",
        "192.168.1.1",
        "192.168.100.200",
        "2001:db8::1",
        "123e4567-e89b-12d3-a456-426614174000",
        "12345678-1234-1234-1234-123456789012",
        "4111 1111 1111 1111",
        "978-3-16-148410-0",
        "1970Q2",
        "1970s",
        "941**",
        "***",
        "*",
        "a@b",
        "@home",
        "5 @ 3.50",
        "123-45-67890",
        "1123-45-6789",
        "2125550100",
        "v1.2.3",
        hashlib.sha256(b"x").hexdigest(),
    ],
)
def test_what_is_no_identifier(text: str) -> None:
    assert found(text) == []


@given(st.uuids())
def test_no_uuid_is_one(value: uuid.UUID) -> None:
    assert found(str(value)) == []


@given(st.binary())
def test_no_hash_is_one(value: bytes) -> None:
    assert found(hashlib.sha256(value).hexdigest()) == []


@given(st.dates())
def test_no_date_is_one(value: object) -> None:
    assert found(str(value)) == []


@given(st.integers(0, 999), st.integers(0, 99), st.integers(0, 9999), st.sampled_from(["-", " "]))
def test_every_social_security_number_is_one(a: int, b: int, c: int, sep: str) -> None:
    assert SSN in found(f"{a:03}{sep}{b:02}{sep}{c:04}")


def test_records_are_counted_per_pattern() -> None:
    column = pd.Series(["a@b.co", "a@b.co", "078-05-1120, c@d.co", None, "x", "212-555-0100"])
    assert matches(column) == {EMAIL: 3, SSN: 1, PHONE: 1}


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([2125550100, 78051120]),
        pd.Series([1.5, None]),
        pd.Series([True, False]),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series([None, None], dtype=object),
        pd.Series([], dtype="str"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_without_text_have_none(column: pd.Series) -> None:
    assert matches(column) == {}


@pytest.mark.parametrize("dtype", ["str", "category", object, "string[pyarrow]"])
def test_every_type_of_text_is_searched(dtype: str) -> None:
    assert matches(pd.Series(["a@b.co", None], dtype=dtype)) == {EMAIL: 1}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
@pytest.mark.parametrize("text", ["a", "1", "1-", "+1", "+12 -- ", "1.", "a.", "(1) "])
def test_long_texts_take_linear_work(pattern: re.Pattern[str], text: str) -> None:
    """A quadratic search would not end within the test run."""
    assert pattern.search(text * 300_000 + "!") is None
