"""Range counts, against an analyst who goes through the release cell by cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.utility.queries import (
    Query,
    QueryErrors,
    answers,
    draw_queries,
    query_errors,
    released_codes,
)
from anon_pipeline.utility.records import Generalized, Numeric, Table

LEAVES = 6
HIERARCHY = from_columns(
    "x",
    [np.array([str(i) for i in range(LEAVES)], object), np.full(LEAVES, "*", object)],
    coordinates=np.arange(LEAVES, dtype=float),
)


def table(cells, means=None):
    """Records as (own leaf, first and last leaf released, own number, released number, whether kept)."""
    own, first, last, number, noisy, kept = (np.array(each) for each in zip(*cells, strict=True))
    n = len(cells)
    codes = np.where(kept, np.arange(n), -1)
    said = np.full(n, np.nan) if means is None else np.array(means, float)
    column = Generalized(HIERARCHY, own, codes, first, last, np.full(n, -1), first, last, said)
    released = np.where(kept, noisy.astype(float), np.nan)
    return Table(kept.astype(bool), {"x": column}, {"y": Numeric(number.astype(float), released)})


leaf, number = st.integers(0, LEAVES - 1), st.integers(0, 9)
records = st.lists(
    st.tuples(leaf, leaf, leaf, number, number, st.booleans()).map(
        lambda r: (r[0], min(r[1:3]), max(r[1:3]), *r[3:])
    ),
    min_size=1,
    max_size=20,
)


@given(records, leaf, leaf, number, number)
def test_a_cell_counts_by_the_share_of_its_leaves(cells, a, b, c, d):
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    true, estimate = 0, Fraction(0)
    for own, first, last, y, noisy, kept in cells:
        true += a <= own <= b and c <= y <= d
        if kept and c <= noisy <= d:
            estimate += Fraction(sum(a <= i <= b for i in range(first, last + 1)), last - first + 1)
    held = table(cells)
    found = answers(held, Query((("x", a, b), ("y", c, d))), released_codes(held))
    assert found == (true, pytest.approx(float(estimate)))


def test_a_mean_is_in_the_range_or_not():
    cells = [(0, 0, 5, 1, 1, True), (5, 0, 5, 1, 1, True)]
    column = table(cells, means=[2.5, 3.0]).generalized["x"]
    assert column.shares(0, 2).tolist() == [0.0, 0.0]
    assert column.shares(2, 3).tolist() == [1.0, 1.0]
    assert column.shares(0, 2).sum() + column.shares(3, 5).sum() == 1.0  # 2.5 is between two leaves
    assert column.midpoints().tolist() == [2.5, 3.0]


def test_a_release_that_changes_nothing_has_no_error():
    cells = [(i % LEAVES, i % LEAVES, i % LEAVES, i, i, True) for i in range(10)]
    same = table(cells).in_order()
    assert query_errors(same, draw_queries(same)) == QueryErrors(1000, 0.0, 0.0, 0.0)


def test_a_release_of_nothing_is_wrong_by_all_that_is_asked_for():
    gone = table([(i % LEAVES, 0, 5, i, i, False) for i in range(10)]).in_order()
    queries = draw_queries(gone)
    true = np.array([answers(gone, query, released_codes(gone))[0] for query in queries])
    assert query_errors(gone, queries).mean == pytest.approx((true > 0).mean())


def test_errors_are_relative_to_the_true_count_or_to_a_thousandth():
    cells = [(0, 0, 1, 0, 0, True)] * 2999 + [(1, 1, 1, 0, 0, True)]
    big = table(cells).in_order()
    narrow, wide = Query((("x", 1, 1),)), Query((("x", 0, 0),))
    assert query_errors(big, [narrow]).mean == pytest.approx(2999 / 2 / 3)
    assert query_errors(big, [wide]).mean == pytest.approx(0.5)
    both = query_errors(big, [narrow, wide])
    assert both.median == pytest.approx((2999 / 6 + 0.5) / 2)


def test_queries_are_of_the_seed_and_not_of_the_order():
    cells = [(i % LEAVES, 0, 5, i, i, True) for i in range(10)]
    one, other = table(cells), table(cells[::-1])
    assert draw_queries(one, seed=3) == draw_queries(other, seed=3)
    assert draw_queries(one, seed=3) != draw_queries(one, seed=4)
    assert {len(query.ranges) for query in draw_queries(one)} == {2}
    assert all(least <= most for query in draw_queries(one) for _, least, most in query.ranges)


def test_without_quasi_identifiers_nothing_is_asked():
    empty = Table(np.ones(3, bool))
    assert draw_queries(empty) == []
    assert query_errors(empty, []) is None
