"""Numbers far beyond the others: the fences of known columns, and who is counted, in two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.outlying_values import outer_fences, outlying_values

SPREAD = [*range(0, 101)]  # quartiles 25 and 75, fences −128 and 228


def evidence(values: list[float | None], people: list[int] | None = None) -> Evidence:
    frame = pd.DataFrame({"pay": pd.array(values, dtype="Float64")})
    rows = np.arange(len(frame))
    classes = value_classes(frame.assign(all="*"), ["all"])
    behind = Originals(frame, rows * 0, rows, np.empty((len(frame), 0)), np.array(people or rows))
    return Evidence(frame, classes, behind if people is not None else None, hierarchies=None)  # type: ignore[arg-type]


def counted(values: list[float | None], *, k: int, people: list[int] | None = None) -> int:
    return outlying_values(evidence(values, people), "pay", k=k)


@pytest.mark.parametrize(
    ("values", "fences"),
    [
        (np.arange(101.0), (-128.0, 228.0)),
        # equal quartiles: deciles 0 and 10, steps of 5
        (np.repeat([0.0, 5.0, 10.0], [20, 60, 20]), (-45.0, 55.0)),
        (np.repeat([0.0, 7.0], [99, 1]), (0.0, 0.0)),  # equal deciles
    ],
)
def test_fences_are_those_of_quartiles_deciles_or_the_value_of_nearly_all(
    values: np.ndarray, fences: tuple[float, float]
) -> None:
    assert outer_fences(values) == fences


def test_a_number_counts_until_k_reach_it() -> None:
    assert counted([*SPREAD, 240, 300, 300], k=4) == 3
    assert counted([*SPREAD, 240, 300, 300], k=3) == 2  # three reach 240
    assert counted([*SPREAD, 300, 300, 300], k=3) == 0  # as if top were 300
    assert counted([*SPREAD, 225], k=4) == counted([*SPREAD, 150, -60], k=4) == 0
    assert counted([*SPREAD, 300, -300, None], k=2) == 2  # one on each side


def test_what_is_no_number_counts_nothing() -> None:
    texts = Evidence(
        pd.DataFrame({"pay": ["a", "b"]}),
        value_classes(pd.DataFrame({"pay": ["a", "b"]}), ["pay"]),
        None,
        hierarchies=None,  # type: ignore[arg-type]
    )
    assert outlying_values(texts, "pay", k=5) == 0
    assert counted([None, None], k=5) == 0


def test_records_of_one_person_do_not_hide_each_other() -> None:
    many = [*SPREAD, 300, 300, 300]
    whose = [*range(len(SPREAD)), 500, 500, 500]
    assert counted(many, k=3, people=whose) == 3
    assert counted(many, k=3, people=[*whose[:-2], 501, 502]) == 0


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(st.integers(0, 12).map(lambda one: 2.0**one), st.integers(0, 9)), min_size=1, max_size=50
    ),
    st.integers(2, 5),
)
def test_a_plain_loop_finds_the_same(rows: list[tuple[float, int]], k: int) -> None:
    values, people = [one for one, _ in rows], [who for _, who in rows]
    low, high = outer_fences(np.array(values))
    found = 0
    for value in values:
        above = {who for other, who in rows if other >= value}
        below = {who for other, who in rows if other <= value}
        found += (value > high and len(above) < k) or (value < low and len(below) < k)
    assert counted(values, k=k, people=people) == found


def test_counts_of_rare_events_lie_within_the_fences() -> None:
    """Their quartiles are closer by up to a step than those of a normal column of this deviation."""
    random = np.random.default_rng(21)
    columns = [random.poisson(mean, 1_000).astype(float) for mean in (0.3, 1, 2, 4, 9, 20) for _ in range(20)]
    assert sum(counted([*one], k=10) > 0 for one in columns) <= 2  # of 120; without the step 20


def test_normal_numbers_lie_within_the_fences_whatever_their_number() -> None:
    random = np.random.default_rng(20)
    beyond = {
        n: sum(
            int(np.count_nonzero((drawn < low) | (drawn > high)))
            for drawn in (random.normal(120, 15, n) for _ in range(tables))
            for low, high in [outer_fences(drawn)]
        )
        for n, tables in ((500, 40), (20_000, 10), (1_000_000, 3))
    }
    assert beyond == {500: 0, 20_000: 0, 1_000_000: 0}
