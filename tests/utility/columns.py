"""Generalized columns, by hand: numbers in two intervals, four categories."""

from __future__ import annotations

import numpy as np

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.utility.records import Generalized


def decades(*, missing: bool = False) -> Hierarchy:
    """Eight numbers in two intervals of four, then everything."""
    numbers = np.array([0.0, 1, 2, 3, 10, 11, 12, 13])
    levels = [
        np.array([str(int(x)) for x in numbers], object),
        np.array(["low"] * 4 + ["high"] * 4, object),
        np.full(8, "*", object),
    ]
    return from_columns("x", levels, missing=missing, coordinates=numbers)


def categories() -> Hierarchy:
    levels = [np.array(list("abcd"), object), np.array(list("mmnn"), object), np.full(4, "*", object)]
    return from_columns("c", levels)


def on_level(hierarchy: Hierarchy, own: list[int], levels: list[int | None]) -> Generalized:
    """A column whose cells are on the levels that are given; None is not released."""
    found: dict[tuple[int, int, int], int] = {}
    codes = []
    for leaf, level in zip(own, levels, strict=True):
        if level is None:
            codes.append(-1)
            continue
        below = np.flatnonzero(hierarchy.lookups[level] == hierarchy.lookups[level][leaf])
        codes.append(found.setdefault((int(below[0]), int(below[-1]), level), len(found)))
    low, high, on = np.array(list(found), np.int64).reshape(-1, 3).T
    return Generalized(
        hierarchy, np.array(own), np.array(codes), low, high, on, low, high, np.full(len(low), np.nan)
    )


def ranged(hierarchy: Hierarchy, own: list[int], ranges: list[tuple[int, int]]) -> Generalized:
    low, high = np.array(ranges, np.int64).T
    codes, none = np.arange(len(own)), np.full(len(own), -1)
    return Generalized(hierarchy, np.array(own), codes, low, high, none, low, high, np.full(len(own), np.nan))
