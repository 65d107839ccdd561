"""How much one column tells of what classes leave open of another, against sums over all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.risk import explained_share as module
from anon_pipeline.risk.explained_share import LEAST, explained_share
from tests.example_counts import examples_of

_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=LEAST, max_size=110
)


def within(values: Sequence[float], groups: Sequence[object], ordered: bool) -> float | None:
    """Return the mean square within groups by all pairs of each, and None where too few records are left."""
    total, found = 0.0, set(groups)
    for group in found:
        inside = [v for v, of in zip(values, groups, strict=True) if of == group]
        for one, other in itertools.combinations(inside, 2):
            total += ((one - other) ** 2 if ordered else 2.0 * (one != other) / 2) / len(inside)
    free = len(values) - len(found)
    return None if free < LEAST else total / free


def mean_ranks(values: Sequence[int]) -> list[float]:
    n = len(values)
    ranks = [
        sum(other < one for other in values) + (sum(other == one for other in values) - 1) / 2
        for one in values
    ]
    return [(2 * rank - (n - 1)) / max(n - 1, 1) for rank in ranks]


def slow(rows: Sequence[tuple[int, int, int]], ordered: bool) -> float:
    """Do by pairs what the module does by sums of squares; tenths and ranks one record at a time."""
    open_classes = {c for c in {row[2] for row in rows} if len({v for v, _, of in rows if of == c}) > 1}
    rows = [row for row in rows if row[2] in open_classes]
    values, told, classes = ([row[i] for row in rows] for i in range(3))
    if len(rows) - len(open_classes) < LEAST:
        return 0.0
    numbers = mean_ranks(values) if ordered else values
    base = within(numbers, classes, ordered)
    sizes = {c: classes.count(c) for c in open_classes}
    tenths = [
        sum(t < one and of == c for _, t, of in rows) * min(max(sizes[c] // 2, 1), 10) // sizes[c]
        for _, one, c in rows
    ]
    found = [0.0]
    for groups in (told, tenths):
        left = within(numbers, list(zip(classes, groups, strict=True)), ordered)
        found += [] if left is None else [1 - left / base]
    if ordered:
        x, y = np.array(numbers), np.array(mean_ranks(told))
        for c in open_classes:
            at = np.array(classes) == c
            x[at], y[at] = x[at] - x[at].mean(), y[at] - y[at].mean()
        free = len(rows) - len(open_classes)
        if (x @ x) * (y @ y) > 0:
            found.append(1 - (1 - (x @ y) ** 2 / ((x @ x) * (y @ y))) * free / (free - 1))
    return max(found)


@settings(max_examples=examples_of(60))
@given(_ROWS, st.booleans())
def test_sums_of_squares_are_those_of_all_pairs(rows: list[tuple[int, int, int]], ordered: bool) -> None:
    values, told, classes = (np.array([row[i] for row in rows]) for i in range(3))
    compact = np.unique(classes, return_inverse=True)[1]
    found = explained_share(values, told, compact, ordered=ordered)
    assert found == pytest.approx(slow(rows, ordered), abs=1e-9)
    assert 0 <= found <= 1 + 1e-12


@pytest.mark.parametrize("size", [5, 10, 30])
def test_a_copy_tells_all_and_what_is_independent_nothing(size: int) -> None:
    random = np.random.default_rng(0)
    classes = np.repeat(np.arange(600 // size), size)
    values = random.integers(0, 200, 600)
    assert explained_share(values, values // 3, classes, ordered=True) > 0.99
    assert explained_share(values, 500 - values, classes, ordered=True) > 0.99
    kinds = random.integers(0, 6, 600)
    assert explained_share(kinds, (kinds * 5) % 7, classes, ordered=False) == pytest.approx(1)
    worst = max(
        explained_share(values, random.integers(0, many, 600), classes, ordered=ordered)
        for many in (2, 7, 60, 500)
        for ordered in (True, False)
        for _ in range(20)
    )
    assert worst < 0.4  # of 160 columns that have nothing to do with it


def test_what_bends_is_told_by_tenths_where_ranks_do_not_agree() -> None:
    values = np.arange(1000)
    folded = np.abs(values - 500)  # two values to one: half of the order is lost
    assert explained_share(folded, values, np.zeros(1000, np.int64), ordered=True) > 0.95


def test_too_few_records_or_nothing_open_say_nothing() -> None:
    few = np.arange(LEAST)
    assert explained_share(few, few, few * 0, ordered=True) == 0.0
    many = np.arange(300)
    assert explained_share(many // 100, many, many // 100, ordered=True) == 0.0
    assert module.explained_share(many, many, many, ordered=True) == 0.0
