"""Samples and columns that are changed as a whole, in Dagster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

Make = Callable[..., Any]


def test_raw_keeps_the_sample_each_time(
    project: Make, small_people: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_KEY", "0123456789abcdef0123456789abcdef")
    people = small_people(n=1_000)
    made = project(people, sample={"share": 0.5}, deidentify={"key_env": "SAMPLE_KEY"})
    stored = made.folder / "vault" / "small" / "raw.parquet"
    found = []
    for _ in range(2):
        assert made.materialize("raw").success
        found.append(sorted(pd.read_parquet(stored)["person"]))
    assert found[0] == found[1] and 400 < len(found[0]) < 600
    assert made.run("small_release").success


def test_columns_that_are_changed_as_a_whole_are_released_with_the_suite_in_agreement(
    project: Make, small_people: Make
) -> None:
    """Gate and Great Expectations measure the same, of several columns, too."""
    number = {"role": "perturb", "resolution": 1, "mechanism": "class_swapping"}
    made = project(
        small_people(n=1_000).assign(weight=lambda frame: frame["height"] // 3),
        columns={"height": number, "weight": number},
        perturb={"epsilon": 1, "without_guarantee": True},
        suppress={"confidence": None},
    )
    assert made.run("small_release").success


def test_categories_that_are_changed_together_with_a_number_are_released(
    project: Make, small_people: Make
) -> None:
    swapped = {"role": "perturb", "mechanism": "class_swapping", "together": True}
    made = project(
        small_people(n=1_000),
        columns={"height": {**swapped, "resolution": 1}, "note": {**swapped, "values": ["a", "b"]}},
        perturb={"epsilon": 1, "without_guarantee": True},
        suppress={"confidence": None},
    )
    assert made.run("small_release").success
