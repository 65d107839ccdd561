"""Columns of everyday values are not refused; planted identifiers are found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.patterns import EXCUSED, matches
from benchmarks.identifiers import true_ones
from benchmarks.lookalikes import IDENTIFYING, INNOCENT, detected, main, refused, sentences

PLAIN = [kind for kind, (name, _) in IDENTIFYING.items() if kind == name]
"""Numbers without a telling form: found as a column, not as one in a sentence."""
TELLING = [kind for kind in IDENTIFYING if kind not in PLAIN]
TELLING += ["codice_fiscale", "hetu", "curp"]
RARE = ("telephone", "ssn")
"""Without separators and check digits: they need a column of their own."""


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def matched(*texts: object) -> list[str]:
    return list(matches(pd.Series(texts)))


def test_the_corpus_is_large_enough() -> None:
    assert len(INNOCENT) >= 60
    assert len(IDENTIFYING) >= 45


@pytest.mark.parametrize("kind", INNOCENT)
def test_no_ordinary_column_is_refused(kind: str) -> None:
    assert [refused(kind, seed) for seed in range(2)] == [[], []]


@pytest.mark.parametrize("kind", TELLING)
@pytest.mark.parametrize("where", ["all", "10 %", "one"])
def test_a_telling_form_is_found_wherever_it_is(kind: str, where: str) -> None:
    assert detected(kind, where, seed=3)


@pytest.mark.parametrize("kind", [kind for kind in PLAIN if kind not in TELLING])
def test_plain_numbers_are_found_as_a_column(kind: str) -> None:
    assert detected(kind, "all", seed=3)
    if kind != "ssn":  # fifty of them do not suffice
        assert detected(kind, "10 %", seed=3)


@pytest.mark.parametrize(
    "text",
    [
        "044 668 18 00",
        "ring 020 7946 0958 today",
        "Tel:044 668 18 00",
        "(020) 7946 0958",
        "0171/1234567 (evenings)",
        "06-12345678",
        "Telefon Nr. 668 18 00",
        "phone: 5550 1234",
        "+353.155501234",
        "(123) 456-7890",
    ],
)
def test_one_telephone_number_is_enough(text: str) -> None:
    assert matched(text) == ["telephone"]


@pytest.mark.parametrize(
    "text",
    [
        "+53.349800",
        "+1 234 567,89",
        "01.02.2020 1230",
        "06.05.24 123045",
        "02139-4307",
        "05.123456789",
        "05 12 08 11 02 03 07 09",
        "12:05 1234567",
        "telephone 2024-05-06",
        "tel. 12",
        "AB-0123-456-789",
        "1.2.3.4",
        "look at the dot product",
        "ann was at one dot in the line",
        "stayed at home dot in hand",
        "be at five dot",
        "thanks @doctor.slowly",
        "123-056-7890",  # no exchange begins with 0
        "no12 that saw the sea",
    ],
)
def test_one_text_that_looks_like_it(text: str) -> None:
    assert matched(text) == []


@pytest.mark.parametrize(
    "text", ["ann at mail dot org", "ann at mail dot example dot co dot uk, today", "ann at mail dot it."]
)
def test_spoken_addresses(text: str) -> None:
    assert matched(text) == ["email"]


def test_part_numbers_hide_no_telephone_number_in_a_sentence() -> None:
    parts = [f"{a:04}-{b:03}-{c:03}" for a, b, c in rng().integers(0, [9_999, 900, 900], (400, 3))]
    assert matched(*parts) == []
    assert matched(*parts, "call 020 7946 0958") == ["telephone"]


def test_a_column_of_telephones_is_found_beside_some_other_numbers() -> None:
    made = [str(value) for value in true_ones("telephone", 60, rng())]
    assert matched(*made, *sentences(300, rng())) == ["telephone"]
    assert matched(*made, *map(str, rng().integers(0, 900, 300))) == []


def test_few_candidates_are_judged_by_how_many_are_valid() -> None:
    """One of four AHV shapes is what chance gives (34 %); one alone, or most of them, is refused."""
    true, false = "756.9217.0769.85", [f"756.1234.5678.{x}" for x in (10, 21, 32, 43, 54, 65)]
    assert matched(*false) == []
    assert matched(true) == ["ahv"]
    assert matched(true, false[0]) == ["ahv"]
    assert matched(true, *false) == []
    iban, wrong = "DE89 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"
    assert matched(iban, wrong, wrong[:-1] + "1", wrong[:-1] + "2") == ["iban"]  # 1 in 97 each: 4 %


def test_from_so_many_candidates_on_chance_is_judged_strictly() -> None:
    made = [f"756.{a:04}.{b:04}.{c:02}" for a, b, c in rng(5).integers(0, 99, (EXCUSED, 3))]
    assert matched(*made) == []


def test_nine_digit_amounts_are_told_from_social_security_numbers() -> None:
    """As numbers: spread evenly from the first area on, or 1,362 and more without group 00 or serial 0000."""
    true = pd.Series([int(str(x)) for x in true_ones("ssn", 2_000, rng(1))])
    assert "ssn" in matches(true[:150])
    assert "ssn" in matches(true)
    florida = pd.Series([int(f"{a}{b:02}{c:04}") for a, b, c in zip(*_parts(2_000, 261, 268), strict=True)])
    assert "ssn" in matches(florida)
    assert matches(florida[:1_000]) == {}  # so few may be amounts; named in docs/identifiers.md
    written = pd.Series([f"0{a}{b:02}{c:04}" for a, b, c in zip(*_parts(150, 10, 35), strict=True)])
    assert "ssn" in matches(written)  # amounts do not begin with 0
    for records in (150, 500, 2_000, 5_000):
        assert matches(pd.Series(rng(records).integers(100_000_000, 899_999_999, records))) == {}


def _parts(n: int, low: int, high: int) -> list[list[int]]:
    made = rng(2)
    return [made.integers(*ends, n).tolist() for ends in ((low, high), (1, 100), (1, 10_000))]


def test_versions_and_addresses_of_machines() -> None:
    versions = [f"{a}.{b}.{c}.{d}" for a, b, c, d in rng().integers(0, 9, (30, 4)) * [1, 3, 4, 5]]
    assert matched(*versions) == []
    assert matched(*versions, "from 203.0.113.7 today") == ["ip_address"]
    assert matched(*versions, "203.0.113.7") == ["ip_address"]
    lan = [f"10.0.0.{x}" for x in range(2, 90)]
    assert matched(*lan) == ["ip_address"]


def test_book_numbers_excuse_no_telephone_and_no_other_numbers() -> None:
    books = INNOCENT["ISBN-10"](300, rng())
    nhs = [str(value) for value in true_ones("nhs", 300, rng())]
    assert matched(*books) == []
    assert matched(*nhs, "030640615X") == ["nhs"]  # one book among many numbers is no column of books
    assert matched(*nhs) == ["nhs"]


def test_the_program_prints_both_tables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.lookalikes.INNOCENT", {"years": INNOCENT["years"]})
    monkeypatch.setattr("benchmarks.lookalikes.IDENTIFYING", {"hetu": IDENTIFYING["hetu"]})
    assert main(["--seeds", "1"]) == 0
    told = capsys.readouterr().out
    assert "| years | 0% | – |" in told
    assert "| `hetu` | 100% | 100% | 100% |" in told
