"""Numbers dialled to another country by 00 or 011, drug codes, and addresses spoken in capitals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.patterns import matches


@pytest.mark.parametrize(
    "text",
    [
        "0049 30 1234567",
        "0041 44 668 18 00",
        "00 44 20 7946 0958",
        "please call 0049 30 1234567 today",
        "ring 00 353-1-555 0123.",
        "011-44-20-7946-0958",
    ],
)
def test_one_number_with_00_or_011_is_found(text: str) -> None:
    assert matches(pd.Series(["a note"] * 399 + [text])) == {"telephone": 1}


def test_a_column_of_them_is_found() -> None:
    rng = np.random.default_rng(5)
    made = [f"011-44-20-7{rng.integers(100, 1000)}-{rng.integers(1000, 10000)}" for _ in range(200)]
    assert matches(pd.Series(made)) == {"telephone": 200}


def test_random_numbers_of_that_layout_are_not() -> None:
    rng = np.random.default_rng(6)
    made = [
        f"{rng.integers(10000):04d} {rng.integers(100):02d} {rng.integers(10**7):07d}" for _ in range(1000)
    ]
    assert any(text.startswith("00") for text in made)
    assert matches(pd.Series(made)) == {}


def test_drug_codes_are_no_telephone_numbers() -> None:
    rng = np.random.default_rng(7)
    made = [
        f"0{rng.integers(2, 999):03d}-{rng.integers(10000):04d}-{rng.integers(100):02d}" for _ in range(400)
    ]
    assert matches(pd.Series(made)) == {}
    first = [*rng.integers(100, 1000, 160), *rng.integers(10_000, 80_000, 240)]
    long = [f"{labeler:05d}-{rng.integers(10000):04d}-{rng.integers(100):02d}" for labeler in first]
    assert matches(pd.Series(long)) == {}
    assert matches(pd.Series([*made[:200], "call 044 668 18 00"])) == {"telephone": 1}


def test_an_address_in_capitals_is_found() -> None:
    assert matches(pd.Series(["x", "anna AT example DOT org"])) == {"email": 1}
