"""The level that a column's texts show is the one that made them, for every kind of hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy import code_column
from anon_pipeline.hierarchy.level_of_text import broken_levels
from anon_pipeline.policy import Policy
from tests.example_counts import examples_of

Small = Callable[..., Policy]
NUMBERS = st.lists(st.integers(-300, 300), min_size=4, max_size=40, unique=True)
DAYS = st.lists(st.dates(min_value=pd.Timestamp("1900-01-01").date()), min_size=4, max_size=40, unique=True)
WORDS = st.lists(st.text("abcde019", min_size=1, max_size=6), min_size=4, max_size=40, unique=True)
TREE = {"North": ["a", "b"], "South": ["c", "d", "e"]}
LETTERS = st.lists(st.sampled_from("abcde"), min_size=4, max_size=40)
KINDS: list[tuple[dict[str, Any], st.SearchStrategy[list[Any]]]] = [
    ({"intervals": [10, 20, 100]}, NUMBERS),
    ({"intervals": [5, 50], "anchor": 2, "bottom": -100, "top": 103}, NUMBERS),
    ({"intervals": [0.5, 2.5]}, NUMBERS),
    ({"dates": ["month", "quarter", "year", "decade"]}, DAYS),
    ({"dates": ["year"]}, DAYS),
    ({"mask": [1, 3]}, WORDS),
    ({"numbers": True}, NUMBERS),
    ({"suppress": True}, WORDS),
    ({"tree": TREE}, LETTERS),
    ({"order": list("edcba")}, LETTERS),
    ({"table": "letters.csv"}, LETTERS),
]


@pytest.mark.parametrize(("spec", "values"), KINDS, ids=lambda value: str(value)[:40])
def test_texts_fit_the_level_that_made_them(
    small_policy: Small, tmp_path_factory: pytest.TempPathFactory, spec: dict[str, Any], values: Any
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "letters.csv").write_text("a;x;top\nb;x;top\nc;y;top\nd;y;top\ne;y;top\n")
    hierarchy = {"suppress": None, **spec}
    policy = small_policy(columns={"city": {"hierarchy": hierarchy}})

    @settings(max_examples=examples_of(25), deadline=None)
    @given(values)
    def fits(data: list[Any]) -> None:
        column = pd.Series(data, name="city")
        if "dates" in spec:
            column = column.astype(str)
        codes, built = code_column(column, policy.generalized["city"].hierarchy, folder=folder)
        texts = [built.values[i][built.lookups[i][codes]].astype(str) for i in range(built.height)]
        for level, made in enumerate(texts):
            frame = pd.DataFrame({"city": made})
            for claimed in range(built.height + 1):
                broken = broken_levels(frame, policy, {"city": claimed}, cells=0, hierarchies=folder)
                if claimed == level:
                    assert broken == []
                elif claimed == built.height or set(made) != set(texts[claimed]):
                    alike = "intervals" in spec and all(text[0] in "<≥" for text in made)
                    masked = "mask" in spec and {level, claimed} != {0, built.height - 1}
                    assert broken or alike or masked

    fits()


def test_blanked_cells_may_be_on_top_of_any_level(small_policy: Small) -> None:
    policy = small_policy(anonymize={"suppress": "cells"})
    frame = pd.DataFrame({"age": ["[20, 30)", "*", "[40, 50)"], "city": ["Cork", "*", "*"]})
    levels = {"age": 1, "city": 0}
    assert broken_levels(frame, policy, levels, cells=3, hierarchies=Path()) == []
    assert broken_levels(frame, policy, levels, cells=2, hierarchies=Path()) == [
        "suppressed cells must be as many as the table shows, or more"
    ]
    whole = small_policy()
    assert len(broken_levels(frame, whole, levels, cells=0, hierarchies=Path())) == 2


def test_a_column_of_nothing_but_the_top_is_on_top(small_policy: Small) -> None:
    frame = pd.DataFrame({"age": ["*"] * 5, "city": ["*"] * 5})
    policy = small_policy()
    assert broken_levels(frame, policy, {"age": 3, "city": 1}, cells=0, hierarchies=Path()) == []
    assert len(broken_levels(frame, policy, {"age": 2, "city": 0}, cells=0, hierarchies=Path())) == 2


@pytest.mark.parametrize(
    "text", ["[", "[, ", "[x, y)", "[1e999, 2)", "< ", "≥", "1970s", "NaT", "0000-00", "é" * 99]
)
def test_texts_that_are_of_no_level(small_policy: Small, text: str) -> None:
    for hierarchy in ({"intervals": [10], "bottom": 0, "top": 90}, {"dates": ["month"]}):
        policy = small_policy(columns={"city": {"hierarchy": {"suppress": None, **hierarchy}}})
        frame = pd.DataFrame({"city": np.array([text], dtype=object)})
        for level in range(3):
            assert broken_levels(frame, policy, {"city": level}, cells=0, hierarchies=Path())
