"""Generalized categories as features: their share of each value, and the most frequent ones."""

from __future__ import annotations

import numpy as np

from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.utility.features import MOST_VALUES, features
from anon_pipeline.utility.records import Generalized, Table


def letters(own, first, last):
    """A column of four categories."""
    hierarchy = from_columns("c", [np.array(list("abcd"), object), np.full(4, "*", object)])
    first, last = np.asarray(first), np.asarray(last)
    codes, none = np.arange(len(own)), np.full(len(own), np.nan)
    return Generalized(hierarchy, np.asarray(own), codes, first, last, first * 0 - 1, first, last, none)


def test_a_generalized_category_is_its_share_of_each_value():
    table = Table(np.ones(3, bool), {"c": letters([0, 1, 3], [0, 0, 3], [0, 1, 3])})
    before, after = features(table)
    assert before.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]  # nobody has or may have c
    assert after.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]


def test_many_categories_become_the_most_frequent_ones():
    own = np.concatenate([np.arange(100), np.arange(40)])
    before, _ = features(Table(np.ones(140, bool), categories={"c": own}))
    assert before.shape == (140, MOST_VALUES)
    assert before.sum() == 2 * MOST_VALUES
