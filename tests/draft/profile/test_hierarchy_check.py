"""A hierarchy against its column: what it lacks, level by level, and the tree; private but for counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.profile.hierarchy_check import check_hierarchy, draw_tree
from anon_pipeline.draft.profile.look import Look, look_at
from anon_pipeline.policy.hierarchies import Intervals, Order, Suppress, Table, Tree

TREE = Tree(tree={"South": ["Bern", "Thun"], "North": ["Basel", "Olten"]})


def look(*values: object) -> Look:
    return look_at(pd.Series(list(values), name="town", dtype="str"))


def test_values_that_are_no_leaf_are_counted_and_the_others_judged() -> None:
    found = check_hierarchy(look("Bern", "Bern", "Thun", "Basel", "Genf", "Genf", "Chur", None), TREE)
    assert (found.not_leaves, found.lacking) == (("Chur", "Genf"), 3)
    assert found.level_sizes == [(4, 1, 2), (3, 1, 3), (1, 5, 5)]  # a missing value is one, too
    assert "Chur" not in repr(found)


def test_the_tree_has_what_is_below_each_value_most_records_first() -> None:
    tree = draw_tree(check_hierarchy(look("Bern", "Bern", "Thun", "Basel"), TREE))
    assert tree is not None
    assert (tree.name, tree.leaves, tree.records) == ("*", 3, 4)
    assert [(node.name, node.leaves, node.records) for node in tree.below] == [
        ("South", 2, 3),
        ("North", 1, 1),
    ]
    assert "South" not in repr(tree)


def test_long_levels_are_cut() -> None:
    numbers = look(*map(str, range(200)))
    tree = draw_tree(check_hierarchy(numbers, Intervals(intervals=(5,))))
    assert tree is not None
    assert (len(tree.below), tree.more) == (12, 28)


def test_a_table_and_an_order(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("low;*\nhigh;*\n")
    column = look("low", "high", "middle")
    assert check_hierarchy(column, Table(table="t.csv"), folder=tmp_path).not_leaves == ("middle",)
    assert check_hierarchy(column, Order(order=("low", "middle", "high"))).not_leaves == ()
    assert check_hierarchy(column, Suppress(suppress=True)).level_sizes == [(3, 1, 1), (1, 3, 3)]


def test_no_value_is_a_leaf() -> None:
    found = check_hierarchy(look("a", "b"), TREE)
    assert found.hierarchy is None
    assert (found.level_sizes, draw_tree(found), found.lacking) == ([], None, 2)


def test_what_the_hierarchy_cannot_be_of_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;x;*\nb;x;y\n")
    with pytest.raises(InputError):
        check_hierarchy(look("a", "b"), Table(table="t.csv"), folder=tmp_path)
    with pytest.raises(InputError):
        check_hierarchy(look("a", "b"), Intervals(intervals=(5,)))
    assert np.array_equal(check_hierarchy(look("a", "a"), Suppress(suppress=True)).records, [2])
