"""Values that a few records or people have, counted in two ways."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.rare_values import rare_texts, rare_together, rare_values
from tests.example_counts import examples_of

_VALUES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 5)), min_size=1, max_size=40
)


def evidence(values: list[str | None], people: list[int] | None = None) -> Evidence:
    frame = pd.DataFrame({"job": pd.Series(values, dtype="str")})
    classes = value_classes(frame, ["job"])
    rows = np.arange(len(frame))
    behind = Originals(frame, rows * 0, rows, np.empty((len(frame), 0)), np.array(people or rows))
    return Evidence(frame, classes, behind if people is not None else None, hierarchies=None)  # type: ignore[arg-type]


@settings(max_examples=examples_of(60))
@given(_VALUES, st.integers(2, 6))
def test_rare_values_are_those_that_a_plain_loop_finds(rows: list[tuple[str | None, int]], k: int) -> None:
    values, people = [value for value, _ in rows], [who for _, who in rows]
    records, holders = Counter(values), Counter(value for value, _ in set(rows))
    assert rare_values(evidence(values), "job", k=k) == sum(n for n in records.values() if n < k)
    found = rare_values(evidence(values, people), "job", k=k)
    assert found == sum(n for value, n in records.items() if holders[value] < k)


@pytest.mark.parametrize(("k", "rare"), [(2, 1), (3, 1), (4, 4)])
def test_a_value_of_k_records_is_not_rare_and_a_gap_is_a_value(k: int, rare: int) -> None:
    assert rare_values(evidence(["a"] * 9 + ["b"] * 3 + [None]), "job", k=k) == rare
    assert rare_values(evidence(["a"] * 9 + [None] * 4), "job", k=k) == 0


@settings(max_examples=examples_of(60))
@given(
    st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 3, st.integers(0, 5)), max_size=40),
    st.integers(2, 6),
)
def test_rare_combinations_are_those_that_a_plain_loop_finds(rows: list[tuple[Any, ...]], k: int) -> None:
    """A gap is a value here: who has none, as nobody else does, is found by that."""
    frame = pd.DataFrame({f"c{i}": pd.Series([row[i] for row in rows], dtype="str") for i in range(3)})
    own = np.arange(len(rows))
    people = np.array([row[3] for row in rows], np.int64)
    whole = [row[:3] for row in rows]
    records, holders = Counter(whole), Counter(key[:3] for key in {*rows})
    for counted, behind in (
        (records, None),
        (holders, Originals(frame, own * 0, own, np.empty((len(rows), 0)), people)),
    ):
        classes = value_classes(frame, [*frame])
        given = Evidence(frame, classes, behind, hierarchies=None)  # type: ignore[arg-type]
        rare = sum(counted[key] < k for key in whole)
        assert rare_together(given, [*frame], k=k) == (rare / len(rows) if rows else 0.0)


def test_rare_texts_are_a_share_of_the_records_and_numbers_are_none() -> None:
    found = evidence(["a"] * 6 + ["b"] * 2 + [None, "c"])
    assert rare_texts(found, "job", k=3) == 3 / 10
    numbers = pd.DataFrame({"job": np.arange(10)})
    assert rare_texts(replace(found, released=numbers), "job", k=3) == 0.0
    people = evidence(["a"] * 6 + ["b"] * 4, [0] * 6 + [1, 2, 3, 4])
    assert rare_texts(people, "job", k=3) == 6 / 10
