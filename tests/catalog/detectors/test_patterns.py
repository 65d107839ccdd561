"""What looks like an identifier in one text of many; and what does not."""

from __future__ import annotations

import hashlib
import uuid

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.catalog.detectors import DETECTORS, Form, spellings
from anon_pipeline.catalog.detectors.patterns import matches

EMAIL, SSN, PHONE, IBAN, IP = "email", "ssn", "telephone", "iban", "ip_address"


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
        ("ann＠example.com", EMAIL),
        ("ann@exa\u200bmple.com", EMAIL),
        ("ann(at)example.com", EMAIL),
        ("ann [at] example [dot] com", EMAIL),
        ("write to ann at example dot com", EMAIL),
        ("ann @ example.com", EMAIL),
        ('"ann lee"@example.com', EMAIL),
        ("аnn@еxample.com", EMAIL),  # Cyrillic letters
        ("０７８－０５－１１２０", SSN),
        ("078–05–1120", SSN),
        ("٠٧٨-٠٥-١١٢٠", SSN),
        ("+4\u200b4 20 7123 4567", PHONE),
        ("(２１２) ５５５-０１００", PHONE),
        ("DE89 3704 0044 0532 0130 00", IBAN),
        ("DE89370400440532013000", IBAN),
        ("pay to gb82 west 1234 5698 7654 32 please", IBAN),
        ("GB82-WEST-1234-5698-7654-32", IBAN),
        ("ES91 2100 0418 4502 0005 1332 paid", IBAN),
        ("192.168.1.1", IP),
        ("from 203.0.113.7, port 80", IP),
        ("2001:db8::1", IP),
        ("fe80:0:0:0:202:b3ff:fe1e:8329", IP),
        ("756.9217.0769.85", "ahv"),
        ("AHV 756 9217 0769 85, married", "ahv"),
        ("RCCMNL83S18D969H", "codice_fiscale"),
        ("131052-308T", "hetu"),
        ("BOXW310820HNERXN09", "curp"),
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
        "5@3.50",
        "price (at) 3.50",
        "be there at five dot",
        "meet @ 5.pm",
        "DE89370400440532013001",  # wrong check digits
        "ZZ89370400440532013000",  # no country
        "756.9217.0769.84",
        "RCCMNL83S18D969I",
        "1.2.3",
        "1.2.3.4.5",
        "v1.2.3.4",
        "300.1.1.1",
        "127.0.0.1",
        "std::vector",
        "12:30:00",
        "00:1B:44:11:3A:B7",
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
        pd.Series([2125550100, 78051120]),  # too few to tell them from other numbers
        pd.Series([1.5, None]),
        pd.Series([True, False]),
        pd.Series([True, None], dtype="boolean"),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series([None, None], dtype=object),
        pd.Series([], dtype="str"),
        pd.Series([], dtype="float64"),
        pd.Series([float("inf"), 1e300, -5e8, 2.0**60]),
        pd.Series([10**25, 10**26], dtype=object),
        pd.Series([["a"], {"b": 1}], dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_that_have_none(column: pd.Series) -> None:
    assert matches(column) == {}


@pytest.mark.parametrize("dtype", ["str", "category", object, "string[pyarrow]"])
def test_every_type_of_text_is_searched(dtype: str) -> None:
    assert matches(pd.Series(["a@b.co", None], dtype=dtype)) == {EMAIL: 1}


def test_one_of_many_records_is_enough() -> None:
    notes = [f"visit {i}" for i in range(30_000)]
    notes[17_000] = "write to ann@example.org"
    assert matches(pd.Series(notes)) == {EMAIL: 1}
    notes[17_000] = "pay to DE89 3704 0044 0532 0130 00"
    assert matches(pd.Series(notes)) == {IBAN: 1}


def test_what_is_allowed_is_not_looked_for() -> None:
    column = pd.Series(["a@b.co, 212-555-0100"])
    assert matches(column, {"telephone"}) == {EMAIL: 1}
    assert matches(column, {"telephone", "email"}) == {}


def test_serial_numbers_with_the_check_of_an_iban_by_chance() -> None:
    """One in 97 passes: of many such numbers some do, and then they are no bank accounts."""
    serials = pd.Series([f"DE{i % 100:02}{i * 7919:018}" for i in range(1, 20_001)])
    assert matches(serials) == {}
    accounts = serials.copy()
    accounts[:1000] = [_account(number) for number in range(1000)]
    assert set(matches(accounts)) == {IBAN}


def _account(number: int) -> str:
    rest = f"{number * 104_729:018}131400"  # D = 13, E = 14, then the check digits
    return f"DE{98 - int(rest) % 97:02}{number * 104_729:018}"


ALONE = [(d.name, form) for d in DETECTORS for form in d.forms if form.alone]


@pytest.mark.parametrize(("name", "form"), ALONE, ids=[f"{n}-{i}" for i, (n, _) in enumerate(ALONE)])
@pytest.mark.parametrize(
    "text", ["a", "1", "1-", "+1", "+12 -- ", "1.", "a.", "(1) ", "a@", '"', "ab12 ", "1:", "756."]
)
def test_long_texts_take_linear_work(name: str, form: Form, text: str) -> None:
    """A quadratic search would not end within the test run."""
    assert not any(form.fits(match.group()) for match in form.shape.finditer(text * 300_000 + "!"))


@given(st.text(st.sampled_from('abz@.:-+() 0123456789DEé"[]'), max_size=30))
def test_the_first_look_misses_nothing(text: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.array([text], pa.large_string())
    for _, form in ALONE:
        if form.shape.search(text):
            assert pc.match_substring_regex(array, form.needs).to_pylist() == [True], form.shape.pattern


LOOKS = [
    *(text for detector in DETECTORS for text in detector.examples),
    "Anna",
    "",
    " ",
    "12.0",
    "987654321",
]


@given(st.lists(st.one_of(st.sampled_from(LOOKS), st.text(max_size=30)), max_size=16))
def test_a_few_values_are_judged_as_many_are(texts: list[str]) -> None:
    """What looks at a few values one by one finds what Arrow finds."""
    values = pd.Series(texts, dtype="str")
    few = matches(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spellings, "_SHORT", -1)
        patch.setattr(spellings, "_FEW", -1)
        assert matches(values) == few
