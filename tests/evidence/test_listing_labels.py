"""Labels of hierarchies that list rare values of their own group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.evidence.listing_labels import labeled_columns, listing_labels
from anon_pipeline.policy import Policy, policy_from

TREE = {"Ann/Bob": ["Ann", "Bob"], "others": ["Cid", "Dee"]}


def policy_of(hierarchy: Any, **column: Any) -> Policy:
    columns = {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
        "ward": {"role": "generalize", "hierarchy": hierarchy} | column,
    }
    return policy_from({"name": "n", "source": {"path": "n.csv"}, "columns": columns, "anonymize": {"k": 5}})


def wards(**many: int) -> pd.DataFrame:
    values = np.repeat([*many], [*many.values()])
    return pd.DataFrame({"age": np.arange(len(values)) % 60, "ward": values})


RARE = wards(Ann=2, Bob=3, Cid=40, Dee=50)


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("Ann/Bob", ("ward",)),
        ("ANN and bob", ("ward",)),
        ("{Bob; Ann; Cid}", ("ward",)),
        ("Ann and others", ()),  # one is not a list
        ("Anna/Bobby", ()),  # whole words
        ("staff", ()),
    ],
)
def test_a_label_counts_that_names_two_rare_values(label: str, found: tuple[str, ...]) -> None:
    tree = {label: ["Ann", "Bob"], "others": ["Cid", "Dee"]}
    assert listing_labels(RARE, policy_of({"tree": tree})) == found


def test_values_that_k_records_have_may_be_listed() -> None:
    assert listing_labels(wards(Ann=5, Bob=5, Cid=40, Dee=50), policy_of({"tree": TREE})) == ()
    assert listing_labels(wards(Ann=4, Bob=5, Cid=40, Dee=50), policy_of({"tree": TREE})) == ()
    assert listing_labels(wards(Ann=4, Bob=4, Cid=40, Dee=50), policy_of({"tree": TREE})) == ("ward",)


def test_numbers_are_no_list() -> None:
    frame = pd.DataFrame({"age": np.arange(50), "ward": ["1", "2", *["3", "4"] * 24]})
    assert listing_labels(frame, policy_of({"tree": {"1-2": ["1", "2"], "3-4": ["3", "4"]}})) == ()


def test_a_table_and_a_released_column_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "ward.csv").write_text(
        "Ann;Ann+Bob;*\nBob;Ann+Bob;*\nCid;rest;*\nDee;rest;*\n", encoding="utf-8"
    )
    released = policy_of({"table": "ward.csv"}, role="insensitive", level=1)
    for policy in (policy_of({"table": "ward.csv"}), released):
        assert listing_labels(RARE, policy, hierarchies=tmp_path) == ("ward",)


def test_values_that_are_no_leaves_are_left_to_the_stage_that_generalizes() -> None:
    assert listing_labels(wards(Ann=2, Bob=3, Eve=9), policy_of({"tree": TREE})) == ()


def test_only_hierarchies_with_labels_of_somebody_are_named() -> None:
    assert [*labeled_columns(policy_of({"tree": TREE}))] == ["ward"]
    assert labeled_columns(policy_of({"suppress": True})) == {}
