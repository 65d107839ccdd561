"""Intervals, masks, dates, suppression: the released value of a leaf on every level."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.hierarchy.levels_of_values import (
    date_levels,
    interval_levels,
    mask_levels,
    number_text,
    suppress_levels,
)


def intervals(leaf: float, *widths: float, **bounds: Any) -> list[str]:
    return [str(level[0]) for level in interval_levels(np.array([leaf]), widths, **bounds)][1:]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1970.0, "1970"), (-3.0, "-3"), (0.0, "0"), (-0.0, "0"), (0.1, "0.1"), (1e-7, "1e-07"), (2.5, "2.5")],
)
def test_number_text(number: float, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("leaf", "widths", "bounds", "expected"),
    [
        (1973, (2, 4, 8), {}, ["[1972, 1974)", "[1972, 1976)", "[1968, 1976)", "*"]),
        (1972, (2,), {}, ["[1972, 1974)", "*"]),
        (1973, (2, 4), {"anchor": 1}, ["[1973, 1975)", "[1973, 1977)", "*"]),
        (1973, (4,), {"anchor": 1975}, ["[1971, 1975)", "*"]),
        (-1, (2, 4), {}, ["[-2, 0)", "[-4, 0)", "*"]),
        (-0.5, (1,), {}, ["[-1, 0)", "*"]),
        (0.3, (0.1, 0.3), {}, ["[0.3, 0.4)", "[0.3, 0.6)", "*"]),
        (0.7, (0.1,), {}, ["[0.7, 0.8)", "*"]),
        (0.1 + 0.7, (0.1,), {}, ["[0.8, 0.9)", "*"]),
        (0.29, (0.1, 0.3), {}, ["[0.2, 0.3)", "[0, 0.3)", "*"]),
        (-0.3, (0.1, 0.3), {}, ["[-0.3, -0.2)", "[-0.3, 0)", "*"]),
        (0.1, (0.1,), {"anchor": 1000.1}, ["[0.1, 0.2)", "*"]),
        (17, (5, 10), {"bottom": 18}, ["< 18", "< 18", "*"]),
        (18, (5, 10), {"bottom": 18}, ["[18, 20)", "[18, 20)", "*"]),
        (90, (5, 10), {"top": 90}, ["≥ 90", "≥ 90", "*"]),
        (89, (5, 10), {"top": 89}, ["≥ 89", "≥ 89", "*"]),
        (88, (5, 10), {"top": 89}, ["[85, 89)", "[80, 89)", "*"]),
        (21, (10,), {"bottom": 20.5, "top": 22}, ["[20.5, 22)", "*"]),
        (1e12 + 1.9, (2, 4), {}, ["[1000000000000, 1000000000002)", "[1000000000000, 1000000000004)", "*"]),
        (2e-10, (1e-10,), {}, ["[2e-10, 3e-10)", "*"]),
        (1e300, (1e300,), {}, [f"[{number_text(1e300)}, {number_text(2e300)})", "*"]),
    ],
)
def test_intervals(
    leaf: float, widths: tuple[float, ...], bounds: dict[str, float], expected: list[str]
) -> None:
    assert intervals(leaf, *widths, **bounds) == expected


def slow_interval(leaf: int, width: int, anchor: int) -> str:
    """From the definition, in tenths and exact fractions."""
    low = anchor + width * floor(Fraction(leaf - anchor, width))
    return f"[{number_text(low / 10)}, {number_text((low + width) / 10)})"


@given(
    leaves=st.lists(st.integers(-(10**7), 10**7), min_size=1, max_size=30, unique=True),
    width=st.integers(1, 50),
    times=st.lists(st.integers(2, 6), max_size=3),
    anchor=st.integers(-(10**5), 10**5),
)
def test_intervals_against_their_definition(
    leaves: list[int], width: int, times: list[int], anchor: int
) -> None:
    """Numbers on a grid of tenths, where floats round both ways."""
    widths = [int(w) for w in np.cumprod([width, *times])]
    levels = interval_levels(np.array(leaves) / 10, [w / 10 for w in widths], anchor=anchor / 10)
    for level, w in zip(levels[1:-1], widths, strict=True):
        assert level.tolist() == [slow_interval(leaf, w, anchor) for leaf in leaves]


@given(
    leaves=st.lists(
        st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=30, unique_by=lambda x: x + 0.0
    ),
    width=st.sampled_from([0.1, 0.3, 1 / 3, 2.5, 7.0]),
)
def test_intervals_hold_their_leaves_and_nest(leaves: list[float], width: float) -> None:
    levels = interval_levels(np.array(leaves), [width, 3 * width])
    for leaf, name in zip(leaves, levels[1], strict=True):
        low, high = (float(bound) for bound in name[1:-1].split(", "))
        slack = 1e-9 * (1 + abs(leaf))
        assert low - slack <= leaf <= high + slack
        assert high - low == pytest.approx(width, abs=slack)
    parents: dict[str, set[str]] = {}
    for below, above in zip(levels[1], levels[2], strict=True):
        parents.setdefault(below, set()).add(above)
    assert {len(above) for above in parents.values()} == {1}


@pytest.mark.parametrize(
    ("text", "hidden", "expected"),
    [
        ("94139", [1, 2], ["94139", "9413*", "941**", "*"]),
        ("94139", [5], ["94139", "*****", "*"]),
        ("ab", [1, 5], ["ab", "a*", "**", "*"]),
        ("", [1], ["", "", "*"]),
        ("Zürich", [2], ["Zürich", "Züri**", "*"]),
        ("日本", [1], ["日本", "日*", "*"]),
        ("a*", [1], ["a*", "a*", "*"]),
    ],
)
def test_masks(text: str, hidden: list[int], expected: list[str]) -> None:
    assert [str(level[0]) for level in mask_levels(np.array([text], dtype=object), hidden)] == expected


def test_suppress() -> None:
    value, top = suppress_levels(np.array(["a", "b"], dtype=object))
    assert (value.tolist(), top.tolist()) == (["a", "b"], ["*", "*"])


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("1970-05-17", ["1970-05-17", "1970-05", "1970Q2", "1970", "1970s", "*"]),
        ("1969-12-31", ["1969-12-31", "1969-12", "1969Q4", "1969", "1960s", "*"]),
        ("2000-02-29", ["2000-02-29", "2000-02", "2000Q1", "2000", "2000s", "*"]),
        ("1899-01-01", ["1899-01-01", "1899-01", "1899Q1", "1899", "1890s", "*"]),
        ("1600-02-29", ["1600-02-29", "1600-02", "1600Q1", "1600", "1600s", "*"]),
        ("9999-12-31", ["9999-12-31", "9999-12", "9999Q4", "9999", "9990s", "*"]),
    ],
)
def test_dates(date: str, expected: list[str]) -> None:
    levels = date_levels(pd.DatetimeIndex([date]), ["month", "quarter", "year", "decade"])
    assert [str(level[0]) for level in levels] == expected
