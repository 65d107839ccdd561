"""The different values of a column, as detectors look at them."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.spellings import Spellings, is_short, read_cells


def counts(column: pd.Series) -> dict[str, int]:
    cells = read_cells(column)
    return dict(zip(cells.whole, cells.records.tolist(), strict=True))


@pytest.mark.parametrize("records", [3, 40])
def test_different_values_are_counted_and_missing_ones_are_none(records: int) -> None:
    column = pd.Series(["anna", None, "bert"] * records, dtype="str")
    assert counts(column) == {"anna": records, "bert": records}
    assert read_cells(column).texts is not None


def test_numbers_are_written_whole_and_small_ones_hold_nothing() -> None:
    assert counts(pd.Series([12345678, 12345678, 1])) == {"00000001": 1, "12345678": 2}
    assert counts(pd.Series([1.0, 2.0])) == {}
    assert counts(pd.Series([1e18, float("nan")])) == {}
    assert read_cells(pd.Series([12345678])).texts is None


@pytest.mark.parametrize("kind", ["str", "category"])
@pytest.mark.parametrize("records", [1_000, 1_001])
def test_few_records_are_counted_as_many_are(kind: str, records: int) -> None:
    texts = [None if place % 7 == 0 else f"text {place % 90}" for place in range(records)]
    assert counts(pd.Series(texts, dtype=kind)) == Counter(text for text in texts if text)


@pytest.mark.parametrize("kind", ["int64", "uint64", "float64", "Int64"])
@pytest.mark.parametrize("number", [10**7 - 1, 10**7, 10**18])
def test_only_numbers_as_large_as_identifiers_are_looked_at(kind: str, number: int) -> None:
    assert bool(counts(pd.Series([number, 1]).astype(kind))) is (number == 10**7)


def test_texts_that_are_all_digits_are_numbers_and_get_back_their_zeros() -> None:
    cells = read_cells(pd.Series(["12345678.0", "1234567"], dtype="str"))
    assert (list(cells.whole), cells.texts) == (["12345678", "01234567"], None)
    texts = read_cells(pd.Series(["12345678.0", "anna"], dtype="str"))
    assert (list(texts.whole), texts.texts is None) == (["12345678.0", "anna"], False)


def test_a_cell_is_spelled_as_it_is_without_separators_and_without_a_label() -> None:
    spelled = Spellings.of("NHS: 943 476 5919")
    assert spelled.exact == ("NHS: 943 476 5919",)
    assert "9434765919" in spelled.bare
    assert Spellings.of("[10000000, 20000000]").exact == ("10000000", "20000000")
    assert Spellings.of("1.234.567").loose == ()  # thousands
    long = Spellings.of("x" * 61)
    assert (long.exact, long.bare, long.loose) == ((), (), ())


def test_a_form_is_looked_for_in_the_spelling_that_it_is_written_in() -> None:
    (nhs,) = (one for one in DETECTORS if one.name == "nhs")
    form = next(form for form in nhs.forms if not form.alone)
    assert Spellings.of("943 476 5919").texts_of_form(form) == ["9434765919"]
    assert Spellings.of("anna").texts_of_form(form) == []


def test_a_few_values_are_short() -> None:
    assert is_short(16)
    assert not is_short(17)
