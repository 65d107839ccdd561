"""Cells that list values: lists of every separator, and texts that only look like lists."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.evidence.evidence import Evidence, value_classes
from anon_pipeline.evidence.list_cells import SEPARATORS, list_cells


def share(cells: list[str | None] | pd.Series) -> float:
    frame = pd.DataFrame({"illness": cells})
    classes = value_classes(frame.assign(all="*"), ["all"])
    return list_cells(Evidence(frame, classes, None, Path()), "illness")


@pytest.mark.parametrize("separator", SEPARATORS)
def test_lists_are_found_by_each_separator(separator: str) -> None:
    """Three of eight cells; hiv is in no cell alone, but the first of one list and the second of another."""
    cells = ["flu", "gout", "asthma", "none", None, f"flu{separator} hiv", f"HIV {separator}flu"]
    assert share([*cells, f"gout{separator}flu"]) == 3 / 8


def test_codes_are_listed_by_what_is_in_no_number() -> None:
    assert share(["250", "401", "250;401", "401|250"]) == 1 / 4  # the largest of two separators
    assert share(["250", "401", "250,401", "401/250", "250+401"]) == 0


@pytest.mark.parametrize(
    "cells",
    [
        ["Exec-managerial", "Adm-clerical", "Prof-specialty", "Machine-op-inspct"],
        ["Married, spouse absent", "Married, spouse present", "Never married", "Divorced"],
        ["Pneumonia", "Pneumonia, unspecified", "Asthma, unspecified", "Asthma", "Asthma, allergic"],
        ["Diabetes, type 2, without complications", "Diabetes, type 2", "Diabetes", "Type 1 diabetes"],
        ["Fracture of femur, initial encounter", "Fracture of tibia, initial encounter", "Fracture of femur"],
        ["A+", "B+", "AB+", "0-", "A-"],
        ["2026/01/02", "2026/02/01", "01/02", "120/80", "80/120"],
        ["1,5", "5,1", "1", "5"],
        ["flu", "flu;", "; flu", "flu;flu"],  # one value each
        ["came back, with a cough; sent home", "with a cold, came on foot; sent home"],
        [],
    ],
    ids=lambda cells: cells[0] if cells else "none",
)
def test_what_looks_like_a_list_is_none(cells: list[str]) -> None:
    assert share(cells) == 0


def test_numbers_and_days_are_no_lists() -> None:
    assert share(pd.Series([1.5, 2.0])) == 0
    assert share(pd.Series(pd.to_datetime(["2026-01-02", "2026-02-01"]))) == 0


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=3, unique=True), max_size=30
    )
)
def test_a_column_in_which_each_value_stands_alone_once_counts_all_lists(cells: list[list[str]]) -> None:
    texts = ["; ".join(cell) for cell in [["a"], ["b"], ["c"], ["d"], *cells]]
    assert share(texts) == sum(len(cell) > 1 for cell in cells) / len(texts)
