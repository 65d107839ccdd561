"""What released values cover, where names, levels and missing values are treacherous."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.utility.covers import Recoded, find_covers
from anon_pipeline.utility.records import Generalized

LEVELS = [
    np.array(["a", "b", "c", "d"], object),
    np.array(["a", "a", "n", "n"], object),  # the name of a leaf and of what is above it
    np.full(4, "*", object),
]


def cover(recoder: str, own: list[int], texts: list[str | None], *, missing: bool = False) -> Generalized:
    """Cover a column of one class; the hierarchy's leaves are a, b, c, d, and perhaps missing."""
    hierarchy = from_columns("letter", LEVELS, missing=missing)
    column = pd.Series(texts, dtype="str")
    return find_covers(Recoded(hierarchy, None, np.array(own), column, np.zeros(len(own), np.int64)), recoder)


def ends(column: Generalized) -> list[tuple[int, int, int]]:
    """What each record's value covers: first leaf, last leaf, level."""
    found = np.stack([column.low, column.high, column.levels], axis=1)[column.codes]
    return [tuple(row) for row in found.tolist()]


def test_a_full_domain_column_is_on_one_level() -> None:
    assert ends(cover("ola", [0, 2], ["a", "n"])) == [(0, 1, 1), (2, 3, 1)]
    assert ends(cover("ola", [0, 2], ["a", "c"])) == [(0, 0, 0), (2, 2, 0)]


def test_blanked_cells_are_on_top_and_the_others_on_their_level() -> None:
    assert ends(cover("ola", [0, 2, 3], ["a", "n", "*"])) == [(0, 1, 1), (2, 3, 1), (0, 3, 2)]
    assert ends(cover("ola", [0, 2], ["*", "*"])) == [(0, 3, 2), (0, 3, 2)]


def test_a_local_value_is_the_lowest_node_that_has_its_originals() -> None:
    assert ends(cover("mondrian", [0, 0], ["a", "a"])) == [(0, 0, 0)] * 2
    assert ends(cover("mondrian", [0, 1], ["a", "a"])) == [(0, 1, 1)] * 2


def test_a_microaggregated_category_covers_its_class_and_says_itself() -> None:
    column = cover("mdav", [0, 0, 2], ["a", "a", "a"])
    assert ends(column) == [(0, 3, 2)] * 3
    assert (column.first[0], column.last[0]) == (0, 0)


def test_a_missing_value_is_a_leaf() -> None:
    assert ends(cover("ola", [0, 4], ["a", None], missing=True)) == [(0, 0, 0), (4, 4, 0)]
    assert ends(cover("mondrian", [4, 4], [None, None], missing=True)) == [(4, 4, 0)] * 2
    assert ends(cover("ola", [0, 4], ["*", "*"], missing=True)) == [(0, 4, 2)] * 2


@pytest.mark.parametrize("recoder", ["ola", "mondrian"])
def test_a_value_that_does_not_have_its_original_is_refused(recoder: str) -> None:
    with pytest.raises(InputError, match=r"letter: every released value .* got 1 values"):
        cover(recoder, [0, 2], ["a", "a"] if recoder == "ola" else ["n", "c"])


def test_codes_do_not_depend_on_the_order_of_records() -> None:
    one, other = cover("ola", [0, 2, 3], ["a", "c", "d"]), cover("ola", [3, 0, 2], ["d", "a", "c"])
    assert one.codes.tolist() == [0, 1, 2]
    assert other.codes.tolist() == [2, 0, 1]
    assert one.low.tolist() == other.low.tolist()


def test_a_suppressed_record_has_no_value() -> None:
    hierarchy = from_columns("letter", LEVELS)
    texts = pd.Series(["b", None], dtype="str")
    column = find_covers(Recoded(hierarchy, None, np.array([1, 2]), texts, np.array([0, -1])), "mondrian")
    assert column.codes.tolist() == [0, -1]
    none = find_covers(Recoded(hierarchy, None, np.array([1, 2]), texts, np.array([-1, -1])), "ola")
    assert none.codes.tolist() == [-1, -1]
