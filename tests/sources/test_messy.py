"""The messy table: always the same, as messy as its docstring says, of nobody."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from anon_pipeline.sources.messy import customers


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(customers()), sep=";", encoding="cp1252", dtype=str, keep_default_na=False)


def test_it_is_the_same_for_a_seed() -> None:
    assert customers(50) == customers(50)
    assert customers(50) != customers(50, seed=1)


def test_its_forms(table: pd.DataFrame) -> None:
    missing = table.isin(["", "-", "n/a"])
    assert len(table) == 10_000
    assert table["Customer No"].is_unique
    assert table["Birth Date"][~missing["Birth Date"]].str.fullmatch(r"\d\d/\d\d/\d{4}").all()
    for column in ("Income", "Balance"):
        assert table[column][~missing[column]].str.fullmatch(r"CHF \d{1,3}('\d{3})*").all()
    assert {"", "-", "n/a"} <= set(table["Income"])
    assert table["Job Title"][~missing["Job Title"]].str.strip().str.lower().nunique() == 200
    assert "Zürich" in set(table["Town"])
    with pytest.raises(UnicodeDecodeError):
        customers().decode("utf-8")


def test_its_categories_differ_in_case_and_white_space(table: pd.DataFrame) -> None:
    for column in ("Sex", "Town", "Marital Status"):
        values = set(table[column])
        assert len({value.strip().lower() for value in values}) < len({value.strip() for value in values})
        assert any(value != value.strip() for value in values)


def test_its_notes_are_free_text_and_most_are_empty(table: pd.DataFrame) -> None:
    notes = table["Note"][table["Note"] != ""]
    assert 0.2 < len(notes) / len(table) < 0.4
    assert notes.nunique() > 1_000
    assert set(table["E-Mail"].str.split("@").str[1]) == {"example.org", "example.com"}
