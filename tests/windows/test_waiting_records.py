"""Who waits: records in no class of k, that lack nothing, and have not waited too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.policy.stream import Stream as Delay
from anon_pipeline.windows.waiting_records import records_that_wait
from tests.example_counts import examples_of
from tests.windows.conftest import ATTRIBUTES, Stream, people

EXACT = {"anonymize": {"k": 3, "recoder": "fixed", "levels": {"age": 0, "sex": 0}, "suppression_limit": 0.9}}

SENSITIVE = {**ATTRIBUTES["columns"], "ward": {"role": "sensitive", "missing": "suppress"}}


def who_waits(
    stream: Stream, table: pd.DataFrame, ages: Any = None, *, delay: int = 2, waiting: float = 0.9
) -> list[bool]:
    ages = np.zeros(len(table), np.int64) if ages is None else np.array(ages)
    return list(
        records_that_wait(stream.policy, Delay(delay=delay, waiting=waiting), table, ages, stream.means)
    )


def table_of(ages: list[float], sexes: str) -> pd.DataFrame:
    return pd.DataFrame({"id": range(len(ages)), "age": ages, "sex": list(sexes), "ward": ["a"] * len(ages)})


@given(
    cells=st.lists(st.tuples(st.sampled_from([30, 31]), st.sampled_from("fm")), min_size=3, max_size=14),
    old=st.lists(st.integers(0, 3), min_size=14, max_size=14),
    delay=st.integers(1, 3),
)
@settings(
    max_examples=examples_of(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_with_fixed_levels_exactly_the_young_of_small_classes_wait(
    stream: Callable[..., Stream], cells: list[tuple[int, str]], old: list[int], delay: int
) -> None:
    made = stream(**EXACT)
    ages, sexes = [age for age, _ in cells], "".join(sex for _, sex in cells)
    small = [cells.count(cell) < 3 for cell in cells]
    expected = [one and since < delay for one, since in zip(small, old, strict=False)]
    if sum(small) > 0.9 * len(cells):  # no recoding: all wait that may
        expected = [since < delay for _, since in zip(cells, old, strict=False)]
    assert who_waits(made, table_of([*map(float, ages)], sexes), old[: len(cells)], delay=delay) == expected


def test_a_record_that_lacks_a_sensitive_value_does_not_wait(stream: Callable[..., Stream]) -> None:
    made = stream(columns=SENSITIVE, **EXACT)
    table = table_of([30, 30, 30, 50, 50, 50], "ffffff")
    assert who_waits(made, table) == [False] * 6
    table.loc[[1, 4, 5], "ward"] = None
    assert who_waits(made, table) == [True, False, True, True, False, False]
    table["ward"] = None
    assert who_waits(made, table) == [False] * 6


def test_a_missing_quasi_identifier_is_a_value_that_waits(stream: Callable[..., Stream]) -> None:
    table = table_of([30, 30, 30, np.nan, np.nan], "fffff")
    assert who_waits(stream(**EXACT), table) == [False, False, False, True, True]


def test_all_wait_if_there_are_fewer_than_k(stream: Callable[..., Stream]) -> None:
    assert who_waits(stream(**EXACT), table_of([30, 30], "fm")) == [True, True]


def test_as_many_may_wait_as_the_policy_says(stream: Callable[..., Stream]) -> None:
    table = people(60, seed=1)
    none, few, many = (sum(who_waits(stream(), table, waiting=share)) for share in (0.01, 0.1, 0.6))
    assert none == 0 < few <= 6 and few < many <= 36


def test_the_limits_of_classes_decide_too(stream: Callable[..., Stream]) -> None:
    diverse = {"ward": {"kind": "distinct", "l": 2}}
    made = stream(columns=SENSITIVE, gate={"l_diversity": diverse}, **EXACT)
    table = table_of([30, 30, 30, 50, 50, 50], "ffffff").assign(ward=list("aaabba"))
    assert who_waits(made, table) == [True] * 3 + [False] * 3
